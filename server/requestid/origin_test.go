package requestid_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/requestid"
)

func TestOrigin(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for name, test := range map[string]struct {
		remote    string
		forwarded []string
		want      string
	}{
		"direct":                      {"203.0.113.9:4000", nil, "203.0.113.9"},
		"a header of a stranger":      {"203.0.113.9:4000", []string{"198.51.100.1"}, "203.0.113.9"},
		"one proxy":                   {"10.0.0.1:4000", []string{"198.51.100.1"}, "198.51.100.1"},
		"forged before the proxy":     {"10.0.0.1:4000", []string{"1.2.3.4, 198.51.100.1"}, "198.51.100.1"},
		"two proxies, two headers":    {"10.0.0.1:4000", []string{"198.51.100.1", "10.0.0.2"}, "198.51.100.1"},
		"only proxies":                {"10.0.0.1:4000", []string{"10.0.0.3"}, "10.0.0.3"},
		"a header that is no address": {"10.0.0.1:4000", []string{"unknown"}, "10.0.0.1"},
		"an IPv4 address in IPv6":     {"[::ffff:10.0.0.1]:4000", []string{"198.51.100.1"}, "198.51.100.1"},
		"IPv6":                        {"[::1]:4000", []string{"2001:db8::7"}, "2001:db8::7"},
		"a proxy that says nothing":   {"10.0.0.1:4000", nil, "10.0.0.1"},
		"no address, as in a pipe":    {"@", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = test.remote
			for _, h := range test.forwarded {
				r.Header.Add("X-Forwarded-For", h)
			}
			var got principal.Origin
			requestid.WithOrigin(requestid.Proxies{Trusted: trusted},
				http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = principal.OriginFrom(r.Context()) })).
				ServeHTTP(httptest.NewRecorder(), r)
			if got.IP != test.want {
				t.Errorf("address %q, want %q", got.IP, test.want)
			}
		})
	}
}

func TestOriginCountryAndAgent(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, test := range map[string]struct {
		remote, header, sent, want string
	}{
		"a trusted proxy":            {"10.0.0.1:4000", "CF-IPCountry", "de", "DE"},
		"a stranger":                 {"203.0.113.9:4000", "CF-IPCountry", "DE", ""},
		"no header is named":         {"10.0.0.1:4000", "", "DE", ""},
		"the proxy knows no country": {"10.0.0.1:4000", "CF-IPCountry", "XX", ""},
		"the proxy names a network":  {"10.0.0.1:4000", "CF-IPCountry", "T1", ""},
		"a text":                     {"10.0.0.1:4000", "CF-IPCountry", "Germany", ""},
		"the proxy says nothing":     {"10.0.0.1:4000", "CF-IPCountry", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = test.remote
			r.Header.Set("CF-IPCountry", test.sent)
			r.Header.Set(requestid.AgentHeader, strings.Repeat("a", 300))
			var got principal.Origin
			proxies := requestid.Proxies{Trusted: trusted, CountryHeader: test.header}
			kept := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = principal.OriginFrom(r.Context()) })
			requestid.WithOrigin(proxies, kept).ServeHTTP(httptest.NewRecorder(), r)
			if got.Country != test.want || got.Agent != strings.Repeat("a", 256) {
				t.Errorf("country %q, want %q; agent %q", got.Country, test.want, got.Agent)
			}
		})
	}
}
