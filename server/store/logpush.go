package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/logpushconnector"
	"github.com/svc-observability/svc/server/principal"
)

// LogpushHTTPRequests is the only data set that connectors support.
const LogpushHTTPRequests = string(logpushconnector.DatasetHTTPRequests)

// NewLogpushConnector is a connector to create.
type NewLogpushConnector struct {
	Name     string
	ZoneName string
	// ServiceName is the service that the logs are stored under. If it is empty, it becomes `cloudflare/<zone>`.
	ServiceName string
	Secret      Secret
	CreatedBy   principal.UserID
}

func (in *NewLogpushConnector) check() error {
	var c checker
	c.name("name", &in.Name)
	c.name("zone_name", &in.ZoneName)
	if in.ServiceName == "" {
		in.ServiceName = "cloudflare/" + in.ZoneName
		if letters := []rune(in.ServiceName); len(letters) > maxNameLength {
			in.ServiceName = string(letters[:maxNameLength])
		}
	}
	c.name("service_name", &in.ServiceName)
	return c.err()
}

// CreateLogpushConnector creates a connector. It returns an *InvalidError if the input breaks a rule.
func (s *Store) CreateLogpushConnector(ctx context.Context, org principal.OrgID, in NewLogpushConnector) (LogpushConnector, error) {
	if err := in.check(); err != nil {
		return LogpushConnector{}, err
	}
	var out LogpushConnector
	err := s.tx(ctx, "create log push connector", func(tx *ent.Tx) (err error) {
		out, err = s.insertLogpushConnector(ctx, tx, LogpushConnector{
			Org: org, Name: in.Name, ZoneName: in.ZoneName, ServiceName: in.ServiceName, Dataset: LogpushHTTPRequests,
			SecretHash: in.Secret.Hash, SecretPrefix: in.Secret.Prefix, CreatedBy: in.CreatedBy,
		})
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, org, out.event("created", nil, out.auditFields()))
	})
	if err != nil {
		return LogpushConnector{}, err
	}
	return out, nil
}

// ListLogpushConnectors returns the organization's connectors, oldest first.
func (s *Store) ListLogpushConnectors(ctx context.Context, org principal.OrgID) ([]LogpushConnector, error) {
	rows, err := s.read.LogpushConnector.Query().Where(logpushconnector.OrgID(string(org))).
		Order(logpushconnector.ByCreatedAt(), logpushconnector.ByID()).All(ctx)
	return collect("list log push connectors", toLogpushConnector, rows, err)
}

// LogpushConnectorByHash finds the connector with this id and this hash of its secret, in any organization, for authentication.
// It also finds disabled connectors; the caller must check for them.
func (s *Store) LogpushConnectorByHash(ctx context.Context, id uuid.UUID, hash string) (LogpushConnector, error) {
	row, err := s.read.LogpushConnector.Query().Where(logpushconnector.ID(id), logpushconnector.SecretHash(hash)).Only(ctx)
	return single("find log push connector", toLogpushConnector, row, err)
}

// RollLogpushConnector gives the connector a new secret. The old secret becomes invalid.
func (s *Store) RollLogpushConnector(ctx context.Context, org principal.OrgID, id uuid.UUID, secret Secret) (LogpushConnector, error) {
	return s.changeLogpushConnector(ctx, "rolled", org, id, true, func(_ *ent.LogpushConnector, u *ent.LogpushConnectorUpdateOne) {
		u.SetSecretHash(secret.Hash).SetSecretPrefix(secret.Prefix).SetSecretRotatedAt(s.stamp())
	})
}

// SetLogpushConnectorDisabled disables or enables a connector. Doing it again changes nothing.
func (s *Store) SetLogpushConnectorDisabled(
	ctx context.Context, org principal.OrgID, id uuid.UUID, disabled bool,
) (LogpushConnector, error) {
	return s.EditLogpushConnector(ctx, org, id, LogpushConnectorEdit{Enabled: Set(!disabled)})
}

// LogpushConnectorEdit holds the fields of a connector to change.
type LogpushConnectorEdit struct {
	Name, ZoneName, ServiceName Patch[string]
	Enabled                     Patch[bool]
}

func (e *LogpushConnectorEdit) check() error {
	var c checker
	for _, field := range []struct {
		name  string
		patch *Patch[string]
	}{{"name", &e.Name}, {"zone_name", &e.ZoneName}, {"service_name", &e.ServiceName}} {
		if field.patch.Set {
			c.name(field.name, &field.patch.Value)
		}
	}
	return c.err()
}

// EditLogpushConnector applies the fields that are set in edit. It returns an *InvalidError if the input breaks a rule; only the fields
// that are set are checked. An edit that changes nothing is not recorded.
func (s *Store) EditLogpushConnector(
	ctx context.Context, org principal.OrgID, id uuid.UUID, edit LogpushConnectorEdit,
) (LogpushConnector, error) {
	if err := edit.check(); err != nil {
		return LogpushConnector{}, err
	}
	gone := edit.Enabled.Set && !edit.Enabled.Value
	return s.changeLogpushConnector(ctx, "updated", org, id, gone, func(row *ent.LogpushConnector, u *ent.LogpushConnectorUpdateOne) {
		for _, field := range []struct {
			old   string
			patch Patch[string]
			set   func(string) *ent.LogpushConnectorUpdateOne
		}{{row.Name, edit.Name, u.SetName}, {row.ZoneName, edit.ZoneName, u.SetZoneName}, {row.ServiceName, edit.ServiceName, u.SetServiceName}} {
			if field.patch.Set && field.patch.Value != field.old {
				field.set(field.patch.Value)
			}
		}
		switch {
		case edit.Enabled.Set && edit.Enabled.Value && row.DisabledAt != nil:
			u.ClearDisabledAt()
		case gone && row.DisabledAt == nil:
			u.SetDisabledAt(s.stamp())
		}
	})
}

// changeLogpushConnector changes one connector under a row lock, so that it announces exactly the hash that it replaced.
func (s *Store) changeLogpushConnector(
	ctx context.Context, verb string, org principal.OrgID, id uuid.UUID, gone bool,
	change func(*ent.LogpushConnector, *ent.LogpushConnectorUpdateOne),
) (out LogpushConnector, err error) {
	err = s.mutate(ctx, "change log push connector", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockLogpushConnector(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		what := Change{Subject: SubjectLogpushConnector, Org: org, Hash: row.SecretHash, Gone: gone}
		old := toLogpushConnector(row)
		u := row.Update()
		change(row, u)
		if m := u.Mutation(); len(m.Fields()) == 0 && len(m.ClearedFields()) == 0 {
			out = old
			return what, nil
		}
		if row, err = u.SetUpdatedAt(s.stamp()).Save(ctx); err != nil {
			return Change{}, err
		}
		out = toLogpushConnector(row)
		return what, s.audit(ctx, tx, org, out.event(verb, old.auditFields(), out.auditFields()))
	})
	if err != nil {
		return LogpushConnector{}, err
	}
	return out, nil
}

// DeleteLogpushConnector deletes a connector. The logs that it received stay.
func (s *Store) DeleteLogpushConnector(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.mutate(ctx, "delete log push connector", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockLogpushConnector(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		old := toLogpushConnector(row)
		if err := s.audit(ctx, tx, org, old.event("deleted", old.auditFields(), nil)); err != nil {
			return Change{}, err
		}
		return Change{Subject: SubjectLogpushConnector, Org: org, Hash: row.SecretHash, Gone: true}, tx.LogpushConnector.DeleteOne(row).Exec(ctx)
	})
}

// TouchLogpushConnector records a push and the problem with it; an empty problem means success. Within TouchInterval of the last
// record with the same result, it writes nothing.
func (s *Store) TouchLogpushConnector(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time, problem string) error {
	at = utc(at)
	// The text comes from the input and must fit the column: no NUL, no broken UTF-8, no megabytes.
	problem = plainText(problem, maxTextLength)
	u := s.write.LogpushConnector.Update().SetLastReceivedAt(at)
	other := logpushconnector.LastErrorNotNil()
	if problem == "" {
		u.ClearLastError()
	} else {
		u.SetLastError(problem)
		other = logpushconnector.Or(logpushconnector.LastErrorIsNil(), logpushconnector.LastErrorNEQ(problem))
	}
	err := u.Where(
		logpushconnector.ID(id), logpushconnector.OrgID(string(org)),
		logpushconnector.Or(
			logpushconnector.LastReceivedAtIsNil(),
			logpushconnector.LastReceivedAtLTE(at.Add(-TouchInterval)),
			logpushconnector.And(logpushconnector.LastReceivedAtLTE(at), other),
		),
	).Exec(ctx)
	if err != nil {
		return mapError("touch log push connector", err)
	}
	return nil
}

func (c *LogpushConnector) auditFields() map[string]any {
	return map[string]any{
		"name": c.Name, "zone_name": c.ZoneName, "service_name": c.ServiceName, "enabled": c.DisabledAt == nil, "secret_prefix": c.SecretPrefix,
	}
}
