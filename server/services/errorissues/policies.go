package errorissues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// ListErrorIssueActors lists actors.
func (s *Workflow) ListErrorIssueActors(
	ctx context.Context, req *svcv2.ListErrorIssueActorsRequest,
) (*svcv2.ListErrorIssueActorsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListActors(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListErrorIssueActorsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, a := range rows {
		res.Data = append(res.Data, actorMessage(a))
	}
	return res, nil
}

// notification returns the stored policy, or a disabled one.
func (c *Config) notification(ctx context.Context, org principal.OrgID) (issues.NotificationPolicy, store.ErrorPolicy, error) {
	row, err := c.Store.GetErrorPolicy(ctx, org, store.PolicyNotification)
	if errors.Is(err, store.ErrNotFound) {
		p := issues.DefaultPolicy()
		p.Enabled = false
		return p, store.ErrorPolicy{}, nil
	}
	if err != nil {
		return issues.NotificationPolicy{}, row, err
	}
	p, err := issues.ReadPolicy(row.Policy)
	return p, row, err
}

// GetErrorNotificationPolicy returns the notification policy.
func (s *Policies) GetErrorNotificationPolicy(
	ctx context.Context, _ *svcv2.GetErrorNotificationPolicyRequest,
) (*svcv2.ErrorNotificationPolicy, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p, row, err := s.notification(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return notificationMessage(p, row), nil
}

// ReplaceErrorNotificationPolicy stores the notification policy.
func (s *Policies) ReplaceErrorNotificationPolicy(
	ctx context.Context, req *svcv2.ReplaceErrorNotificationPolicyRequest,
) (*svcv2.ErrorNotificationPolicy, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p := issues.DefaultPolicy()
	for to, given := range map[*bool]*bool{
		&p.Enabled: req.Enabled, &p.OnFirstSeen: req.NotifyOnFirstSeen, &p.OnRegression: req.NotifyOnRegression,
		&p.OnResolve: req.NotifyOnResolve, &p.OnInReview: req.NotifyOnTransitionInReview, &p.OnDone: req.NotifyOnTransitionDone,
		&p.OnClaim: req.NotifyOnClaim,
	} {
		if given != nil {
			*to = *given
		}
	}
	if req.MinOccurrenceCount != nil {
		p.MinOccurrences = int64(req.GetMinOccurrenceCount())
	}
	if req.Severity != nil {
		p.Severity = req.GetSeverity()
	}
	if p.DestinationIDs, err = destinations("destination_ids", req.GetDestinationIds()); err != nil {
		return nil, err
	}
	row, err := s.replace(ctx, caller, store.PolicyNotification, "destination_ids", p, p.DestinationIDs)
	if err != nil {
		return nil, err
	}
	return notificationMessage(p, row), nil
}

// replace stores a policy.
func (s *Policies) replace(
	ctx context.Context, caller *principal.Principal, kind, field string, policy any, ids []string,
) (store.ErrorPolicy, error) {
	body, err := json.Marshal(policy)
	if err != nil {
		return store.ErrorPolicy{}, err
	}
	row, err := s.Store.ReplaceErrorPolicy(ctx, caller.Org, caller.User, kind, body, ids)
	if errors.Is(err, store.ErrNoDestination) {
		return row, apierr.New(apierr.ErrorValidation, "`"+field+"` names a destination that this organization does not have.",
			apierr.Param(field), apierr.Cause(err))
	}
	if err != nil {
		return row, failure(ctx, err)
	}
	return row, nil
}

// destinations reads public ids. The store keeps the ids themselves.
func destinations(field string, ids []string) ([]string, error) {
	out := []string{}
	for _, text := range ids {
		id, err := publicid.Decode(publicid.AlertDestination, text)
		if err != nil {
			return nil, apierr.New(apierr.ErrorValidation, fmt.Sprintf("`%s` holds %q, which is not the id of a destination.", field, text),
				apierr.Param(field))
		}
		if slices.Contains(out, id.String()) {
			return nil, apierr.New(apierr.ErrorValidation, "`"+field+"` names a destination twice.", apierr.Param(field))
		}
		out = append(out, id.String())
	}
	return out, nil
}

func publicDestinations(ids []string) []string {
	var out []string
	for _, text := range ids {
		if id, err := uuid.Parse(text); err == nil {
			out = append(out, publicid.Encode(publicid.AlertDestination, id))
		}
	}
	return out
}

func notificationMessage(p issues.NotificationPolicy, row store.ErrorPolicy) *svcv2.ErrorNotificationPolicy {
	out := &svcv2.ErrorNotificationPolicy{
		Enabled: p.Enabled, DestinationIds: publicDestinations(p.DestinationIDs), NotifyOnFirstSeen: p.OnFirstSeen,
		NotifyOnRegression: p.OnRegression, NotifyOnResolve: p.OnResolve, NotifyOnTransitionInReview: p.OnInReview,
		NotifyOnTransitionDone: p.OnDone, NotifyOnClaim: p.OnClaim, MinOccurrenceCount: int32(p.MinOccurrences), Severity: p.Severity,
	}
	if !row.UpdatedAt.IsZero() {
		by := string(row.UpdatedBy)
		out.UpdatedAt, out.UpdatedBy = stamp(&row.UpdatedAt), &by
	}
	return out
}

// escalation returns the stored policy, or an empty one.
func (c *Config) escalation(ctx context.Context, org principal.OrgID) (issues.EscalationPolicy, store.ErrorPolicy, error) {
	row, err := c.Store.GetErrorPolicy(ctx, org, store.PolicyEscalation)
	if errors.Is(err, store.ErrNotFound) {
		return issues.EscalationPolicy{}, store.ErrorPolicy{}, nil
	}
	if err != nil {
		return issues.EscalationPolicy{}, row, err
	}
	p, err := issues.ReadEscalation(row.Policy)
	return p, row, err
}

// GetErrorEscalationPolicy returns the escalation policy.
func (s *Policies) GetErrorEscalationPolicy(
	ctx context.Context, _ *svcv2.GetErrorEscalationPolicyRequest,
) (*svcv2.ErrorEscalationPolicy, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p, row, err := s.escalation(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return escalationMessage(p, row), nil
}

// ReplaceErrorEscalationPolicy stores the escalation policy.
func (s *Policies) ReplaceErrorEscalationPolicy(
	ctx context.Context, req *svcv2.ReplaceErrorEscalationPolicyRequest,
) (*svcv2.ErrorEscalationPolicy, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p := issues.EscalationPolicy{Enabled: req.Enabled == nil || req.GetEnabled(), Rules: []issues.EscalationRule{}}
	var all, seen []string
	for i, r := range req.GetRules() {
		field := fmt.Sprintf("rules[%d]", i)
		if slices.Contains(seen, r.GetSeverity()) {
			return nil, apierr.New(apierr.ErrorValidation, "`"+field+".severity` has a rule already.", apierr.Param(field+".severity"))
		}
		seen = append(seen, r.GetSeverity())
		ids, err := destinations(field+".destination_ids", r.GetDestinationIds())
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
		p.Rules = append(p.Rules, issues.EscalationRule{Severity: r.GetSeverity(), DestinationIDs: ids, MinConfidence: r.MinConfidence})
	}
	row, err := s.replace(ctx, caller, store.PolicyEscalation, "rules", p, all)
	if err != nil {
		return nil, err
	}
	return escalationMessage(p, row), nil
}

func escalationMessage(p issues.EscalationPolicy, row store.ErrorPolicy) *svcv2.ErrorEscalationPolicy {
	out := &svcv2.ErrorEscalationPolicy{Enabled: p.Enabled}
	for _, r := range p.Rules {
		out.Rules = append(out.Rules, &svcv2.ErrorEscalationRule{
			Severity: r.Severity, DestinationIds: publicDestinations(r.DestinationIDs), MinConfidence: r.MinConfidence,
		})
	}
	if !row.UpdatedAt.IsZero() {
		by := string(row.UpdatedBy)
		out.UpdatedAt, out.UpdatedBy = stamp(&row.UpdatedAt), &by
	}
	return out
}
