package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
)

// body is a request body that was read already. The marshaler leaves its error here: on its way through the generated code an error
// turns to text.
type body struct {
	bytes.Reader
	data []byte
	err  error
}

// Close does nothing.
func (b *body) Close() error { return nil }

// readBody reads the whole body, if the method takes one.
func (d *door) readBody(m *contract.Method, r *http.Request) (*body, error) {
	takes := m.HTTP.BodyField != ""
	if takes && r.ContentLength != 0 {
		if err := checkContentType(r.Header.Get("Content-Type")); err != nil {
			return nil, err
		}
	}
	data, err := d.readAll(r)
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
	if m.HTTP.BodyField == "*" {
		if name := namedInBody(data, m.HTTP.PathParams); name != "" {
			return nil, apierr.New(apierr.InvalidRequest, fmt.Sprintf("`%s` is no field of the body: it stands in the path.", name), apierr.Param(name))
		}
	}
	b := &body{data: data}
	b.Reset(data)
	return b, nil
}

// namedInBody is the first of the path parameters that the body gives, too: its value would be dropped for that of the path.
func namedInBody(data []byte, parameters []string) string {
	var object map[string]json.RawMessage
	for _, name := range parameters {
		if !bytes.Contains(data, []byte(`"`+name+`"`)) {
			continue
		}
		if object == nil && json.Unmarshal(data, &object) != nil {
			return "" // whoever reads the body says what is wrong with it
		}
		if _, given := object[name]; given {
			return name
		}
	}
	return ""
}

func checkContentType(header string) error {
	if header == "" {
		return nil // taken for JSON
	}
	mediaType, params, err := mime.ParseMediaType(header)
	charset := strings.ToLower(params["charset"])
	if err != nil || mediaType != "application/json" || charset != "" && charset != "utf-8" && charset != "utf8" {
		return apierr.New(apierr.UnsupportedMediaType, fmt.Sprintf("The content type %q is not supported: send application/json.", strings.ToValidUTF8(header, "\uFFFD")))
	}
	return nil
}

func (d *door) readAll(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.ContentLength > d.maxBody {
		drain(r.Body)
		return nil, d.tooLarge()
	}
	var from io.Reader = r.Body
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(io.LimitReader(r.Body, d.maxBody))
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, unreadable(err)
		}
		from = z
	default:
		return nil, apierr.New(apierr.UnsupportedMediaType, fmt.Sprintf("The content encoding %q is not supported: send the body plain or as gzip.", strings.ToValidUTF8(encoding, "\uFFFD")))
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(from, d.maxBody+1))
	var tooLarge *http.MaxBytesError
	switch {
	case n > d.maxBody || errors.As(err, &tooLarge):
		drain(r.Body)
		return nil, d.tooLarge()
	case err != nil:
		return nil, unreadable(err)
	}
	return buf.Bytes(), nil
}

// drainBytes of a body that is too large are read and dropped: a client that sends first and reads then would find its connection
// closed instead of the answer.
const drainBytes = 16 << 20

func drain(body io.Reader) {
	// The answer does not depend on whether the rest could be read.
	_, _ = io.CopyN(io.Discard, body, drainBytes)
}

func unreadable(err error) error {
	return apierr.New(apierr.InvalidRequest, "The request body could not be read to its end.", apierr.Cause(err))
}

func (d *door) tooLarge() error {
	return apierr.New(apierr.PayloadTooLarge, fmt.Sprintf("The request body is larger than %d bytes.", d.maxBody))
}
