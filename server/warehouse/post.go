package warehouse

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
)

// post sends one statement over the HTTP interface. The caller closes the answer's body. A failure before the first byte of
// output is an *Error. A later failure is in the body, see copyAnswer.
func (w *Warehouse) post(ctx context.Context, params url.Values, body io.Reader) (*http.Response, error) {
	return w.postAs(ctx, credentials{w.endpoint.user, w.endpoint.password}, params, body)
}

// credentials are a user of ClickHouse.
type credentials struct{ user, password string }

func (w *Warehouse) postAs(ctx context.Context, as credentials, params url.Values, body io.Reader) (*http.Response, error) {
	u := w.endpoint.base
	u.Path = "/"
	u.RawQuery = params.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), body)
	if err != nil {
		return nil, err
	}
	if as.user != "" {
		req.Header.Set("X-ClickHouse-User", as.user)
		req.Header.Set("X-ClickHouse-Key", as.password)
	}
	req.Header["X-Idempotency-Key"] = nil // not sent; it lets the client retry on a fresh connection
	req.Header.Set("Content-Type", "application/octet-stream")
	res, err := w.http.Do(req)
	if err != nil {
		return nil, mapError(ctx, err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return nil, mapError(ctx, err)
	}
	if code, err := strconv.Atoi(res.Header.Get("X-ClickHouse-Exception-Code")); err == nil {
		return nil, codeError(code, string(bytes.TrimSpace(text)), nil)
	}
	return nil, statusError(res.StatusCode, string(text))
}

// exec runs a statement that returns nothing. An empty database name means the server's default database.
func (w *Warehouse) exec(ctx context.Context, database, sql string, settings map[string]string) error {
	params := url.Values{}
	for k, v := range settings {
		params.Set(k, v)
	}
	if database != "" {
		params.Set("database", database)
	}
	res, err := w.post(doing(ctx, defining), params, bytes.NewReader([]byte(sql)))
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	return copyAnswer(ctx, io.Discard, res)
}

// tailBytes is at least as long as the block in which ClickHouse reports an exception after it has begun to answer.
const tailBytes = 20 << 10

var exceptionBlock = regexp.MustCompile(`(?s)\r?\n?__exception__\r\n(.*?)Code: (\d+)\. (.*)$`)

// copyAnswer copies an answer's body to out. If an exception ends the body, copyAnswer returns it.
func copyAnswer(ctx context.Context, out io.Writer, res *http.Response) error {
	buf := make([]byte, 0, 4*tailBytes)
	for {
		n, err := res.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return mapError(ctx, err)
		}
		if len(buf) == cap(buf) {
			// Hold back the last part: it may be the exception and not output.
			ready := len(buf) - tailBytes
			if _, err := out.Write(buf[:ready]); err != nil {
				return fmt.Errorf("cannot write the query's output: %w", err)
			}
			buf = buf[:copy(buf, buf[ready:])]
		}
	}
	tail, exception := buf, error(nil)
	marker := "__exception__\r\n"
	if tag := res.Header.Get("X-ClickHouse-Exception-Tag"); tag != "" {
		marker += tag + "\r\n"
	}
	if at := bytes.Index(buf, []byte(marker)); at >= 0 {
		if m := exceptionBlock.FindSubmatch(buf[at:]); m != nil {
			if code, err := strconv.Atoi(string(m[2])); err == nil {
				tail, exception = bytes.TrimSuffix(buf[:at], []byte("\r\n")), codeError(code, string(m[3]), nil)
			}
		}
	}
	if _, err := out.Write(tail); err != nil {
		return fmt.Errorf("cannot write the query's output: %w", err)
	}
	return exception
}

// Exec runs a statement that returns nothing: DDL, and deletions by the services that own the rows. Values are never part of the
// text; they come as Named arguments.
func (w *Warehouse) Exec(ctx context.Context, sql string, args ...Arg) error {
	params, err := formatArgs(args)
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for name, value := range params {
		settings["param_"+name] = value
	}
	return w.exec(ctx, w.endpoint.database, sql, settings)
}
