package store

import (
	"context"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/issueactor"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// Types of actors of error issues.
const (
	ActorTypeUser  = "user"
	ActorTypeAgent = "agent"
)

// EnsureActor returns the actor with a name, and makes it if it does not exist. It notes the time of its activity.
func (s *Store) EnsureActor(ctx context.Context, org principal.OrgID, in IssueActor) (out IssueActor, err error) {
	err = s.tx(ctx, "ensure an actor", func(tx *ent.Tx) error {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		now := s.stamp()
		create := tx.IssueActor.Create().SetID(id).SetOrgID(string(org)).SetType(in.Type).SetName(in.Name).
			SetCreatedAt(now).SetLastActiveAt(now)
		if in.User != "" {
			create.SetUserID(string(in.User))
		}
		err = create.OnConflict(entsql.ConflictColumns(issueactor.FieldOrgID, issueactor.FieldName),
			entsql.ResolveWith(func(u *entsql.UpdateSet) {
				u.SetExcluded(issueactor.FieldLastActiveAt)
			})).Exec(ctx)
		if err != nil {
			return err
		}
		row, err := tx.IssueActor.Query().Where(issueactor.OrgID(string(org)), issueactor.Name(in.Name)).Only(ctx)
		if err != nil {
			return err
		}
		out = toIssueActor(row)
		return nil
	})
	return out, err
}

// TouchActor notes the activity of an actor, and returns it. It returns ErrNotFound if the organization has no such actor.
func (s *Store) TouchActor(ctx context.Context, org principal.OrgID, id uuid.UUID) (out IssueActor, err error) {
	err = s.tx(ctx, "touch an actor", func(tx *ent.Tx) error {
		row, err := tx.IssueActor.Query().Where(issueactor.ID(id), issueactor.OrgID(string(org))).Only(ctx)
		if err != nil {
			return err
		}
		if row, err = row.Update().SetLastActiveAt(s.stamp()).Save(ctx); err != nil {
			return err
		}
		out = toIssueActor(row)
		return nil
	})
	return out, err
}

// RegisterAgent makes an agent, or updates the one with this name.
func (s *Store) RegisterAgent(ctx context.Context, org principal.OrgID, in IssueActor) (out IssueActor, err error) {
	var c checker
	c.name("name", &in.Name)
	if in.Model != nil {
		c.line("model", *in.Model, 200)
	}
	if err := c.err(); err != nil {
		return IssueActor{}, err
	}
	err = s.tx(ctx, "register an agent", func(tx *ent.Tx) error {
		row, err := tx.IssueActor.Query().Where(issueactor.OrgID(string(org)), issueactor.Name(in.Name)).Only(ctx)
		verb := "updated"
		switch {
		case ent.IsNotFound(err):
			verb = "registered"
			in.ID, in.Org, in.Type = uuid.Nil, org, ActorTypeAgent
			if out, err = s.insertIssueActor(ctx, tx, in); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			if row, err = row.Update().SetNillableModel(in.Model).SetCapabilities(in.Capabilities).Save(ctx); err != nil {
				return err
			}
			out = toIssueActor(row)
		}
		return s.audit(ctx, tx, org, AuditEvent{
			Action: "error_issue_agent." + verb, ResourceID: publicid.Encode(publicid.Actor, out.ID),
			After: map[string]any{"name": out.Name, "model": out.Model, "capabilities": out.Capabilities},
		})
	})
	return out, err
}

// ListActors returns the actors of an organization, the newest first.
func (s *Store) ListActors(ctx context.Context, org principal.OrgID, offset, limit int) ([]IssueActor, error) {
	rows, err := s.read.IssueActor.Query().Where(issueactor.OrgID(string(org))).Order(issueactor.ByID(entsql.OrderDesc())).
		Offset(offset).Limit(limit).All(ctx)
	return collect("list actors", toIssueActor, rows, err)
}

// ActorsByID returns actors of an organization by their ids.
func (s *Store) ActorsByID(ctx context.Context, org principal.OrgID, ids []uuid.UUID) (map[uuid.UUID]IssueActor, error) {
	out := map[uuid.UUID]IssueActor{}
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := s.read.IssueActor.Query().Where(issueactor.OrgID(string(org)), issueactor.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, mapError("read actors", err)
	}
	for _, row := range rows {
		out[row.ID] = toIssueActor(row)
	}
	return out, nil
}
