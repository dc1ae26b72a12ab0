package console

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/requestid"
)

// Failure is a call that the server refused, or that did not reach it.
type Failure struct {
	detail    *optionsv1.ErrorDetail
	requestID string
	retry     time.Duration
	// away says that no server of svc answered.
	away bool
	// tool says that the error names an argument of a tool, and no field of a request.
	tool bool
	err  error
	hint string
}

// Tags of failures without an answer of the server.
const (
	tagUnreachable = "@svc/cli/ServerUnreachable"
	tagNoAnswer    = "@svc/cli/AnswerNotUnderstood"
)

// Error is the message for people, with tag and request id.
func (f *Failure) Error() string {
	text := f.detail.GetMessage()
	if flag := flagOf(f.detail.GetParam()); flag != "" && !f.tool {
		text = flag + ": " + text
	}
	about := []string{f.detail.GetTag()}
	if f.requestID != "" {
		about = append(about, "request "+f.requestID)
	}
	text = safe(text) + " (" + safe(strings.Join(about, ", ")) + ")"
	if f.hint != "" {
		text += "\n" + f.hint
	}
	return text
}

func (f *Failure) Unwrap() error { return f.err }

// JSON is the failure in the form of REST.
func (f *Failure) JSON() []byte {
	text := apierr.Envelope(f.detail, false)
	if f.requestID != "" {
		text = append(text[:len(text)-1], `,"request_id":`+strconv.Quote(safe(f.requestID))+"}"...)
	}
	return escapeControls(text)
}

// retryable reports whether the same call can succeed later.
func (f *Failure) retryable() bool { return f.away || f.detail.GetRetryable() }

// failure reads the error of a call.
func (c *Client) failure(err error) error {
	var wire *connect.Error
	if err == nil || errors.Is(err, context.Canceled) || !errors.As(err, &wire) {
		return err
	}
	f := &Failure{err: err, requestID: wire.Meta().Get(requestid.Header)}
	if seconds, err := strconv.Atoi(wire.Meta().Get("Retry-After")); err == nil {
		f.retry = time.Duration(seconds) * time.Second
	}
	for _, d := range wire.Details() {
		if value, err := d.Value(); err == nil {
			if detail, ok := value.(*optionsv1.ErrorDetail); ok {
				f.detail = detail
			}
		}
	}
	if f.detail == nil {
		f.unknown(c.target.URL, wire)
		return f
	}
	switch {
	case f.detail.GetStatus() == 401:
		f.hint = "The server no longer accepts this credential, or it belongs to another server. " + c.target.Relogin
	case f.detail.GetStatus() == 429 && f.retry > 0:
		f.hint = "Try again in " + f.retry.String() + "."
	}
	return f
}

// unknown describes an error that no method of svc returned.
func (f *Failure) unknown(server string, wire *connect.Error) {
	f.away = true
	f.detail = &optionsv1.ErrorDetail{
		Tag: tagUnreachable, Type: "api_error", Code: "server_unreachable", Title: "Server unreachable", Recovery: "retry", Retryable: true,
	}
	var network *net.OpError
	var address *url.Error
	switch {
	case wire.Code() == connect.CodeDeadlineExceeded, errors.As(wire, &address) && address.Timeout():
		f.detail.Message = server + " did not answer in time"
	case errors.As(wire, &network), errors.As(wire, &address):
		f.detail.Message = "no server answers at " + server + ": " + cause(wire)
		f.hint = "Does it run, and is the address right (--api-url, SVC_API_URL, 'svc login --url')?"
	case wire.Code() == connect.CodeUnavailable:
		f.detail.Message = server + " is not available: " + wire.Message()
	default:
		f.away = false
		f.detail.Tag, f.detail.Code, f.detail.Title = tagNoAnswer, "answer_not_understood", "Answer not understood"
		f.detail.Recovery, f.detail.Retryable = "none", false
		f.detail.Message = "the answer of " + server + " is not one of svc: " + wire.Message()
		f.hint = "Is this the address of the API of svc?"
	}
}

// cause is the innermost error: what the operating system said.
func cause(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}
