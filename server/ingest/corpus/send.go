package corpus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// Target is the destination of the corpus.
type Target struct {
	// HTTP and GRPC are addresses in the form host:port.
	HTTP, GRPC string
	Key        string
	// Connector is the id of a log push connector, with its secret as the query.
	Connector string
	client    *http.Client
}

// NewTarget makes a target. The caller closes it.
func NewTarget(httpAddr, grpcAddr, key string) *Target {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return &Target{HTTP: httpAddr, GRPC: grpcAddr, Key: key, client: &http.Client{Transport: &http.Transport{
		Protocols:          &protocols,
		DisableCompression: true,
	}}}
}

// Close closes idle connections.
func (t *Target) Close() { t.client.CloseIdleConnections() }

// Answer is a received response.
type Answer struct {
	Status  int
	GRPC    codes.Code
	Code    string
	Tag     string
	Message string
	// Rejected is the count of a partial success.
	Rejected int64
	Took     time.Duration
}

// Send sends a case and reads the response.
func (t *Target) Send(ctx context.Context, c *Case) (a Answer, err error) {
	started := time.Now()
	if c.Door == GRPC {
		a, err = t.sendGRPC(ctx, c)
	} else {
		a, err = t.sendHTTP(ctx, c)
	}
	a.Took = time.Since(started)
	return a, err
}

// Check returns an error if a response differs from the case's expectations.
func (c *Case) Check(a Answer) error {
	var errs []error
	got := Outcome{Status: a.Status, Code: a.Code, GRPC: a.GRPC, Tag: a.Tag}
	want := c.Want
	if c.Door == GRPC {
		want.Status, want.Code = 0, ""
	} else {
		want.GRPC = codes.OK
	}
	if got != want {
		errs = append(errs, fmt.Errorf("answer %+v, want %+v", got, want))
	}
	if !strings.Contains(a.Message, c.Message) || c.Message == "" && c.Want == OK && a.Message != "" {
		errs = append(errs, fmt.Errorf("message %.600q, want %q", a.Message, c.Message))
	}
	if a.Rejected != c.Rejected {
		errs = append(errs, fmt.Errorf("%d items rejected, want %d", a.Rejected, c.Rejected))
	}
	return errors.Join(errs...)
}

func (t *Target) sendHTTP(ctx context.Context, c *Case) (Answer, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", t.HTTP)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(45 * time.Second)); err != nil {
		return Answer{}, err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		// A server that refuses a body does not read all of it. Only its response counts.
		_, _ = conn.Write(t.head(c))
		if c.Raw == "" {
			_, _ = conn.Write(c.Body)
			if c.Chunked {
				_, _ = io.WriteString(conn, "\r\n0\r\n\r\n")
			}
		}
		if c.Shut || c.Declared != 0 && c.Declared <= 20<<20 {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: c.Method})
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	_ = conn.Close()
	<-written
	if err != nil {
		return Answer{}, err
	}
	return readHTTP(c, res, body)
}

// head returns everything before the body.
func (t *Target) head(c *Case) []byte {
	if c.Raw != "" {
		return []byte(strings.ReplaceAll(c.Raw, "{key}", t.Key))
	}
	var b bytes.Buffer
	method, path := c.Method, c.Path
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = "/v1/" + c.Signal.String()
	}
	path = strings.ReplaceAll(path, "{connector}", t.Connector)
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: ingest\r\nConnection: close\r\n", method, path)
	if !c.NoKey {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", t.Key)
	}
	for name, values := range c.Header {
		for _, v := range values {
			fmt.Fprintf(&b, "%s: %s\r\n", name, strings.ReplaceAll(v, "{key}", t.Key))
		}
	}
	switch {
	case c.Chunked:
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n", len(c.Body))
	case c.Declared != 0:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", c.Declared)
	default:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(c.Body))
	}
	return b.Bytes()
}

func readHTTP(c *Case, res *http.Response, body []byte) (Answer, error) {
	a := Answer{Status: res.StatusCode}
	media := res.Header.Get("Content-Type")
	if a.Status == http.StatusOK {
		var err error
		if media == "application/json" {
			err = a.readPartialJSON(c.Signal, body)
		} else {
			err = a.readPartial(body)
		}
		return a, err
	}
	if media != "application/json" || len(body) == 0 {
		a.Message = string(body)
		return a, nil
	}
	var e struct {
		Error struct {
			Tag        string `json:"_tag"`
			Code       string `json:"code"`
			Message    string `json:"message"`
			Retryable  bool   `json:"retryable"`
			RetryAfter int    `json:"retry_after_seconds"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return a, fmt.Errorf("%w: %s", err, body)
	}
	a.Code, a.Tag, a.Message = e.Error.Code, e.Error.Tag, e.Error.Message
	if retry := res.Header.Get("Retry-After"); e.Error.Retryable != (retry != "") || retry != "" && retry != strconv.Itoa(e.Error.RetryAfter) {
		return a, fmt.Errorf("Retry-After %q does not fit %s", retry, body)
	}
	return a, nil
}

// readPartial reads an Export…ServiceResponse. The responses of all signals have the same wire format.
func (a *Answer) readPartial(body []byte) error {
	var m coltrace.ExportTraceServiceResponse
	if err := proto.Unmarshal(body, &m); err != nil {
		return err
	}
	a.Rejected, a.Message = m.GetPartialSuccess().GetRejectedSpans(), m.GetPartialSuccess().GetErrorMessage()
	return nil
}

func (a *Answer) readPartialJSON(signal otlp.Signal, body []byte) error {
	var m struct {
		PartialSuccess map[string]string `json:"partialSuccess"`
		// The fields below come from endpoints that take lines.
		Rejected          int64
		Reasons, Warnings []string
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Errorf("%w: %s", err, body)
	}
	a.Message = m.PartialSuccess["errorMessage"] + strings.Join(append(m.Reasons, m.Warnings...), "; ")
	a.Rejected = m.Rejected
	field := map[otlp.Signal]string{otlp.Traces: "rejectedSpans", otlp.Logs: "rejectedLogRecords", otlp.Metrics: "rejectedDataPoints"}[signal]
	if s, ok := m.PartialSuccess[field]; ok {
		n, err := strconv.ParseInt(s, 10, 64)
		a.Rejected = n
		return err
	}
	return nil
}

// sendGRPC makes a call by hand over HTTP/2, because a gRPC client would not send most of these requests.
func (t *Target) sendGRPC(ctx context.Context, c *Case) (Answer, error) {
	path := c.Path
	if path == "" {
		path = map[otlp.Signal]string{
			otlp.Traces:  "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
			otlp.Logs:    "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
			otlp.Metrics: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
		}[c.Signal]
	}
	body := io.Reader(bytes.NewReader(c.Body))
	if !c.Frame {
		prefix := []byte{0, byte(len(c.Body) >> 24), byte(len(c.Body) >> 16), byte(len(c.Body) >> 8), byte(len(c.Body))}
		if c.Compressed {
			prefix[0] = 1
		}
		body = io.MultiReader(bytes.NewReader(prefix), body)
	}
	ctx, cancel := context.WithTimeout(ctx, 45*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+t.GRPC+path, body)
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Te", "trailers")
	if !c.NoKey {
		r.Header.Set("Authorization", "Bearer "+t.Key)
	}
	for name, values := range c.Header {
		r.Header.Del(name)
		for _, v := range values {
			r.Header.Add(name, strings.ReplaceAll(v, "{key}", t.Key))
		}
	}
	if c.Encoding != "" {
		r.Header.Set("Grpc-Encoding", c.Encoding)
	}
	res, err := t.client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	message, err := io.ReadAll(res.Body)
	if err != nil {
		return Answer{}, err
	}
	return readGRPC(res, message)
}

func readGRPC(res *http.Response, message []byte) (Answer, error) {
	trailer := res.Trailer
	if trailer.Get("Grpc-Status") == "" {
		trailer = res.Header // a response with headers only
	}
	n, err := strconv.ParseUint(trailer.Get("Grpc-Status"), 10, 8)
	if err != nil {
		return Answer{}, fmt.Errorf("%s, grpc-status: %w", res.Status, err)
	}
	a := Answer{GRPC: codes.Code(n)}
	if a.GRPC == codes.OK {
		if len(message) < 5 {
			return a, fmt.Errorf("a message of %d bytes", len(message))
		}
		answer := message[5:]
		if message[0] == 1 {
			z, err := gzip.NewReader(bytes.NewReader(answer))
			if err != nil {
				return a, err
			}
			if answer, err = io.ReadAll(z); err != nil {
				return a, err
			}
		}
		return a, a.readPartial(answer)
	}
	if a.Message, err = url.PathUnescape(trailer.Get("Grpc-Message")); err != nil {
		return a, err
	}
	details := trailer.Get("Grpc-Status-Details-Bin")
	if details == "" {
		return a, nil
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(details, "="))
	if err != nil {
		return a, err
	}
	var st spb.Status
	if err := proto.Unmarshal(b, &st); err != nil {
		return a, err
	}
	for _, d := range st.GetDetails() {
		var info errdetails.ErrorInfo
		if d.MessageIs(&info) {
			if err := d.UnmarshalTo(&info); err != nil {
				return a, err
			}
			a.Tag = info.GetReason()
		}
	}
	return a, nil
}
