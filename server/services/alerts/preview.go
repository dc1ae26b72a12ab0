package alerts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/wording"
)

// figures reads the figures of one rule. A rule that cannot be evaluated is an error of the caller.
func (s *Rules) figures(ctx context.Context, org principal.OrgID, rule *store.AlertRule, minutes []time.Time) (alerting.Figures, error) {
	out, err := s.cfg.Figures.Figures(ctx, org, []alerting.Ask{{Rule: rule, Minutes: minutes}})
	if err != nil {
		return alerting.Figures{}, read.Failure(ctx, query.ExplainAll(err))
	}
	if out[0].Err != nil {
		return alerting.Figures{}, read.Failure(ctx, query.ExplainAll(out[0].Err))
	}
	return out[0], nil
}

// TestAlertRule evaluates a rule once, over the window that ends now.
func (s *Rules) TestAlertRule(ctx context.Context, req *svcv2.TestAlertRuleRequest) (*svcv2.AlertRuleTestResult, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	rule, err := newRule(req.GetRule())
	if err != nil {
		return nil, err
	}
	at := s.cfg.Now().UTC().Truncate(time.Minute)
	f, err := s.figures(ctx, caller.Org, &rule, []time.Time{at})
	if err != nil {
		return nil, err
	}
	c := alerting.ConditionOf(&rule)
	var chosen string
	var decided alerting.Decision
	var samples float64
	for _, key := range alerting.GroupsOf(&rule, f.Groups[0], nil) {
		in := f.Groups[0][key]
		_, d := alerting.Step(&c, alerting.State{}, in, at)
		if chosen == "" || d.Status == alerting.Breached && decided.Status != alerting.Breached {
			chosen, decided, samples = key, d, in.Samples
		}
	}
	res := &svcv2.AlertRuleTestResult{
		Object: "alert_rule.test_result", Status: string(decided.Status), Value: decided.Value, SampleCount: samples,
		Threshold: rule.Threshold, ThresholdUpper: rule.ThresholdUpper, Comparator: rule.Comparator,
		Reason: reason(&rule, chosen, decided),
	}
	if req.GetSendNotification() {
		if err := s.cfg.SendTests(ctx, caller.Org, &rule, decided.Value, samples); err != nil {
			return nil, ruleFailure(ctx, err)
		}
	}
	return res, nil
}

// reason is the result in words.
func reason(r *store.AlertRule, group string, d alerting.Decision) string {
	of := ""
	if group != alerting.TotalGroup {
		of = " of " + group
	}
	switch {
	case d.SkipReason == alerting.SkipNoData:
		return "There is no data" + of + " in the window."
	case d.SkipReason == alerting.SkipSamples:
		return fmt.Sprintf("There are fewer samples%s than the minimum of %d.", of, r.MinimumSampleCount)
	case d.Value == nil:
		return "The data" + of + " gives no value."
	}
	threshold := wording.Number(r.Threshold)
	if r.ThresholdUpper != nil {
		threshold += " and " + wording.Number(*r.ThresholdUpper)
	}
	verb := "is not"
	if d.Status == alerting.Breached {
		verb = "is"
	}
	return fmt.Sprintf("The value%s, %s, %s %s %s.", of, wording.Number(*d.Value), verb, wording.Comparator(r.Comparator), threshold)
}

// PreviewAlertRule evaluates a rule over a past range with the steps of the worker.
func (s *Rules) PreviewAlertRule(ctx context.Context, req *svcv2.PreviewAlertRuleRequest) (*svcv2.AlertRulePreview, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	definition := proto.CloneOf(req.GetRule())
	definition.DestinationIds = nil // nothing is sent
	rule, err := newRule(definition)
	if err != nil {
		return nil, err
	}
	start, end := req.GetStartTime().AsTime().UTC(), req.GetEndTime().AsTime().UTC()
	if !end.After(start) {
		return nil, apierr.New(apierr.ParameterInvalid, "`end_time` must be after `start_time`.", apierr.Param("end_time"))
	}
	out := &svcv2.AlertRulePreview{
		Object: "alert_rule.preview", WindowMinutes: int32(rule.WindowMinutes), Threshold: rule.Threshold, ThresholdUpper: rule.ThresholdUpper,
		Comparator: rule.Comparator,
	}
	now := s.cfg.Now().UTC().Truncate(time.Minute)
	if end.After(now) {
		end = now
	}
	if end.Sub(start) > limits.AlertPreview {
		start = end.Add(-limits.AlertPreview)
		out.TruncatedToStart = timestamppb.New(start)
	}
	points := limits.AlertPreviewPoints
	if alerting.Together(&rule) {
		points = limits.AlertPreviewPointsTogether
	}
	minutes, step := previewMinutes(start, end, points)
	out.BucketSeconds = int32(step / time.Second)
	f, err := s.figures(ctx, caller.Org, &rule, minutes)
	if err != nil {
		return nil, err
	}
	replay(out, &rule, minutes, f.Groups, now)
	return out, nil
}

// previewMinutes are the evaluated minutes: every one of a short range, every n-th of one that has more than so many.
func previewMinutes(start, end time.Time, points int) ([]time.Time, time.Duration) {
	minutes := max(1, int(end.Sub(start)/time.Minute))
	step := time.Duration((minutes+points-1)/points) * time.Minute
	var out []time.Time
	for t := start.Truncate(time.Minute).Add(time.Minute); !t.After(end); t = t.Add(step) {
		out = append(out, t)
	}
	return out, step
}

// replay steps through the minutes.
func replay(out *svcv2.AlertRulePreview, rule *store.AlertRule, minutes []time.Time, groups []map[string]alerting.Input, now time.Time) {
	c := alerting.ConditionOf(rule)
	c.MutedUntil = time.Time{}
	states := map[string]alerting.State{}
	series := map[string]*svcv2.AlertPreviewSeries{}
	open := map[string]*svcv2.AlertPreviewIncident{}
	for i, at := range minutes {
		for _, key := range alerting.GroupsOf(rule, groups[i], states) {
			in := groups[i][key]
			var d alerting.Decision
			states[key], d = alerting.Step(&c, states[key], in, at)
			if series[key] == nil {
				series[key] = &svcv2.AlertPreviewSeries{GroupKey: key}
			}
			p := &svcv2.AlertPreviewPoint{
				Bucket: timestamppb.New(at), Value: d.Value, SampleCount: in.Samples, Status: string(d.Status),
			}
			if d.SkipReason != "" {
				p.SkipReason = &d.SkipReason
			}
			if now.Sub(at) < time.Minute+limits.AlertSettle {
				provisional := true
				p.Provisional = &provisional
			}
			series[key].Points = append(series[key].Points, p)
			//exhaustive:enforce
			switch d.Transition {
			case alerting.Opened:
				open[key] = &svcv2.AlertPreviewIncident{GroupKey: key, Start: timestamppb.New(at)}
				out.WouldFire = append(out.WouldFire, open[key])
			case alerting.Resolved:
				open[key].End = timestamppb.New(at)
				delete(open, key)
			case alerting.None, alerting.Continued:
			}
			if alerting.Forgotten(rule, key, states[key], in, at) {
				delete(states, key)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(series)) {
		out.Series = append(out.Series, series[key])
	}
}
