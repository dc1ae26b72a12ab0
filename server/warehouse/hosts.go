package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// hosts sends each request to one of several hosts of a cluster. A host without a connection is left out at once, and comes back after a
// good ping. A read that fails before the first byte of its answer goes on to the next host.
type hosts struct {
	all  []*host
	next http.RoundTripper
	log  *slog.Logger
	turn atomic.Uint32
	stop context.CancelFunc
	done sync.WaitGroup
}

// host is one host of a cluster.
type host struct {
	address  string
	inFlight atomic.Int64 // requests whose answers were not read to their ends
	// insertFailed is the time (Unix, nanoseconds) of the last insert if that failed.
	insertFailed atomic.Int64

	mu    sync.Mutex
	out   bool            // no request goes there while another host is in
	alive context.Context // it ends when several pings have failed, and with it the requests that wait for an answer
	lose  context.CancelFunc
}

// HostState is the state of a host.
type HostState struct {
	Address string
	Up      bool
}

// work says how a request is spread over hosts, and when it is repeated.
type work int

const (
	// reading goes to the host with the fewest requests, and once to each other one while it fails.
	reading work = iota
	// readingForTenant is reading, but at most on two hosts: the statement of a tenant may be what ended the first one.
	readingForTenant
	// inserting avoids a host that failed the last insert. The caller repeats it with its token.
	inserting
	// defining goes to the first host that is in, so that statements of a schema follow each other on one host.
	defining
)

type workKey struct{}

func doing(ctx context.Context, w work) context.Context { return context.WithValue(ctx, workKey{}, w) }

// most is on how many hosts a request may fail after it was sent.
func (w work) most(hosts int) int {
	//exhaustive:enforce
	switch w {
	case reading:
		return hosts
	case readingForTenant:
		return min(2, hosts)
	case inserting, defining:
	}
	return 1
}

// errNoPing says that a host takes connections and does not answer.
var errNoPing = errors.New("it does not answer pings")

// hostError is the failure of a connection to a host. It counts as a network error.
type hostError struct {
	address string
	cause   error
}

func (e *hostError) Error() string { return fmt.Sprintf("ClickHouse at %s: %v", e.address, e.cause) }
func (e *hostError) Unwrap() error { return e.cause }
func (*hostError) Timeout() bool   { return true }
func (*hostError) Temporary() bool { return true }

func newHosts(ctx context.Context, addresses []string, scheme string, next http.RoundTripper, log *slog.Logger) *hosts {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &hosts{next: next, log: log, stop: stop}
	for _, address := range addresses {
		h := newHost(ctx, address)
		p.all = append(p.all, h)
		p.done.Go(func() { p.watch(ctx, h, scheme) })
	}
	return p
}

func newHost(ctx context.Context, address string) *host {
	alive, lose := context.WithCancel(ctx)
	return &host{address: address, alive: alive, lose: lose}
}

// Close ends the pings.
func (p *hosts) Close() {
	p.stop()
	p.done.Wait()
}

// CloseIdleConnections is called by http.Client.
func (p *hosts) CloseIdleConnections() {
	if t, ok := p.next.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func (p *hosts) states() []HostState {
	list := make([]HostState, len(p.all))
	for i, h := range p.all {
		list[i] = HostState{h.address, !h.isOut()}
	}
	return list
}

// watch pings a host until ctx ends.
func (p *hosts) watch(ctx context.Context, h *host, scheme string) {
	tick := time.NewTicker(limits.WarehousePing)
	defer tick.Stop()
	failed := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := ping(ctx, p.next, scheme, h.address)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failed = 0
			if h.comeBack(ctx) {
				p.log.InfoContext(ctx, "a host of the warehouse is back", "host", h.address)
			}
		default:
			failed++
			p.leaveOut(ctx, h, err)
			if failed == limits.WarehousePingsLost {
				h.lost()
			}
		}
	}
}

// ping asks a host whether it answers at all.
func ping(ctx context.Context, next http.RoundTripper, scheme, address string) error {
	ctx, cancel := context.WithTimeout(ctx, limits.WarehousePing)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+"/ping", nil)
	if err != nil {
		return err
	}
	res, err := next.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 1<<10)); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers a ping with HTTP status %d", res.StatusCode)
	}
	return nil
}

func (h *host) isOut() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out
}

func (h *host) leave() (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed, h.out = !h.out, true
	return changed
}

func (h *host) comeBack(ctx context.Context) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alive.Err() != nil {
		h.alive, h.lose = context.WithCancel(ctx)
	}
	changed, h.out = h.out, false
	return changed
}

func (h *host) lost() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lose()
}

func (h *host) aliveNow() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.alive
}

func (p *hosts) leaveOut(ctx context.Context, h *host, cause error) {
	if h.leave() {
		p.log.WarnContext(ctx, "a host of the warehouse is left out", "host", h.address, "error", cause)
	}
}

// RoundTrip sends a request to a host, and to the next one if that may be repeated.
func (p *hosts) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	kind, _ := ctx.Value(workKey{}).(work) // statements that the driver sends are reads
	if req.Body != nil && req.Body != http.NoBody {
		defer func() { _ = req.Body.Close() }() // each attempt has a body of its own, if it can be read again
	}
	var tried []*host
	for sent := 0; ; {
		h := p.pick(kind, tried)
		tried = append(tried, h)
		res, err := p.try(h, req, len(tried))
		if kind == inserting {
			h.inserted(err == nil && res.StatusCode == http.StatusOK)
		}
		if err == nil && !brokenAnswer(res) || ctx.Err() != nil {
			return res, err
		}
		p.leaveOut(ctx, h, failureOf(err, res))
		if !isDial(err) { // the host may have begun
			sent++
		}
		rewinds := req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
		if !rewinds || len(tried) == len(p.all) || sent >= kind.most(len(p.all)) {
			return res, err
		}
		if res != nil {
			_ = res.Body.Close()
		}
	}
}

func failureOf(err error, res *http.Response) error {
	if err == nil {
		return fmt.Errorf("HTTP status %d", res.StatusCode)
	}
	return err
}

// brokenAnswer reports whether an answer comes from a proxy without a server behind it, or from a server that cannot work. If ClickHouse
// refuses a statement, it names a code.
func brokenAnswer(res *http.Response) bool {
	return res.StatusCode >= http.StatusInternalServerError && res.Header.Get("X-ClickHouse-Exception-Code") == ""
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// pick chooses a host for a request that was tried on some hosts already. A host that is out is chosen only if no other one is left.
func (p *hosts) pick(kind work, tried []*host) *host {
	first := 0
	if kind != defining {
		first = int(p.turn.Add(1)) % len(p.all)
	}
	var best *host
	var bestRank [3]int64
	for i := range p.all {
		h := p.all[(first+i)%len(p.all)]
		if slices.Contains(tried, h) {
			continue
		}
		var rank [3]int64
		if h.isOut() {
			rank[0] = 1
		}
		//exhaustive:enforce
		switch kind {
		case inserting:
			rank[1], rank[2] = h.failedInsert(), h.inFlight.Load()
		case reading, readingForTenant:
			rank[1] = h.inFlight.Load()
		case defining:
		}
		if best == nil || slices.Compare(rank[:], bestRank[:]) < 0 {
			best, bestRank = h, rank
		}
	}
	return best
}

func (h *host) inserted(stored bool) {
	if stored {
		h.insertFailed.Store(0)
		return
	}
	h.insertFailed.Store(time.Now().UnixNano())
}

// failedInsert is the time at which an insert failed, or 0 if that was long ago.
func (h *host) failedInsert() int64 {
	at := h.insertFailed.Load()
	if time.Since(time.Unix(0, at)) > limits.WarehouseInsertFailed {
		return 0
	}
	return at
}

// try sends a request to one host. It gives up when the host stops to answer pings before it answers the request.
func (p *hosts) try(h *host, req *http.Request, attempt int) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	out := req.Clone(ctx)
	out.URL.Host, out.Host = h.address, h.address
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			cancel()
			return nil, err
		}
		out.Body = body
	} else if attempt > 1 {
		out.Body = nil
	}
	h.inFlight.Add(1)
	unwatch := context.AfterFunc(h.aliveNow(), cancel)
	res, err := p.next.RoundTrip(out)
	answers := unwatch()
	if err == nil && answers {
		res.Body = &countedBody{res.Body, sync.OnceFunc(func() { h.inFlight.Add(-1); cancel() })}
		return res, nil
	}
	h.inFlight.Add(-1)
	cancel()
	if err == nil {
		_ = res.Body.Close()
	}
	switch {
	case req.Context().Err() != nil:
		return nil, req.Context().Err()
	case !answers:
		return nil, &hostError{h.address, errNoPing}
	}
	return nil, &hostError{h.address, err}
}

// countedBody is the body of an answer that ends a request when it is closed.
type countedBody struct {
	io.ReadCloser
	end func()
}

func (b *countedBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

// Hosts returns the hosts of the URL. Up is false while a host is left out. It is empty for the embedded engine.
func (w *Warehouse) Hosts() []HostState {
	if w.hosts != nil {
		return w.hosts.states()
	}
	var list []HostState
	for _, address := range w.endpoint.hosts {
		list = append(list, HostState{address, true})
	}
	return list
}

// PingHost returns an error if a host of the URL does not answer.
func (w *Warehouse) PingHost(ctx context.Context, address string) error {
	return ping(ctx, w.transport, w.endpoint.base.Scheme, address)
}
