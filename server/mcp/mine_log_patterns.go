package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type patternsResult struct {
	TimeRange    timeRange    `json:"timeRange"`
	Filters      logsFilters  `json:"filters"`
	TotalCount   float64      `json:"totalCount"`
	TotalSampled int          `json:"totalSampled"`
	SampleSize   int          `json:"sampleSize"`
	Patterns     []patternRow `json:"patterns"`
}

type patternRow struct {
	Template       string         `json:"template"`
	Count          float64        `json:"count" jsonschema:"in the whole time range, estimated from the sample"`
	PreviousCount  float64        `json:"previousCount" jsonschema:"in the equally long time before"`
	IsNew          bool           `json:"isNew" jsonschema:"not seen in the time before"`
	Sample         string         `json:"sample"`
	SeverityCounts map[string]int `json:"severityCounts"`
	ServiceCounts  map[string]int `json:"serviceCounts"`
	FirstSeen      string         `json:"firstSeen"`
}

func severityParam() param {
	return param{name: "severity", kind: kindText, enum: []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}}
}

func newMineLogPatterns(s *Server) (*tool, error) {
	return define[patternsResult](&tool{
		name: "mine_log_patterns", title: "Log patterns",
		description: "Group the log records of at most 24 hours by the pattern of their message, new ones first, compared with the time before.",
		params: append(windowParams(), serviceParam(), environmentParam(), severityParam(),
			param{name: "search", kind: kindText, description: "Text in the body."}, traceIDParam("", false),
			param{name: "sample_size", kind: kindInteger, minimum: num(100), maximum: num(50000), clamped: true, fallback: 10000}, limitParam(50, 200)),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(24 * time.Hour)
			if err != nil {
				return nil, err
			}
			size, most := int32(a.integer("sample_size")), int32(a.integer("limit"))
			out, err := s.clients.logs.SearchLogPatterns(ctx, &svcv2.SearchLogPatternsRequest{
				StartTime: w.startProto(), EndTime: w.endProto(), SampleSize: &size, MaxPatterns: &most, Filters: &svcv2.LogFilters{
					ServiceName: a.text("service"), DeploymentEnvironment: a.text("environment"), Severity: a.text("severity"), BodySearch: a.text("search"), TraceId: a.text("trace_id"),
				},
			})
			if err != nil {
				return nil, err
			}
			res := patternsResult{TimeRange: w, TotalCount: out.GetTotalCount(), TotalSampled: int(out.GetSampledCount()), SampleSize: int(size), Patterns: []patternRow{}, Filters: logsFilters{
				Service: a.text("service"), Environment: a.text("environment"), Severity: a.text("severity"), Search: a.text("search"), TraceID: a.text("trace_id"),
			}}
			for _, p := range out.GetData() {
				res.Patterns = append(res.Patterns, toPatternRow(p))
			}
			// What is new says most about what happened.
			slices.SortStableFunc(res.Patterns, func(x, y patternRow) int {
				switch {
				case x.IsNew != y.IsNew && x.IsNew:
					return -1
				case x.IsNew != y.IsNew:
					return 1
				case x.Count > y.Count:
					return -1
				case x.Count < y.Count:
					return 1
				}
				return strings.Compare(x.Template, y.Template)
			})
			var cells [][]string
			for _, p := range res.Patterns {
				mark := ""
				if p.IsNew {
					mark = "new"
				}
				cells = append(cells, []string{mark, number(p.Count), number(p.PreviousCount), strings.Join(slices.Sorted(maps.Keys(p.SeverityCounts)), ", "), strings.Join(slices.Sorted(maps.Keys(p.ServiceCounts)), ", "), clip(p.Template, 240), clip(p.Sample, 160)})
			}
			text := page{scope: a.scope(w, "service", "environment", "severity", "search", "trace_id")}
			text.blocks = []block{table("", "No record matches. Try a longer time range or fewer filters.", []string{"", "Records", "Before", "Severity", "Service", "Pattern", "Sample"}, cells)}
			if len(cells) > 0 && !slices.ContainsFunc(res.Patterns, func(p patternRow) bool { return p.PreviousCount > 0 }) {
				text.notes = append(text.notes, "No record matched in the time before, so every pattern counts as new; choose a time range that begins after the data does to see what changed.")
			}
			if len(cells) > 0 {
				text.shown = fmt.Sprintf("Shown: %d patterns of %s records, found in a sample of %d.", len(cells), number(res.TotalCount), res.TotalSampled)
				first := res.Patterns[0]
				args := a.again(w, map[string]any{}, "environment")
				if len(first.ServiceCounts) > 0 {
					args["service"] = slices.Sorted(maps.Keys(first.ServiceCounts))[0]
				}
				if part := fixedPart(first.Template); part != "" {
					args["search"] = part
				}
				text.next = append(text.next, suggestion{"search_logs", args, "records of the first pattern"})
			}
			return &answer{data: res, text: text}, nil
		},
	})
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
		clip(p.GetTemplate(), 1000), p.GetEstimatedCount(), p.GetBaselineEstimatedCount(), p.GetIsNew(), clip(p.GetSample(), 1000), count(p.GetSeverityCounts()),
		count(p.GetServiceCounts()), clock(p.GetFirstSeen().AsTime()),
	}
}

// fixedPart is the longest text of a template between its placeholders, which a search finds.
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
