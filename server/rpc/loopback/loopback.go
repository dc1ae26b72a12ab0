// Package loopback calls an HTTP handler of this process without a network. REST and MCP reach the rpc chain by it, with the caller's
// context and everything in it: the authenticated principal, the door, the request id.
package loopback

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
)

// Transport is a round tripper that serves every request by the handler. The answer streams: RoundTrip returns when the handler
// first writes, a read of the body waits for the handler's next write, and closing the body or ending the context stops it.
func Transport(h http.Handler) http.RoundTripper { return &transport{h} }

type transport struct{ handler http.Handler }

// RoundTrip serves a request in a goroutine of its own, which ends with the handler.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{ctx: ctx, header: http.Header{}, body: pw, ready: make(chan struct{}), trailer: http.Header{}}
	inner := serverRequest(req)
	stop := context.AfterFunc(ctx, func() { _ = pw.CloseWithError(ctx.Err()) })
	go func() {
		defer stop()
		defer closeBody(req)
		defer func() {
			if r := recover(); r != nil {
				w.finish(fmt.Errorf("loopback: handler panicked: %v\n%s", r, debug.Stack()))
				return
			}
			w.finish(nil)
		}()
		t.handler.ServeHTTP(w, inner)
	}()
	select {
	case <-ctx.Done():
		_ = pr.CloseWithError(ctx.Err())
		return nil, ctx.Err()
	case <-w.ready:
	}
	if w.err != nil {
		return nil, w.err
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: w.sent, Trailer: w.trailer, Body: pr, ContentLength: -1, Request: req,
	}, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// serverRequest is the request as a server would have read it.
func serverRequest(req *http.Request) *http.Request {
	inner := req.Clone(req.Context())
	inner.Proto, inner.ProtoMajor, inner.ProtoMinor = "HTTP/2.0", 2, 0
	inner.RequestURI = req.URL.RequestURI()
	inner.RemoteAddr = "loopback"
	if inner.Host == "" {
		inner.Host = req.URL.Host
	}
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	return inner
}

// pipeWriter is the handler's side of the answer.
type pipeWriter struct {
	ctx    context.Context // the caller's
	header http.Header
	body   *io.PipeWriter

	once   sync.Once
	ready  chan struct{} // closed once the fields below may be read
	status int
	sent   http.Header
	err    error

	trailer http.Header // filled before the body ends
}

// Header returns the headers, which may change until the first write.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader sends status and headers.
func (w *pipeWriter) WriteHeader(status int) {
	if status >= 100 && status < 200 {
		return
	}
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		for key := range w.sent {
			if strings.HasPrefix(key, http.TrailerPrefix) {
				delete(w.sent, key)
			}
		}
		delete(w.sent, "Trailer")
		close(w.ready)
	})
}

// Write hands the bytes to the reader and returns when they were read.
func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	// The pipe is closed by another goroutine a moment after the context ended: nothing may pass in between.
	if w.ctx.Err() != nil {
		return 0, io.ErrClosedPipe
	}
	return w.body.Write(b)
}

// Flush sends the headers; bytes never wait.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

// finish ends the answer, with the trailers that the handler set.
func (w *pipeWriter) finish(err error) {
	if err != nil {
		w.once.Do(func() {
			w.err = err
			close(w.ready)
		})
		_ = w.body.CloseWithError(err)
		return
	}
	w.WriteHeader(http.StatusOK)
	if err := w.ctx.Err(); err != nil {
		_ = w.body.CloseWithError(err)
		return
	}
	for _, list := range w.header["Trailer"] {
		for key := range strings.SplitSeq(list, ",") {
			key = http.CanonicalHeaderKey(strings.TrimSpace(key))
			if values, ok := w.header[key]; ok {
				w.trailer[key] = values
			}
		}
	}
	for key, values := range w.header {
		if name, ok := strings.CutPrefix(key, http.TrailerPrefix); ok {
			w.trailer[http.CanonicalHeaderKey(name)] = values
		}
	}
	_ = w.body.Close()
}
