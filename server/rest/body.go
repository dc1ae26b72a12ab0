package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/rpc"
)

// body is a request body that readBody has read. strictJSON leaves its error here, because the generated code turns an error into
// text.
type body struct {
	bytes.Reader
	data []byte
	// inPath names the fields of the request that the path gives.
	inPath []string
	err    error
}

// Close does nothing.
func (b *body) Close() error { return nil }

// readBody reads the whole body. A method without a body takes none but an empty object.
func (t *transcoder) readBody(m *contract.Method, r *http.Request) (io.ReadCloser, error) {
	takes := m.HTTP.BodyField != ""
	if takes && r.ContentLength != 0 {
		if err := checkContentType(r.Header.Get("Content-Type")); err != nil {
			return nil, err
		}
	}
	data, err := t.readAll(r)
	if err != nil {
		return nil, err
	}
	trimmed := bytes.TrimSpace(data)
	switch {
	case !takes && len(trimmed) > 0 && string(trimmed) != "{}":
		return nil, apierr.New(apierr.InvalidRequest, "This operation takes no request body.")
	case takes && len(trimmed) == 0:
		return nil, apierr.New(apierr.InvalidRequest, "The request body is missing: send a JSON object.")
	}
	if !takes {
		return http.NoBody, nil
	}
	b := &body{data: data, inPath: m.HTTP.PathParams}
	b.Reset(data)
	return b, nil
}

func checkContentType(header string) error {
	if header == "" {
		return nil // taken for JSON
	}
	mediaType, params, err := mime.ParseMediaType(header)
	charset := strings.ToLower(params["charset"])
	if err != nil || mediaType != "application/json" || charset != "" && charset != "utf-8" && charset != "utf8" {
		return apierr.New(apierr.UnsupportedMediaType,
			fmt.Sprintf("The content type %q is not supported: send application/json.", strings.ToValidUTF8(header, "\uFFFD")))
	}
	return nil
}

func (t *transcoder) readAll(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.ContentLength > t.maxBody {
		rpc.Drain(r.Body)
		return nil, t.tooLarge()
	}
	var from io.Reader = r.Body
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(io.LimitReader(r.Body, t.maxBody))
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, unreadable(err)
		}
		from = z
	default:
		return nil, apierr.New(apierr.UnsupportedMediaType,
			fmt.Sprintf("The content encoding %q is not supported: send the body plain or as gzip.", strings.ToValidUTF8(encoding, "\uFFFD")))
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(from, t.maxBody+1))
	var tooLarge *http.MaxBytesError
	switch {
	case n > t.maxBody || errors.As(err, &tooLarge):
		rpc.Drain(r.Body)
		return nil, t.tooLarge()
	case err != nil:
		return nil, unreadable(err)
	}
	return buf.Bytes(), nil
}

func unreadable(err error) error {
	return apierr.New(apierr.InvalidRequest, "The request body could not be read completely.", apierr.Cause(err))
}

func (t *transcoder) tooLarge() error {
	return apierr.New(apierr.PayloadTooLarge, "The request body is larger than "+limits.Size(t.maxBody)+". Send less in one request.")
}
