package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertdestination"
	"github.com/svc-observability/svc/ent/delivery"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/principal"
)

// OutboxBusy names the deliveries that the next read of due ones leaves out: deliveries that are under way, and organizations and
// destinations that have as many of them as they may.
type OutboxBusy struct {
	Deliveries    []uuid.UUID
	Organizations []principal.OrgID
	Destinations  []uuid.UUID
}

// DueDeliveries returns deliveries of a shard that can be sent now, the longest due first. It leaves out those whose destination pauses,
// and those that must wait for an earlier message about the same incident. A delivery with the status `processing` was begun by a worker
// that did not end it.
func (s *Store) DueDeliveries(ctx context.Context, shard int, now time.Time, busy OutboxBusy, limit int) ([]Delivery, error) {
	now = utc(now)
	unfinished := []any{DeliveryQueued, DeliveryProcessing}
	where := []predicate.Delivery{
		delivery.Shard(shard), delivery.StatusIn(DeliveryQueued, DeliveryProcessing), delivery.DueAtLTE(now),
		func(sel *entsql.Selector) {
			earlier, target := entsql.Table(delivery.Table).As("earlier"), entsql.Table(alertdestination.Table).As("target")
			sel.Where(entsql.NotExists(entsql.Select(earlier.C(delivery.FieldID)).From(earlier).Where(entsql.And(
				entsql.ColumnsEQ(earlier.C(delivery.FieldIncidentID), sel.C(delivery.FieldIncidentID)),
				entsql.ColumnsEQ(earlier.C(delivery.FieldDestinationID), sel.C(delivery.FieldDestinationID)),
				entsql.In(earlier.C(delivery.FieldStatus), unfinished...),
				entsql.ColumnsLT(earlier.C(delivery.FieldScheduledAt), sel.C(delivery.FieldScheduledAt)),
			))))
			sel.Where(entsql.NotExists(entsql.Select(target.C(alertdestination.FieldID)).From(target).Where(entsql.And(
				entsql.ColumnsEQ(target.C(alertdestination.FieldID), sel.C(delivery.FieldDestinationID)),
				entsql.GT(target.C(alertdestination.FieldBreakerUntil), now),
			))))
		},
	}
	if len(busy.Deliveries) > 0 {
		where = append(where, delivery.IDNotIn(busy.Deliveries...))
	}
	if len(busy.Organizations) > 0 {
		names := make([]string, len(busy.Organizations))
		for i, o := range busy.Organizations {
			names[i] = string(o)
		}
		where = append(where, delivery.OrgIDNotIn(names...))
	}
	if len(busy.Destinations) > 0 {
		where = append(where, delivery.DestinationIDNotIn(busy.Destinations...))
	}
	rows, err := s.read.Delivery.Query().Where(where...).Order(delivery.ByDueAt(), delivery.ByID()).Limit(limit).All(ctx)
	return collect("list due deliveries", toDelivery, rows, err)
}

// DueDeliveryShards returns the shards of WorkOutbox in which a delivery is due. It costs a seek of the index for each shard.
func (s *Store) DueDeliveryShards(ctx context.Context, now time.Time) (map[int]bool, error) {
	all := make([]int, WorkShards(WorkOutbox))
	for i := range all {
		all[i] = i
	}
	var due []int
	err := s.read.Delivery.Query().
		Where(delivery.ShardIn(all...), delivery.StatusIn(DeliveryQueued, DeliveryProcessing), delivery.DueAtLTE(utc(now))).
		Unique(true).Select(delivery.FieldShard).Scan(ctx, &due)
	if err != nil {
		return nil, mapError("list shards with due deliveries", err)
	}
	out := make(map[int]bool, len(due))
	for _, shard := range due {
		out[shard] = true
	}
	return out, nil
}

// BeginDelivery notes that a delivery is being sent, and returns it with its destination. It returns false if there is nothing to send: it
// was sent, its destination pauses, is disabled or was deleted, or a newer reminder takes its place.
func (s *Store) BeginDelivery(
	ctx context.Context, f Fence, id uuid.UUID, now time.Time,
) (d Delivery, to AlertDestination, ok bool, err error) {
	now = utc(now)
	err = s.fenced(ctx, "begin a delivery", f, func(tx *ent.Tx) error {
		ok = false
		row, err := tx.Delivery.Query().Where(delivery.ID(id), delivery.Shard(f.Number)).Only(ctx)
		if ent.IsNotFound(err) {
			return nil // its organization was deleted
		}
		if err != nil {
			return err
		}
		if row.Status != DeliveryQueued && row.Status != DeliveryProcessing {
			return nil
		}
		drop := func(reason string) error {
			return row.Update().SetStatus(DeliveryFailed).SetErrorMessage(reason).Exec(ctx)
		}
		target, err := tx.AlertDestination.Query().
			Where(alertdestination.ID(row.DestinationID), alertdestination.OrgID(row.OrgID)).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return drop("The destination was deleted.")
		case err != nil:
			return err
		case !target.Enabled:
			return drop("The destination is disabled.")
		case target.BreakerUntil != nil && target.BreakerUntil.After(now):
			return nil
		}
		if row.EventType == "renotify" && row.IncidentID != nil {
			newer, err := tx.Delivery.Query().Where(
				delivery.IncidentID(*row.IncidentID), delivery.DestinationID(row.DestinationID), delivery.Status(DeliveryQueued),
				delivery.EventType("renotify"), delivery.ScheduledAtGT(row.ScheduledAt),
			).Exist(ctx)
			if err != nil {
				return err
			}
			if newer {
				return drop("A newer reminder took its place.")
			}
		}
		if row, err = row.Update().SetStatus(DeliveryProcessing).SetAttemptedAt(now).Save(ctx); err != nil {
			return err
		}
		d, to, ok = toDelivery(row), toAlertDestination(target), true
		return nil
	})
	return d, to, ok, err
}

// DeliveryThread returns the reference that the destination gave the last message about the same incident; empty if there was none.
func (s *Store) DeliveryThread(ctx context.Context, d Delivery) (string, error) {
	if d.IncidentID == nil {
		return "", nil
	}
	rows, err := s.read.Delivery.Query().Where(
		delivery.OrgID(string(d.Org)), delivery.IncidentID(*d.IncidentID), delivery.DestinationID(d.DestinationID),
		delivery.Status(DeliverySuccess), delivery.ProviderReferenceNotNil(),
	).Order(delivery.ByScheduledAt(entsql.OrderDesc()), delivery.ByID(entsql.OrderDesc())).Limit(1).All(ctx)
	if err != nil || len(rows) == 0 {
		return "", mapErrorOrNil("find the first message about an incident", err)
	}
	return *rows[0].ProviderReference, nil
}

// DeliveryEnd is the result of an attempt, and the state of the destination after it.
type DeliveryEnd struct {
	// Status is DeliverySuccess or DeliveryFailed. DeliveryQueued puts the same attempt back: it was not counted.
	Status                                           string
	ProviderMessage, ProviderReference, ErrorMessage string
	ResponseCode                                     int
	// DueAt is the time of the next attempt, or of this one if it is put back. Zero: there is none.
	DueAt time.Time
	// Config are settings that the destination returned; nil if it returned no settings.
	Config json.RawMessage
	// Health is the state of the destination after the result.
	Health func(DestinationHealth) DestinationHealth
}

// DestinationHealth says how the last messages to a destination went.
type DestinationHealth struct {
	// Refusals are failures in a row that a retry does not help, Failures those that it may help.
	Refusals, Failures int
	// Step doubles the pause; PausedUntil is its end, zero without one.
	Step        int
	PausedUntil time.Time
	// DisabledReason is set to disable the destination.
	DisabledReason string
}

// EndDelivery records the result of an attempt, and adds the next attempt if there is one. A result that was recorded already changes
// nothing.
func (s *Store) EndDelivery(ctx context.Context, f Fence, id uuid.UUID, end DeliveryEnd) error {
	return s.fenced(ctx, "end a delivery", f, func(tx *ent.Tx) error {
		row, err := tx.Delivery.Query().Where(delivery.ID(id), delivery.Shard(f.Number)).Only(ctx)
		if ent.IsNotFound(err) {
			return nil // its organization was deleted
		}
		if err != nil {
			return err
		}
		if row.Status != DeliveryProcessing {
			return nil
		}
		update := row.Update().SetStatus(end.Status)
		setText := func(text string, set func(string) *ent.DeliveryUpdateOne) {
			if text = plainText(text, maxTextLength); text != "" {
				set(text)
			}
		}
		setText(end.ProviderMessage, update.SetProviderMessage)
		setText(end.ProviderReference, update.SetProviderReference)
		setText(end.ErrorMessage, update.SetErrorMessage)
		if end.ResponseCode != 0 {
			update.SetResponseCode(end.ResponseCode)
		}
		if end.Status == DeliveryQueued {
			update.SetDueAt(utc(end.DueAt))
		}
		if err := update.Exec(ctx); err != nil {
			return err
		}
		if end.Status == DeliveryFailed && !end.DueAt.IsZero() {
			next := toDelivery(row)
			next.AttemptNumber++
			next.DueAt = end.DueAt
			create, err := newAttempt(tx, next, s.stamp())
			if err != nil {
				return err
			}
			if err := create.Exec(ctx); err != nil {
				return err
			}
		}
		return s.updateHealth(ctx, tx, toDelivery(row), end)
	})
}

// updateHealth stores the state of the destination after a result. The destination may be gone.
func (s *Store) updateHealth(ctx context.Context, tx *ent.Tx, d Delivery, end DeliveryEnd) error {
	row, err := s.lockAlertDestination(ctx, tx, d.Org, d.DestinationID)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	old := DestinationHealth{Refusals: row.FailureStreak, Failures: row.BreakerFailures, Step: row.BreakerStep}
	if row.BreakerUntil != nil {
		old.PausedUntil = utc(*row.BreakerUntil)
	}
	now := end.Health(old)
	update := row.Update()
	if now == old && end.Config == nil {
		return nil // a healthy destination costs no write
	}
	update.SetFailureStreak(now.Refusals).SetBreakerFailures(now.Failures).SetBreakerStep(now.Step)
	if now.PausedUntil.IsZero() {
		update.ClearBreakerUntil()
	} else {
		update.SetBreakerUntil(utc(now.PausedUntil))
	}
	before := toAlertDestination(row)
	if end.Config != nil {
		update.SetConfig(end.Config)
	}
	if now.DisabledReason != "" {
		update.SetEnabled(false).SetDisabledReason(plainText(now.DisabledReason, maxTextLength))
	}
	if row, err = update.Save(ctx); err != nil {
		return err
	}
	after := toAlertDestination(row)
	switch {
	case now.DisabledReason != "":
		e := after.event("disabled", before.auditFields(), after.auditFields())
		markURL(e.Before, e.After)
		e.Metadata = map[string]any{"reason": now.DisabledReason}
		return s.audit(ctx, tx, d.Org, e)
	case end.Config != nil:
		e := after.event("updated", before.auditFields(), after.auditFields())
		markURL(e.Before, e.After)
		return s.audit(ctx, tx, d.Org, e)
	}
	return nil
}

// String names a delivery in logs.
func (d *Delivery) String() string {
	return fmt.Sprintf("%s (%s, attempt %d)", d.DeliveryKey, d.DestinationType, d.AttemptNumber)
}
