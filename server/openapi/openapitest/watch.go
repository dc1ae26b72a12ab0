package openapitest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
)

// maxKept bounds the bodies that are kept for the comparison. A larger request is checked without its body.
const maxKept = 8 << 20

// concerns reports whether the document describes a path.
func concerns(path string) bool {
	return strings.HasPrefix(path, "/v2/") && path != "/v2/docs" && !strings.HasPrefix(path, "/v2/docs/")
}

// Watch wraps the handler of a server. It checks every exchange with /v2 after the answer.
func (c *Checker) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !concerns(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		method, target, encoding := r.Method, *r.URL, r.Header.Get("Content-Encoding")
		sent := &kept{}
		if r.Body != nil {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, sent), r.Body}
		}
		recorder := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(recorder, r)
		if r.Context().Err() != nil {
			return // the caller disconnected
		}
		c.record(Exchange{
			Method: method, URL: &target, Request: unpack(encoding, sent.content()),
			Status: recorder.status, Header: w.Header().Clone(), Body: unpack(w.Header().Get("Content-Encoding"), recorder.body.Bytes()),
		})
	})
}

// Transport wraps a client of a server that runs in its own process.
func (c *Checker) Transport(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		res, err := next.RoundTrip(r)
		if err != nil || !concerns(r.URL.Path) || r.URL.Opaque != "" {
			return res, err
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			// The caller gets the same error when it reads the body.
			res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
			return res, nil //nolint:nilerr // the body returns the error, where a client looks for it
		}
		if err := res.Body.Close(); err != nil {
			return res, err
		}
		res.Body = io.NopCloser(bytes.NewReader(body))
		c.record(
			Exchange{
				Method: r.Method,
				URL:    r.URL,
				Status: res.StatusCode,
				Header: res.Header,
				Body:   unpack(res.Header.Get("Content-Encoding"), body),
			},
		)
		return res, nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip sends one request.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type failing struct{ err error }

// Read fails.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

func (c *Checker) record(x Exchange) {
	problems := c.Check(x)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, problems...)
}

// Take returns the differences since the last call.
func (c *Checker) Take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.problems
	c.problems = nil
	return out
}

// Checked counts the exchanges by operation id and status, `listApiKeys 200`.
func (c *Checker) Checked() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]int, len(c.checked))
	for k, n := range c.checked {
		out[k] = n
	}
	return out
}

// Operations lists the ids of the document's operations, sorted.
func (c *Checker) Operations() []string {
	var ids []string
	for _, op := range c.operations {
		ids = append(ids, op.id)
	}
	slices.Sort(ids)
	return ids
}

// kept is a body of limited size.
type kept struct {
	bytes.Buffer
	over bool
}

// Write keeps the bytes that fit.
func (k *kept) Write(p []byte) (int, error) {
	if k.Len()+len(p) > maxKept {
		k.over = true
		return len(p), nil
	}
	return k.Buffer.Write(p)
}

func (k *kept) content() []byte {
	if k.over || len(bytes.TrimSpace(k.Bytes())) == 0 {
		return nil
	}
	return k.Bytes()
}

func unpack(encoding string, body []byte) []byte {
	if encoding != "gzip" || len(body) == 0 {
		return body
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	// A body that cannot be decompressed is reported as invalid JSON.
	out, _ := io.ReadAll(io.LimitReader(z, maxKept))
	return out
}

type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write keeps the body.
func (r *recorder) Write(p []byte) (int, error) {
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
