// Package apierr holds the only error type that leaves a service, and the table of tags with the meaning of each error: status,
// type, code, title, recovery. The table is read from the options of svc.v2.ErrorTag. Each door maps an Error in one place.
package apierr

import (
	"context"
	"errors"
	"fmt"
	"time"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Tag is the identity of an error; its constants are in tags.go.
type Tag = svcv2.ErrorTag

// Violation is one invalid input: the path of the field as the caller wrote it, and the reason.
type Violation struct {
	Field   string
	Message string
}

// Error is a failure in the form that callers may see, with a private cause for logs and errors.Is.
type Error struct {
	Tag Tag
	// Message explains this occurrence. Safe to show: it never holds an upstream error, a secret or another tenant's value.
	Message string
	// Param names the one invalid input. It is empty if no single input is invalid.
	Param      string
	Violations []Violation
	// RetryAfter is the delay if the failure knows a better one than the default of the tag.
	RetryAfter time.Duration

	cause error
}

// Option adds a detail to an Error.
type Option func(*Error)

// Param names the invalid input.
func Param(name string) Option { return func(e *Error) { e.Param = name } }

// Violations lists every invalid input.
func Violations(v ...Violation) Option {
	return func(e *Error) { e.Violations = append(e.Violations, v...) }
}

// RetryAfter says when the same request can succeed.
func RetryAfter(d time.Duration) Option { return func(e *Error) { e.RetryAfter = d } }

// Cause keeps the underlying error for logs and errors.Is. Callers never see it.
func Cause(err error) Option { return func(e *Error) { e.cause = err } }

// New makes an error. An empty message becomes the tag's title.
func New(tag Tag, message string, opts ...Option) *Error {
	e := &Error{Tag: tag, Message: message, Param: Spec(tag).GetParam()}
	for _, o := range opts {
		o(e)
	}
	if e.Message == "" {
		e.Message = Spec(tag).GetTitle()
	}
	return e
}

// Error returns tag, message and cause, for logs.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", Spec(e.Tag).GetTag(), e.Message, e.cause)
	}
	return Spec(e.Tag).GetTag() + ": " + e.Message
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.cause }

// RetryAfterSeconds is the value of Retry-After: whole seconds, rounded up; 0 when the request should not be repeated.
func (e *Error) RetryAfterSeconds() int {
	s := Spec(e.Tag)
	if !s.GetRetryable() {
		return 0
	}
	if e.RetryAfter > 0 {
		return int((e.RetryAfter + time.Second - 1) / time.Second)
	}
	return max(1, int(s.GetRetryAfterSeconds()))
}

// Detail is the error in the form in which a Connect or gRPC status carries it.
func (e *Error) Detail() *optionsv1.ErrorDetail {
	s := Spec(e.Tag)
	d := &optionsv1.ErrorDetail{
		Tag: s.GetTag(), Type: Type(int(s.GetStatus())), Code: s.GetCode(), Title: s.GetTitle(), Message: e.Message,
		Recovery: s.GetRecovery(), Retryable: s.GetRetryable(), Status: s.GetStatus(),
		RetryAfterSeconds: int32(e.RetryAfterSeconds()), Param: e.Param,
	}
	for _, v := range e.Violations {
		d.Violations = append(d.Violations, &optionsv1.Violation{Field: v.Field, Message: v.Message})
	}
	return d
}

// From turns any error into an Error. It returns an Error in the chain unchanged. A canceled or expired context gets its own tag.
// Everything else becomes UnexpectedError with a private cause.
func From(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return New(RequestCanceled, "The caller ended the request before the answer was ready.", Cause(err))
	case errors.Is(err, context.DeadlineExceeded):
		return New(WorkerUnavailable, "The request took too long. Try again.", Cause(err))
	default:
		return New(Unexpected, "The server failed. Its log has the reason under the request id.", Cause(err))
	}
}
