package requestid

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/svc-observability/svc/server/principal"
)

// maxUserAgent cuts the User-Agent of a caller, which is stored in the audit log.
const maxUserAgent = 256

// WithOrigin notes where each request came from. X-Forwarded-For is believed only as far as trusted proxies wrote it: read from its
// end, the first address that is not a trusted proxy's is the caller's.
func WithOrigin(trusted []netip.Prefix, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent := r.UserAgent()
		if len(agent) > maxUserAgent {
			agent = strings.ToValidUTF8(agent[:maxUserAgent], "")
		}
		o := principal.Origin{IP: callerAddress(r, trusted), UserAgent: agent}
		next.ServeHTTP(w, r.WithContext(principal.WithOrigin(r.Context(), o)))
	})
}

func callerAddress(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "" // not a TCP connection
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return ""
	}
	addr = addr.Unmap()
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
