// Package oauth is the authorization server of the MCP server: OAuth 2.1 for public clients (RFC 6749, 7636, 8414, 8707, 9207,
// 9700), dynamic registration (RFC 7591), client metadata documents, and revocation (RFC 7009).
//
// A program asks at the authorization endpoint, which is a page of package pages. A person signs in there, chooses an organization
// and consents. The consent makes a grant. The grant has a code, which becomes an access token and a refresh token. Code and
// tokens are random text, stored only as keyed hashes, and valid for the MCP server only.
package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/store"
)

// Lifetimes of codes, tokens and grants.
const (
	codeLifetime   = limits.OAuthCode
	AccessLifetime = limits.OAuthAccess
	RefreshIdle    = limits.OAuthRefresh
	GrantLifetime  = limits.OAuthGrant
)

// Limits on the requests that one address may make to the endpoints for programs in a window.
const (
	RateLimit  = limits.OAuthRequests
	RateWindow = limits.OAuthPeriod
)

// FullAccess is the scope that includes all others.
const FullAccess = "*"

// Paths of the endpoints. AuthorizePath is served by package pages.
const (
	AuthorizePath = "/oauth/authorize"
	tokenPath     = "/oauth/token"
	revokePath    = "/oauth/revoke"
	registerPath  = "/register"
)

// maxClients bounds the registered clients that are kept.
const maxClients = limits.OAuthClients

// Store is the part of the relational store that the authorization server needs.
type Store interface {
	CreateOAuthClient(ctx context.Context, in store.OAuthClient, limit int) (store.OAuthClient, error)
	OAuthClientByID(ctx context.Context, id string) (store.OAuthClient, error)
	CreateOAuthGrant(ctx context.Context, org principal.OrgID, in store.NewOAuthGrant) (store.OAuthGrant, error)
	OAuthGrantByCode(ctx context.Context, hash string) (store.OAuthGrant, error)
	RedeemOAuthCode(ctx context.Context, id uuid.UUID, in store.OAuthTokens) error
	OAuthRefreshByHash(ctx context.Context, hash string) (store.OAuthRefresh, error)
	RotateOAuthTokens(ctx context.Context, refresh store.OAuthRefresh, in store.OAuthTokens) error
	RevokeOAuthToken(ctx context.Context, clientID, hash string) error
}

// Config configures a Server.
type Config struct {
	Store  Store
	Hasher *auth.Hasher
	// Issuer is the base URL under which people and programs reach this server; the MCP server is at its path /mcp.
	Issuer string
	// Scopes are the scopes that a program can request, including FullAccess.
	Scopes []string
	// Guard dials client metadata documents.
	Guard *egress.Guard
	// Limiter bounds the requests of one address; nil means no limit.
	Limiter ratelimit.Limiter
	Logger  *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Server is safe for concurrent use.
type Server struct {
	cfg       Config
	resource  string
	documents *documents
}

// New returns an authorization server.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Issuer = strings.TrimRight(cfg.Issuer, "/")
	s := &Server{cfg: cfg, resource: cfg.Issuer + "/mcp"}
	s.documents = newDocuments(cfg.Guard, cfg.Now, func(ctx context.Context) error {
		if ok, _ := s.allow(ctx); !ok {
			return errTooMany
		}
		return nil
	})
	return s
}

// Mount adds the routes for programs: metadata, registration, tokens. Package pages serves the page for people.
func (s *Server) Mount(mux *http.ServeMux) {
	for _, path := range []string{resourcePath, resourcePath + "/mcp"} {
		mux.Handle(path, s.open(http.MethodGet, s.resourceMetadata))
	}
	for _, path := range []string{serverPath, serverPath + "/mcp"} {
		mux.Handle(path, s.open(http.MethodGet, s.serverMetadata))
	}
	mux.Handle(registerPath, s.open(http.MethodPost, s.limited(s.register)))
	mux.Handle(tokenPath, s.open(http.MethodPost, s.limited(s.token)))
	mux.Handle(revokePath, s.open(http.MethodPost, s.limited(s.revoke)))
}

// open allows requests from pages of any origin, because no cookie counts here.
func (s *Server) open(method string, h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("X-Content-Type-Options", "nosniff")
		switch {
		case r.Method == http.MethodOptions:
			header.Set("Access-Control-Allow-Methods", method)
			header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
			header.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
		case r.Method == method || method == http.MethodGet && r.Method == http.MethodHead:
			ctx, cancel := context.WithTimeout(store.CallerWaits(r.Context()), limits.CallTime)
			defer cancel()
			r.Body = http.MaxBytesReader(w, r.Body, limits.OAuthBody)
			h(w, r.WithContext(ctx))
		default:
			header.Set("Allow", method+", OPTIONS")
			fail(w, &Error{Status: http.StatusMethodNotAllowed, Code: "invalid_request", Description: "This endpoint takes " + method + " only."})
		}
	})
}

func (s *Server) limited(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if ok, wait := s.allow(r.Context()); !ok {
			w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
			fail(w, errTooMany)
			return
		}
		h(w, r)
	}
}

var errTooMany = &Error{
	Status: http.StatusTooManyRequests, Code: "slow_down", Description: "Too many requests came from this address. Wait, then try again.",
}

// allow counts a request against its address.
func (s *Server) allow(ctx context.Context) (ok bool, wait time.Duration) {
	if s.cfg.Limiter == nil {
		return true, 0
	}
	return s.cfg.Limiter.Allow("oauth "+principal.OriginFrom(ctx).IP, s.cfg.Now())
}

// Error is an answer of RFC 6749 section 5.2, or RFC 7591 section 3.2.2.
type Error struct {
	Status            int
	Code, Description string
}

func (e *Error) Error() string { return e.Code + ": " + e.Description }

func invalid(code, description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Description: description}
}

// failure answers an error that the program did not cause. The text of the error stays private.
func (s *Server) failure(w http.ResponseWriter, r *http.Request, err error) {
	var e *Error
	if errors.As(err, &e) {
		fail(w, e)
		return
	}
	s.cfg.Logger.WarnContext(r.Context(), "an OAuth request failed", "path", r.URL.Path, "error", err)
	e = &Error{Status: http.StatusInternalServerError, Code: "server_error", Description: "Something failed on our side. Try again."}
	if errors.Is(err, store.ErrUnavailable) {
		w.Header().Set("Retry-After", "5")
		e.Status, e.Code = http.StatusServiceUnavailable, "temporarily_unavailable"
	}
	fail(w, e)
}

func fail(w http.ResponseWriter, e *Error) {
	write(w, e.Status, map[string]string{"error": e.Code, "error_description": e.Description})
}

func write(w http.ResponseWriter, status int, body any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only when the caller is gone
}

// form reads the parameters of a request. Each may occur once, and only in the body: logs would keep a URL.
func form(r *http.Request) (url.Values, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/x-www-form-urlencoded" {
		return nil, invalid("invalid_request", "Send the parameters as application/x-www-form-urlencoded.")
	}
	if r.URL.RawQuery != "" {
		return nil, invalid("invalid_request", "Send the parameters in the body, not in the URL.")
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, invalid("invalid_request", "The body is too large or was cut off.")
	}
	values, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, invalid("invalid_request", "The body cannot be read.")
	}
	return values, once(values)
}

func once(values url.Values) error {
	for name, all := range values {
		if len(all) > 1 && name != "resource" {
			return invalid("invalid_request", name+" is given more than once.")
		}
	}
	return nil
}

// checkResource checks that the tokens are for the MCP server, if the program names a resource (RFC 8707).
func (s *Server) checkResource(values url.Values) error {
	for _, r := range values["resource"] {
		if strings.TrimSuffix(r, "/") != s.resource {
			return invalid("invalid_target", "resource must be "+s.resource+".")
		}
	}
	return nil
}

// scope returns the requested scope in its normal form: full access if the program named no scope.
func (s *Server) scope(text string) (string, error) {
	asked := strings.Fields(text)
	for _, one := range asked {
		if !slices.Contains(s.cfg.Scopes, one) {
			return "", invalid("invalid_scope", "The scope "+strconv.Quote(one)+" is not known. scopes_supported lists all.")
		}
	}
	if len(asked) == 0 || slices.Contains(asked, FullAccess) {
		return FullAccess, nil
	}
	slices.Sort(asked)
	return strings.Join(slices.Compact(asked), " "), nil
}
