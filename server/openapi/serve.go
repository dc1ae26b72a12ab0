package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/apierr"
)

// file is content that does not change while the process runs, plain and as gzip. A large file is held as gzip only.
type file struct {
	contentType string
	plain       []byte
	packed      []byte
	tag         string // without quotes
}

// newPackedFile makes a file of gzip.
func newPackedFile(contentType string, packed []byte) file {
	sum := sha256.Sum256(packed)
	return file{contentType, nil, packed, hex.EncodeToString(sum[:8])}
}

// unpack returns the plain content.
func (f file) unpack() ([]byte, error) {
	if f.plain != nil {
		return f.plain, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(f.packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func newFile(contentType string, content []byte) file {
	sum := sha256.Sum256(content)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	// A buffer takes every write.
	_, _ = z.Write(content)
	_ = z.Close()
	return file{contentType, content, packed.Bytes(), hex.EncodeToString(sum[:8])}
}

// ServeHTTP answers GET and HEAD, with 304 when the caller has the content already.
func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Vary", "Accept-Encoding")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		header.Set("Content-Type", jsonType)
		w.WriteHeader(http.StatusMethodNotAllowed)
		// A write fails when the caller has gone.
		_, _ = w.Write(apierr.Envelope(apierr.New(apierr.MethodNotAllowed, "Only GET is offered here.").Detail(), false))
		return
	}
	header.Set("Content-Type", f.contentType)
	// A browser asks every time, and gets 304 until the program changes.
	header.Set("Cache-Control", "public, no-cache")
	content, tag := f.packed, f.tag+"-gzip"
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
	} else {
		var err error
		if content, err = f.unpack(); err != nil { // the program holds a broken file, which the tests exclude
			unexpected(w)
			return
		}
		tag = f.tag
	}
	header.Set("Etag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// unexpected answers that the document cannot be shown.
func unexpected(w http.ResponseWriter) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = w.Write(apierr.Envelope(apierr.New(apierr.Unexpected, "").Detail(), false)) // a write fails when the caller has gone
}

func takesGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, params, _ := strings.Cut(part, ";")
		if strings.TrimSpace(coding) == "gzip" {
			return strings.ReplaceAll(params, " ", "") != "q=0"
		}
	}
	return false
}

// Handler serves the document that write returns: New with its arguments. Only the first request makes it. Pages of any origin may read it.
func Handler(write func() ([]byte, error)) http.Handler {
	document := sync.OnceValues(func() (file, error) {
		doc, err := write()
		if err != nil {
			return file{}, err
		}
		return newFile(jsonType, doc), nil
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Access-Control-Expose-Headers", "Etag")
		if r.Method == http.MethodOptions {
			header.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
			header.Set("Access-Control-Allow-Headers", "*")
			header.Set("Access-Control-Max-Age", "86400")
		}
		f, err := document()
		if err != nil { // the contract cannot be described, which the tests exclude
			unexpected(w)
			return
		}
		f.ServeHTTP(w, r)
	})
}
