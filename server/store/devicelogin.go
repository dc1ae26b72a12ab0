package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/devicelogin"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// States of a device login.
const (
	DeviceLoginPending  = string(devicelogin.StatusPending)
	DeviceLoginApproved = string(devicelogin.StatusApproved)
	DeviceLoginDenied   = string(devicelogin.StatusDenied)
	DeviceLoginRedeemed = string(devicelogin.StatusRedeemed)
)

// NewDeviceLogin is a login to begin.
type NewDeviceLogin struct {
	DeviceCodeHash string
	UserCodeHash   string
	ClientName     string
	ClientAddress  string
	ExpiresAt      time.Time
}

// CreateDeviceLogin begins a login and deletes logins that ended limits.CLILoginKept ago. It returns ErrConflict if a code is in use.
func (s *Store) CreateDeviceLogin(ctx context.Context, in NewDeviceLogin) (DeviceLogin, error) {
	var out DeviceLogin
	err := s.tx(ctx, "create device login", func(tx *ent.Tx) (err error) {
		now := s.stamp()
		if _, err := tx.DeviceLogin.Delete().Where(devicelogin.ExpiresAtLTE(now.Add(-limits.CLILoginKept))).Exec(ctx); err != nil {
			return err
		}
		out, err = s.insertDeviceLogin(ctx, tx, DeviceLogin{
			DeviceCodeHash: in.DeviceCodeHash, UserCodeHash: in.UserCodeHash, ClientName: in.ClientName, ClientAddress: in.ClientAddress,
			Status: DeviceLoginPending, CreatedAt: now, ExpiresAt: in.ExpiresAt,
		})
		return err
	})
	return out, err
}

// DeviceLoginByUserCode finds a login by the hash of its user code, until it expires.
func (s *Store) DeviceLoginByUserCode(ctx context.Context, hash string) (DeviceLogin, error) {
	row, err := s.read.DeviceLogin.Query().Where(devicelogin.UserCodeHash(hash), devicelogin.ExpiresAtGT(s.stamp())).Only(ctx)
	return single("find device login", toDeviceLogin, row, err)
}

// DecideDeviceLogin approves or denies a login, once, for a user in an organization. It returns ErrNotFound if the login is no longer
// pending.
func (s *Store) DecideDeviceLogin(
	ctx context.Context, org principal.OrgID, user principal.UserID, id uuid.UUID, approve bool,
) (DeviceLogin, error) {
	var out DeviceLogin
	err := s.tx(ctx, "decide device login", func(tx *ent.Tx) error {
		status := DeviceLoginDenied
		if approve {
			status = DeviceLoginApproved
		}
		n, err := tx.DeviceLogin.Update().Where(
			devicelogin.ID(id), devicelogin.StatusEQ(devicelogin.StatusPending), devicelogin.ExpiresAtGT(s.stamp()),
		).SetStatus(devicelogin.Status(status)).SetOrgID(string(org)).SetUserID(string(user)).Save(ctx)
		if err := affected("decide device login", n, err); err != nil {
			return err
		}
		row, err := tx.DeviceLogin.Get(ctx, id)
		if err != nil {
			return err
		}
		out = toDeviceLogin(row)
		return s.audit(ctx, tx, org, AuditEvent{
			Action: "cli_login." + status, AffectedUser: user,
			Metadata: map[string]any{"client_name": out.ClientName, "client_address": out.ClientAddress},
		})
	})
	return out, err
}

// PollDeviceLogin finds a login by the hash of its device code and records the poll. It returns the login as it was before this
// poll. It also finds expired logins.
func (s *Store) PollDeviceLogin(ctx context.Context, hash string) (DeviceLogin, error) {
	row, err := s.write.DeviceLogin.Query().Where(devicelogin.DeviceCodeHash(hash)).Only(ctx)
	if err != nil {
		return DeviceLogin{}, mapError("poll device login", err)
	}
	if err := s.write.DeviceLogin.Update().Where(devicelogin.ID(row.ID)).SetPolledAt(s.stamp()).Exec(ctx); err != nil {
		return DeviceLogin{}, mapError("poll device login", err)
	}
	return toDeviceLogin(row), nil
}

// ErrNoAdministrator means that the person who approved a login is no longer an administrator of the organization.
var ErrNoAdministrator = errors.New("store: the user does not administer the organization")

// RedeemedLogin is the result of a device login.
type RedeemedLogin struct {
	Key          ApiKey
	User         User
	Organization Organization
}

// RedeemDeviceLogin creates the key of an approved login, once, all or nothing. CreatedBy and CreatedByEmail of the key name the person who
// approved. It returns ErrNotFound if the login is not approved, or it has expired or was redeemed. ErrNoAdministrator is possible too.
func (s *Store) RedeemDeviceLogin(ctx context.Context, id uuid.UUID, in NewApiKey) (RedeemedLogin, error) {
	const op = "redeem device login"
	var out RedeemedLogin
	err := s.tx(ctx, op, func(tx *ent.Tx) error {
		n, err := tx.DeviceLogin.Update().Where(
			devicelogin.ID(id), devicelogin.StatusEQ(devicelogin.StatusApproved), devicelogin.ExpiresAtGT(s.stamp()),
		).SetStatus(devicelogin.StatusRedeemed).Save(ctx)
		if err := affected(op, n, err); err != nil {
			return err
		}
		row, err := tx.DeviceLogin.Get(ctx, id)
		if err != nil {
			return err
		}
		login := toDeviceLogin(row)
		member, err := tx.Membership.Query().Where(
			membership.OrgID(string(login.Org)), membership.UserID(string(login.User)), membership.RoleEQ(membership.RoleAdmin),
		).WithUser().WithOrganization().Only(ctx)
		if ent.IsNotFound(err) {
			return ErrNoAdministrator
		}
		if err != nil {
			return err
		}
		out.User, out.Organization = toUser(member.Edges.User), toOrganization(member.Edges.Organization)
		in.CreatedBy, in.CreatedByEmail = out.User.ID, out.User.Email
		if out.Key, err = s.insertApiKey(ctx, tx, in.key(login.Org)); err != nil {
			return err
		}
		// The waiting program has no identity, so the key is created in the name of the person who approved.
		actor := asUser(ctx, login.Org, out.User, principal.RoleAdmin)
		e := out.Key.event("created", nil)
		e.Metadata = map[string]any{"cli_login": true, "client_name": login.ClientName}
		return s.audit(actor, tx, login.Org, e)
	})
	if errors.Is(err, ErrNoAdministrator) {
		return RedeemedLogin{}, fmt.Errorf("store: %s: %w", op, ErrNoAdministrator)
	}
	return out, err
}
