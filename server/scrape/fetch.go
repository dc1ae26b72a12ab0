package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/ingest/inflate"
	"github.com/svc-observability/svc/server/limits"
)

// accept prefers the formats that say most: protobuf has native histograms, OpenMetrics has exemplars and times of creation.
const accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=allow-utf-8;q=0.7," +
	"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5," +
	"text/plain;version=0.0.4;q=0.4,*/*;q=0.1"

// page is the answer of a target.
type page struct {
	body        []byte
	contentType string
}

// statusError is an answer with another status than 200.
type statusError struct {
	status int
	// after is the time that Retry-After names, or 0.
	after time.Duration
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("the target answered %d %s", e.status, http.StatusText(e.status))
	return strings.TrimSpace(text)
}

// timeoutError is an answer that did not come, or did not end, in time.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return "the target did not answer completely within " + limits.Lasts(e.after)
}

// errBusy reports that the bodies of other scrapes took the memory for bodies for the whole time of this scrape.
var errBusy = errors.New("the server was busy with other scrapes; this scrape was skipped")

// newClient makes the client of one target. Nothing is shared between targets, so no credential and no connection is either.
func newClient(guard *egress.Guard, timeout, keep time.Duration) *http.Client {
	c := guard.Client(egress.Options{PlainHTTP: true, Timeout: timeout, Redirects: limits.ScrapeRedirects, KeepAlive: keep})
	c.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if Origin(next.URL) != Origin(via[0].URL) {
			return fmt.Errorf("the target redirects to %s, another origin; set the URL to the address that answers", Origin(next.URL))
		}
		if len(via) > limits.ScrapeRedirects {
			return fmt.Errorf("the target redirects more than %d times", limits.ScrapeRedirects)
		}
		return nil
	}
	return c
}

// Origin is the scheme, host and port of a URL. Credentials are given for one origin.
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// fetcher reads the answers of targets within a bound on the memory of all bodies.
type fetcher struct {
	memory  *memory
	gunzips sync.Pool
}

func newFetcher() *fetcher {
	f := &fetcher{memory: newMemory(limits.ScrapeMemory)}
	f.gunzips.New = func() any { return new(inflate.Decoder) }
	return f
}

// fetch reads the answer of a target. The caller calls done when it no longer needs the body.
func (f *fetcher) fetch(ctx context.Context, client *http.Client, t *Target) (p page, done func(), err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL, nil)
	if err != nil {
		return page{}, nil, errors.New("the URL of the target is not valid")
	}
	req.Header.Set("Accept", accept)
	// With this header, net/http leaves the decompression to us, and so the bound on it.
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", "svc")
	req.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", strconv.FormatFloat(t.Timeout().Seconds(), 'f', -1, 64))
	if t.Authorization != "" {
		req.Header.Set("Authorization", t.Authorization)
	}
	res, err := client.Do(req) //nolint:bodyclose // read closes it
	if err != nil {
		return page{}, nil, plain(ctx, err, t.Timeout())
	}
	held := f.memory.hold()
	body, err := f.read(ctx, res, held)
	if err != nil {
		held.release()
		return page{}, nil, plain(ctx, err, t.Timeout())
	}
	return page{body, res.Header.Get("Content-Type")}, held.release, nil
}

func (f *fetcher) read(ctx context.Context, res *http.Response, held *held) (body []byte, err error) {
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		return nil, &statusError{res.StatusCode, retryAfter(res.Header, time.Now())}
	}
	if res.ContentLength > limits.ScrapeBody {
		return nil, fmt.Errorf("the answer has %d bytes; at most %s are read", res.ContentLength, limits.Size(limits.ScrapeBody))
	}
	sent, err := readBounded(ctx, res.Body, int(max(res.ContentLength, 0)), held)
	if err != nil {
		return nil, err
	}
	switch encoding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		return sent, nil
	case "gzip":
		return f.gunzip(ctx, sent, held)
	default:
		return nil, fmt.Errorf("the answer has the Content-Encoding %q, which was not asked for; gzip is supported", encoding)
	}
}

func (f *fetcher) gunzip(ctx context.Context, sent []byte, held *held) ([]byte, error) {
	if len(sent) < 18 {
		return nil, errors.New("the answer is not complete gzip")
	}
	size := int(sent[len(sent)-4]) | int(sent[len(sent)-3])<<8 | int(sent[len(sent)-2])<<16 | int(sent[len(sent)-1])<<24
	if size > 0 && size <= limits.ScrapeBody {
		if err := held.grow(ctx, size); err != nil {
			return nil, err
		}
		out := make([]byte, size)
		d, _ := f.gunzips.Get().(*inflate.Decoder)
		ok := d.Gunzip(out, sent)
		f.gunzips.Put(d)
		if ok {
			return out, nil
		}
	}
	// Several members, damage, or a size above the bound: the general reader decides, and stops at the bound.
	r, err := gzip.NewReader(bytes.NewReader(sent))
	if err != nil {
		return nil, fmt.Errorf("the answer is not gzip: %w", err)
	}
	out, err := readBounded(ctx, r, len(sent), held)
	if err != nil && !errors.Is(err, errBusy) && !errors.As(err, new(*sizeError)) {
		return nil, fmt.Errorf("the gzip of the answer is damaged: %w", err)
	}
	return out, err
}

// sizeError reports a body that exceeds limits.ScrapeBody.
type sizeError struct{}

func (*sizeError) Error() string {
	return "the answer has more than " + limits.Size(limits.ScrapeBody) + ", which is the most that is read"
}

// readBounded reads all of r, at most limits.ScrapeBody bytes.
func readBounded(ctx context.Context, r io.Reader, hint int, held *held) ([]byte, error) {
	size := min(max(hint+1, 4<<10), limits.ScrapeBody+1)
	if err := held.grow(ctx, size); err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case len(b) > limits.ScrapeBody:
			return nil, &sizeError{}
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		}
		if len(b) < cap(b) {
			continue
		}
		more := min(2*cap(b), limits.ScrapeBody+1)
		if err := held.grow(ctx, more); err != nil {
			return nil, err
		}
		b = append(make([]byte, 0, more), b...)
		held.shrink(len(b))
	}
}

// retryAfter reads the header of an answer, in seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return min(time.Duration(min(seconds, 1<<20))*time.Second, limits.ScrapeBackoff)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), limits.ScrapeBackoff)
	}
	return 0
}

// plain writes a failure of a request for the owner of the target. It names no path or query, which may hold a secret.
func plain(ctx context.Context, err error, timeout time.Duration) error {
	var status *statusError
	var refused *egress.RefusedError
	var dns *net.DNSError
	var wrapped *url.Error
	var timedOut net.Error
	switch {
	case errors.As(err, &status), errors.Is(err, errBusy):
		return err
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timedOut) && timedOut.Timeout():
		return &timeoutError{timeout}
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &dns):
		return fmt.Errorf("the host %s could not be resolved", dns.Name)
	case errors.As(err, &wrapped):
		return wrapped.Err
	default:
		return err
	}
}
