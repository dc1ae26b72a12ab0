package egress_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/egress"
)

func TestPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"1.1.1.1": true, "93.184.215.14": true, "2606:4700::1111": true, "2a00:1450:4001::1": true, "::ffff:8.8.8.8": true,

		"127.0.0.1": false, "127.9.9.9": false, "10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.100.100.200": false, "100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "224.0.0.1": false,
		"255.255.255.255": false, "240.0.0.1": false, "192.0.0.192": false, "192.0.2.1": false, "198.18.0.1": false, "198.51.100.7": false,
		"203.0.113.9": false,
		"192.88.99.1": false, "::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.1.1.1": false, "::127.0.0.1": false,
		"64:ff9b::7f00:1": false,
		"64:ff9b:1::1":    false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "fc00::1": false, "fd00:ec2::254": false,
		"ff02::1":       false,
		"2002:7f00:1::": false, "2001:0:7f00:1::": false, "2001:db8::1": false, "3fff::1": false, "100::1": false, "4000::1": false,
	} {
		if got := egress.Public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
}

func TestCheckURL(t *testing.T) {
	g := egress.New()
	for text, want := range map[string]string{
		"https://example.com/hook": "", "https://example.com:8443/": "", "https://1.1.1.1/": "",
		"http://example.com/":            "must begin with https://",
		"file:///etc/passwd":             "must begin with https://",
		"gopher://example.com/":          "must begin with https://",
		"https://":                       "has no host",
		"https:///path":                  "has no host",
		"https://user:pass@example.com/": "user name or password",
		"https://127.0.0.1/":             "not public",
		"https://[::1]/":                 "not public",
		"https://[::ffff:169.254.169.254]/latest/meta-data": "not public",
		"https://[fe80::1%25eth0]/":                         "not public",
		"https://exa mple.com/":                             "not a URL",
		"example.com/hook":                                  "must begin with https://",
	} {
		_, err := g.CheckURL(text, false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := g.CheckURL("http://example.com/", true); err != nil {
		t.Error(err)
	}
}

// TestNameOfThisMachine dials names, and numbers in the spellings that resolvers understand, that mean this machine.
func TestNameOfThisMachine(t *testing.T) {
	var called atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	client := egress.New().Client(egress.Options{PlainHTTP: true, Timeout: 5 * time.Second})
	for _, host := range []string{
		"localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "2130706433", "0x7f000001",
		"0177.0.0.1", "127.1",
	} {
		if _, _, err := egress.Get(t.Context(), client, "http://"+host+":"+port+"/", "*/*", 100); err == nil {
			t.Errorf("%s was called", host)
		}
	}
	_, _, err := egress.Get(t.Context(), client, "http://localhost:"+port+"/", "*/*", 100)
	var refused *egress.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Error(), "not public") {
		t.Errorf("localhost: %v", err)
	}
	if n := called.Load(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}
}

func TestRedirects(t *testing.T) {
	var secret atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { secret.Add(1) }))
	defer inside.Close()
	hops := 0
	outside := listenOn(t, "127.0.0.2:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops++
		switch r.URL.Path {
		case "/inside":
			http.Redirect(w, r, "http://localhost:"+inside.URL[strings.LastIndex(inside.URL, ":")+1:]+"/", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			_, _ = w.Write([]byte("here"))
		}
	}))
	// The one stands for a public host, the other, at another address of the same machine, for one that is not.
	g := egress.New(netip.MustParsePrefix("127.0.0.2/32"))
	base := outside.URL
	client := g.Client(egress.Options{PlainHTTP: true, Redirects: 3, Timeout: 5 * time.Second})
	if body, _, err := egress.Get(t.Context(), client, base+"/", "*/*", 4); err != nil || string(body) != "here" {
		t.Fatalf("%q, %v", body, err)
	}
	if _, _, err := egress.Get(t.Context(), client, base+"/", "*/*", 3); !errors.Is(err, egress.ErrTooLarge) {
		t.Errorf("a body beyond the limit: %v", err)
	}
	for path, want := range map[string]string{"/inside": "not public", "/file": "must begin with", "/round": "answered 302"} {
		hops = 0
		if _, _, err := egress.Get(t.Context(), client, base+path, "*/*", 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if hops > 4 {
			t.Errorf("%s: %d hops", path, hops)
		}
	}
	if n := secret.Load(); n != 0 {
		t.Errorf("a redirect led inside %d times", n)
	}
}
