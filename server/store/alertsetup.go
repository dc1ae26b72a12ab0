package store

import (
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/ent/alertdestination"
	"github.com/svc-observability/svc/ent/alertrule"
	"github.com/svc-observability/svc/server/principal"
)

// AlertSetup is the part of the alerting of an organization that an audit of its setup needs.
type AlertSetup struct {
	// Rules have an id, a name, the enabled flag, destinations and the time of enabling. Destinations have no settings and no secret. Both
	// are in the order of their creation.
	Rules        []AlertRule
	Destinations []AlertDestination
	// EvaluatedThrough is the last minute whose results are stored; nil before the first.
	EvaluatedThrough *time.Time
}

// AlertSetup returns the alert rules and destinations of an organization, without their larger fields.
func (s *Store) AlertSetup(ctx context.Context, org principal.OrgID) (AlertSetup, error) {
	var out AlertSetup
	rules, err := s.read.AlertRule.Query().Where(alertrule.OrgID(string(org))).Order(alertrule.ByCreatedAt(), alertrule.ByID()).
		Select(alertrule.FieldID, alertrule.FieldName, alertrule.FieldEnabled, alertrule.FieldDestinationIds, alertrule.FieldEnabledAt).All(ctx)
	if out.Rules, err = collect("read the alert rules of a setup", toAlertRule, rules, err); err != nil {
		return AlertSetup{}, err
	}
	destinations, err := s.read.AlertDestination.Query().Where(alertdestination.OrgID(string(org))).
		Order(alertdestination.ByCreatedAt(), alertdestination.ByID()).
		Select(alertdestination.FieldID, alertdestination.FieldName, alertdestination.FieldEnabled, alertdestination.FieldLastTestedAt,
			alertdestination.FieldLastTestError, alertdestination.FieldDisabledReason).All(ctx)
	if out.Destinations, err = collect("read the alert destinations of a setup", toAlertDestination, destinations, err); err != nil {
		return AlertSetup{}, err
	}
	cursor, err := s.GetAlertCursor(ctx, org)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return AlertSetup{}, err
	}
	out.EvaluatedThrough = cursor.EvaluatedThrough
	return out, nil
}
