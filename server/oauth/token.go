package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/store"
)

var verifierForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// token is the token endpoint (RFC 6749 section 3.2).
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	values, err := form(r)
	if err != nil {
		s.failure(w, r, err)
		return
	}
	if values.Get("client_id") == "" {
		fail(w, invalid("invalid_request", "client_id is required in the body, because all clients of this server are public."))
		return
	}
	if err := s.checkResource(values); err != nil {
		s.failure(w, r, err)
		return
	}
	var answer map[string]any
	switch values.Get("grant_type") {
	case "authorization_code":
		answer, err = s.redeem(r, values)
	case "refresh_token":
		answer, err = s.refresh(r, values)
	case "":
		err = invalid("invalid_request", "grant_type is required: authorization_code or refresh_token.")
	default:
		err = invalid("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.")
	}
	if err != nil {
		s.failure(w, r, err)
		return
	}
	w.Header().Set("Pragma", "no-cache")
	write(w, http.StatusOK, answer)
}

// redeem exchanges a code for tokens. A caller without the verifier learns nothing about the code and changes nothing.
func (s *Server) redeem(r *http.Request, values url.Values) (map[string]any, error) {
	code, verifier := values.Get("code"), values.Get("code_verifier")
	switch {
	case code == "":
		return nil, invalid("invalid_request", "code is required.")
	case !verifierForm.MatchString(verifier):
		return nil, invalid("invalid_request", "code_verifier is required: 43 to 128 letters, digits or -._~.")
	}
	refused := invalid(
		"invalid_grant",
		"The authorization code is not valid for this client: it has expired, was used before, or belongs to another. Start again.",
	)
	g, err := s.cfg.Store.OAuthGrantByCode(r.Context(), s.cfg.Hasher.Hash(code))
	if errors.Is(err, store.ErrNotFound) {
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(verifier))
	proof := base64.RawURLEncoding.EncodeToString(sum[:])
	if g.ClientID != values.Get("client_id") || values.Has("redirect_uri") && values.Get("redirect_uri") != g.RedirectURI ||
		subtle.ConstantTimeCompare([]byte(proof), []byte(g.CodeChallenge)) != 1 {
		return nil, refused
	}
	if g.RedeemedAt == nil && !s.cfg.Now().Before(g.CodeExpiresAt) {
		return nil, refused
	}
	answer, tokens := s.newTokens(g)
	if err := s.cfg.Store.RedeemOAuthCode(r.Context(), g.ID, tokens); err != nil {
		if errors.Is(err, store.ErrNoMember) {
			return nil, refused
		}
		if errors.Is(err, store.ErrReplayed) {
			s.cfg.Logger.WarnContext(r.Context(), "an authorization code was used twice; its grant is revoked", "org_id", g.Org, "grant_id", g.ID)
			return nil, refused
		}
		return nil, err
	}
	return answer, nil
}

// refresh exchanges a refresh token for a new pair. The old token is void from then on.
func (s *Server) refresh(r *http.Request, values url.Values) (map[string]any, error) {
	token := values.Get("refresh_token")
	if token == "" {
		return nil, invalid("invalid_request", "refresh_token is required.")
	}
	refused := invalid(
		"invalid_grant",
		"The refresh token is not valid for this client: it has expired, was used before, or the access was revoked. Connect again.",
	)
	old, err := s.cfg.Store.OAuthRefreshByHash(r.Context(), s.cfg.Hasher.Hash(token))
	if errors.Is(err, store.ErrNotFound) {
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	now := s.cfg.Now()
	switch {
	case old.Grant.ClientID != values.Get("client_id"), old.Grant.RevokedAt != nil:
		return nil, refused
	case old.ReplacedAt == nil && (!now.Before(old.ExpiresAt) || !now.Before(old.Grant.ExpiresAt)):
		return nil, refused
	}
	granted := strings.Fields(old.Grant.Scope)
	for _, one := range strings.Fields(values.Get("scope")) {
		if old.Grant.Scope != FullAccess && !slices.Contains(granted, one) {
			return nil, invalid("invalid_scope", "A refresh cannot ask for more scopes than were granted.")
		}
	}
	answer, tokens := s.newTokens(old.Grant)
	if err := s.cfg.Store.RotateOAuthTokens(r.Context(), old, tokens); err != nil {
		if errors.Is(err, store.ErrNoMember) {
			return nil, refused
		}
		if errors.Is(err, store.ErrReplayed) {
			s.cfg.Logger.WarnContext(r.Context(), "a refresh token was used twice; its grant is revoked", "org_id", old.Grant.Org, "grant_id",
				old.Grant.ID)
			return nil, refused
		}
		return nil, err
	}
	return answer, nil
}

// newTokens makes a pair, which expires with its grant at the latest.
func (s *Server) newTokens(g store.OAuthGrant) (answer map[string]any, tokens store.OAuthTokens) {
	now := s.cfg.Now()
	access, refresh := auth.NewOAuthSecret(), auth.NewOAuthSecret()
	tokens = store.OAuthTokens{
		AccessHash: s.cfg.Hasher.Hash(access), RefreshHash: s.cfg.Hasher.Hash(refresh),
		AccessExpiresAt: earlier(now.Add(AccessLifetime), g.ExpiresAt), RefreshExpiresAt: earlier(now.Add(RefreshIdle), g.ExpiresAt),
	}
	return map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": int(tokens.AccessExpiresAt.Sub(now).Seconds()),
		"refresh_token": refresh, "scope": g.Scope,
	}, tokens
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// revoke ends the grant of a token (RFC 7009). The answer is the same for a token that does not exist.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	values, err := form(r)
	if err == nil && (values.Get("token") == "" || values.Get("client_id") == "") {
		err = invalid("invalid_request", "token and client_id are required.")
	}
	if err == nil {
		err = s.cfg.Store.RevokeOAuthToken(r.Context(), values.Get("client_id"), s.cfg.Hasher.Hash(values.Get("token")))
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.failure(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}
