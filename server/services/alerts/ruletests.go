package alerts

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// SendRuleTest sends a test message about a rule to its enabled destinations, and fails with the first failure.
func (s *Destinations) SendRuleTest(
	ctx context.Context, org principal.OrgID, rule *store.AlertRule, value *float64, samples float64,
) error {
	for i, text := range rule.DestinationIds {
		id, err := uuid.Parse(text)
		if err != nil {
			return unreadableRule(err)
		}
		row, err := s.cfg.Store.GetAlertDestination(ctx, org, id)
		if err != nil {
			return apierr.New(apierr.AlertRuleDestinationNotFound,
				fmt.Sprintf("`destination_ids[%d]` names a destination that the organization does not have.", i), apierr.Cause(err))
		}
		if !row.Enabled {
			continue
		}
		d, err := notify.Open(row, s.cfg.Seals)
		if err != nil {
			return unreadable(err)
		}
		if err := s.budget(org); err != nil {
			return err
		}
		e := testMessage(rule, value, samples, notify.Links{BaseURL: s.cfg.BaseURL, Org: org})
		e.SentAt = s.cfg.Now()
		e.Incident.DedupeKey = "test:" + id.String()
		r, err := s.cfg.Sender.SendNow(ctx, d, "test:"+id.String()+":"+rand.Text(), e)
		if err != nil {
			return err
		}
		if _, err := tested(d, r); err != nil {
			return err
		}
	}
	return nil
}
