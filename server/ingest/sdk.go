package ingest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
)

// sdkPath is the path under which pages load the browser SDK.
const sdkPath = "/sdk/browser/"

// serveSDK answers with a file of the browser SDK. Pages of any origin load it, and it needs no key.
func (g *Gateway) serveSDK(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	file, problem := g.sdk.Find(strings.TrimPrefix(r.URL.Path, sdkPath), r.Header.Get("Accept-Encoding"))
	if problem != "" {
		h.Set("Cache-Control", "no-store")
		g.turnAway(w, r, apierr.New(apierr.IngestRouteNotFound, problem))
		return
	}
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Timing-Allow-Origin", "*")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", file.ETag)
	h.Set("Cache-Control", "public, max-age=3600")
	if file.Exact {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if slices.ContainsFunc(strings.Split(r.Header.Get("If-None-Match"), ","), func(tag string) bool {
		return strings.TrimPrefix(strings.TrimSpace(tag), "W/") == file.ETag
	}) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	if file.Encoding != "" {
		h.Set("Content-Encoding", file.Encoding)
	}
	h.Set("Content-Length", strconv.Itoa(len(file.Body)))
	if r.Method != http.MethodHead {
		// This fails only when the browser is gone.
		_, _ = w.Write(file.Body)
	}
}
