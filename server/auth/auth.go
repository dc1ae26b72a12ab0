// Package auth turns credentials into callers. API keys and session tokens become a principal for the API; ingest keys become the
// organization that the telemetry belongs to. The package decides who is calling, never what they may do. The rpc chain checks
// scopes and roles, and every door except MCP's refuses a key of kind mcp.
//
// A credential is random text behind a prefix. Only its keyed hash is stored, and hashes are compared in constant time. Answers
// of the database are cached briefly. A change takes effect at once in the process that made it, and within a fraction of a
// second in the others, which learn of it from the store. While they cannot, it takes effect within apiKeyTTL, or within about a
// second for ingest keys.
package auth

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

const (
	apiKeyTTL  = limits.CredentialCopy
	cachedKeys = 10_000
)

// Store is the part of the relational store that authentication needs.
type Store interface {
	ApiKeyByHash(ctx context.Context, hash string) (store.ApiKey, error)
	SessionByHash(ctx context.Context, hash string) (store.SessionIdentity, error)
	OAuthIdentityByHash(ctx context.Context, hash string) (store.OAuthIdentity, error)
	TouchApiKey(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time) error
	TouchSession(ctx context.Context, id uuid.UUID, at time.Time) error
	Subscribe(fn func(store.Change)) (unsubscribe func())
}

// Config configures an Authenticator.
type Config struct {
	Store  Store
	Hasher *Hasher
	// Logger takes failures that no caller sees. Nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Authenticator authenticates calls of the API. It is safe for concurrent use; Close it.
type Authenticator struct {
	store       Store
	hasher      *Hasher
	now         func() time.Time
	keys        *lookup[store.ApiKey]
	sessions    *lookup[store.SessionIdentity]
	oauth       *lookup[store.OAuthIdentity]
	touches     *toucher
	unsubscribe func()
}

// New returns an Authenticator. It runs one goroutine, which records when credentials were used, until Close.
func New(cfg Config) *Authenticator {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	a := &Authenticator{
		store:  cfg.Store,
		hasher: cfg.Hasher,
		now:    cfg.Now,
		// No copy is served longer than this, whatever the database does: a revoked key must not keep reading.
		keys:     newLookup(cfg.Store.ApiKeyByHash, cfg.Now, apiKeyTTL, 0),
		sessions: newLookup(cfg.Store.SessionByHash, cfg.Now, apiKeyTTL, 0),
		oauth:    newLookup(cfg.Store.OAuthIdentityByHash, cfg.Now, apiKeyTTL, 0),
		touches:  startToucher(cfg.Logger),
	}
	a.unsubscribe = cfg.Store.Subscribe(func(c store.Change) {
		//exhaustive:enforce
		switch c.Subject {
		case store.SubjectAPIKey:
			a.keys.changed(c)
		case store.SubjectSession:
			a.sessions.changed(c)
		case store.SubjectMembership:
			a.sessions.invalidateAll()
			a.oauth.invalidateAll()
		case store.SubjectOAuthGrant:
			a.oauth.invalidateAll()
		case store.SubjectAny:
			// While changes of other processes cannot be followed, apiKeyTTL bounds the age of a copy.
			if c.Cause == nil {
				a.keys.doubtAll(true)
				a.sessions.doubtAll(true)
				a.oauth.doubtAll(true)
			}
		case store.SubjectIngestKey, store.SubjectIngestPolicy, store.SubjectLogpushConnector, store.SubjectOrganization,
			store.SubjectScrapeTarget, store.SubjectIntegration:
		}
	})
	return a
}

// Close writes the uses that are still to be recorded and ends the goroutine. No call may follow.
func (a *Authenticator) Close() {
	a.unsubscribe()
	a.touches.close()
}

// Middleware authenticates each request once, for the whole API, and leaves the outcome in the context for principal.ResultFrom.
// It never answers itself, because every door has its own form of error, and some methods are public.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(principal.WithResult(r.Context(), a.Authenticate(r.Context(), r.Header))))
	})
}

// Authenticate finds the caller. The error of the result is always an *apierr.Error.
func (a *Authenticator) Authenticate(ctx context.Context, h http.Header) principal.Result {
	p, err := a.authenticate(ctx, h)
	switch {
	case err != nil && p != nil && p.Org == "":
		return principal.Result{Err: err, Person: p}
	case err != nil:
		return principal.Result{Err: err, Refused: p}
	}
	return principal.Result{Principal: p}
}

// authenticate returns a principal beside an error if the credential is good and only the organization is refused, or not chosen yet.
func (a *Authenticator) authenticate(ctx context.Context, h http.Header) (*principal.Principal, error) {
	values := h["Authorization"]
	if len(values) == 0 {
		if p, err := a.cookie(ctx, h); p != nil || err != nil {
			return p, err
		}
		return nil, apierr.New(apierr.Unauthorized, "No credential was sent. Send an API key as `Authorization: Bearer svc_ak_…`.")
	}
	if len(values) > 1 {
		return nil, apierr.New(apierr.InvalidCredentials, "The request has several Authorization headers. Send one.")
	}
	token, ok := bearer(values[0])
	if !ok {
		return nil, apierr.New(apierr.InvalidCredentials,
			"The Authorization header cannot be read. It must be `Bearer`, one space and the credential.")
	}
	org, err := chosenOrganization(h)
	if err != nil {
		return nil, err
	}
	//exhaustive:enforce
	switch kindOf(token) {
	case kindAPIKey:
		return a.apiKey(ctx, token, org)
	case kindSession:
		return a.session(ctx, token, org)
	case kindIngestKey:
		return nil, apierr.New(apierr.InvalidCredentials, "This is an ingest key, which can only send telemetry. Use an API key (svc_ak_…) here.")
	case kindConnector:
		return nil, apierr.New(apierr.InvalidCredentials,
			"This is the secret of a log push connector, which can only send logs. Use an API key (svc_ak_…) here.")
	case kindOAuth:
		return a.oauthToken(ctx, token, org)
	case kindUnknown:
	}
	return nil, apierr.New(apierr.InvalidCredentials, "This server does not know the credential. Check that you copied all of it.")
}

// chosenOrganization reads x-svc-org-id. It returns an empty id if the header is missing: the caller then leaves the choice to
// us. A header without a clear value is refused, because a guess could serve another organization's data.
func chosenOrganization(h http.Header) (principal.OrgID, error) {
	switch values := h[headerOrganization]; {
	case len(values) == 0:
		return "", nil
	case len(values) > 1:
		return "", apierr.New(apierr.OrganizationAccessDenied, "The request has several x-svc-org-id headers. Send one.")
	case values[0] == "":
		return "", apierr.New(apierr.OrganizationAccessDenied, "The x-svc-org-id header is empty. Remove it, or name an organization (org_…).")
	default:
		return principal.OrgID(values[0]), nil
	}
}
