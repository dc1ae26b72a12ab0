package alerts

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// RulesConfig has the parts that the rules need.
type RulesConfig struct {
	Store *store.Store
	// Figures reads the figures for tests and previews.
	Figures alerting.Source
	// Warehouse has the checks.
	Warehouse read.Warehouse
	// Farewell makes the messages that take back the open incidents of a rule that is deleted.
	Farewell func(ctx context.Context, org principal.OrgID, rule store.AlertRule, open []store.AlertIncident) ([]store.NewDelivery, error)
	// SendTests sends a test message about a rule to its enabled destinations. Its error is one of the contract.
	SendTests func(ctx context.Context, org principal.OrgID, rule *store.AlertRule, value *float64, samples float64) error
	Now       func() time.Time
}

// Rules implements svcv2connect.AlertRulesServiceHandler. It is safe for concurrent use.
type Rules struct{ cfg RulesConfig }

// NewRules returns the service.
func NewRules(cfg RulesConfig) *Rules { return &Rules{cfg} }

func ruleResource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.AlertRule, ID: "an alert rule", Invalid: apierr.AlertValidation, Unavailable: unavailable(),
		NotFound: storeerr.Answer{Tag: apierr.AlertRuleNotFound, Message: "This organization has no such alert rule."},
		Taken:    storeerr.Answer{Tag: apierr.AlertValidation, Message: "`name` is the name of another alert rule. Choose another one."},
	}
}

// ruleFailure is the error of the contract for a failure of a write.
func ruleFailure(ctx context.Context, err error) error {
	var answer *apierr.Error
	switch {
	case errors.As(err, &answer):
		return answer
	case errors.Is(err, store.ErrNoDestination):
		return apierr.New(apierr.AlertRuleDestinationNotFound, "`destination_ids` names a destination that the organization does not have.")
	default:
		return ruleResource().Failure(ctx, err)
	}
}

// ListAlertRules lists rules, the newest first.
func (s *Rules) ListAlertRules(ctx context.Context, req *svcv2.ListAlertRulesRequest) (*svcv2.ListAlertRulesResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.cfg.Store.ListAlertRules(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, ruleResource().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListAlertRulesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	if len(rows) == 0 {
		return res, nil
	}
	cursor, err := s.cursor(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		m, err := ruleMessage(&rows[i], cursor)
		if err != nil {
			return nil, err
		}
		res.Data = append(res.Data, m)
	}
	return res, nil
}

func (s *Rules) cursor(ctx context.Context, org principal.OrgID) (store.AlertCursor, error) {
	c, err := s.cfg.Store.GetAlertCursor(ctx, org)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return c, ruleResource().Failure(ctx, err)
	}
	return c, nil
}

// GetAlertRule returns one rule.
func (s *Rules) GetAlertRule(ctx context.Context, req *svcv2.GetAlertRuleRequest) (*svcv2.AlertRule, error) {
	caller, id, err := ruleResource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.cfg.Store.GetAlertRule(ctx, caller.Org, id)
	if err != nil {
		return nil, ruleResource().Failure(ctx, err)
	}
	cursor, err := s.cursor(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	return ruleMessage(&row, cursor)
}

// CreateAlertRule creates a rule.
func (s *Rules) CreateAlertRule(ctx context.Context, req *svcv2.CreateAlertRuleRequest) (*svcv2.AlertRuleMutationResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	rule, err := newRule(req)
	if err != nil {
		return nil, err
	}
	row, txid, err := s.cfg.Store.CreateAlertRule(ctx, caller.Org, caller.User, rule)
	if err != nil {
		return nil, ruleFailure(ctx, err)
	}
	return s.changed(ctx, caller.Org, &row, txid)
}

// UpdateAlertRule changes the fields that the mask names, and checks the whole rule again.
func (s *Rules) UpdateAlertRule(ctx context.Context, req *svcv2.UpdateAlertRuleRequest) (*svcv2.AlertRuleMutationResponse, error) {
	caller, id, err := ruleResource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	rows, txid, err := s.cfg.Store.EditAlertRules(ctx, caller.Org, caller.User, []uuid.UUID{id}, "updated", func(r *store.AlertRule) error {
		if err := editRule(r, req); err != nil {
			return err
		}
		return checkRule(r)
	})
	if err != nil {
		return nil, ruleFailure(ctx, err)
	}
	return s.changed(ctx, caller.Org, &rows[0], txid)
}

func (s *Rules) changed(
	ctx context.Context, org principal.OrgID, row *store.AlertRule, txid string,
) (*svcv2.AlertRuleMutationResponse, error) {
	cursor, err := s.cursor(ctx, org)
	if err != nil {
		return nil, err
	}
	m, err := ruleMessage(row, cursor)
	if err != nil {
		return nil, err
	}
	// Both messages have the same fields under the same numbers; a test compares them.
	text, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	out := &svcv2.AlertRuleMutationResponse{}
	if err := proto.Unmarshal(text, out); err != nil {
		return nil, err
	}
	out.Txid = &txid
	return out, nil
}

// DeleteAlertRule deletes a rule with its incidents and deliveries.
func (s *Rules) DeleteAlertRule(ctx context.Context, req *svcv2.DeleteAlertRuleRequest) (*svcv2.DeletedAlertRule, error) {
	caller, id, err := ruleResource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	txid, err := s.cfg.Store.DeleteAlertRule(ctx, caller.Org, id,
		func(r store.AlertRule, open []store.AlertIncident) ([]store.NewDelivery, error) {
			return s.cfg.Farewell(ctx, caller.Org, r, open)
		})
	if err != nil {
		return nil, ruleFailure(ctx, err)
	}
	return &svcv2.DeletedAlertRule{Id: req.GetId(), Object: "alert_rule", Deleted: true, Txid: &txid}, nil
}
