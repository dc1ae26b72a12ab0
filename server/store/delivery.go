package store

import (
	"context"
	"encoding/json"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/delivery"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/principal"
)

// States of a delivery.
const (
	DeliveryQueued     = "queued"
	DeliveryProcessing = "processing"
	DeliverySuccess    = "success"
	DeliveryFailed     = "failed"
)

// destinationChat is the type of destinations whose messages about one incident are one thread.
const destinationChat = "chat"

// Subjects of deliveries. The API lists those of alerts.
const (
	SubjectAlert = "alert"
	SubjectIssue = "issue"
)

// NewDelivery is a message for the outbox.
type NewDelivery struct {
	Subject                string
	RuleID, IncidentID     *uuid.UUID
	DestinationID          uuid.UUID
	DestinationName        string
	DestinationType        string
	DeliveryKey, EventType string
	Payload                json.RawMessage
	// ScheduledAt is the time of the event. Messages about one incident reach a destination in this order.
	ScheduledAt time.Time
}

// enqueueDeliveries adds messages to the outbox. A message whose key is there already is left out, so a transaction that is repeated
// adds nothing twice.
func (s *Store) enqueueDeliveries(ctx context.Context, tx *ent.Tx, org principal.OrgID, rows ...NewDelivery) error {
	now := s.stamp()
	creates := make([]*ent.DeliveryCreate, len(rows))
	for i, in := range rows {
		create, err := newAttempt(tx, Delivery{
			Org: org, Shard: ShardOf(WorkOutbox, string(org)), Subject: in.Subject, RuleID: in.RuleID, IncidentID: in.IncidentID,
			DestinationID: in.DestinationID, DestinationName: in.DestinationName, DestinationType: in.DestinationType,
			DeliveryKey: in.DeliveryKey, EventType: in.EventType, AttemptNumber: 1, Payload: in.Payload, ScheduledAt: in.ScheduledAt, DueAt: now,
		}, now)
		if err != nil {
			return err
		}
		creates[i] = create
	}
	for len(creates) > 0 {
		n := min(len(creates), 500)
		err := tx.Delivery.CreateBulk(creates[:n]...).
			OnConflict(entsql.ConflictColumns(delivery.FieldDeliveryKey, delivery.FieldAttemptNumber), entsql.DoNothing()).Exec(ctx)
		if err != nil && !errorIsNoRows(err) {
			return err
		}
		creates = creates[n:]
	}
	return nil
}

// newAttempt is the row of an attempt that waits.
func newAttempt(tx *ent.Tx, d Delivery, now time.Time) (*ent.DeliveryCreate, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	return tx.Delivery.Create().SetID(id).SetOrgID(string(d.Org)).SetShard(d.Shard).SetSubject(d.Subject).SetNillableRuleID(d.RuleID).
		SetNillableIncidentID(d.IncidentID).SetDestinationID(d.DestinationID).SetDestinationName(d.DestinationName).
		SetDestinationType(d.DestinationType).SetDeliveryKey(d.DeliveryKey).SetEventType(d.EventType).SetAttemptNumber(d.AttemptNumber).
		SetStatus(DeliveryQueued).SetPayload(d.Payload).SetCreatedAt(now).SetScheduledAt(utc(d.ScheduledAt)).SetDueAt(utc(d.DueAt)), nil
}

// Enqueue adds messages to the outbox in a transaction of its own.
func (s *Store) Enqueue(ctx context.Context, org principal.OrgID, rows ...NewDelivery) error {
	return s.tx(ctx, "enqueue deliveries", func(tx *ent.Tx) error { return s.enqueueDeliveries(ctx, tx, org, rows...) })
}

// DeliveryFilter narrows a list of deliveries. Nil and empty fields do not filter.
type DeliveryFilter struct {
	Incident, Rule, Destination *uuid.UUID
	Status                      string
}

// ListDeliveries returns the attempts to send messages of alerts, the newest event first. Request one more than a page to learn whether
// there is another page.
func (s *Store) ListDeliveries(ctx context.Context, org principal.OrgID, f DeliveryFilter, offset, limit int) ([]Delivery, error) {
	where := []predicate.Delivery{delivery.OrgID(string(org)), delivery.Subject(SubjectAlert)}
	if f.Incident != nil {
		where = append(where, delivery.IncidentID(*f.Incident))
	}
	if f.Rule != nil {
		where = append(where, delivery.RuleID(*f.Rule))
	}
	if f.Destination != nil {
		where = append(where, delivery.DestinationID(*f.Destination))
	}
	if f.Status != "" {
		where = append(where, delivery.Status(f.Status))
	}
	rows, err := s.read.Delivery.Query().Where(where...).
		Order(delivery.ByScheduledAt(entsql.OrderDesc()), delivery.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list deliveries", toDelivery, rows, err)
}
