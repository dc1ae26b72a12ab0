package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type setupResult struct {
	GeneratedAt              string           `json:"generatedAt"`
	DataStatus               string           `json:"dataStatus"`
	TelemetryChecksAvailable bool             `json:"telemetryChecksAvailable"`
	Summary                  map[string]int32 `json:"summary"`
	Checks                   []setupCheck     `json:"checks"`
	OpenRecommendationCount  int32            `json:"openRecommendationCount"`
	IncludePassing           bool             `json:"includePassing"`
}

type setupCheck struct {
	ID            string          `json:"id"`
	Category      string          `json:"category"`
	Title         string          `json:"title"`
	Severity      string          `json:"severity"`
	Status        string          `json:"status"`
	Detail        string          `json:"detail"`
	Affected      []setupAffected `json:"affected"`
	AffectedCount int32           `json:"affectedCount"`
	FixHint       string          `json:"fixHint"`
}

type setupAffected struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

type auditSetupArgs struct {
	tool.Call
	IncludePassing bool `default:"false"`
}

func newAuditSetup(s *tool.Clients) (*tool.Tool, error) {
	severities, err := tool.Choices("SetupAuditCheck.severity")
	if err != nil {
		return nil, err
	}
	return tool.Define[setupResult](&tool.Tool{
		Name: "audit_setup", View: "/start",
		Title:       "Audit of the setup",
		Description: "Check alerting, scraping, ingest, attributes, spans, logs and metrics of the last 24 hours. Each problem comes with the affected services or objects, figures and a fix.",
		Run: tool.With(func(ctx context.Context, a *auditSetupArgs) (*tool.Answer, error) {
			out, err := s.Instrumentation.GetSetupAudit(ctx, &svcv2.GetSetupAuditRequest{})
			if err != nil {
				return nil, err
			}
			return setupAnswer(a, out, severities), nil
		}),
	})
}

func toSetupCheck(c *svcv2.SetupAuditCheck) setupCheck {
	row := setupCheck{
		c.GetId(),
		c.GetCategory(),
		c.GetTitle(),
		c.GetSeverity(),
		c.GetStatus(),
		c.GetDetail(),
		[]setupAffected{},
		c.GetAffectedCount(),
		c.GetFixHint(),
	}
	for _, x := range c.GetAffected() {
		row.Affected = append(row.Affected, setupAffected{x.GetKind(), x.GetId(), x.GetName(), x.GetNote()})
	}
	return row
}

// setupAnswer lists the failed checks by severity. severities are those of the contract, the worst first.
func setupAnswer(a *auditSetupArgs, out *svcv2.SetupAudit, severities []string) *tool.Answer {
	sum := out.GetSummary()
	res := setupResult{
		GeneratedAt: wording.Clock(
			out.GetGeneratedAt().AsTime(),
		),
		DataStatus:               out.GetDataStatus(),
		TelemetryChecksAvailable: out.GetTelemetryChecksAvailable(),
		IncludePassing:           a.IncludePassing,
		Summary: map[string]int32{
			"critical": sum.GetCritical(),
			"warn":     sum.GetWarn(),
			"info":     sum.GetInfo(),
			"pass":     sum.GetPass(),
			"skip":     sum.GetSkip(),
		},
		Checks:                  []setupCheck{},
		OpenRecommendationCount: out.GetOpenRecommendationCount(),
	}
	text := tool.Page{Scope: []tool.Pair{
		tool.Labeled("Made at", res.GeneratedAt),
		tool.Labeled("Failed", fmt.Sprintf("%d critical, %d warn, %d info", sum.GetCritical(), sum.GetWarn(), sum.GetInfo())),
		tool.Labeled("Passed", fmt.Sprint(sum.GetPass())),
		tool.Labeled("Skipped", fmt.Sprint(sum.GetSkip())),
	}}
	if !res.TelemetryChecksAvailable {
		text.Notes = append(text.Notes, "The telemetry store did not answer: its checks are skipped. Call again in a minute.")
	} else if res.DataStatus == "no_data" {
		text.Notes = append(text.Notes, "The organization sent no traces, logs or metrics in the last 24 hours.")
	}
	var passed []string
	for _, severity := range severities {
		for _, c := range out.GetChecks() {
			if c.GetSeverity() != severity || c.GetStatus() != "fail" {
				continue
			}
			row := toSetupCheck(c)
			res.Checks = append(res.Checks, row)
			b := tool.Block{Heading: fmt.Sprintf("%s %s failed: %s", strings.ToUpper(severity), row.ID, row.Title)}
			b.Rows = append(b.Rows, row.Detail)
			for _, x := range row.Affected {
				name := wording.Clip(wording.OneLine(x.Name), 120)
				if x.ID != "" {
					name += " (" + x.ID + ")"
				}
				b.Rows = append(b.Rows, strings.TrimSuffix(
					fmt.Sprintf("- %s %s: %s", strings.ReplaceAll(x.Kind, "_", " "), name, wording.Clip(wording.OneLine(x.Note), 400)), ": "))
			}
			if more := int(row.AffectedCount) - len(row.Affected); more > 0 {
				b.Rows = append(b.Rows, fmt.Sprintf("- and %d more", more))
			}
			b.Rows = append(b.Rows, "Fix: "+row.FixHint)
			text.Blocks = append(text.Blocks, b)
		}
	}
	for _, c := range out.GetChecks() {
		if c.GetStatus() == "fail" {
			continue
		}
		if res.IncludePassing {
			res.Checks = append(res.Checks, toSetupCheck(c))
			passed = append(passed, fmt.Sprintf("- %s %s: %s. %s", c.GetStatus(), c.GetId(), c.GetTitle(), c.GetDetail()))
		}
	}
	if len(res.Checks) == 0 {
		text.Blocks = append(text.Blocks, tool.Block{Empty: "No check failed."})
	}
	if len(passed) > 0 {
		text.Blocks = append(text.Blocks, tool.Block{Heading: "Passed and skipped", Rows: passed})
	}
	if res.OpenRecommendationCount > 0 {
		text.Next = append(
			text.Next,
			tool.Next(
				"get_instrumentation_recommendations",
				map[string]any{},
				fmt.Sprintf("%d attribute names to fix, with figures", res.OpenRecommendationCount),
			),
		)
	}
	if !res.IncludePassing {
		text.Next = append(text.Next, tool.Next("audit_setup", map[string]any{"include_passing": true}, "the passed checks, with figures"))
	}
	return &tool.Answer{Data: res, Text: text}
}

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
		Title:       "Recommendations",
		Description: "List attribute names to fix (deprecated, sent under two names, not dotted lower case) with the spans that carry them and the fix. include_coverage adds resource attributes that services lack.",
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
			"Update the instrumentation so that it sends %s, or create an attribute mapping: source_context span, source_key %s, target_key %s, operation move.",
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
				"Update the library that sends %s: another one in the same service sends %s already, on other spans. Until then a mapping helps: source_context span, source_key %s, target_key %s, operation move.",
				r.GetSourceKey(),
				r.GetCanonicalKey(),
				r.GetSourceKey(),
				r.GetCanonicalKey(),
			)
		}
		return fmt.Sprintf(
			"Stop sending %s in the SDK (OTEL_SEMCONV_STABILITY_OPT_IN without /dup): %s is on the same spans. On spans that have both, a mapping changes nothing.",
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
		Scope: []tool.Pair{tool.Labeled("status", status), tool.Labeled("Spans", "of the last 24 hours")},
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
