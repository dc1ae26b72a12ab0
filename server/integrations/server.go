package integrations

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/egress"
)

// Server is the part of a Provider that has its name and the address of its server. Providers embed it.
type Server struct {
	id, name, class string
	tools           []string
	// Base is the server, without a slash at its end.
	Base *url.URL
}

// NewServer reads the address of a provider's server.
func NewServer(id, name, class string, tools []string, address string) (Server, error) {
	base, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil {
		return Server{}, fmt.Errorf("%s: %w", id, err)
	}
	return Server{id, name, class, tools, base}, nil
}

// ID implements Provider.
func (s *Server) ID() string { return s.id }

// Name implements Provider.
func (s *Server) Name() string { return s.name }

// Class implements Provider.
func (s *Server) Class() string { return s.class }

// Tools implements Provider.
func (s *Server) Tools() []string { return s.tools }

// BaseURL implements Provider.
func (s *Server) BaseURL() string { return s.Base.String() }

// PlatformConfig is the server of a platform whose accounts are connected with a token.
type PlatformConfig struct {
	// URL is the server of the API.
	URL string
	// Trust makes the client for the addresses of the server.
	Trust func(origins ...*url.URL) *egress.Trusted
	Now   func() time.Time
}
