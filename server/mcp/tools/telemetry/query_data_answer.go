package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/wording"
)

const otherGroups = "(all others)"

type dataResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	Kind      string         `json:"kind"`
	Metric    string         `json:"metric"`
	// GroupBy has the keys of the groups, with ", " between them.
	GroupBy *string `json:"groupBy,omitempty"`
	// Counted says which rows the values are of, and whether they are corrected for sampling.
	Counted string `json:"counted"`
	// Environments are those of the counted rows, the most frequent first.
	Environments []string  `json:"environments,omitempty"`
	Decisions    []string  `json:"decisions,omitempty"`
	Context      queryEcho `json:"queryContext"`
	// Unit is the unit of the values in Result, for example "ms", or "ratio" (0 to 1). It is empty for counts.
	Unit      string     `json:"unit,omitempty"`
	Result    dataPoints `json:"result"`
	Truncated bool       `json:"truncated"`
}

type queryEcho struct {
	Source string `json:"source"`
	Where  string `json:"where,omitempty"`
}

type dataPoints struct {
	Kind string      `json:"kind"`
	Data []dataPoint `json:"data"`
}

type dataPoint struct {
	Bucket string             `json:"bucket,omitempty"`
	Series map[string]float64 `json:"series,omitempty"`
	Name   *string            `json:"name,omitempty"`
	Value  *float64           `json:"value,omitempty"`
}

func queryBreakdown(
	ctx context.Context,
	s *tool.Clients,
	a *queryDataArgs,
	w tool.TimeRange,
	spec *svcv2.QuerySpec,
	res *dataResult,
) (*tool.Answer, error) {
	out, err := s.Query.QueryBreakdown(
		ctx,
		&svcv2.QueryBreakdownRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), Queries: []*svcv2.QuerySpec{spec}},
	)
	if err != nil {
		return nil, err
	}
	if c := out.GetColumns(); len(c) > 0 {
		res.Unit = c[0].GetUnit()
	}
	res.Result, res.Truncated = dataPoints{Kind: "breakdown", Data: []dataPoint{}}, out.GetTruncated()
	var cells [][]string
	for _, r := range out.GetData() {
		name := r.GetName()
		if r.GetOther() {
			name = otherGroups
		}
		p := dataPoint{Name: &name}
		shown := ""
		if v := r.GetValues(); len(v) > 0 && v[0].Value != nil {
			p.Value, shown = v[0].Value, res.shown(v[0].GetValue())
		}
		res.Result.Data = append(res.Result.Data, p)
		cells = append(cells, append(groupCells(r, name, len(a.groups)), shown))
	}
	heads := []string{"all"}
	if len(a.groups) > 0 {
		heads = nil
		for _, g := range a.groups {
			heads = append(heads, g.key)
		}
	}
	text := dataText(a, w, res, out.GetWarnings())
	text.Blocks = []tool.Block{
		tool.Table(
			"",
			"Nothing matches. Look up names with explore_attributes or list_metrics, or try a longer time range.",
			append(heads, res.heading()),
			cells,
		),
	}
	text.Shown = tool.ShownOf(len(cells), out.GetTruncated(), "groups")
	text.Next = dataNext(a, w, res)
	return &tool.Answer{Data: res, Text: text}, nil
}

// groupCells are the values of the keys of a group, one in each column.
func groupCells(r *svcv2.QueryRow, name string, keys int) []string {
	if keys < 2 {
		return []string{wording.Clip(name, 200)}
	}
	cells := make([]string, keys)
	for i := range cells {
		switch g := r.GetGroup(); {
		case r.GetOther() && i == 0:
			cells[i] = otherGroups
		case r.GetOther() || i >= len(g):
		case g[i] == "":
			cells[i] = "(none)"
		default:
			cells[i] = wording.Clip(g[i], 200)
		}
	}
	return cells
}

// heading names the metric with its unit. A share is printed in percent, so its numbers carry their unit themselves.
func (r *dataResult) heading() string {
	if r.Unit == "" || r.Unit == query.UnitRatio {
		return r.Metric
	}
	return r.Metric + " (" + r.Unit + ")"
}

// shown prints a value. It prints an error rate in percent; the structured result has it as a ratio, with that unit.
func (r *dataResult) shown(v float64) string {
	if r.Metric == string(query.ErrorRate) {
		return wording.Percent(v)
	}
	return wording.Number(v)
}

func queryTimeseries(
	ctx context.Context,
	s *tool.Clients,
	a *queryDataArgs,
	w tool.TimeRange,
	spec *svcv2.QuerySpec,
	res *dataResult,
) (*tool.Answer, error) {
	req := &svcv2.QueryTimeseriesRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), Queries: []*svcv2.QuerySpec{spec}}
	if b := a.BucketSeconds; b != nil {
		n := int32(*b)
		req.BucketSeconds = &n
	}
	out, err := s.Query.QueryTimeseries(ctx, req)
	if err != nil {
		return nil, err
	}
	if s := out.GetSeries(); len(s) > 0 {
		res.Unit = s[0].GetUnit()
	}
	res.Result, res.Truncated = dataPoints{Kind: "timeseries", Data: []dataPoint{}}, out.GetTruncated()
	var names []string
	at := map[time.Time]map[string]float64{}
	var order []time.Time
	for _, series := range out.GetSeries() {
		name := strings.Join(series.GetGroup(), ", ")
		switch {
		case series.GetOther():
			name = otherGroups
		case name == "" && res.GroupBy != nil:
			name = "(none)" // the rows do not have the field
		case name == "":
			name = res.Metric
		}
		names = append(names, name)
		for _, p := range series.GetPoints() {
			t := p.GetTimestamp().AsTime()
			if at[t] == nil {
				at[t] = map[string]float64{}
				order = append(order, t)
			}
			at[t][name] = p.GetValue()
		}
	}
	slices.SortFunc(order, time.Time.Compare)
	var cells [][]string
	for _, t := range order {
		res.Result.Data = append(res.Result.Data, dataPoint{Bucket: wording.Clock(t), Series: at[t]})
		line := []string{wording.Clock(t)}
		for _, name := range names {
			shown := ""
			if v, ok := at[t][name]; ok {
				shown = res.shown(v)
			}
			line = append(line, shown)
		}
		cells = append(cells, line)
	}
	text := dataText(a, w, res, out.GetWarnings())
	heads := []string{"Bucket"}
	for _, name := range names {
		heads = append(heads, wording.Clip(wording.OneLine(name), 60))
	}
	text.Blocks = []tool.Block{
		tool.Table(
			res.heading(),
			"Nothing matches. Look up names with explore_attributes or list_metrics, or try a longer time range.",
			heads,
			cells,
		),
	}
	if len(cells) > 0 {
		text.Shown = fmt.Sprintf("Shown: %d buckets of %d series.", len(cells), len(names))
	}
	text.Next = dataNext(a, w, res)
	return &tool.Answer{Data: res, Text: text}, nil
}

func dataText(a *queryDataArgs, w tool.TimeRange, res *dataResult, warnings []string) tool.Page {
	text := tool.Page{Scope: append([]tool.Pair{w.Label()}, tool.Labeled("source", res.Context.Source), tool.Labeled("metric", res.Metric),
		tool.Labeled("counted", res.Counted))}
	if res.Context.Where != "" {
		text.Scope = append(text.Scope, tool.Labeled("where", res.Context.Where))
	}
	text.Notes = append(text.Notes, warnings...)
	if len(res.Decisions) > 0 {
		text.Notes = append(text.Notes, "Defaults: "+strings.Join(res.Decisions, ", ")+".")
	}
	if res.Kind == "timeseries" && !w.To.Before(a.Now) {
		text.Notes = append(text.Notes, "The last bucket is not complete yet.")
	}
	return text
}
