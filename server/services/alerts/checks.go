package alerts

import (
	"context"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// otherGroups is the key of the groups that a summary does not show one by one.
const otherGroups = "__other__"

// ruleOf returns the rule that a request names.
func (s *Rules) ruleOf(ctx context.Context, public string) (principal.OrgID, *store.AlertRule, error) {
	caller, id, err := ruleResource().Target(ctx, public)
	if err != nil {
		return "", nil, err
	}
	rule, err := s.cfg.Store.GetAlertRule(ctx, caller.Org, id)
	if err != nil {
		return "", nil, ruleResource().Failure(ctx, err)
	}
	return caller.Org, &rule, nil
}

// ListAlertRuleChecks lists the evaluations of a rule, the newest first.
func (s *Rules) ListAlertRuleChecks(
	ctx context.Context, req *svcv2.ListAlertRuleChecksRequest,
) (*svcv2.ListAlertRuleChecksResponse, error) {
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	now := s.cfg.Now()
	list := reads.AlertCheckList{
		Since: now.Add(-limits.AlertCheckRetention), Until: now.Add(limits.ClockAhead), Group: req.GetGroupKey(), Status: req.GetStatus(),
		Offset: page.Offset, Limit: page.Want(),
	}
	if req.GetSince() != nil && req.GetSince().AsTime().After(list.Since) {
		list.Since = req.GetSince().AsTime()
	}
	if req.GetUntil() != nil && req.GetUntil().AsTime().Before(list.Until) {
		list.Until = req.GetUntil().AsTime()
	}
	if req.GetSince() != nil && req.GetUntil() != nil && !req.GetUntil().AsTime().After(req.GetSince().AsTime()) {
		return nil, apierr.New(apierr.ParameterInvalid, "`until` must be after `since`.", apierr.Param("until"))
	}
	org, rule, err := s.ruleOf(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	list.Rule = publicid.Encode(publicid.AlertRule, rule.ID)
	var rows []reads.AlertCheckRow
	if list.Since.Before(list.Until) {
		if rows, err = read.All[reads.AlertCheckRow](ctx, s.cfg.Warehouse, org, reads.AlertChecks(list)); err != nil {
			return nil, read.Failure(ctx, err)
		}
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListAlertRuleChecksResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for i := range rows {
		res.Data = append(res.Data, checkMessage(&rows[i]))
	}
	return res, nil
}

func checkMessage(r *reads.AlertCheckRow) *svcv2.AlertCheck {
	window := time.Duration(r.WindowMinutes) * time.Minute
	return &svcv2.AlertCheck{
		Object: "alert_check", Timestamp: timestamppb.New(r.Timestamp), GroupKey: r.GroupKey, Status: r.Status,
		SkipReason: textOrNil(r.SkipReason), SignalType: r.SignalType, Comparator: r.Comparator, Threshold: r.Threshold,
		ThresholdUpper: r.ThresholdUpper, ObservedValue: r.ObservedValue, SampleCount: r.SampleCount, WindowMinutes: int32(r.WindowMinutes),
		WindowStart: timestamppb.New(r.Timestamp.Add(-window)), WindowEnd: timestamppb.New(r.Timestamp),
		ConsecutiveBreaches: int32(r.ConsecutiveBreaches), ConsecutiveHealthy: int32(r.ConsecutiveHealthy),
		IncidentId: textOrNil(r.IncidentID), IncidentTransition: r.IncidentTransition, EvaluationDurationMs: int64(r.EvaluationDurationMs),
		ErrorMessage: textOrNil(r.ErrorMessage), ErrorCategory: textOrNil(r.ErrorCategory),
	}
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// SummarizeAlertRuleChecks counts the evaluations of a rule by time and group.
func (s *Rules) SummarizeAlertRuleChecks(
	ctx context.Context, req *svcv2.SummarizeAlertRuleChecksRequest,
) (*svcv2.AlertCheckSummary, error) {
	span := reads.AlertCheckSpan{Since: req.GetSince().AsTime(), Until: req.GetUntil().AsTime(), Group: req.GetGroupKey()}
	switch length := span.Until.Sub(span.Since); {
	case length < 0:
		return nil, invalidRule("until", "must not be before `since`.")
	case length > limits.AlertCheckHourRetention:
		return nil, invalidRule("until", "must be at most "+limits.Lasts(limits.AlertCheckHourRetention)+" after `since`.")
	}
	org, rule, err := s.ruleOf(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	span.Rule = publicid.Encode(publicid.AlertRule, rule.ID)
	span.Bucket = query.AutoBucket(query.Window{Start: span.Since, End: span.Until}, limits.DefaultBuckets)
	if span.Since.Before(s.cfg.Now().Add(-limits.AlertCheckRetention)) {
		// The checks of the first hour are gone; its sums are not.
		span.Since, span.Bucket = span.Since.Truncate(time.Hour), max(span.Bucket, time.Hour)
	}
	groups, err := read.All[reads.AlertCheckGroupRow](ctx, s.cfg.Warehouse, org, reads.AlertCheckGroups(span, limits.AlertCheckGroups))
	if err != nil {
		return nil, read.Failure(ctx, err)
	}
	res := &svcv2.AlertCheckSummary{
		Object: "alert_check.summary", BucketSeconds: int32(span.Bucket / time.Second), Totals: &svcv2.AlertCheckTotals{},
	}
	for _, g := range groups {
		res.TopGroupKeys = append(res.TopGroupKeys, g.GroupKey)
	}
	points, err := read.All[reads.AlertCheckPointRow](ctx, s.cfg.Warehouse, org,
		reads.AlertCheckPoints(span, res.GetTopGroupKeys(), otherGroups))
	if err != nil {
		return nil, read.Failure(ctx, err)
	}
	for i := range points {
		p := pointMessage(&points[i], rule.Comparator)
		t := res.GetTotals()
		t.Total, t.Breached, t.Healthy = t.GetTotal()+p.GetTotalCount(), t.GetBreached()+p.GetBreachedCount(), t.GetHealthy()+p.GetHealthyCount()
		t.Skipped, t.Error = t.GetSkipped()+p.GetSkippedCount(), t.GetError()+p.GetErrorCount()
		t.Transitions = t.GetTransitions() + p.GetTransitionCount()
		res.Points = append(res.Points, p)
	}
	return res, nil
}

func pointMessage(r *reads.AlertCheckPointRow, comparator string) *svcv2.AlertCheckPoint {
	p := &svcv2.AlertCheckPoint{
		Bucket: timestamppb.New(r.Bucket), GroupKey: r.GroupKey, TotalCount: int64(r.Checks), BreachedCount: int64(r.Breached),
		HealthyCount: int64(r.Healthy), SkippedCount: int64(r.Skipped), ErrorCount: int64(r.Errors), TransitionCount: int64(r.Transitions),
		ObservedValue: r.Highest, Threshold: r.Threshold,
	}
	if comparator == "lt" || comparator == "lte" {
		p.ObservedValue = r.Lowest
	}
	return p
}

// MuteAlertRule stops the messages of a rule for some time, or lets them go on.
func (s *Rules) MuteAlertRule(ctx context.Context, req *svcv2.MuteAlertRuleRequest) (*svcv2.AlertRuleMutationResponse, error) {
	caller, id, err := ruleResource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	var until *time.Time
	if n := req.GetMinutes(); n > 0 {
		end := s.cfg.Now().UTC().Truncate(time.Second).Add(time.Duration(n) * time.Minute)
		until = &end
	}
	rows, txid, err := s.cfg.Store.EditAlertRules(ctx, caller.Org, caller.User, []uuid.UUID{id}, "muted", func(r *store.AlertRule) error {
		r.MutedUntil = until
		return nil
	})
	if err != nil {
		return nil, ruleFailure(ctx, err)
	}
	return s.changed(ctx, caller.Org, &rows[0], txid)
}
