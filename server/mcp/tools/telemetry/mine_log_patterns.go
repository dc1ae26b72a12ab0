package telemetry

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type patternsResult struct {
	TimeRange    tool.TimeRange `json:"timeRange"`
	Filters      logsFilters    `json:"filters" summary:""`
	TotalCount   float64        `json:"totalCount"`
	TotalSampled int            `json:"totalSampled"`
	SampleSize   int            `json:"sampleSize"`
	Patterns     []patternRow   `json:"patterns"`
}

type patternRow struct {
	Template       string         `json:"template"`
	Count          float64        `json:"count"`
	PreviousCount  float64        `json:"previousCount"`
	IsNew          bool           `json:"isNew"`
	Sample         string         `json:"sample"`
	SeverityCounts map[string]int `json:"severityCounts"`
	ServiceCounts  map[string]int `json:"serviceCounts"`
	FirstSeen      string         `json:"firstSeen"`
	LastSeen       string         `json:"lastSeen"`
	// PerMinute is the rate from the first to the last record. CountError is 0 when Count is exact.
	PerMinute  float64 `json:"perMinute"`
	CountError float64 `json:"countError"`
}

type mineLogPatternsArgs struct {
	tool.Window
	Service     *string
	Environment *string
	Severity    *string `doc:"Only this one." of:"LogFilters.severity"`
	MinSeverity *string `doc:"This one and above." of:"LogFilters.severity"`
	Search      *string `doc:"Text in the body."`
	TraceID     *string `shape:"trace"`
	SampleSize  int     `default:"{DefaultPatternSample}" of:"SearchLogPatternsRequest.sample_size" clamp:""`
	Limit       int     `default:"{DefaultPatterns}" of:"SearchLogPatternsRequest.max_patterns" clamp:""`
}

func newMineLogPatterns(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[patternsResult](&tool.Tool{
		Name: "mine_log_patterns", View: "/logs?view=patterns&q:service.name = {service}&q:severity = {severity}&q:severity >= " +
			"{min_severity}&q:trace_id = {trace_id}&q:{search}",
		Title: "Log patterns",
		Description: "Group the log records of at most " + limits.Lasts(limits.PatternWindow) +
			" by the pattern of their messages, and compare them with the equally long time before. New patterns come first.",
		Run: tool.With(func(ctx context.Context, a *mineLogPatternsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.PatternWindow)
			if err != nil {
				return nil, err
			}
			size, most := int32(a.SampleSize), int32(a.Limit)
			out, err := s.Logs.SearchLogPatterns(ctx, &svcv2.SearchLogPatternsRequest{
				StartTime: w.StartProto(), EndTime: w.EndProto(), SampleSize: &size, MaxPatterns: &most, Filters: &svcv2.LogFilters{
					ServiceName: a.Service, DeploymentEnvironment: a.Environment, Severity: a.Severity, MinimumSeverity: lowest(a.MinSeverity),
					BodySearch: a.Search, TraceId: a.TraceID,
				},
			})
			if err != nil {
				return nil, err
			}
			res := patternsResult{
				TimeRange:    w,
				TotalCount:   out.GetTotalCount(),
				TotalSampled: int(out.GetSampledCount()),
				SampleSize:   int(size),
				Patterns:     []patternRow{},
				Filters: logsFilters{
					Service: a.Service, Environment: a.Environment, Severity: a.Severity, MinSeverity: a.MinSeverity, Search: a.Search, TraceID: a.TraceID,
				},
			}
			for _, p := range out.GetData() {
				res.Patterns = append(res.Patterns, toPatternRow(p))
			}
			var cells [][]string
			for _, p := range res.Patterns {
				mark := ""
				if p.IsNew {
					mark = "new"
				}
				cells = append(
					cells,
					[]string{
						mark,
						counted(p),
						wording.Number(p.PreviousCount),
						strings.Join(slices.Sorted(maps.Keys(p.SeverityCounts)), ", "),
						strings.Join(slices.Sorted(maps.Keys(p.ServiceCounts)), ", "),
						p.FirstSeen,
						p.LastSeen,
						wording.Number(p.PerMinute),
						wording.Clip(p.Template, 240),
						wording.Clip(p.Sample, 160),
					},
				)
			}
			text := tool.Page{Scope: a.Labels(w, &a.Service, &a.Environment, &a.Severity, &a.MinSeverity, &a.Search, &a.TraceID)}
			text.Blocks = []tool.Block{
				tool.Table(
					"",
					"No record matches. Try a longer time range or fewer filters.",
					[]string{"", "Records", "Before", "Severity", "Service", "First seen", "Last seen", "A minute", "Pattern", "Sample"},
					cells,
				),
			}
			text.Notes = append(text.Notes, baselineNotes(out, w)...)
			if len(cells) > 0 {
				how := "All of them were counted. The rate of a pattern is from its first to its last record."
				if total := wording.Number(res.TotalCount); float64(res.TotalSampled) < res.TotalCount {
					how = fmt.Sprintf("Counts are estimated from a sample of %d of %s records. Their margin of error is at 95 %% confidence.",
						res.TotalSampled, total)
				}
				text.Shown = fmt.Sprintf("Shown: %d of %d patterns of %s records. %s",
					len(cells), out.GetPatternCount(), wording.Number(res.TotalCount), how)
				first := res.Patterns[0]
				args := a.Again(w, map[string]any{}, &a.Environment)
				if len(first.ServiceCounts) > 0 {
					args["service"] = slices.Sorted(maps.Keys(first.ServiceCounts))[0]
				}
				if part := fixedPart(first.Template); part != "" {
					args["search"] = part
				}
				text.Next = append(text.Next, tool.Next("search_logs", args, "records of the first pattern"))
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// baselineNotes says how much of the time before has log records, if that is not all of it.
func baselineNotes(out *svcv2.LogPatternList, w tool.TimeRange) []string {
	if out.GetBaselineIsThin() {
		return []string{"The time before has hardly any log records, so no pattern counts as new. " +
			"To see changes, choose a time range that begins later after the first record."}
	}
	if out.GetBaselineDataStartTime() == nil {
		return nil
	}
	from, to := out.GetBaselineDataStartTime().AsTime(), out.GetBaselineDataEndTime().AsTime()
	if 10*to.Sub(from) >= 9*w.Length() {
		return nil
	}
	return []string{fmt.Sprintf("The time before has log records only from %s to %s, and the column Before counts this time.",
		wording.Clock(from), wording.Clock(to))}
}

func toPatternRow(p *svcv2.LogPattern) patternRow {
	count := func(m map[string]int32) map[string]int {
		out := map[string]int{}
		for k, v := range m {
			out[k] = int(v)
		}
		return out
	}
	return patternRow{
		wording.Clip(
			p.GetTemplate(),
			1000,
		),
		p.GetEstimatedCount(),
		p.GetBaselineEstimatedCount(),
		p.GetIsNew(),
		wording.Clip(p.GetSample(), 1000),
		count(p.GetSeverityCounts()),
		count(p.GetServiceCounts()),
		wording.Clock(p.GetFirstSeen().AsTime()),
		wording.Clock(p.GetLastSeen().AsTime()),
		p.GetRecordsPerMinute(),
		p.GetCountError(),
	}
}

// counted shows an exact count, or an estimate with its error.
func counted(p patternRow) string {
	if p.CountError == 0 {
		return wording.Number(p.Count)
	}
	return "≈ " + wording.Number(math.Round(p.Count)) + " ± " + wording.Number(math.Round(p.CountError))
}

// fixedPart is the longest text of a template between its placeholders. A search can find it.
func fixedPart(template string) string {
	best := ""
	for _, part := range strings.FieldsFunc(template, func(r rune) bool { return r == '<' || r == '>' }) {
		if part = strings.TrimSpace(part); len(part) > len(best) {
			best = part
		}
	}
	if len(best) > 100 {
		best = strings.TrimSpace(strings.ToValidUTF8(best[:100], ""))
	}
	return best
}
