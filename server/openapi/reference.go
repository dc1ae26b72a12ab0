package openapi

import (
	_ "embed"
	"net/http"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
)

// The reference is a page of ours, without a library, so that the program needs nothing at build time and nobody's network at run time.
var (
	//go:embed page/index.html
	pageHTML []byte
	//go:embed page/reference.css
	pageCSS []byte
	//go:embed page/reference.mjs
	pageScript []byte
	//go:embed page/schema.mjs
	pageSchema []byte
	//go:embed page/request.mjs
	pageRequest []byte
	//go:embed page/markup.mjs
	pageMarkup []byte
)

// policy lets the page load what this server has, and nothing else; scripts and styles come from files only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Reference serves the interactive reference at /v2/docs. It reads /openapi.json.
func Reference() http.Handler {
	const script = "text/javascript; charset=utf-8"
	files := map[string]file{
		"":               newFile("text/html; charset=utf-8", pageHTML),
		"/reference.css": newFile("text/css; charset=utf-8", pageCSS),
		"/reference.mjs": newFile(script, pageScript),
		"/schema.mjs":    newFile(script, pageSchema),
		"/request.mjs":   newFile(script, pageRequest),
		"/markup.mjs":    newFile(script, pageMarkup),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/v2/docs")
		header := w.Header()
		if name == "/" {
			header.Set("Location", "../docs")
			w.WriteHeader(http.StatusPermanentRedirect)
			return
		}
		f, ok := files[name]
		if !ok {
			header.Set("Content-Type", jsonType)
			w.WriteHeader(http.StatusNotFound)
			// The caller is gone when this fails.
			_, _ = w.Write(apierr.Envelope(apierr.New(apierr.RouteNotFound, "The reference has no such file.").Detail(), false))
			return
		}
		header.Set("Content-Security-Policy", policy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		f.ServeHTTP(w, r)
	})
}
