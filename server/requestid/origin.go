package requestid

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/svc-observability/svc/server/principal"
)

// maxUserAgent cuts the User-Agent of a caller, which is stored in the audit log, and the name of its agent.
const maxUserAgent = 256

// AgentHeader names the agent for which a caller acts.
const AgentHeader = "X-Svc-Agent-Id"

// Proxies are the reverse proxies in front of the server.
type Proxies struct {
	// Trusted are their networks. No other peer is believed.
	Trusted []netip.Prefix
	// CountryHeader is the header in which they name the country of the caller; empty without one.
	CountryHeader string
}

// WithOrigin notes where each request came from. X-Forwarded-For is believed only as far as trusted proxies wrote it: read from its
// end, the first address that is not a trusted proxy's is the caller's.
func WithOrigin(proxies Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent := r.UserAgent()
		if len(agent) > maxUserAgent {
			agent = strings.ToValidUTF8(agent[:maxUserAgent], "")
		}
		o := principal.Origin{
			IP: callerAddress(r, proxies.Trusted), UserAgent: agent, Country: proxies.country(r), Agent: r.Header.Get(AgentHeader),
		}
		o.Agent = o.Agent[:min(len(o.Agent), maxUserAgent)]
		next.ServeHTTP(w, r.WithContext(principal.WithOrigin(r.Context(), o)))
	})
}

// country returns the country that a trusted proxy names. Proxies write XX, T1 and the like where they know none.
func (p *Proxies) country(r *http.Request) string {
	peer, ok := peerAddress(r)
	if p.CountryHeader == "" || !ok || !contains(p.Trusted, peer) {
		return ""
	}
	code := strings.ToUpper(strings.TrimSpace(r.Header.Get(p.CountryHeader)))
	if len(code) != 2 || code == "XX" || code == "ZZ" || code[0] < 'A' || code[0] > 'Z' || code[1] < 'A' || code[1] > 'Z' {
		return ""
	}
	return code
}

// peerAddress is the address at the other end of the connection; ok is false if it is not a TCP connection.
func peerAddress(r *http.Request) (addr netip.Addr, ok bool) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return addr, false
	}
	addr, err = netip.ParseAddr(host)
	return addr.Unmap(), err == nil
}

func callerAddress(r *http.Request, trusted []netip.Prefix) string {
	addr, ok := peerAddress(r)
	if !ok {
		return ""
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && contains(trusted, addr); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop.Unmap()
	}
	return addr.String()
}

func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
