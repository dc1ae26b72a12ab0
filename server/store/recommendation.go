package store

import (
	"context"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/organization"
	"github.com/svc-observability/svc/ent/recommendation"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// RecommendationStatus is the state of a recommendation.
type RecommendationStatus string

// Statuses of recommendations. A dismissed recommendation stays dismissed until it is reopened. An applied one stays applied
// permanently.
const (
	RecommendationOpen      RecommendationStatus = "open"
	RecommendationDismissed RecommendationStatus = "dismissed"
	RecommendationApplied   RecommendationStatus = "applied"
	RecommendationResolved  RecommendationStatus = "resolved"
)

// Finding is a possible improvement that the telemetry shows at the moment.
type Finding struct {
	// Key identifies the finding within the organization.
	Key string
	// Kind is rename, double-emission or naming.
	Kind      string
	SourceKey string
	// CanonicalKey is the standard name, or nil if there is none.
	CanonicalKey *string
	Usage        int64
}

// Recommendation is a stored finding.
type Recommendation struct {
	ID     uuid.UUID
	Number int
	Finding
	Status     RecommendationStatus
	OpenedAt   time.Time
	UpdatedAt  time.Time
	ResolvedAt *time.Time
}

// next returns the status after the telemetry was examined.
func (s RecommendationStatus) next(found, mapped bool) RecommendationStatus {
	switch {
	case s == RecommendationResolved && found:
		return RecommendationOpen
	case s == RecommendationOpen && !found && mapped:
		return RecommendationApplied
	case s == RecommendationOpen && !found:
		return RecommendationResolved
	default:
		return s
	}
}

// usageMoved reports whether a count differs from the stored one by more than 10 %. Reading the list does not write smaller
// changes.
func usageMoved(old, now int64) bool { return now*10 > old*11 || now*10 < old*9 }

// ReconcileRecommendations updates the recommendations from the findings and returns all, by number. mapped holds the source keys
// that attribute mappings already handle.
func (s *Store) ReconcileRecommendations(
	ctx context.Context, org principal.OrgID, found []Finding, mapped map[string]bool,
) ([]Recommendation, error) {
	list, err := s.ListRecommendations(ctx, org)
	if err != nil {
		return nil, err
	}
	if moved(list, found, mapped) {
		err := s.tx(ctx, "reconcile recommendations", func(tx *ent.Tx) error {
			return s.reconcile(ctx, tx, org, found, mapped)
		})
		if err != nil {
			return nil, err
		}
		if list, err = s.ListRecommendations(ctx, org); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// moved reports whether there is anything to write.
func moved(list []Recommendation, found []Finding, mapped map[string]bool) bool {
	now := map[string]Finding{}
	for _, f := range found {
		now[f.Key] = f
	}
	for _, r := range list {
		f, is := now[r.Key]
		if r.Status.next(is, mapped[r.SourceKey]) != r.Status || is && usageMoved(r.Usage, f.Usage) {
			return true
		}
		delete(now, r.Key)
	}
	return len(now) > 0
}

func (s *Store) reconcile(ctx context.Context, tx *ent.Tx, org principal.OrgID, found []Finding, mapped map[string]bool) error {
	// Two concurrent readers must not number the same finding twice.
	lock := tx.Organization.Query().Where(organization.ID(string(org)))
	if s.dialect == dialect.Postgres {
		lock.ForUpdate()
	}
	if _, err := lock.Only(ctx); err != nil {
		return err
	}
	rows, err := tx.Recommendation.Query().Where(recommendation.OrgID(string(org))).All(ctx)
	if err != nil {
		return err
	}
	now, number := s.stamp(), 0
	known := map[string]*ent.Recommendation{}
	for _, row := range rows {
		known[row.RecommendationKey] = row
		number = max(number, row.Number)
	}
	for _, f := range found {
		row := known[f.Key]
		if row == nil {
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			number++
			err = tx.Recommendation.Create().SetID(id).SetOrgID(string(org)).SetNumber(number).SetRecommendationKey(f.Key).
				SetKind(recommendation.Kind(f.Kind)).
				SetSourceKey(f.SourceKey).SetNillableCanonicalKey(f.CanonicalKey).SetStatus(recommendation.StatusOpen).SetUsageCount(f.Usage).
				SetOpenedAt(now).SetUpdatedAt(now).Exec(ctx)
			if err != nil {
				return err
			}
			continue
		}
		delete(known, f.Key)
		update := row.Update().SetUsageCount(f.Usage)
		if next := RecommendationStatus(row.Status).next(true, mapped[f.SourceKey]); next != RecommendationStatus(row.Status) {
			update.SetStatus(recommendation.Status(next)).SetOpenedAt(now).SetUpdatedAt(now).ClearResolvedAt()
		} else if !usageMoved(row.UsageCount, f.Usage) {
			continue
		}
		if err := update.Exec(ctx); err != nil {
			return err
		}
	}
	for _, row := range known { // recommendations whose finding is gone
		next := RecommendationStatus(row.Status).next(false, mapped[row.SourceKey])
		if next == RecommendationStatus(row.Status) {
			continue
		}
		if err := row.Update().SetStatus(recommendation.Status(next)).SetUpdatedAt(now).SetResolvedAt(now).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ListRecommendations returns all stored recommendations, by number.
func (s *Store) ListRecommendations(ctx context.Context, org principal.OrgID) ([]Recommendation, error) {
	rows, err := s.read.Recommendation.Query().Where(recommendation.OrgID(string(org))).Order(recommendation.ByNumber()).All(ctx)
	return collect("list recommendations", toRecommendation, rows, err)
}

// DismissRecommendation dismisses a recommendation, whatever its status. It writes an audit entry even if nothing changes.
func (s *Store) DismissRecommendation(ctx context.Context, org principal.OrgID, id uuid.UUID) (Recommendation, error) {
	return s.moveRecommendation(ctx, org, id, "dismissed", func(RecommendationStatus) RecommendationStatus { return RecommendationDismissed })
}

// ReopenRecommendation opens a dismissed recommendation.
func (s *Store) ReopenRecommendation(ctx context.Context, org principal.OrgID, id uuid.UUID) (Recommendation, error) {
	return s.moveRecommendation(ctx, org, id, "reopened", func(is RecommendationStatus) RecommendationStatus {
		if is == RecommendationDismissed {
			return RecommendationOpen
		}
		return is
	})
}

func (s *Store) moveRecommendation(
	ctx context.Context, org principal.OrgID, id uuid.UUID, verb string, to func(RecommendationStatus) RecommendationStatus,
) (out Recommendation, err error) {
	err = s.tx(ctx, "change recommendation", func(tx *ent.Tx) error {
		q := tx.Recommendation.Query().Where(recommendation.ID(id), recommendation.OrgID(string(org)))
		if s.dialect == dialect.Postgres {
			q.ForUpdate()
		}
		row, err := q.Only(ctx)
		if err != nil {
			return err
		}
		next := to(RecommendationStatus(row.Status))
		before := string(row.Status)
		if before != string(next) {
			if row, err = row.Update().SetStatus(recommendation.Status(next)).SetUpdatedAt(s.stamp()).ClearResolvedAt().Save(ctx); err != nil {
				return err
			}
		}
		out = toRecommendation(row)
		return s.audit(ctx, tx, org, AuditEvent{
			Action: "recommendation." + verb, ResourceID: publicid.Encode(publicid.Recommendation, id),
			Before: map[string]any{"status": before}, After: map[string]any{"status": string(next)},
		})
	})
	if err != nil {
		return Recommendation{}, err
	}
	return out, nil
}

func toRecommendation(row *ent.Recommendation) Recommendation {
	return Recommendation{
		ID: row.ID, Number: row.Number, Status: RecommendationStatus(row.Status),
		Finding: Finding{
			Key: row.RecommendationKey, Kind: string(row.Kind), SourceKey: row.SourceKey, CanonicalKey: row.CanonicalKey,
			Usage: row.UsageCount,
		},
		OpenedAt: utc(row.OpenedAt), UpdatedAt: utc(row.UpdatedAt), ResolvedAt: utcPtr(row.ResolvedAt),
	}
}
