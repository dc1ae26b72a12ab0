package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
)

// Target is an ingest address with an ingest key.
type Target struct{ URL, Key string }

// Count holds the results for the items of a signal.
type Count struct {
	// Sent counts items that were sent to the server. The server accepted Accepted of them and refused the others.
	Sent     int `json:"sent"`
	Accepted int `json:"accepted"`
	Refused  int `json:"refused"`
	Requests int `json:"requests"`
}

// Totals counts the telemetry sent so far.
type Totals struct {
	Signals map[string]Count `json:"signals"`
	// Retries counts repeated requests. The server had asked for the retry, or could not be reached.
	Retries int   `json:"retries"`
	Bytes   int64 `json:"bytes_sent"`
	// Reasons has the server's reasons for refused items.
	Reasons []string `json:"refusals,omitempty"`
}

// Items adds up a column of the counts.
func (t Totals) Items(of func(Count) int) (n int) {
	for _, c := range t.Signals {
		n += of(c)
	}
	return n
}

const (
	senders = 4
	// Patience is how long a request is retried before the run fails.
	Patience = 2 * time.Minute
	// grace is how long open requests may continue after a stop.
	grace      = 10 * time.Second
	maxReasons = 10
	maxAnswer  = 1 << 20
)

// outbox sends several requests at once. It has no queue: submit returns when a sender has taken the request.
type outbox struct {
	target Target
	client *http.Client
	work   chan request
	group  *errgroup.Group
	// broken ends when a sender has failed. hard ends open requests too, some time after a stop was requested.
	broken context.Context
	hard   context.Context

	mu     sync.Mutex
	totals Totals
}

func newOutbox(ctx context.Context, target Target) (*outbox, func() error) {
	hard, kill := context.WithCancel(context.WithoutCancel(ctx))
	group, broken := errgroup.WithContext(hard)
	o := &outbox{
		target: target, work: make(chan request), group: group, broken: broken, hard: hard,
		client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: senders, Proxy: http.ProxyFromEnvironment}},
		totals: Totals{Signals: map[string]Count{}},
	}
	for range senders {
		group.Go(o.sendAll)
	}
	undo := context.AfterFunc(ctx, func() { time.AfterFunc(grace, kill) })
	return o, func() error {
		close(o.work)
		err := group.Wait()
		undo()
		kill()
		o.client.CloseIdleConnections()
		return err
	}
}

// submit hands a request to a sender.
func (o *outbox) submit(r request) error {
	select {
	case o.work <- r:
		return nil
	case <-o.broken.Done():
		return o.broken.Err()
	}
}

// Totals returns a copy of the counts.
func (o *outbox) Totals() Totals {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.totals
	t.Signals = map[string]Count{}
	for k, v := range o.totals.Signals {
		t.Signals[k] = v
	}
	t.Reasons = append([]string(nil), o.totals.Reasons...)
	return t
}

func (o *outbox) sendAll() error {
	var p packer
	for r := range o.work {
		if err := o.deliver(&p, r); err != nil {
			return err
		}
	}
	return nil
}

// deliver sends one request until it gets a final answer.
func (o *outbox) deliver(p *packer, r request) error {
	body, err := r.encode()
	if err == nil {
		body, err = p.pack(body)
	}
	if err != nil {
		return fmt.Errorf("encode %s: %w", r.signal, err)
	}
	began, pause := time.Now(), 250*time.Millisecond
	for {
		refused, reason, again, err := o.post(r, body)
		if again == 0 {
			if err != nil {
				return err
			}
			o.count(r, len(body), refused, reason)
			return nil
		}
		if time.Since(began) > Patience {
			return fmt.Errorf("gave up after %s: %w", Patience, err)
		}
		o.mu.Lock()
		o.totals.Retries++
		o.mu.Unlock()
		if again == unspecified {
			again, pause = pause, min(2*pause, 10*time.Second)
		}
		select {
		case <-time.After(again):
		case <-o.hard.Done():
			return o.hard.Err()
		}
	}
}

func (o *outbox) count(r request, bytes, refused int, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.totals.Signals[r.signal]
	c.Sent += r.items
	c.Refused += refused
	c.Accepted += r.items - refused
	c.Requests++
	o.totals.Signals[r.signal] = c
	o.totals.Bytes += int64(bytes)
	if reason = strings.TrimSpace(reason); reason != "" && len(o.totals.Reasons) < maxReasons {
		o.totals.Reasons = append(o.totals.Reasons, r.signal+": "+reason)
	}
}

// unspecified means that the server leaves the pause to the sender.
const unspecified = -1

// post sends a request once. It returns the number of refused items with the reason, or the pause before the next attempt.
func (o *outbox) post(r request, body []byte) (refused int, reason string, again time.Duration, err error) {
	req, err := http.NewRequestWithContext(o.hard, http.MethodPost, o.target.URL+r.path, bytes.NewReader(body))
	if err != nil {
		return 0, "", 0, err
	}
	req.Header.Set("Authorization", "Bearer "+o.target.Key)
	req.Header.Set("Content-Type", r.media)
	req.Header.Set("User-Agent", "svc-demo")
	if !r.packed {
		req.Header.Set("Content-Encoding", "gzip")
	}
	for k, v := range r.headers {
		req.Header.Set(k, v)
	}
	res, err := o.client.Do(req)
	if err != nil {
		if o.hard.Err() != nil {
			return 0, "", 0, o.hard.Err()
		}
		return 0, "", unspecified, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return 0, "", unspecified, fmt.Errorf("read the answer of %s: %w", req.URL, err)
	}
	if res.StatusCode == http.StatusOK {
		refused, reason, err = outcome(r, answer)
		return refused, reason, 0, err
	}
	failed := fmt.Errorf("POST %s answers %d: %s", req.URL, res.StatusCode, strings.TrimSpace(envelope(answer)))
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
			return 0, "", time.Duration(s) * time.Second, failed
		}
		return 0, "", unspecified, failed
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		// This ends only the request, not the run.
		return r.items, failed.Error(), 0, nil
	case http.StatusUnauthorized:
		failed = fmt.Errorf("%w (is this an ingest key of this server?)", failed)
	case http.StatusNotFound:
		failed = fmt.Errorf("%w (is this the address of OTLP over HTTP?)", failed)
	}
	return 0, "", 0, failed
}

func envelope(answer []byte) string {
	var e struct {
		Error struct {
			Tag     string `json:"_tag"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &e) == nil && e.Error.Tag != "" {
		return e.Error.Tag + ": " + e.Error.Message
	}
	return fmt.Sprintf("%.300q", answer)
}

// outcome reads a successful response: the number of refused items, and the server's message.
func outcome(r request, answer []byte) (refused int, reason string, err error) {
	switch {
	case len(answer) == 0:
		return 0, "", nil
	case r.media == "application/x-protobuf":
		// The three responses have the same wire format: partial_success {rejected, error_message}.
		var m coltrace.ExportTraceServiceResponse
		if err := proto.Unmarshal(answer, &m); err != nil {
			return 0, "", fmt.Errorf("%s answers no OTLP: %w", r.path, err)
		}
		return int(m.GetPartialSuccess().GetRejectedSpans()), m.GetPartialSuccess().GetErrorMessage(), nil
	default:
		var m struct {
			Accepted          *int
			Reasons, Warnings []string
		}
		if err := json.Unmarshal(answer, &m); err != nil || m.Accepted == nil {
			return 0, "", errors.Join(fmt.Errorf("%s answers no count of accepted lines: %.100q", r.path, answer), err)
		}
		return r.items - *m.Accepted, strings.Join(append(m.Reasons, m.Warnings...), "; "), nil
	}
}
