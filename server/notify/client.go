package notify

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
)

// Outcome is the result of a send, as far as the next step depends on it.
type Outcome int

// Outcomes.
const (
	// Delivered: the destination accepted the message.
	Delivered Outcome = iota
	// Failed: a later try may succeed.
	Failed
	// Throttled: the destination wants fewer messages. A later try may succeed.
	Throttled
	// Rejected: the destination refuses the message.
	Rejected
	// Unauthorized: the destination refuses the credentials.
	Unauthorized
	// Missing: the target does not exist.
	Missing
	// Gone: the target wants no message any more.
	Gone
	// Unreadable: the message did not leave, because its stored form cannot be read. The destination is not to blame.
	Unreadable
	// Waiting: the destination takes no message until a person gives access to it again. A later try may succeed.
	Waiting
)

// Retryable reports whether a later try may succeed.
func (o Outcome) Retryable() bool { return o == Failed || o == Throttled || o == Waiting }

// Result describes a send. Its texts hold no secrets and may be shown.
type Result struct {
	Outcome Outcome
	// Code is the status of HTTP or SMTP; zero without an answer.
	Code int
	// Problem says why the send failed; it is empty after a success.
	Problem string
	// Answer is the start of the answer, Reference the id that the destination gave the message.
	Answer, Reference string
	// RetryAfter is the time that the destination asks for.
	RetryAfter time.Duration
	// Adopt is a new configuration that the destination returned; nil if it returned none.
	Adopt *Config
}

// deliveryAnswer is an answer of HTTP.
type deliveryAnswer struct {
	code   int
	header http.Header
	body   []byte
	host   string
}

// problem is a request without an answer that counts.
type problem struct {
	outcome Outcome
	code    int
	text    string
}

func (p *problem) Error() string { return p.text }

// post sends a request. secret says that it carries something that another host must not see: then it follows a redirect within the host
// only. Redirects other than 307 and 308 fail, because they would turn the request into another one.
func (s *Sender) post(ctx context.Context, target string, header http.Header, body []byte, secret bool) (*deliveryAnswer, error) {
	first, err := url.Parse(target)
	if err != nil {
		return nil, &problem{outcome: Rejected, text: "The URL cannot be read."}
	}
	at := first
	for hop := 0; ; hop++ {
		a, err := s.once(ctx, at, header, body)
		if err != nil {
			return nil, err
		}
		switch a.code {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
			return nil, &problem{
				Rejected, a.code,
				fmt.Sprintf("%s answered %d: the target moved. Change the URL of the destination.", at.Host, a.code),
			}
		case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return a, nil
		}
		next, err := at.Parse(a.header.Get("Location"))
		if err != nil || a.header.Get("Location") == "" {
			return nil, &problem{Rejected, a.code, fmt.Sprintf("%s redirects to nowhere.", at.Host)}
		}
		switch {
		case hop == limits.DeliveryRedirects:
			return nil, &problem{Rejected, a.code, fmt.Sprintf("The target redirects more than %d times.", limits.DeliveryRedirects)}
		case secret && (next.Host != first.Host || next.Scheme != first.Scheme):
			return nil, &problem{Rejected, a.code, fmt.Sprintf(
				"%s redirects to %s. A message with a secret does not follow it there. Change the URL of the destination.", at.Host, next.Host)}
		case at.Scheme == "https" && next.Scheme != "https":
			return nil, &problem{Rejected, a.code, fmt.Sprintf("%s redirects from https to %s.", at.Host, next.Scheme)}
		}
		at = next
	}
}

// once sends a request and reads the answer.
func (s *Sender) once(ctx context.Context, at *url.URL, header http.Header, body []byte) (*deliveryAnswer, error) {
	method, reader := http.MethodPost, io.Reader(bytes.NewReader(body))
	if body == nil {
		method, reader = http.MethodGet, nil
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), reader)
	if err != nil {
		return nil, &problem{outcome: Rejected, text: "The URL cannot be called."}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", "svc")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, noAnswer(at.Hostname(), err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, limits.DeliveryAnswerBytes))
	if err != nil && (res.StatusCode < 200 || res.StatusCode > 299) {
		return nil, noAnswer(at.Hostname(), err)
	}
	// A success whose body breaks off is a success: another request would repeat the message.
	return &deliveryAnswer{code: res.StatusCode, header: res.Header, body: text, host: at.Hostname()}, nil
}

// noAnswer says in words why there was no answer. The error itself may hold addresses and tokens.
func noAnswer(host string, err error) *problem {
	var refused *egress.RefusedError
	var dns *net.DNSError
	var hostname x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var timeout net.Error
	switch {
	case errors.As(err, &refused):
		return &problem{outcome: Rejected, text: fmt.Sprintf("%s may not be called: its address is not public, or its URL is not allowed.", host)}
	case errors.As(err, &dns) && dns.IsNotFound:
		return &problem{outcome: Failed, text: fmt.Sprintf("The name %s does not exist.", host)}
	case errors.As(err, &dns):
		return &problem{outcome: Failed, text: fmt.Sprintf("The name %s could not be resolved.", host)}
	case errors.As(err, &hostname), errors.As(err, &authority), errors.As(err, &invalid):
		return &problem{outcome: Failed, text: fmt.Sprintf("The certificate of %s is not valid.", host)}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return &problem{outcome: Failed, text: fmt.Sprintf("%s did not answer within %s.", host, limits.Lasts(limits.DeliveryTimeout))}
	case errors.Is(err, context.Canceled):
		return &problem{outcome: Failed, text: "The server stopped before the destination answered."}
	default:
		return &problem{outcome: Failed, text: fmt.Sprintf("The connection to %s failed.", host)}
	}
}

// result judges an answer by its status.
func (a *deliveryAnswer) result(secrets Secrets, now time.Time) Result {
	r := Result{Code: a.code, Answer: secrets.strike(string(a.body))}
	if at := a.header.Get("Retry-After"); at != "" {
		if seconds, err := strconv.Atoi(at); err == nil {
			r.RetryAfter = time.Duration(max(0, min(seconds, 1<<30))) * time.Second
		} else if date, err := http.ParseTime(at); err == nil {
			r.RetryAfter = max(0, date.Sub(now))
		}
	}
	switch c := a.code; {
	case c >= 200 && c <= 299:
		return r
	case c == http.StatusTooManyRequests:
		r.Outcome = Throttled
	case c == http.StatusRequestTimeout, c == http.StatusTooEarly, c >= 500:
		r.Outcome = Failed
	case c == http.StatusUnauthorized, c == http.StatusForbidden:
		r.Outcome = Unauthorized
	case c == http.StatusNotFound:
		r.Outcome = Missing
	case c == http.StatusGone:
		r.Outcome = Gone
	default:
		r.Outcome = Rejected
	}
	r.Problem = fmt.Sprintf("%s answered %d %s.", a.host, a.code, http.StatusText(a.code))
	if http.StatusText(a.code) == "" {
		r.Problem = fmt.Sprintf("%s answered %d.", a.host, a.code)
	}
	return r
}

// failed is the result of a request without an answer.
func failed(err error, secrets Secrets) Result {
	var p *problem
	if errors.As(err, &p) {
		return Result{Outcome: p.outcome, Code: p.code, Problem: secrets.strike(p.text)}
	}
	return Result{Outcome: Failed, Problem: "The message could not be sent."}
}

// merge adds fields to an object of JSON.
func merge(body json.RawMessage, fields map[string]any) ([]byte, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, fmt.Errorf("notify: read a stored message: %w", err)
	}
	for name, value := range fields {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("notify: write a message: %w", err)
		}
		object[name] = text
	}
	return json.Marshal(object)
}
