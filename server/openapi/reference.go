package openapi

import (
	_ "embed"
	"net/http"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
)

// The reference shows /openapi.json with Scalar, whose one file tools/reference.sh fetches and checks. It is part of the program, so a
// build needs no Node.js and a browser needs no other server.
var (
	//go:embed page/index.html
	pageHTML []byte
	//go:embed page/start.mjs
	pageStart []byte
	//go:embed page/scalar.js.gz
	pageScalar []byte
)

// policy lets the page load from this server alone. Scripts come from files only. Scalar writes style elements and attributes, so
// inline styles are allowed: docs/adr/0006-reference-page-by-scalar.md.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Reference serves the interactive reference at /v2/docs.
func Reference() http.Handler {
	const script = "text/javascript; charset=utf-8"
	files := map[string]file{
		"":           newFile("text/html; charset=utf-8", pageHTML),
		"/start.mjs": newFile(script, pageStart),
		"/scalar.js": newPackedFile(script, pageScalar),
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
			// A write fails when the caller has gone.
			_, _ = w.Write(apierr.Envelope(apierr.New(apierr.RouteNotFound, "The reference has no such file.").Detail(), false))
			return
		}
		header.Set("Content-Security-Policy", policy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		f.ServeHTTP(w, r)
	})
}
