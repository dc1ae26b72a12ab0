// Package egress makes requests to addresses that users give: webhooks, scrape targets, client metadata documents. No request
// reaches this machine, its network or a cloud's metadata service. The guard checks the address when the connection is dialled,
// after the name is resolved and again for each redirect, so neither a name nor an answer can lead elsewhere (server-side request
// forgery).
package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// RefusedError reports a URL, or an address behind it, that must not be called. Its text names the host and may be shown to the
// user who gave the URL.
type RefusedError struct{ Host, Reason string }

func (e *RefusedError) Error() string { return e.Host + " may not be called: " + e.Reason }

// ErrTooLarge is the error of Get for an answer that exceeds its limit.
var ErrTooLarge = errors.New("the answer is larger than allowed")

// Guard decides which addresses may be called.
type Guard struct {
	exempt []netip.Prefix
	roots  *x509.CertPool
}

// New makes a guard that refuses every address that is not public. exempt lists exceptions, such as an operator's own network.
func New(exempt ...netip.Prefix) *Guard { return &Guard{exempt: exempt} }

// Trusting returns the guard with other certificate authorities than those of the system. Nil means those of the system.
func (g *Guard) Trusting(roots *x509.CertPool) *Guard { return &Guard{exempt: g.exempt, roots: roots} }

// Options of a client.
type Options struct {
	// Timeout bounds a request with all its redirects and its body. The default is 10 s.
	Timeout time.Duration
	// Redirects bounds the redirects that are followed. After that, the redirect itself is the answer.
	Redirects int
	// PlainHTTP allows http:// as well as https://.
	PlainHTTP bool
	// KeepAlive is the time for which a connection may serve further requests. After it, the next request dials anew, so the guard judges
	// the address again. The default is 0: each request has its own connection.
	KeepAlive time.Duration
}

// Client makes an HTTP client whose every connection passes the guard. It uses no proxy, because a proxy would resolve the name
// itself. Without KeepAlive it keeps no connection, so no request uses what the guard decided for another one.
func (g *Guard) Client(o Options) *http.Client {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	var next http.RoundTripper = g.transport(o)
	if o.KeepAlive > 0 {
		next = &renewed{age: o.KeepAlive, dial: func() *http.Transport { return g.transport(o) }}
	}
	return &http.Client{
		Timeout:   o.Timeout,
		Transport: &checked{guard: g, options: o, next: next},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > o.Redirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

func (g *Guard) transport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: g.control}
	t := &http.Transport{
		DialContext: dialer.DialContext, DisableKeepAlives: o.KeepAlive <= 0, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: o.Timeout, MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout: o.KeepAlive, MaxIdleConnsPerHost: 1,
	}
	if o.KeepAlive > 0 { // such a client may be one of thousands
		t.ReadBufferSize, t.WriteBufferSize = 1<<10, 1<<10
	}
	if g.roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: g.roots, MinVersion: tls.VersionTLS12}
	}
	return t
}

// renewed keeps connections for a time.
type renewed struct {
	age  time.Duration
	dial func() *http.Transport

	mu    sync.Mutex
	since time.Time
	now   *http.Transport
}

func (r *renewed) RoundTrip(req *http.Request) (*http.Response, error) {
	return r.transport().RoundTrip(req)
}

func (r *renewed) transport() *http.Transport {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || time.Since(r.since) >= r.age {
		if r.now != nil {
			r.now.CloseIdleConnections()
		}
		r.now, r.since = r.dial(), time.Now()
	}
	return r.now
}

// CloseIdleConnections ends the connections that no request uses.
func (r *renewed) CloseIdleConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		r.now.CloseIdleConnections()
	}
}

// checked checks the URL of each request, redirects included, before its name is resolved.
type checked struct {
	guard   *Guard
	options Options
	next    http.RoundTripper
}

func (c *checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := c.guard.check(r.URL, c.options.PlainHTTP); err != nil {
		return nil, err
	}
	return c.next.RoundTrip(r)
}

// CloseIdleConnections lets http.Client reach that of the transport.
func (c *checked) CloseIdleConnections() {
	if next, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// CheckURL reads a URL that a user gives, and refuses one that the client would refuse. It gives an early answer; the guard of the
// client decides again.
func (g *Guard) CheckURL(text string, plainHTTP bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	if err := g.check(u, plainHTTP); err != nil {
		return nil, err
	}
	return u, nil
}

func (g *Guard) check(u *url.URL, plainHTTP bool) error {
	host := u.Hostname()
	refuse := func(reason string) error { return &RefusedError{Host: host, Reason: reason} }
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !plainHTTP):
		if plainHTTP {
			return refuse("the URL must begin with https:// or http://")
		}
		return refuse("the URL must begin with https://")
	case host == "":
		return errors.New("the URL has no host")
	case u.User != nil:
		return refuse("the URL must not hold a user name or password")
	}
	// A zone names an interface of this machine.
	if addr, err := netip.ParseAddr(host); err == nil && !g.allows(addr) {
		return refuse("its address is not public")
	}
	return nil
}

// control checks the address of a connection before it is dialled.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return &RefusedError{Host: address, Reason: "it is not a TCP address"}
	}
	if !g.allows(at.Addr()) {
		return &RefusedError{Host: at.Addr().String(), Reason: "its address is not public"}
	}
	return nil
}

func (g *Guard) allows(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	for _, p := range g.exempt {
		if p.Contains(addr) {
			return true
		}
	}
	return Public(addr)
}

// Get reads the body of a URL of at most limit bytes. Any status but 200 is an error.
func Get(ctx context.Context, client *http.Client, address, accept string, limit int64) (body []byte, header http.Header, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("egress: %w", err)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", "svc")
	res, err := client.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("egress: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("egress: %s answered %d", req.URL.Host, res.StatusCode)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil {
		// A server that ends its answer because the connection is being closed makes a part of it look whole.
		err = ctx.Err()
	}
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("egress: %w", err)
	case int64(len(body)) > limit:
		return nil, nil, ErrTooLarge
	}
	return body, res.Header, nil
}
