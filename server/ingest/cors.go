package ingest

import "net/http"

// Pages of any origin may send these headers: those of OTLP exporters and those of the browser SDK.
const corsHeaders = "Authorization, Content-Type, Content-Encoding, User-Agent, x-svc-ingest-key, x-svc-session-id, x-svc-chunk-seq, " +
	"x-svc-is-checkpoint, x-svc-event-count, x-svc-duration-ms"

// allowOrigin lets pages of any origin read the answer. No header is exposed to them.
func allowOrigin(h http.Header) { h.Set("Access-Control-Allow-Origin", "*") }

// preflight answers OPTIONS on any path. It needs no key, because browsers send none, and it counts towards no limit.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
