package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/ent/oauthclient"
	"github.com/svc-observability/svc/ent/oauthgrant"
	"github.com/svc-observability/svc/ent/oauthtoken"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// NewOAuthGrant is a grant to begin, as an authorization code.
type NewOAuthGrant struct {
	User                                  principal.UserID
	ClientID, ClientName, Scope, Resource string
	RedirectURI, CodeHash, CodeChallenge  string
	CodeExpiresAt, ExpiresAt              time.Time
}

// CreateOAuthGrant begins a grant of a member of the organization and deletes grants that ended more than limits.OAuthGrantKept ago. It
// returns ErrNotFound if the user is not a member.
func (s *Store) CreateOAuthGrant(ctx context.Context, org principal.OrgID, in NewOAuthGrant) (OAuthGrant, error) {
	const op = "create OAuth grant"
	var out OAuthGrant
	err := s.tx(ctx, op, func(tx *ent.Tx) error {
		now := s.stamp()
		_, err := tx.OAuthGrant.Delete().Where(oauthgrant.Or(
			oauthgrant.ExpiresAtLT(now.Add(-limits.OAuthGrantKept)),
			oauthgrant.And(oauthgrant.RedeemedAtIsNil(), oauthgrant.CodeExpiresAtLT(now.Add(-time.Hour))),
		)).Exec(ctx)
		if err != nil {
			return err
		}
		member, err := tx.Membership.Query().Where(membership.OrgID(string(org)), membership.UserID(string(in.User))).Exist(ctx)
		if err != nil {
			return err
		}
		if !member {
			return fmt.Errorf("store: %s: %w", op, ErrNotFound)
		}
		out, err = s.insertOAuthGrant(ctx, tx, OAuthGrant{
			Org: org, User: in.User, ClientID: in.ClientID, ClientName: in.ClientName, Scope: in.Scope, Resource: in.Resource,
			RedirectURI: in.RedirectURI, CodeHash: in.CodeHash, CodeChallenge: in.CodeChallenge, CodeExpiresAt: in.CodeExpiresAt, CreatedAt: now,
			ExpiresAt: in.ExpiresAt,
		})
		if err != nil {
			return err
		}
		// A program that publishes its own metadata has no row.
		if err := tx.OAuthClient.Update().Where(oauthclient.ID(in.ClientID)).SetUsedAt(now).Exec(ctx); err != nil {
			return err
		}
		return s.auditGrant(ctx, tx, out, "created", nil)
	})
	return out, err
}

func (s *Store) auditGrant(ctx context.Context, tx *ent.Tx, g OAuthGrant, verb string, metadata map[string]any) error {
	all := map[string]any{"client_id": g.ClientID, "client_name": g.ClientName, "scope": g.Scope}
	for k, v := range metadata {
		all[k] = v
	}
	return s.audit(ctx, tx, g.Org, AuditEvent{Action: "oauth_grant." + verb, ResourceID: g.ID.String(), AffectedUser: g.User, Metadata: all})
}

// OAuthTokens are the hashes and expiry times of a new pair of tokens.
type OAuthTokens struct {
	AccessHash, RefreshHash           string
	AccessExpiresAt, RefreshExpiresAt time.Time
}

// OAuthGrantByCode finds a grant by the hash of its code, whatever its state.
func (s *Store) OAuthGrantByCode(ctx context.Context, hash string) (OAuthGrant, error) {
	row, err := s.write.OAuthGrant.Query().Where(oauthgrant.CodeHash(hash)).Only(ctx)
	return single("find OAuth grant", toOAuthGrant, row, err)
}

// ErrReplayed means that a code or refresh token was used before. The grant is revoked.
var ErrReplayed = errors.New("store: the code or token was used before")

// ErrNoMember means that the user of a grant is no longer a member of its organization. The grant is revoked.
var ErrNoMember = errors.New("store: the user is no longer a member of the organization")

// RedeemOAuthCode turns the code of a grant into its first tokens, once. It returns ErrReplayed if the code was used before; its tokens are
// now void. ErrNoMember is possible too.
func (s *Store) RedeemOAuthCode(ctx context.Context, id uuid.UUID, in OAuthTokens) error {
	return s.oauthStep(ctx, "redeem OAuth code", id, "the authorization code was used twice", func(tx *ent.Tx) (bool, error) {
		now := s.stamp()
		n, err := tx.OAuthGrant.Update().Where(oauthgrant.ID(id), oauthgrant.RedeemedAtIsNil(), oauthgrant.RevokedAtIsNil(),
			oauthgrant.CodeExpiresAtGT(now)).
			SetRedeemedAt(now).SetUsedAt(now).Save(ctx)
		if err != nil || n == 0 {
			return false, err
		}
		return true, s.addTokens(ctx, tx, id, in)
	})
}

// OAuthRefresh is a refresh token with its grant.
type OAuthRefresh struct {
	ID         uuid.UUID
	Grant      OAuthGrant
	ExpiresAt  time.Time
	ReplacedAt *time.Time
}

// OAuthRefreshByHash finds a refresh token, whatever its state.
func (s *Store) OAuthRefreshByHash(ctx context.Context, hash string) (OAuthRefresh, error) {
	row, err := s.write.OAuthToken.Query().Where(oauthtoken.TokenHash(hash), oauthtoken.KindEQ(oauthtoken.KindRefresh)).WithGrant().Only(ctx)
	if err != nil {
		return OAuthRefresh{}, mapError("find refresh token", err)
	}
	return OAuthRefresh{
		ID: row.ID, Grant: toOAuthGrant(row.Edges.Grant), ExpiresAt: utc(row.ExpiresAt),
		ReplacedAt: utcPtr(row.ReplacedAt),
	}, nil
}

// RotateOAuthTokens gives a grant a new pair for a refresh token, once. It returns ErrReplayed if the refresh token was used before; all
// tokens of the grant are now void (RFC 9700 section 4.14.2). ErrNoMember is possible too.
func (s *Store) RotateOAuthTokens(ctx context.Context, refresh OAuthRefresh, in OAuthTokens) error {
	return s.oauthStep(ctx, "refresh OAuth tokens", refresh.Grant.ID, "a refresh token was used twice", func(tx *ent.Tx) (bool, error) {
		now := s.stamp()
		n, err := tx.OAuthToken.Update().Where(oauthtoken.ID(refresh.ID), oauthtoken.ReplacedAtIsNil()).SetReplacedAt(now).Save(ctx)
		if err != nil || n == 0 {
			return false, err
		}
		n, err = tx.OAuthGrant.Update().Where(oauthgrant.ID(refresh.Grant.ID), oauthgrant.RevokedAtIsNil()).SetUsedAt(now).Save(ctx)
		if err != nil || n == 0 {
			return false, err
		}
		// Delete expired tokens: they cannot be used again, so their replay need not be recognized.
		if _, err := tx.OAuthToken.Delete().Where(oauthtoken.GrantID(refresh.Grant.ID), oauthtoken.ExpiresAtLT(now)).Exec(ctx); err != nil {
			return false, err
		}
		return true, s.addTokens(ctx, tx, refresh.Grant.ID, in)
	})
}

func (s *Store) addTokens(ctx context.Context, tx *ent.Tx, grant uuid.UUID, in OAuthTokens) error {
	now := s.stamp()
	for _, t := range []struct {
		kind oauthtoken.Kind
		hash string
		ends time.Time
	}{{oauthtoken.KindAccess, in.AccessHash, in.AccessExpiresAt}, {oauthtoken.KindRefresh, in.RefreshHash, in.RefreshExpiresAt}} {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		if err := tx.OAuthToken.Create().SetID(id).SetGrantID(grant).SetKind(t.kind).SetTokenHash(t.hash).SetCreatedAt(now).
			SetExpiresAt(utc(t.ends)).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// oauthStep runs a step that may happen once, and only for a member. If it may not run, oauthStep revokes the grant permanently
// instead.
func (s *Store) oauthStep(ctx context.Context, op string, grant uuid.UUID, reason string, step func(*ent.Tx) (bool, error)) error {
	var refused error
	err := s.mutate(ctx, op, func(tx *ent.Tx) (Change, error) {
		refused = nil
		row, err := tx.OAuthGrant.Get(ctx, grant)
		if err != nil {
			return Change{}, err
		}
		member, err := tx.Membership.Query().Where(membership.OrgID(row.OrgID), membership.UserID(row.UserID)).Exist(ctx)
		if err != nil {
			return Change{}, err
		}
		if !member {
			refused = ErrNoMember
			return s.revokeGrant(ctx, tx, grant, map[string]any{"reason": reasonNoMember})
		}
		done, err := step(tx)
		if err != nil || done {
			return Change{}, err
		}
		refused = ErrReplayed
		return s.revokeGrant(ctx, tx, grant, map[string]any{"reason": reason})
	})
	if err == nil && refused != nil {
		return fmt.Errorf("store: %s: %w", op, refused)
	}
	return err
}

const reasonNoMember = "the user is no longer a member of the organization"

// revokeGrants revokes all grants of a user because the account has changed. It covers one organization, or all of them if org is
// empty.
func (s *Store) revokeGrants(ctx context.Context, tx *ent.Tx, user principal.UserID, org principal.OrgID, reason string) ([]Change, error) {
	where := []predicate.OAuthGrant{oauthgrant.UserID(string(user)), oauthgrant.RevokedAtIsNil(), oauthgrant.ExpiresAtGT(s.stamp())}
	if org != "" {
		where = append(where, oauthgrant.OrgID(string(org)))
	}
	ids, err := tx.OAuthGrant.Query().Where(where...).IDs(ctx)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, id := range ids {
		c, err := s.revokeGrant(ctx, tx, id, map[string]any{"reason": reason})
		if err != nil {
			return nil, err
		}
		if c.Subject != "" {
			out = append(out, c)
		}
	}
	return out, nil
}

// revokeGrant voids all tokens of a grant. Doing so again changes nothing.
func (s *Store) revokeGrant(ctx context.Context, tx *ent.Tx, id uuid.UUID, metadata map[string]any) (Change, error) {
	n, err := tx.OAuthGrant.Update().Where(oauthgrant.ID(id), oauthgrant.RevokedAtIsNil()).SetRevokedAt(s.stamp()).Save(ctx)
	if err != nil || n == 0 {
		return Change{}, err
	}
	row, err := tx.OAuthGrant.Get(ctx, id)
	if err != nil {
		return Change{}, err
	}
	g := toOAuthGrant(row)
	return Change{Subject: SubjectOAuthGrant, Org: g.Org, User: g.User}, s.auditGrant(ctx, tx, g, "revoked", metadata)
}

// RevokeOAuthToken ends the grant to which an access or refresh token of the client belongs. It returns ErrNotFound if the client has no
// such token.
func (s *Store) RevokeOAuthToken(ctx context.Context, clientID, hash string) error {
	return s.mutate(ctx, "revoke OAuth token", func(tx *ent.Tx) (Change, error) {
		row, err := tx.OAuthToken.Query().Where(oauthtoken.TokenHash(hash), oauthtoken.HasGrantWith(oauthgrant.ClientID(clientID))).Only(ctx)
		if err != nil {
			return Change{}, err
		}
		return s.revokeGrant(ctx, tx, row.GrantID, map[string]any{"reason": "revoked by the client"})
	})
}

// ListOAuthGrants lists the grants of a user that are not revoked, newest first, at most limits.OAuthGrants.
func (s *Store) ListOAuthGrants(ctx context.Context, user principal.UserID) ([]OAuthGrant, error) {
	rows, err := s.read.OAuthGrant.Query().Where(
		oauthgrant.UserID(string(user)), oauthgrant.RedeemedAtNotNil(), oauthgrant.RevokedAtIsNil(), oauthgrant.ExpiresAtGT(s.stamp()),
	).Order(ent.Desc(oauthgrant.FieldCreatedAt, oauthgrant.FieldID)).Limit(limits.OAuthGrants).All(ctx)
	return collect("list OAuth grants", toOAuthGrant, rows, err)
}

// RevokeOAuthGrant revokes a grant of the user. It returns ErrNotFound if the user has no such grant.
func (s *Store) RevokeOAuthGrant(ctx context.Context, user principal.UserID, id uuid.UUID) error {
	return s.mutate(ctx, "revoke OAuth grant", func(tx *ent.Tx) (Change, error) {
		if _, err := tx.OAuthGrant.Query().Where(oauthgrant.ID(id), oauthgrant.UserID(string(user))).Only(ctx); err != nil {
			return Change{}, err
		}
		return s.revokeGrant(ctx, tx, id, nil)
	})
}

// OAuthIdentity is an access token and the rights of its user. Both are read at the same moment.
type OAuthIdentity struct {
	TokenHash   string
	Grant       OAuthGrant
	Email, Name string
	// Role is the user's role in the organization of the grant. It is empty when the user is no longer a member.
	Role      principal.Role
	ExpiresAt time.Time
}

// OAuthIdentityByHash finds an access token by its hash. It also finds expired and revoked tokens; the caller must check for
// them.
func (s *Store) OAuthIdentityByHash(ctx context.Context, hash string) (OAuthIdentity, error) {
	row, err := s.read.OAuthToken.Query().Where(oauthtoken.TokenHash(hash), oauthtoken.KindEQ(oauthtoken.KindAccess)).
		WithGrant(func(q *ent.OAuthGrantQuery) { q.WithUser(func(q *ent.UserQuery) { q.WithMemberships() }) }).Only(ctx)
	if err != nil {
		return OAuthIdentity{}, mapError("find access token", err)
	}
	grant := row.Edges.Grant
	out := OAuthIdentity{
		TokenHash: row.TokenHash, Grant: toOAuthGrant(grant), Email: grant.Edges.User.Email, Name: grant.Edges.User.Name,
		ExpiresAt: utc(row.ExpiresAt),
	}
	for _, m := range toMemberships(grant.Edges.User.Edges.Memberships) {
		if m.Org == out.Grant.Org {
			out.Role = m.Role
		}
	}
	return out, nil
}
