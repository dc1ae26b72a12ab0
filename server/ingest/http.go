package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/requestid"
)

// endpoint is a path of the ingest address.
type endpoint struct {
	methods []string
	serve   func(w http.ResponseWriter, r *http.Request)
}

// HTTPHandler serves the ingest address: the OTLP endpoints, the endpoints of package activity and of log push connectors, the files of
// the browser SDK, and /health.
func (g *Gateway) HTTPHandler() http.Handler {
	endpoints := map[string]endpoint{"/health": {[]string{http.MethodGet, http.MethodHead}, g.serveHealth}}
	for path, signal := range map[string]otlp.Signal{"/v1/traces": otlp.Traces, "/v1/logs": otlp.Logs, "/v1/metrics": otlp.Metrics} {
		endpoints[path] = endpoint{[]string{http.MethodPost}, func(w http.ResponseWriter, r *http.Request) { g.serveExport(w, r, signal) }}
	}
	for path, kind := range activityPaths() {
		endpoints[path] = endpoint{[]string{http.MethodPost}, func(w http.ResponseWriter, r *http.Request) { g.serveActivity(w, r, kind) }}
	}
	return g.route(endpoints)
}

// route gives every answer its request id and CORS headers. It answers preflights, 404 and 405 before authentication. A ServeMux
// would answer some of these with its own texts, and would redirect wrong paths of exporters.
func (g *Gateway) route(endpoints map[string]endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Content-Type-Options"] = g.noSniff
		h.Set(requestid.Header, requestid.Choose(r.Header.Get(requestid.Header)))
		allowOrigin(h)
		e, found := endpoints[r.URL.Path]
		if !found {
			e, found = g.logpushEndpoint(r.URL.Path)
		}
		if !found && strings.HasPrefix(r.URL.Path, sdkPath) {
			e, found = endpoint{[]string{http.MethodGet, http.MethodHead}, g.serveSDK}, true
		}
		switch {
		case r.Method == http.MethodOptions:
			preflight(w)
		case !found:
			g.turnAway(w, r, routeNotFound())
		case !slices.Contains(e.methods, r.Method):
			allow := strings.Join(e.methods, ", ") + ", OPTIONS"
			h.Set("Allow", allow)
			g.turnAway(w, r, methodNotAllowed(allow))
		default:
			e.serve(w, r)
		}
	})
}

// HTTPServer returns a server for the ingest address. Its time limits fit those of the handler. The caller sets Addr or serves a listener.
func (g *Gateway) HTTPServer() *http.Server {
	return &http.Server{
		Handler:           g.HTTPHandler(),
		ReadHeaderTimeout: limits.HeaderTime,
		// The handler itself ends slow bodies and still answers. This limit only ends connections whose client does not read the
		// answer.
		WriteTimeout:   g.limits.Request + 15*time.Second,
		IdleTimeout:    limits.IngestIdle,
		MaxHeaderBytes: limits.HeaderBytes,
		ErrorLog:       slog.NewLogLogger(g.logger.Handler(), slog.LevelDebug),
	}
}

func (g *Gateway) serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if g.draining.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "DRAINING")
		return
	}
	_, _ = io.WriteString(w, "OK")
}

func methodNotAllowed(allow string) *apierr.Error {
	return apierr.New(apierr.IngestMethodNotAllowed, "This endpoint does not take this method; it allows "+allow+".")
}

func routeNotFound() *apierr.Error {
	return apierr.New(
		apierr.IngestRouteNotFound,
		"There is no such endpoint. OTLP goes to POST /v1/traces, /v1/logs and /v1/metrics; product events to /v1/events, session data to "+
			"/v1/sessionReplays/meta, /v1/sessionReplays/blob and /v1/sessionEvents, pushed logs to the URL of their connector. An exporter's "+
			"OTLP endpoint is the address without a path, because it appends the path itself.",
	)
}

func (g *Gateway) serveExport(w http.ResponseWriter, r *http.Request, signal otlp.Signal) {
	ctx, started, done := g.begin(w, r)
	defer done()
	e := export{
		signal:  signal,
		door:    doorHTTP,
		receipt: receipt{signalName: signal.String(), doorName: doorHTTP.String(), agent: r.UserAgent()},
	}
	var media string
	fail := g.receive(ctx, r, &e.receipt, signal, func(h http.Header) (fail *apierr.Error) {
		media, fail = mediaType(h, &e)
		return fail
	}, func(key Key, discard bool, body *buffer) *apierr.Error {
		e.key, e.discard, e.held, e.body = key, discard, body, body.b
		return g.store(ctx, &e)
	})
	message := e.result.Message()
	if e.test && fail != nil {
		message, e.result.Rejected, fail = testVerdict(fail), 0, nil
		media, _ = mediaType(r.Header, &e) // a success has the media type of the request, which an early refusal did not read
	}
	g.metrics.answered(&e, started, fail)
	g.settle(&e.receipt, fail)
	if fail != nil {
		g.refuse(w, r, signal, doorHTTP, fail)
		return
	}
	g.succeed(w, r, func() { writeSuccess(w, signal, media, e.result.Rejected, message) })
}

// refuse answers with an error, and logs it if it is a failure of this server.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, signal fmt.Stringer, d door, fail *apierr.Error) {
	g.report(signal, d, w.Header().Get("X-Request-Id"), fail)
	if fail.Tag == apierr.IngestPayloadTooLarge || fail.RetryAfterSeconds() > 0 && unread(r) {
		answerUnread(w, r, 2*int64(g.limits.Body), func() { writeError(w, fail) }) // ends at the read deadline of the request at the latest
		return
	}
	g.turnAway(w, r, fail)
}

// succeed answers a successful request. A request with the test key can succeed before its body is read.
func (g *Gateway) succeed(w http.ResponseWriter, r *http.Request, answer func()) {
	if !unread(r) || r.Header.Get("Expect") != "" {
		answer()
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(turnAwayTime)) // as in begin
	answerUnread(w, r, int64(g.limits.Body), answer)
}

// testVerdict is the message for a request with the test key that an ingest key could not have sent.
func testVerdict(fail *apierr.Error) string {
	spec := apierr.Spec(fail.Tag)
	if fail.RetryAfterSeconds() > 0 {
		return "The data was discarded, as " + TestKey + " asks, but could not be checked just now: " + fail.Message
	}
	return fmt.Sprintf(
		"The data was discarded, as %s asks. With an ingest key this request is refused: %d %s: %s",
		TestKey,
		spec.GetStatus(),
		spec.GetCode(),
		fail.Message,
	)
}

// turnAwayTime bounds the time for reading a body that is refused.
const turnAwayTime = 2 * time.Second

// turnAway refuses a request regardless of its body. It reads some of the body, as answerUnread does, but a sender without a key
// cannot make the server read for long. A sender that waits for "100 Continue" has sent nothing yet.
func (g *Gateway) turnAway(w http.ResponseWriter, r *http.Request, fail *apierr.Error) {
	if !unread(r) || r.Header.Get("Expect") != "" {
		writeError(w, fail)
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(turnAwayTime)) // as in begin
	answerUnread(w, r, int64(g.limits.Body), func() { writeError(w, fail) })
}

// begin counts a request as open until done and gives it its time limit.
func (g *Gateway) begin(w http.ResponseWriter, r *http.Request) (ctx context.Context, started time.Time, done func()) {
	started = time.Now()
	g.metrics.open.Inc()
	ctx, cancel := context.WithDeadline(r.Context(), started.Add(g.limits.Request))
	// A test recorder does not support deadlines, a real connection does. The context is checked in both cases.
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(started.Add(g.limits.Request))
	ctx = context.WithValue(ctx, bodyEndKey{}, func() { _ = c.SetReadDeadline(time.Now()) })
	return ctx, started, func() {
		cancel()
		g.metrics.open.Dec()
	}
}

// receive runs the checks in the order of the contract: key, its rate, open requests, size, media type, then the body. It hands the body to
// store. The body is valid during that call only.
func (g *Gateway) receive(
	ctx context.Context,
	r *http.Request,
	rc *receipt,
	signal fmt.Stringer,
	media func(http.Header) *apierr.Error,
	store func(key Key, discard bool, body *buffer) *apierr.Error,
) *apierr.Error {
	key, discard, fail := g.authenticate(ctx, r.Header)
	rc.identify(&key)
	rc.test = discard
	if fail != nil {
		return fail
	}
	if fail := key.allow(signal); fail != nil {
		return fail
	}
	if fail := g.paced(&key); fail != nil {
		return fail
	}
	return g.receiveBody(ctx, r, key, discard, media, store)
}

// receiveBody runs the checks of receive that follow the key and its rate.
func (g *Gateway) receiveBody(
	ctx context.Context,
	r *http.Request,
	key Key,
	discard bool,
	media func(http.Header) *apierr.Error,
	store func(key Key, discard bool, body *buffer) *apierr.Error,
) *apierr.Error {
	place, fail := g.admit(ctx, key.share())
	if fail != nil {
		return fail
	}
	defer place.leave()
	if r.ContentLength > int64(g.limits.Body) {
		return g.bodyTooLarge()
	}
	if fail := media(r.Header); fail != nil {
		// Size comes before media type, even for a body that did not declare its size. Nothing of the body is kept.
		if n, _ := io.Copy(io.Discard, io.LimitReader(r.Body, int64(g.limits.Body)+1)); n > int64(g.limits.Body) {
			return g.bodyTooLarge()
		}
		return fail
	}
	body := g.buffers.get(key.share())
	defer g.release(body)
	if fail := g.readBody(ctx, body, r); fail != nil {
		return fail
	}
	r.Body = http.NoBody // tells refuse that the body was read
	if fail := place.enter(); fail != nil {
		return fail
	}
	return store(key, discard, body)
}

// readBody reads the body as sent, at most Limits.Body bytes.
func (g *Gateway) readBody(ctx context.Context, buf *buffer, r *http.Request) *apierr.Error {
	if cap(buf.b) > 0 {
		if fail := g.charge(buf, cap(buf.b)); fail != nil {
			return fail
		}
	}
	// A declared length gets memory of up to a mebibyte. More memory is taken as the bytes arrive.
	hint := int(min(max(r.ContentLength, 0), 1<<20))
	err := fill(buf, r.Body, hint, g.limits.Body, func(n int) *apierr.Error { return g.charge(buf, n) })
	var fail *apierr.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fail):
		return fail
	case errors.Is(err, errTooLong):
		return g.bodyTooLarge()
	case isTimeout(ctx, err):
		return g.timedOut(err)
	case errors.Is(err, io.ErrUnexpectedEOF) && r.ContentLength > 0:
		return apierr.New(apierr.IngestBadRequest,
			fmt.Sprintf("The body ended after %d bytes, but Content-Length declared %d.", len(buf.b), r.ContentLength), apierr.Cause(err))
	default:
		return apierr.New(apierr.IngestBadRequest, "The body could not be read to its end.", apierr.Cause(err))
	}
}

// isTimeout reports whether a read ended because the request's time was up.
func isTimeout(ctx context.Context, err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// unread reports whether the sender may still be sending a body that is longer than net/http reads and drops by itself.
func unread(r *http.Request) bool {
	return r.Body != http.NoBody && (r.ContentLength < 0 || r.ContentLength > 128<<10)
}

// answerUnread answers, then reads some more of the refused body and drops it. If the connection closes while an exporter is
// still sending, the exporter does not see the answer. It takes the close for a network failure and sends the same body forever.
func answerUnread(w http.ResponseWriter, r *http.Request, most int64, answer func()) {
	c := http.NewResponseController(w)
	// Neither call fails on a real connection. If one does, the answer is sent anyway.
	_ = c.EnableFullDuplex()
	w.Header().Set("Connection", "close")
	answer()
	_ = c.Flush()
	_, _ = io.CopyN(io.Discard, r.Body, most)
}

func (g *Gateway) bodyTooLarge() *apierr.Error {
	return apierr.New(
		apierr.IngestPayloadTooLarge,
		"The body is larger than "+limits.Size(g.limits.Body)+" as sent. Send smaller batches, or compress them with gzip.",
	)
}

// mediaType reads Content-Type and Content-Encoding into e and returns the media type of the answer.
func mediaType(h http.Header, e *export) (string, *apierr.Error) {
	media := mediaProtobuf
	sent := strings.Join(h.Values("Content-Type"), ", ")
	if sent != "" {
		base, _, err := mime.ParseMediaType(sent)
		if err != nil {
			base = strings.ToLower(strings.TrimSpace(strings.SplitN(sent, ";", 2)[0]))
		}
		switch {
		case strings.Contains(strings.ToLower(sent), "json"):
			e.json, media = true, mediaJSON
		case base == mediaProtobuf, base == "application/protobuf", base == "application/octet-stream":
			// Some exporters send one of the other names. OTLP defines only the first, so the answer has that one.
		default:
			return "", apierr.New(apierr.IngestUnsupportedMediaType,
				"This Content-Type is not supported. Send application/x-protobuf or application/json.")
		}
	}
	var fail *apierr.Error
	e.gzip, fail = contentEncoding(h)
	return media, fail
}

// contentEncoding reports whether the body is gzip.
func contentEncoding(h http.Header) (gzip bool, _ *apierr.Error) {
	switch strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ", "))) {
	case "", "identity":
		return false, nil
	case "gzip":
		return true, nil
	default:
		return false, apierr.New(
			apierr.IngestUnsupportedMediaType,
			"This Content-Encoding is not supported. Send gzip, or leave the body uncompressed.",
		)
	}
}
