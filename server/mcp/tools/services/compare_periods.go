package services

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type comparison struct {
	CurrentPeriod  tool.TimeRange    `json:"currentPeriod" summary:"start,end"`
	PreviousPeriod tool.TimeRange    `json:"previousPeriod" summary:"start,end"`
	PreviousIsThin bool              `json:"previousIsThin"`
	Overall        overallPair       `json:"overall"`
	LikelyCauses   []cause           `json:"likelyCauses"`
	Services       []comparedService `json:"services"`
}

type overallPair struct {
	Current  overallStats `json:"current"`
	Previous overallStats `json:"previous"`
}

type overallStats struct {
	TotalSpans  float64 `json:"totalSpans"`
	TotalErrors float64 `json:"totalErrors"`
	ErrorRate   float64 `json:"errorRate"`
	// Data is the part of the period that has spans.
	Data *tool.TimeRange `json:"data,omitempty" summary:"start,end"`
}

type periodStats struct {
	Throughput float64 `json:"throughput"`
	ErrorRate  float64 `json:"errorRate"`
	P95Ms      float64 `json:"p95Ms"`
}

type comparedService struct {
	Name     string      `json:"name"`
	Current  periodStats `json:"current"`
	Previous periodStats `json:"previous"`
	Flags    []string    `json:"flags,omitempty"`
}

type comparePeriodsArgs struct {
	tool.Call
	CurrentStart  *time.Time `doc:"Default {DefaultToolWindow} before current_end."`
	CurrentEnd    *time.Time `doc:"Default now."`
	PreviousStart *time.Time `doc:"Default: the equally long period before current_start."`
	PreviousEnd   *time.Time
	AroundTime    *time.Time `doc:"Replaces the other times."`
	Service       *string
	Environment   *string
}

func newComparePeriods(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[comparison](&tool.Tool{
		Name: "compare_periods", View: "/services/{service}",
		Title: "Comparison of periods",
		Description: "Compare two periods of at most " + limits.Lasts(limits.SearchWindow) +
			": the services that changed, and the likely causes with figures. around_time compares the " + limits.Lasts(limits.ToolAround) +
			" after a time with the " + limits.Lasts(limits.ToolAround) + " before it.",
		Run: tool.With(func(ctx context.Context, a *comparePeriodsArgs) (*tool.Answer, error) {
			current, prev, err := periods(a)
			if err != nil {
				return nil, err
			}
			return comparePeriods(ctx, s, a, current, prev)
		}),
	})
}

// periods reads the two periods of compare_periods.
func periods(a *comparePeriodsArgs) (current, prev tool.TimeRange, err error) {
	if a.AroundTime != nil {
		for _, other := range []any{&a.CurrentStart, &a.CurrentEnd, &a.PreviousStart, &a.PreviousEnd} {
			if a.Given(other) {
				a.Note("%s was ignored: around_time was given.", a.NameOf(other))
			}
		}
		mid := *a.AroundTime
		return tool.Period(mid, mid.Add(limits.ToolAround)), tool.Period(mid.Add(-limits.ToolAround), mid), nil
	}
	check := func(field any, w tool.TimeRange) error {
		switch length := w.Length(); {
		case length <= 0:
			return a.Bad(field, "must be before the end of its period ("+wording.Clock(w.To)+").", "now-1h")
		case length > limits.SearchWindow:
			most := limits.Lasts(limits.SearchWindow)
			return a.Bad(field, "is more than "+most+" before the end of its period. This tool reads at most "+most+".",
				"now-"+tool.Short(limits.SearchWindow))
		}
		return nil
	}
	end := tool.Or(a.CurrentEnd, a.Now)
	current = tool.Period(tool.Or(a.CurrentStart, end.Add(-limits.DefaultToolWindow)), end)
	if err = check(&a.CurrentStart, current); err != nil {
		return current, prev, err
	}
	end = tool.Or(a.PreviousEnd, current.From)
	prev = tool.Period(tool.Or(a.PreviousStart, current.Until(end).From), end)
	return current, prev, check(&a.PreviousStart, prev)
}

func comparePeriods(ctx context.Context, s *tool.Clients, a *comparePeriodsArgs, current, prev tool.TimeRange) (*tool.Answer, error) {
	out, err := s.Diagnosis.ComparePeriods(ctx, &svcv2.ComparePeriodsRequest{
		StartTime:             current.StartProto(),
		EndTime:               current.EndProto(),
		PreviousStartTime:     prev.StartProto(),
		PreviousEndTime:       prev.EndProto(),
		ServiceName:           a.Service,
		DeploymentEnvironment: a.Environment,
	})
	if err != nil {
		return nil, err
	}
	res := comparison{
		CurrentPeriod: current, PreviousPeriod: prev, LikelyCauses: toCauses(out.GetCauses()), Services: []comparedService{},
		Overall:        overallPair{toOverall(out.GetCurrent()), toOverall(out.GetPrevious())},
		PreviousIsThin: out.GetPreviousIsThin(),
	}
	for _, c := range out.GetServices() {
		res.Services = append(
			res.Services,
			comparedService{c.GetName(), toPeriodStats(c.GetCurrent()), toPeriodStats(c.GetPrevious()), c.GetFlags()},
		)
	}
	text := comparisonText(a, res)
	text.Notes = append(text.Notes, tool.MixedNotes("environment", out.GetDeploymentEnvironments())...)
	if mixed := out.GetDeploymentEnvironments(); len(mixed) > 1 {
		args := tool.Compared(current, a.Service, new(tool.Foremost(mixed)))
		args["previous_start"], args["previous_end"] = prev.Start, prev.End
		text.Next = append(text.Next, tool.Next("compare_periods", args, "this environment alone"))
	}
	if out.GetIncomplete() {
		text.Notes = append(
			text.Notes,
			"The time ran out before all suspected services were searched for causes. Name a service, or shorten the periods.",
		)
	}
	return &tool.Answer{Data: res, Text: text}, nil
}

func toOverall(t *svcv2.PeriodTotals) overallStats {
	return overallStats{t.GetSpanCount(), t.GetErrorCount(), t.GetErrorRate(), dataRange(t.GetDataStartTime(), t.GetDataEndTime())}
}

func toPeriodStats(f *svcv2.PeriodFigures) periodStats {
	return periodStats{f.GetThroughput(), f.GetErrorRate(), f.GetP95LatencyMs()}
}

func comparisonText(a *comparePeriodsArgs, res comparison) tool.Page {
	text := tool.Page{Scope: []tool.Pair{
		tool.Labeled(
			"Current",
			res.CurrentPeriod.Start+" to "+res.CurrentPeriod.End,
		),
		tool.Labeled("Previous", res.PreviousPeriod.Start+" to "+res.PreviousPeriod.End),
	}}
	text.Scope = append(text.Scope, a.Labels(res.CurrentPeriod, &a.Service, &a.Environment)[1:]...)
	now := covered{"current period", res.Overall.Current.Data, res.CurrentPeriod}
	before := covered{"previous period", res.Overall.Previous.Data, res.PreviousPeriod}
	text.Notes = append(text.Notes, coverageNotes(now, before)...)
	if res.PreviousIsThin {
		text.Notes = append(text.Notes, "The previous period has too little data for a comparison, so no change counts as a finding. "+
			"Give previous_start and previous_end, or around_time, so that both periods have data.")
	}
	var cells [][]string
	for _, c := range res.Services {
		cells = append(cells, []string{
			c.Name,
			strings.Join(c.Flags, ", "),
			wording.Number(c.Current.Throughput),
			wording.Number(c.Previous.Throughput),
			wording.Percent(c.Current.ErrorRate),
			wording.Percent(c.Previous.ErrorRate),
			wording.Number(c.Current.P95Ms),
			wording.Number(c.Previous.P95Ms),
		})
	}
	o := res.Overall
	text.Blocks = []tool.Block{
		{
			Heading: "Overall",
			Rows: []string{
				fmt.Sprintf(
					"- %s spans, %s failed (%s); before %s, %s failed (%s). Counted are "+tool.EntrySpans+", corrected for sampling.",
					wording.Number(o.Current.TotalSpans),
					wording.Number(o.Current.TotalErrors),
					wording.Percent(o.Current.ErrorRate),
					wording.Number(o.Previous.TotalSpans),
					wording.Number(o.Previous.TotalErrors),
					wording.Percent(o.Previous.ErrorRate),
				),
			},
		},
		causeBlock(res.LikelyCauses, uncompared(now, before, res.PreviousIsThin)),
		tool.Table(
			"Services",
			"No service sent spans in either period.",
			[]string{"Service", "Changed", "Spans/s", "before", "Errors", "before", "p95 ms", "before"},
			cells,
		),
	}
	if len(res.LikelyCauses) > 0 {
		c, w := res.LikelyCauses[0], res.CurrentPeriod
		next := tool.Next(
			"diagnose_service",
			a.Again(w, map[string]any{"service": c.Service}, &a.Environment),
			"the service of the likeliest cause",
		)
		text.Next = append(text.Next, next)
		if c.Kind == "logs" {
			text.Next = append(
				text.Next,
				tool.Next(
					"mine_log_patterns",
					tool.ClampWindow(a.Again(w, map[string]any{"service": c.Service}, &a.Environment), w, limits.PatternWindow),
					"its log patterns",
				),
			)
		} else {
			text.Next = append(
				text.Next,
				tool.Next("find_slow_traces", a.Again(w, map[string]any{"service": c.Service}, &a.Environment), "its slowest traces"),
				tool.Next("find_errors", a.Again(w, map[string]any{"service": c.Service}, &a.Environment), "its errors"),
			)
		}
	}
	return text
}
