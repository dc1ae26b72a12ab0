// Package egress makes requests to addresses that users give: webhooks, scrape targets, client metadata documents. No request
// reaches this machine, its network or a cloud's metadata service. The guard checks the address when the connection is dialled,
// after the name is resolved and again for each redirect, so neither a name nor an answer can lead elsewhere (server-side request
// forgery).
package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
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
type Guard struct{ exempt []netip.Prefix }

// New makes a guard that refuses every address that is not public. exempt lists exceptions, such as an operator's own network.
func New(exempt ...netip.Prefix) *Guard { return &Guard{exempt: exempt} }

// Options of a client.
type Options struct {
	// Timeout bounds a request with all its redirects and its body. The default is 10 s.
	Timeout time.Duration
	// Redirects bounds the redirects that are followed. After that, the redirect itself is the answer.
	Redirects int
	// PlainHTTP allows http:// as well as https://.
	PlainHTTP bool
}

// Client makes an HTTP client whose every connection passes the guard. It uses no proxy, because a proxy would resolve the name
// itself. It keeps no connection, so no request uses what the guard decided for another one.
func (g *Guard) Client(o Options) *http.Client {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: g.control}
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &checked{guard: g, options: o, next: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: o.Timeout, MaxResponseHeaderBytes: 64 << 10,
		}},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > o.Redirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
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
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("egress: %w", err)
	case int64(len(body)) > limit:
		return nil, nil, ErrTooLarge
	}
	return body, res.Header, nil
}
