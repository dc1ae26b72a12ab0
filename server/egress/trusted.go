package egress

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Trusted is a set of origins (scheme, host, port) that the operator of the server names: the server of a provider, which may stand in
// the operator's own network. Requests, redirects included, go to these origins only, whatever address they have. A proxy may be used.
type Trusted struct {
	origins []string
	proxy   func(*http.Request) (*url.URL, error)
	roots   *x509.CertPool
}

// Trust makes a set of origins. A nil proxy means that of the environment (HTTPS_PROXY, NO_PROXY). Nil roots mean the certificate
// authorities of the system.
func Trust(proxy *url.URL, roots *x509.CertPool, origins ...*url.URL) *Trusted {
	t := &Trusted{proxy: http.ProxyFromEnvironment, roots: roots}
	if proxy != nil {
		t.proxy = http.ProxyURL(proxy)
	}
	for _, o := range origins {
		t.origins = append(t.origins, origin(o))
	}
	return t
}

// origin writes scheme, host and port, also the usual port of the scheme.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port)
}

// Client makes an HTTP client for the origins. It keeps connections. The timeout bounds a request with its body.
func (t *Trusted) Client(timeout time.Duration) *http.Client {
	transport := &http.Transport{
		Proxy: t.proxy, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: timeout, MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 4, MaxConnsPerHost: 16,
	}
	if t.roots != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: t.roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Timeout: timeout, Transport: &confined{origins: t.origins, next: transport}}
}

// confined refuses requests to other origins.
type confined struct {
	origins []string
	next    *http.Transport
}

func (c *confined) RoundTrip(r *http.Request) (*http.Response, error) {
	if !slices.Contains(c.origins, origin(r.URL)) {
		return nil, &RefusedError{Host: r.URL.Host, Reason: "it is not an address of the provider that the operator has set up"}
	}
	return c.next.RoundTrip(r)
}

// CloseIdleConnections lets http.Client reach that of the transport.
func (c *confined) CloseIdleConnections() { c.next.CloseIdleConnections() }
