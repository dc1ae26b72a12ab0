package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// definition holds the arguments that define what a rule evaluates.
type definition struct {
	SignalType          *string `of:"CreateAlertRuleRequest.signal_type" doc:"Needed without template or rule_id."`
	Comparator          *string `of:"CreateAlertRuleRequest.comparator"`
	Threshold           *float64
	ThresholdUpper      *float64 `doc:"Only between and not_between."`
	WindowMinutes       *int     `doc:"Default {DefaultToolAlertWindow}."`
	Services            []string
	ExcludeServices     []string
	Environments        []string
	GroupBy             []string `doc:"As service.name."`
	MinimumSampleCount  *int
	ConsecutiveBreaches *int            `doc:"Default {DefaultToolAlertBreaches}."`
	ConsecutiveHealthy  *int            `doc:"Default {DefaultToolAlertBreaches}."`
	ApdexThresholdMs    *float64        `doc:"Default {DefaultApdex}."`
	QueryBuilderDraft   json.RawMessage `doc:"Signal builder_query."`
	RawQuerySQL         *string         `doc:"Signal raw_query: column value, optional group and samples; needs $__orgFilter and $__timeFilter(column)."`
	RawQueryReducer     *string         `of:"CreateAlertRuleRequest.raw_query_reducer"`
}

// The values that a tool fills in where a call leaves them out. They differ from those of the API: an agent's rule fires at once.
const (
	toolBreaches = limits.DefaultToolAlertBreaches
	toolRenotify = limits.DefaultToolAlertRenotify
	toolWindow   = limits.DefaultToolAlertWindow
)

// template is a rule for an ordinary question.
type template struct {
	name               templateName
	signal, comparator string
	threshold          float64
	groupBy            []string
}

var templates = []template{
	{"high_error_rate", "error_rate", "gt", 0.05, []string{"service.name"}},
	{"slow_p95", "p95_latency", "gt", 1000, nil},
	{"slow_p99", "p99_latency", "gt", 2000, nil},
	{"low_apdex", "apdex", "lt", 0.8, nil},
	{"throughput_drop", "throughput", "lt", 100, nil},
}

// templateName is the name of a template, or noTemplate.
type templateName string

// noTemplate is for a rule that the call describes itself.
const noTemplate templateName = "custom"

// Choices lists the names.
func (templateName) Choices() []string {
	var names []string
	for _, t := range templates {
		names = append(names, string(t.name))
	}
	return append(names, string(noTemplate))
}

// request makes the rule of the arguments.
func (d *definition) request(c *tool.Call, name string) (*svcv2.CreateAlertRuleRequest, error) {
	draft, err := toStruct(c, &d.QueryBuilderDraft)
	if err != nil {
		return nil, err
	}
	return &svcv2.CreateAlertRuleRequest{
		Name: name, SignalType: tool.Or(d.SignalType, ""), Comparator: tool.Or(d.Comparator, "gt"), Threshold: d.Threshold,
		ThresholdUpper: d.ThresholdUpper, WindowMinutes: int32(tool.Or(d.WindowMinutes, toolWindow)), ServiceNames: d.Services,
		ExcludeServiceNames: d.ExcludeServices, Environments: d.Environments, GroupBy: d.GroupBy,
		MinimumSampleCount:          new(int64(tool.Or(d.MinimumSampleCount, 0))),
		ConsecutiveBreachesRequired: new(int32(tool.Or(d.ConsecutiveBreaches, toolBreaches))),
		ConsecutiveHealthyRequired:  new(int32(tool.Or(d.ConsecutiveHealthy, toolBreaches))),
		RenotifyIntervalMinutes:     new(int32(toolRenotify)),
		ApdexThresholdMs:            d.ApdexThresholdMs, QueryBuilderDraft: draft, RawQuerySql: d.RawQuerySQL, RawQueryReducer: d.RawQueryReducer,
	}, nil
}

func toStruct(c *tool.Call, field *json.RawMessage) (*structpb.Struct, error) {
	if len(*field) == 0 {
		return nil, nil
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(*field); err != nil {
		return nil, c.Bad(field, "must be a JSON object.", `{"dataSource":"traces","aggregation":"count"}`)
	}
	return s, nil
}

type createRuleArgs struct {
	tool.Call
	Name           string        `required:"true"`
	DestinationIds []string      `doc:"Ids of list_alert_destinations; may be empty."`
	Template       *templateName `doc:"Fills in signal, comparator and threshold."`
	Severity       string        `default:"warning" of:"CreateAlertRuleRequest.severity"`
	definition
	RenotifyIntervalMinutes *int    `doc:"Default {DefaultToolAlertRenotify}."`
	NotificationTitle       *string `doc:"May hold {{ rule.name }}, {{ value }}, {{ group }} and so on."`
	NotificationBody        *string
	Enabled                 *bool `doc:"Default true."`
}

func newCreateAlertRule(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[ruleResult](&tool.Tool{
		Name: "create_alert_rule", View: "/alerts/rules/{id}", Title: "Create an alert rule", Writes: true,
		Description: "Create an alert rule, after a preview of the last " + limits.Lasts(limits.DefaultAlertPreview) +
			" that tells how often it would have fired.",
		Run: tool.With(func(ctx context.Context, a *createRuleArgs) (*tool.Answer, error) {
			name := tool.Or(a.Template, noTemplate)
			if i := slices.IndexFunc(templates, func(t template) bool { return t.name == name }); i >= 0 {
				a.fill(templates[i])
			}
			req, err := a.request(&a.Call, a.Name)
			if err != nil {
				return nil, err
			}
			req.Severity, req.DestinationIds, req.Enabled = a.Severity, a.DestinationIds, a.Enabled
			if a.RenotifyIntervalMinutes != nil {
				req.RenotifyIntervalMinutes = tool.Int32(a.RenotifyIntervalMinutes)
			}
			if a.NotificationTitle != nil || a.NotificationBody != nil {
				req.NotificationTemplate = &svcv2.AlertNotificationTemplate{Title: a.NotificationTitle, Body: a.NotificationBody}
			}
			end := a.Now
			preview, err := s.AlertRules.PreviewAlertRule(ctx, &svcv2.PreviewAlertRuleRequest{
				Rule: req, StartTime: timestamppb.New(end.Add(-limits.DefaultAlertPreview)), EndTime: timestamppb.New(end),
			})
			if err != nil {
				return nil, err
			}
			made, err := s.AlertRules.CreateAlertRule(ctx, req)
			if err != nil {
				return nil, err
			}
			rule, err := s.AlertRules.GetAlertRule(ctx, &svcv2.GetAlertRuleRequest{Id: made.GetId()})
			if err != nil {
				return nil, err
			}
			return ruleAnswer(rule, "The rule was created.", frequency(preview)), nil
		}),
	})
}

func (d *definition) fill(t template) {
	if d.SignalType == nil {
		d.SignalType = &t.signal
	}
	if d.Comparator == nil {
		d.Comparator = &t.comparator
	}
	if d.Threshold == nil {
		d.Threshold = &t.threshold
	}
	if d.GroupBy == nil && len(d.Services) == 0 {
		d.GroupBy = t.groupBy
	}
}

// oftenADay is the number of incidents a day above which a rule is noise.
const oftenADay = 20

// frequency says how often a rule would have fired.
func frequency(p *svcv2.AlertRulePreview) string {
	n := len(p.GetWouldFire())
	text := fmt.Sprintf("In the last %s it would have fired %d times, evaluated every %s.",
		limits.Lasts(limits.DefaultAlertPreview), n, limits.Lasts(time.Duration(p.GetBucketSeconds())*time.Second))
	if n > oftenADay {
		text += " That is often. Raise the distance of the threshold, the window or consecutive_breaches."
	}
	return text
}

type previewResult struct {
	WindowMinutes    int32          `json:"windowMinutes"`
	Comparator       string         `json:"comparator"`
	Threshold        float64        `json:"threshold"`
	ThresholdUpper   *float64       `json:"thresholdUpper,omitempty"`
	BucketSeconds    int32          `json:"bucketSeconds"`
	Groups           []previewGroup `json:"groups"`
	Points           []previewPoint `json:"points"`
	WouldFire        []previewFire  `json:"wouldFire"`
	Warnings         []string       `json:"warnings"`
	TruncatedToStart *string        `json:"truncatedToStart,omitempty"`
}

type previewGroup struct {
	GroupKey        string   `json:"groupKey"`
	Windows         int      `json:"windows"`
	Breached        int      `json:"breached"`
	Healthy         int      `json:"healthy"`
	NoData          int      `json:"noData"`
	BelowMinSamples int      `json:"belowMinSamples"`
	NoValue         int      `json:"noValue"`
	MinValue        *float64 `json:"minValue,omitempty"`
	MaxValue        *float64 `json:"maxValue,omitempty"`
	TotalSamples    float64  `json:"totalSamples"`
}

type previewPoint struct {
	GroupKey    string   `json:"groupKey"`
	Bucket      string   `json:"bucket"`
	Status      string   `json:"status"`
	SkipReason  *string  `json:"skipReason,omitempty"`
	Value       *float64 `json:"value,omitempty"`
	SampleCount float64  `json:"sampleCount"`
	Provisional bool     `json:"provisional,omitempty"`
}

type previewFire struct {
	GroupKey string  `json:"groupKey"`
	Start    string  `json:"start"`
	End      *string `json:"end,omitempty"`
}

type previewRuleArgs struct {
	tool.Call
	RuleID     *string `doc:"A stored rule, instead of a definition."`
	definition `doc:"-"`
	StartTime  *time.Time `doc:"default now-{DefaultAlertPreview}"`
	EndTime    *time.Time
}

func newPreviewAlertRule(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[previewResult](&tool.Tool{
		Name: "preview_alert_rule", View: "/alerts/rules/{rule_id}", Title: "Preview of an alert rule",
		Description: "Evaluate a stored or a new alert rule over at most " + limits.Lasts(limits.AlertPreview) +
			" and show when it would have fired. Its arguments are those of create_alert_rule.",
		Run: tool.With(func(ctx context.Context, a *previewRuleArgs) (*tool.Answer, error) {
			w, err := a.Between(a.StartTime, a.EndTime, limits.DefaultAlertPreview, limits.AlertPreview)
			if err != nil {
				return nil, err
			}
			req, err := a.rule(ctx, s)
			if err != nil {
				return nil, err
			}
			p, err := s.AlertRules.PreviewAlertRule(ctx, &svcv2.PreviewAlertRuleRequest{Rule: req, StartTime: w.StartProto(), EndTime: w.EndProto()})
			if err != nil {
				return nil, err
			}
			return previewAnswer(p), nil
		}),
	})
}

func (a *previewRuleArgs) rule(ctx context.Context, s *tool.Clients) (*svcv2.CreateAlertRuleRequest, error) {
	if a.RuleID == nil {
		req, err := a.request(&a.Call, "preview")
		if err == nil {
			req.Severity = "warning"
		}
		return req, err
	}
	r, err := s.AlertRules.GetAlertRule(ctx, &svcv2.GetAlertRuleRequest{Id: *a.RuleID})
	if err != nil {
		return nil, err
	}
	return &svcv2.CreateAlertRuleRequest{
		Name: r.GetName(), Severity: r.GetSeverity(), ServiceNames: r.GetServiceNames(), ExcludeServiceNames: r.GetExcludeServiceNames(),
		Environments: r.GetEnvironments(), GroupBy: r.GetGroupBy(), SignalType: r.GetSignalType(), Comparator: r.GetComparator(),
		Threshold: new(r.GetThreshold()), ThresholdUpper: r.ThresholdUpper, WindowMinutes: r.GetWindowMinutes(),
		MinimumSampleCount: new(r.GetMinimumSampleCount()), ConsecutiveBreachesRequired: new(r.GetConsecutiveBreachesRequired()),
		ConsecutiveHealthyRequired: new(r.GetConsecutiveHealthyRequired()), RenotifyIntervalMinutes: new(r.GetRenotifyIntervalMinutes()),
		ApdexThresholdMs: r.ApdexThresholdMs, QueryBuilderDraft: r.GetQueryBuilderDraft(), RawQuerySql: r.RawQuerySql,
		RawQueryReducer: r.RawQueryReducer, ResolveThreshold: r.ResolveThreshold, AlertOnNoData: new(r.GetAlertOnNoData()), Burn: r.GetBurn(),
		Baseline: r.GetBaseline(),
	}, nil
}

// pointsOfGroup bounds the points of one group in an answer.
const pointsOfGroup = limits.ToolPreviewPoints

func previewAnswer(p *svcv2.AlertRulePreview) *tool.Answer {
	res := previewResult{
		WindowMinutes: p.GetWindowMinutes(), Comparator: p.GetComparator(), Threshold: p.GetThreshold(), ThresholdUpper: p.ThresholdUpper,
		BucketSeconds: p.GetBucketSeconds(), Groups: []previewGroup{}, Points: []previewPoint{}, WouldFire: []previewFire{}, Warnings: []string{},
		TruncatedToStart: tool.Moment(p.GetTruncatedToStart()),
	}
	var groups, fires [][]string
	for _, g := range p.GetSeries() {
		sum := previewGroup{GroupKey: g.GetGroupKey()}
		points := g.GetPoints()
		for i, at := range points {
			sum.add(at)
			if i >= len(points)-pointsOfGroup {
				res.Points = append(res.Points, previewPoint{
					GroupKey: g.GetGroupKey(), Bucket: wording.Clock(at.GetBucket().AsTime()), Status: at.GetStatus(), SkipReason: at.SkipReason,
					Value: at.Value, SampleCount: at.GetSampleCount(), Provisional: at.GetProvisional(),
				})
			}
		}
		if len(points) > pointsOfGroup && len(res.Warnings) == 0 {
			res.Warnings = append(res.Warnings, fmt.Sprintf("Only the last %d points of each group are listed.", pointsOfGroup))
		}
		res.Groups = append(res.Groups, sum)
		groups = append(groups, []string{
			sum.GroupKey, fmt.Sprint(sum.Breached), fmt.Sprint(sum.Healthy), fmt.Sprint(sum.NoData + sum.BelowMinSamples + sum.NoValue),
			figure(sum.MinValue), figure(sum.MaxValue),
		})
	}
	for _, f := range p.GetWouldFire() {
		row := previewFire{GroupKey: f.GetGroupKey(), Start: wording.Clock(f.GetStart().AsTime()), End: tool.Moment(f.GetEnd())}
		res.WouldFire = append(res.WouldFire, row)
		fires = append(fires, []string{row.GroupKey, row.Start, tool.Or(row.End, "still open")})
	}
	return &tool.Answer{Data: res, Text: tool.Page{
		Scope: []tool.Pair{
			tool.Labeled("Would have fired", fmt.Sprintf("%d times", len(fires))),
			tool.Labeled("Evaluated every", limits.Lasts(time.Duration(p.GetBucketSeconds())*time.Second)),
		},
		Notes: res.Warnings,
		Blocks: []tool.Block{
			tool.Table("Groups", "There is no group with data.", []string{"group", "breached", "healthy", "skipped", "lowest", "highest"}, groups),
			tool.Table("Incidents", "The rule would not have fired.", []string{"group", "opened", "resolved"}, fires),
		},
	}}
}

func figure(v *float64) string {
	if v == nil {
		return ""
	}
	return wording.Number(*v)
}

func (g *previewGroup) add(p *svcv2.AlertPreviewPoint) {
	g.Windows++
	g.TotalSamples += p.GetSampleCount()
	switch p.GetStatus() {
	case "breached":
		g.Breached++
	case "healthy":
		g.Healthy++
	}
	switch p.GetSkipReason() {
	case "no_data":
		g.NoData++
	case "below_min_samples":
		g.BelowMinSamples++
	case "no_value":
		g.NoValue++
	}
	if v := p.Value; v != nil {
		if g.MinValue == nil || *v < *g.MinValue {
			g.MinValue = v
		}
		if g.MaxValue == nil || *v > *g.MaxValue {
			g.MaxValue = v
		}
	}
}
