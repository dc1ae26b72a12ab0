package rest

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/contract"
)

// minGzip is the size from which an answer is worth compressing.
const minGzip = 1024

// response is the answer to one request. The gateway and fail each write a body once, whole.
type response struct {
	http.ResponseWriter
	transcoder *transcoder
	request    *http.Request    // as it came
	method     *contract.Method // nil until the request is routed
	status     int
	written    bool
}

// WriteHeader keeps the status for Write.
func (res *response) WriteHeader(status int) { res.status = status }

// Write sends the whole answer.
func (res *response) Write(data []byte) (int, error) {
	res.written = true
	header := res.Header()
	out := data
	if len(data) >= minGzip {
		header.Add("Vary", "Accept-Encoding")
		if acceptsGzip(res.request.Header.Get("Accept-Encoding")) {
			out = res.transcoder.compress(data)
			header.Set("Content-Encoding", "gzip")
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(out)))
	if res.status != 0 {
		res.ResponseWriter.WriteHeader(res.status)
	}
	if _, err := res.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(data), nil
}

func (t *transcoder) compress(data []byte) []byte {
	var out bytes.Buffer
	z, ok := t.gzips.Get().(*gzip.Writer)
	if !ok {
		return data
	}
	defer t.gzips.Put(z)
	z.Reset(&out)
	// A bytes.Buffer takes every write.
	_, _ = z.Write(data)
	_ = z.Close()
	return out.Bytes()
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, params, _ := strings.Cut(part, ";")
		coding = strings.TrimSpace(coding)
		if coding != "gzip" && coding != "*" {
			continue
		}
		q, isQ := strings.CutPrefix(strings.TrimSpace(params), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !isQ || err != nil || weight > 0
	}
	return false
}
