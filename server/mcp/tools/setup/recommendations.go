package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type recommendationsResult struct {
	Issues       []recommendationIssue `json:"issues"`
	Coverage     coverage              `json:"coverage"`
	Total        int                   `json:"total"`
	StatusFilter string                `json:"statusFilter"`
}

type recommendationIssue struct {
	ID                 string  `json:"id"`
	Number             int32   `json:"number"`
	RecommendationKey  string  `json:"recommendationKey"`
	Kind               string  `json:"kind"`
	Severity           string  `json:"severity"`
	SourceKey          string  `json:"sourceKey"`
	CanonicalKey       string  `json:"canonicalKey,omitempty"`
	Status             string  `json:"status"`
	UsageCount         float64 `json:"usageCount"`
	ApplyableAsMapping bool    `json:"applyableAsMapping"`
	OpenedAt           string  `json:"openedAt"`
	UpdatedAt          string  `json:"updatedAt"`
	Fix                string  `json:"fix"`
	// Services are the services that send the source key. For a double emission they send both names, for a rename only the old
	// one.
	Services []sendingService `json:"services"`
}

type sendingService struct {
	Name  string  `json:"name"`
	Spans float64 `json:"spans"`
	Both  float64 `json:"both"`
}

type coverage struct {
	Available bool            `json:"available"`
	Included  bool            `json:"included"`
	TimeRange *tool.TimeRange `json:"timeRange,omitempty"`
	Gaps      []coverageGap   `json:"gaps"`
}

type coverageGap struct {
	CheckID   string `json:"checkId"`
	Attribute string `json:"attribute"`
	Severity  string `json:"severity"`
	// Service lacks the attribute. It is empty for the row that counts further services.
	Service string `json:"service,omitempty"`
	Reason  string `json:"reason"`
	Fix     string `json:"fix"`
}

// coverageChecks are the checks of resource attributes that coverage is about.
var coverageChecks = []string{"RES-02", "RES-03", "RES-04", "RES-05"}

type getInstrumentationRecommendationsArgs struct {
	tool.Call
	Status          string `default:"open" of:"Recommendation.status" also:"all"`
	IncludeCoverage bool   `default:"false"`
}

func newGetInstrumentationRecommendations(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[recommendationsResult](&tool.Tool{
		Name: "get_instrumentation_recommendations", View: "/start",
		Title: "Recommendations",
		Description: "List attribute names to fix (deprecated, sent under two names, not dotted lower case) with the spans that carry them and " +
			"the fix. include_coverage adds resource attributes that services lack.",
		Run: tool.With(func(ctx context.Context, a *getInstrumentationRecommendationsArgs) (*tool.Answer, error) {
			rows, _, err := tool.Collect(
				ctx,
				nil,
				0,
				1000,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Recommendation, *string, error) {
					res, err := s.Instrumentation.ListInstrumentationRecommendations(
						ctx,
						&svcv2.ListInstrumentationRecommendationsRequest{Limit: &limit, Cursor: cursor},
					)
					return res.GetData(), tool.NextCursor(res), err
				},
			)
			if err != nil {
				return nil, err
			}
			var audit *svcv2.SetupAudit
			if a.IncludeCoverage {
				if audit, err = s.Instrumentation.GetSetupAudit(ctx, &svcv2.GetSetupAuditRequest{}); err != nil {
					return nil, err
				}
			}
			return recommendationsAnswer(a, rows, audit), nil
		}),
	})
}

// fixOf says how to act on a recommendation.
func fixOf(r *svcv2.Recommendation) string {
	switch r.GetKind() {
	case "rename":
		return fmt.Sprintf(
			"Update the instrumentation so that it sends %s, or create an attribute mapping: source_context span, source_key %s, target_key %s, "+
				"operation move.",
			r.GetCanonicalKey(),
			r.GetSourceKey(),
			r.GetCanonicalKey(),
		)
	case "double-emission":
		both := 0.0
		for _, s := range r.GetServices() {
			both += s.GetBoth()
		}
		if both == 0 && len(r.GetServices()) > 0 {
			return fmt.Sprintf(
				"Update the library that sends %s: another one in the same service sends %s already, on other spans. Until then a mapping helps: "+
					"source_context span, source_key %s, target_key %s, operation move.",
				r.GetSourceKey(),
				r.GetCanonicalKey(),
				r.GetSourceKey(),
				r.GetCanonicalKey(),
			)
		}
		return fmt.Sprintf(
			"Stop sending %s in the SDK (OTEL_SEMCONV_STABILITY_OPT_IN without /dup): %s is on the same spans. On spans that have both, a mapping "+
				"changes nothing.",
			r.GetSourceKey(),
			r.GetCanonicalKey(),
		)
	default:
		return fmt.Sprintf("Rename %s in the code to a dotted lower-case name with a prefix of your own, as in shop.order_id.", r.GetSourceKey())
	}
}

func recommendationsAnswer(a *getInstrumentationRecommendationsArgs, rows []*svcv2.Recommendation, audit *svcv2.SetupAudit) *tool.Answer {
	status := a.Status
	res := recommendationsResult{
		Issues:       []recommendationIssue{},
		StatusFilter: status,
		Coverage:     coverage{Included: audit != nil, Available: audit.GetTelemetryChecksAvailable(), Gaps: []coverageGap{}},
	}
	var cells [][]string
	for _, r := range rows {
		if status != "all" && r.GetStatus() != status {
			continue
		}
		issue := recommendationIssue{
			ID:                 r.GetId(),
			Number:             r.GetNumber(),
			RecommendationKey:  r.GetRecommendationKey(),
			Kind:               r.GetKind(),
			Severity:           "warn",
			SourceKey:          r.GetSourceKey(),
			CanonicalKey:       r.GetCanonicalKey(),
			Status:             r.GetStatus(),
			UsageCount:         r.GetUsageCount(),
			ApplyableAsMapping: r.GetKind() == "rename",
			OpenedAt:           wording.Clock(r.GetOpenedAt().AsTime()),
			UpdatedAt:          wording.Clock(r.GetUpdatedAt().AsTime()),
			Fix:                fixOf(r),
			Services:           []sendingService{},
		}
		var who []string
		for _, s := range r.GetServices() {
			issue.Services = append(issue.Services, sendingService{s.GetName(), s.GetSpans(), s.GetBoth()})
			part := fmt.Sprintf("%s (%s spans", s.GetName(), wording.Number(s.GetSpans()))
			if s.GetBoth() > 0 {
				part += fmt.Sprintf(", %s with both names", wording.Number(s.GetBoth()))
			}
			if len(who) < 5 {
				who = append(who, part+")")
			}
		}
		if more := len(r.GetServices()) - len(who); more > 0 {
			who = append(who, fmt.Sprintf("%d more", more))
		}
		if issue.Kind == "naming" {
			issue.Severity = "info"
		}
		res.Issues = append(res.Issues, issue)
		cells = append(
			cells,
			[]string{
				fmt.Sprint(issue.Number),
				issue.Severity,
				issue.Kind,
				issue.SourceKey,
				wording.Number(issue.UsageCount),
				strings.Join(who, ", "),
				issue.Status,
				issue.Fix,
			},
		)
	}
	res.Total = len(res.Issues)
	text := tool.Page{
		Scope: []tool.Pair{tool.Labeled("status", status), tool.Labeled("Spans", "of the last "+limits.Lasts(limits.SetupWindow))},
		Shown: tool.ShownOf(res.Total, false, "recommendations"),
	}
	text.Blocks = []tool.Block{
		tool.Table(
			"Attribute names",
			"There are no recommendations.",
			[]string{"No.", "Severity", "Kind", "Key", "Spans", "Sent by", "Status", "Fix"},
			cells,
		),
	}
	if audit != nil {
		at := audit.GetGeneratedAt().AsTime()
		day := tool.Period(at.Add(-24*time.Hour), at)
		res.Coverage.TimeRange = &day
		var gaps []string
		for _, c := range audit.GetChecks() {
			if !slices.Contains(coverageChecks, c.GetId()) || c.GetStatus() != "fail" {
				continue
			}
			attribute := strings.TrimPrefix(c.GetTitle(), "Spans carry ")
			gap := func(service, reason string) {
				res.Coverage.Gaps = append(res.Coverage.Gaps, coverageGap{c.GetId(), attribute, c.GetSeverity(), service, reason, c.GetFixHint()})
			}
			gaps = append(gaps, fmt.Sprintf("%s %s: %s Fix: %s", c.GetId(), attribute, c.GetDetail(), c.GetFixHint()))
			for _, x := range c.GetAffected() {
				gap(x.GetName(), x.GetNote())
				gaps = append(gaps, fmt.Sprintf("- %s: %s", wording.Clip(wording.OneLine(x.GetName()), 120), wording.OneLine(x.GetNote())))
			}
			if more := int(c.GetAffectedCount()) - len(c.GetAffected()); more > 0 {
				reason := fmt.Sprintf("%d more services", more)
				gap("", reason)
				gaps = append(gaps, "- and "+reason)
			}
		}
		text.Blocks = append(
			text.Blocks,
			tool.Block{Heading: "Resource attributes that are missing", Rows: gaps, Empty: "Every service has them."},
		)
	} else {
		text.Next = append(
			text.Next,
			tool.Next(
				"get_instrumentation_recommendations",
				map[string]any{"status": status, "include_coverage": true},
				"also resource attributes that services lack",
			),
		)
	}
	if len(res.Issues) > 0 {
		text.Next = append(
			text.Next,
			tool.Next("explore_attributes", map[string]any{"source": "traces", "key": res.Issues[0].SourceKey}, "the values of the first of these"),
		)
	}
	text.Next = append(text.Next, tool.Next("audit_setup", map[string]any{}, "the other checks of the setup"))
	return &tool.Answer{Data: res, Text: text}
}
