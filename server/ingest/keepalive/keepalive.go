// Package keepalive holds the connections of a gRPC address to the rules for keepalive pings that grpc-go's server has and the HTTP/2 of
// net/http has not: a client that pings too often is told so in a GOAWAY (ENHANCE_YOUR_CALM, "too_many_pings"), which makes gRPC clients
// ping less, and its connection ends.
//
// It works below HTTP/2: a connection follows the frames that pass in both directions, without keeping any.
package keepalive

import (
	"cmp"
	"log/slog"
	"net"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Policy is what clients may do. A zero field has its default.
type Policy struct {
	// MinInterval is the least time between two pings with no answer of the server's between them, with or without calls under way.
	// Default limits.PingInterval, the least that clients of gRPC can be set to. Since what is sent evenly does not arrive so, a tenth less is let pass.
	MinInterval time.Duration
	// MaxStrikes is how many pings may come too early. Default 2.
	MaxStrikes int
	Logger     *slog.Logger
}

// Listener holds the connections of another listener to a policy.
func Listener(l net.Listener, p Policy) net.Listener {
	p.MinInterval = cmp.Or(p.MinInterval, limits.PingInterval)
	p.MaxStrikes = cmp.Or(p.MaxStrikes, 2)
	p.Logger = cmp.Or(p.Logger, slog.New(slog.DiscardHandler))
	return &listener{Listener: l, policy: p}
}

type listener struct {
	net.Listener
	policy Policy
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, policy: &l.policy}, nil
}
