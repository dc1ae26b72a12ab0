package port

import (
	"io"
	"net/http"
	"time"
)

// The time for a body and for an answer grows with each step of this many bytes.
const (
	bodyStep   = 64 << 10
	answerStep = 256 << 10
)

// patient bounds the time of a request body and of its answer. The bound grows only with the bytes that the caller sends or
// reads, so a caller that sends slowly or does not read is dropped. Each part of a stream has a time of its own, so a stream may
// last.
func patient(h http.Handler, body, answer time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		if r.Body != nil && r.Body != http.NoBody {
			// Deadlines fail on a test's recorder only.
			_ = c.SetReadDeadline(time.Now().Add(body))
			r.Body = &timedBody{ReadCloser: r.Body, controller: c, until: time.Now().Add(body)}
		}
		h.ServeHTTP(&timedAnswer{ResponseWriter: w, controller: c, each: answer}, r)
		// The rest of the answer is written, and the rest of the body read, after the handler.
		_ = c.SetWriteDeadline(time.Now().Add(answer))
	})
}

// timedBody ends with a timeout at until. Each bodyStep that arrives adds a second.
type timedBody struct {
	io.ReadCloser
	controller *http.ResponseController
	until      time.Time
	read       int
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	before := b.read / bodyStep
	b.read += n
	switch steps := b.read / bodyStep; {
	case err == io.EOF: // from here on, the server reads only to see that the caller leaves
		_ = b.controller.SetReadDeadline(time.Time{})
	case steps > before:
		_ = b.controller.SetReadDeadline(b.until.Add(time.Duration(steps) * time.Second))
	}
	return n, err
}

// timedAnswer gives each step of an answer its own time.
type timedAnswer struct {
	http.ResponseWriter
	controller *http.ResponseController
	each       time.Duration
}

// Unwrap is for http.ResponseController.
func (a *timedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *timedAnswer) Write(p []byte) (written int, err error) {
	defer a.rest()
	for first := true; first || len(p) > 0; first = false {
		part := p[:min(len(p), answerStep)]
		_ = a.controller.SetWriteDeadline(time.Now().Add(a.each))
		n, err := a.ResponseWriter.Write(part)
		written += n
		if err != nil {
			return written, err
		}
		p = p[n:]
	}
	return written, nil
}

// rest suspends the time limit until the next part of the answer. HTTP/2 ends a stream whose time is over even if nothing waits
// to be written.
func (a *timedAnswer) rest() { _ = a.controller.SetWriteDeadline(time.Time{}) }

// Flush is for code that asks for an http.Flusher.
func (a *timedAnswer) Flush() { _ = a.FlushError() }

// FlushError is for http.ResponseController.
func (a *timedAnswer) FlushError() error {
	defer a.rest()
	_ = a.controller.SetWriteDeadline(time.Now().Add(a.each))
	return a.controller.Flush()
}
