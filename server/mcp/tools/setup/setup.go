package setup

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
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
		Title: "Audit of the setup",
		Description: "Check alerting, scraping, ingest, attributes, spans, logs and metrics of the last " +
			limits.Lasts(limits.SetupWindow) +
			". Each problem comes with the affected services or objects, figures and a fix.",
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
		GeneratedAt:              wording.Clock(out.GetGeneratedAt().AsTime()),
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
		text.Notes = append(text.Notes, "The organization sent no traces, logs or metrics in the last "+limits.Lasts(limits.SetupWindow)+
			".")
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
