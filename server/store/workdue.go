package store

import (
	"context"
	"slices"
	"time"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertcursor"
	"github.com/svc-observability/svc/ent/alertrule"
	"github.com/svc-observability/svc/ent/delivery"
	"github.com/svc-observability/svc/server/principal"
)

// Overdue counts things that were due before a time, over all organizations.
type Overdue struct {
	Count int
	// Oldest is zero without any.
	Oldest time.Time
}

// LateAlerts returns the organizations with a rule that was enabled before a time although nothing is evaluated through that time. Oldest
// is the time through which the last of them is evaluated, or the given time if none of them ever was.
func (s *Store) LateAlerts(ctx context.Context, before time.Time) (Overdue, error) {
	enabled, err := s.read.AlertRule.Query().Where(alertrule.Enabled(true), alertrule.EnabledAtLT(before)).
		Unique(true).Select(alertrule.FieldOrgID).Strings(ctx)
	if err != nil {
		return Overdue{}, mapError("list organizations with rules", err)
	}
	late := alertcursor.Or(alertcursor.EvaluatedThroughIsNil(), alertcursor.EvaluatedThroughLT(before))
	rows, err := s.read.AlertCursor.Query().Where(late).All(ctx)
	cursors, err := collect("list late alert cursors", toAlertCursor, rows, err)
	if err != nil {
		return Overdue{}, err
	}
	var out Overdue
	for _, c := range cursors {
		if !slices.ContainsFunc(enabled, func(org string) bool { return principal.OrgID(org) == c.Org }) {
			continue
		}
		at := before
		if c.EvaluatedThrough != nil {
			at = *c.EvaluatedThrough
		}
		if out.Count++; out.Oldest.IsZero() || at.Before(out.Oldest) {
			out.Oldest = at
		}
	}
	return out, nil
}

// OverdueDeliveries returns the messages that were due before a time and are not sent.
func (s *Store) OverdueDeliveries(ctx context.Context, before time.Time) (Overdue, error) {
	unsent := s.read.Delivery.Query().Where(delivery.StatusIn(DeliveryQueued, DeliveryProcessing), delivery.DueAtLT(utc(before)))
	n, err := unsent.Clone().Count(ctx)
	if err != nil {
		return Overdue{}, mapError("count overdue deliveries", err)
	}
	oldest, err := unsent.Order(delivery.ByDueAt()).Limit(1).All(ctx)
	if err != nil {
		return Overdue{}, mapError("find the oldest overdue delivery", err)
	}
	if n == 0 || len(oldest) == 0 {
		return Overdue{}, nil
	}
	return Overdue{Count: n, Oldest: utc(oldest[0].DueAt)}, nil
}

// SweepDeliveries removes the records of messages that ended before a time, at most limit of them, and returns their number.
func (s *Store) SweepDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	ids, err := s.read.Delivery.Query().Where(delivery.StatusIn(DeliverySuccess, DeliveryFailed), delivery.CreatedAtLT(utc(before))).
		Order(delivery.ByCreatedAt()).Limit(limit).IDs(ctx)
	if err != nil {
		return 0, mapError("list old deliveries", err)
	}
	if len(ids) == 0 {
		return 0, nil
	}
	n := 0
	err = s.tx(ctx, "remove old deliveries", func(tx *ent.Tx) (err error) {
		n, err = tx.Delivery.Delete().Where(delivery.IDIn(ids...)).Exec(ctx)
		return err
	})
	return n, err
}
