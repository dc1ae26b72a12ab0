package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertdestination"
	"github.com/svc-observability/svc/ent/alertrule"
	"github.com/svc-observability/svc/server/principal"
)

// NewAlertDestination is a destination to create.
type NewAlertDestination struct {
	// ID is chosen by the caller, because the secret is sealed for it.
	ID      uuid.UUID
	Name    string
	Type    string
	Enabled bool
	Config  json.RawMessage
	// Secret is sealed.
	Secret    []byte
	CreatedBy principal.UserID
}

// CreateAlertDestination creates a destination. The second result is the number of the transaction. It returns ErrConflict if the name is
// taken.
func (s *Store) CreateAlertDestination(
	ctx context.Context, org principal.OrgID, in NewAlertDestination,
) (d AlertDestination, txid string, err error) {
	var c checker
	c.name("name", &in.Name)
	if err := c.err(); err != nil {
		return AlertDestination{}, "", err
	}
	err = s.tx(ctx, "create alert destination", func(tx *ent.Tx) (err error) {
		d, err = s.insertAlertDestination(ctx, tx, AlertDestination{
			ID: in.ID, Org: org, Name: in.Name, Type: in.Type, Enabled: in.Enabled, Config: in.Config, Secret: in.Secret,
			CreatedBy: in.CreatedBy, UpdatedBy: in.CreatedBy,
		})
		if err != nil {
			return err
		}
		if err := s.audit(ctx, tx, org, d.event("created", nil, d.shownFields())); err != nil {
			return err
		}
		txid, err = nextTxid(ctx, tx)
		return err
	})
	if err != nil {
		return AlertDestination{}, "", err
	}
	return d, txid, nil
}

// ListAlertDestinations returns destinations, the newest first, ties by id. Request one more than a page to learn whether there is
// another page.
func (s *Store) ListAlertDestinations(ctx context.Context, org principal.OrgID, offset, limit int) ([]AlertDestination, error) {
	rows, err := s.read.AlertDestination.Query().Where(alertdestination.OrgID(string(org))).
		Order(alertdestination.ByCreatedAt(entsql.OrderDesc()), alertdestination.ByID(entsql.OrderDesc())).
		Offset(offset).Limit(limit).All(ctx)
	return collect("list alert destinations", toAlertDestination, rows, err)
}

// AlertDestinationChange is the new state of a destination.
type AlertDestinationChange struct {
	Name    string
	Enabled bool
	Config  json.RawMessage
	// Secret is sealed.
	Secret []byte
	// NewSecret reports that the secret differs from the stored one. Two sealed texts of one secret differ, too.
	NewSecret bool
}

// EditAlertDestination calls change with the newest state of a destination and stores the result. The destination stays locked
// meanwhile. A change that enables the destination, or that changes its target, forgets its failures. An error of change ends the
// edit, and the returned error wraps it. The second result is the number of the transaction, empty when nothing was changed.
func (s *Store) EditAlertDestination(
	ctx context.Context, org principal.OrgID, id uuid.UUID, by principal.UserID,
	change func(newest AlertDestination) (AlertDestinationChange, error),
) (d AlertDestination, txid string, err error) {
	err = s.tx(ctx, "edit alert destination", func(tx *ent.Tx) error {
		txid = ""
		row, err := s.lockAlertDestination(ctx, tx, org, id)
		if err != nil {
			return err
		}
		old := toAlertDestination(row)
		in, err := change(old)
		if err != nil {
			return err
		}
		var c checker
		c.name("name", &in.Name)
		if err := c.err(); err != nil {
			return err
		}
		d = old
		d.Name, d.Enabled, d.Config = in.Name, in.Enabled, in.Config
		before, after := old.auditFields(), d.auditFields()
		markURL(before, after)
		if in.NewSecret {
			// The entry says that the secret changed, and holds neither.
			before["secret"], after["secret"] = "<stored>", "<updated>"
		}
		changes := auditChanges(before, after)
		if changes == nil {
			return nil
		}
		update := row.Update().SetName(in.Name).SetEnabled(in.Enabled).SetConfig(in.Config).
			SetUpdatedAt(s.stamp()).SetUpdatedBy(string(by))
		if in.NewSecret {
			if in.Secret == nil {
				update.ClearSecret()
			} else {
				update.SetSecret(in.Secret)
			}
		}
		if in.Enabled && (!old.Enabled || len(changes.Fields) > 1 || changes.Fields[0] != "name") {
			update.SetFailureStreak(0).ClearDisabledReason().SetBreakerFailures(0).SetBreakerStep(0).ClearBreakerUntil()
		}
		if row, err = update.Save(ctx); err != nil {
			return err
		}
		d = toAlertDestination(row)
		if err := s.audit(ctx, tx, org, d.event("updated", before, after)); err != nil {
			return err
		}
		txid, err = nextTxid(ctx, tx)
		return err
	})
	if err != nil {
		return AlertDestination{}, "", err
	}
	return d, txid, nil
}

// NamedRule is an alert rule, for a message to people.
type NamedRule struct {
	ID   uuid.UUID
	Name string
}

// DestinationInUseError reports rules that name a destination.
type DestinationInUseError struct{ Rules []NamedRule }

func (e *DestinationInUseError) Error() string {
	names := make([]string, len(e.Rules))
	for i, r := range e.Rules {
		names[i] = r.Name
	}
	return "the destination is used by " + strings.Join(names, ", ")
}

// Is makes the error a conflict for callers that do not know it.
func (e *DestinationInUseError) Is(target error) bool { return target == ErrConflict }

// DeleteAlertDestination deletes a destination. The error is a DestinationInUseError while rules name it.
func (s *Store) DeleteAlertDestination(ctx context.Context, org principal.OrgID, id uuid.UUID) (txid string, err error) {
	err = s.tx(ctx, "delete alert destination", func(tx *ent.Tx) error {
		row, err := s.lockAlertDestination(ctx, tx, org, id)
		if err != nil {
			return err
		}
		rules, err := tx.AlertRule.Query().Where(alertrule.OrgID(string(org))).Order(alertrule.ByCreatedAt(), alertrule.ByID()).
			Select(alertrule.FieldID, alertrule.FieldName, alertrule.FieldDestinationIds).All(ctx)
		if err != nil {
			return err
		}
		var uses []NamedRule
		for _, r := range rules {
			if slices.Contains(r.DestinationIds, id.String()) {
				uses = append(uses, NamedRule{r.ID, r.Name})
			}
		}
		if uses != nil {
			return fmt.Errorf("store: delete alert destination: %w", &DestinationInUseError{uses})
		}
		d := toAlertDestination(row)
		if err := s.audit(ctx, tx, org, d.event("deleted", d.shownFields(), nil)); err != nil {
			return err
		}
		if err := tx.AlertDestination.DeleteOne(row).Exec(ctx); err != nil {
			return err
		}
		txid, err = nextTxid(ctx, tx)
		return err
	})
	return txid, err
}

// RecordDestinationTest notes a test message and its failure; an empty text is a success.
func (s *Store) RecordDestinationTest(
	ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time, problem string,
) error {
	problem = plainText(problem, maxTextLength)
	return s.tx(ctx, "record a test message", func(tx *ent.Tx) error {
		row, err := s.lockAlertDestination(ctx, tx, org, id)
		if err != nil {
			return err
		}
		update := row.Update().SetLastTestedAt(utc(at))
		if problem == "" {
			update.ClearLastTestError()
		} else {
			update.SetLastTestError(problem)
		}
		if err := update.Exec(ctx); err != nil {
			return err
		}
		d := toAlertDestination(row)
		e := d.event("tested", nil, nil)
		e.Metadata = map[string]any{"success": problem == ""}
		return s.audit(ctx, tx, org, e)
	})
}

// auditFields hold the settings that are not secret.
func (r *AlertDestination) auditFields() map[string]any {
	fields := map[string]any{"name": r.Name, "type": r.Type, "enabled": r.Enabled}
	var config map[string]any
	if json.Unmarshal(r.Config, &config) == nil {
		maps.Copy(fields, config)
	}
	return fields
}

// shownFields are the fields as an entry shows them.
func (r *AlertDestination) shownFields() map[string]any {
	fields := r.auditFields()
	markURL(fields, nil)
	return fields
}

// markURL leaves only scheme and host of URLs, because the path of a webhook is often as good as a password. A change stays visible.
func markURL(before, after map[string]any) {
	old, _ := before["url"].(string)
	now, _ := after["url"].(string)
	short := func(fields map[string]any, text, rest string) {
		if u, err := url.Parse(text); text != "" && err == nil {
			fields["url"] = u.Scheme + "://" + u.Host + rest
		}
	}
	if old == now || after == nil {
		short(before, old, "/…")
		short(after, now, "/…")
		return
	}
	short(before, old, "/<stored>")
	short(after, now, "/<updated>")
}
