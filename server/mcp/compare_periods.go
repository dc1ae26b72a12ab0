package mcp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// examined is how many services whose figures changed are looked into for causes.
const examined = 3

type comparison struct {
	CurrentPeriod  timeRange         `json:"currentPeriod"`
	PreviousPeriod timeRange         `json:"previousPeriod"`
	Overall        overallPair       `json:"overall"`
	LikelyCauses   []cause           `json:"likelyCauses"`
	Services       []comparedService `json:"services" jsonschema:"those that changed first"`
}

type overallPair struct {
	Current  overallStats `json:"current"`
	Previous overallStats `json:"previous"`
}

type overallStats struct {
	TotalSpans  float64 `json:"totalSpans"`
	TotalErrors float64 `json:"totalErrors"`
	ErrorRate   float64 `json:"errorRate"`
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
	Flags    []string    `json:"flags,omitempty" jsonschema:"error_rate_up, latency_up, throughput_drop"`

	weight float64
}

func newComparePeriods(s *Server) (*tool, error) {
	at := func(name, description string) param {
		return param{name: name, kind: kindTime, description: description}
	}
	return define[comparison](&tool{
		name: "compare_periods", title: "Comparison of periods",
		description: "Compare two periods of at most 7 days: which services changed, and the likely cause with figures. around_time compares the 30 minutes after a moment with those before.",
		params: []param{
			at("current_start", "Default 6 hours before current_end."), at("current_end", "Default now."), at("previous_start", "Default: as long, just before."), at("previous_end", ""),
			at("around_time", "Instead of the other times."), serviceParam(), environmentParam(),
		},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			current, prev, err := a.periods()
			if err != nil {
				return nil, err
			}
			return s.compare(ctx, a, current, prev)
		},
	})
}

// periods reads the times of compare_periods.
func (a *arguments) periods() (current, prev timeRange, err error) {
	at := func(name string) (time.Time, bool) { t, ok := a.values[name].(time.Time); return t, ok }
	if mid, ok := at("around_time"); ok {
		for _, other := range []string{"current_start", "current_end", "previous_start", "previous_end"} {
			if _, both := at(other); both {
				a.note("%s was ignored: around_time was given.", other)
			}
		}
		const half = 30 * time.Minute
		return period(mid, mid.Add(half)), period(mid.Add(-half), mid), nil
	}
	check := func(name string, w timeRange) error {
		switch length := w.end.Sub(w.start); {
		case length <= 0:
			return badInput(name, "must be before the end of its period ("+clock(w.end)+").", "now-1h")
		case length > maxSearch:
			return badInput(name, "is more than 7 days before the end of its period, the most that this tool reads.", "now-7d")
		}
		return nil
	}
	end, ok := at("current_end")
	if !ok {
		end = a.now
	}
	start, ok := at("current_start")
	if !ok {
		start = end.Add(-defaultWindow)
	}
	current = period(start, end)
	if err = check("current_start", current); err != nil {
		return current, prev, err
	}
	if end, ok = at("previous_end"); !ok {
		end = current.start
	}
	if start, ok = at("previous_start"); !ok {
		start = end.Add(-current.end.Sub(current.start))
	}
	prev = period(start, end)
	return current, prev, check("previous_start", prev)
}

func (s *Server) compare(ctx context.Context, a *arguments, current, prev timeRange) (*answer, error) {
	var now, before []*svcv2.Service
	var patterns *svcv2.LogPatternList
	var m *svcv2.ServiceMap
	err := parallel(
		func() (err error) { now, err = s.services(ctx, a, current); return err },
		func() (err error) { before, err = s.services(ctx, a, prev); return err },
		func() (err error) {
			patterns, err = s.newPatterns(ctx, current, a.text("service"), a.text("environment"))
			return err
		},
		func() (err error) { m, err = s.readMap(ctx, current, nil, a.text("environment")); return err },
	)
	if err != nil {
		return nil, err
	}
	res := comparison{CurrentPeriod: current, PreviousPeriod: prev, LikelyCauses: []cause{}, Services: []comparedService{}}
	rows := map[string]*comparedService{}
	add := func(list []*svcv2.Service, sum *overallStats, set func(*comparedService, periodStats)) {
		for _, r := range list {
			if service := a.text("service"); service != nil && *service != r.GetName() {
				continue
			}
			if rows[r.GetName()] == nil {
				rows[r.GetName()] = &comparedService{Name: r.GetName()}
			}
			set(rows[r.GetName()], periodStats{r.GetThroughput(), r.GetErrorRate(), r.GetP95LatencyMs()})
			sum.TotalSpans += r.GetSpanCount()
			sum.TotalErrors += r.GetErrorCount()
		}
		sum.ErrorRate = sum.TotalErrors / max(sum.TotalSpans, 1)
	}
	add(now, &res.Overall.Current, func(c *comparedService, p periodStats) { c.Current = p })
	add(before, &res.Overall.Previous, func(c *comparedService, p periodStats) { c.Previous = p })
	for _, c := range rows {
		c.flag()
		res.Services = append(res.Services, *c)
	}
	sort.Slice(res.Services, func(i, j int) bool {
		x, y := res.Services[i], res.Services[j]
		if x.weight != y.weight {
			return x.weight > y.weight
		}
		return x.Name < y.Name
	})
	found := logCauses(patterns, current, "")
	for _, service := range suspects(res.Services, m, found, a.text("service")) {
		e, err := s.gather(ctx, a, service, current, prev)
		if err != nil {
			return nil, err
		}
		for _, c := range e.causes() {
			if c.Kind != "logs" || !slices.ContainsFunc(found, func(f cause) bool { return f.Kind == "logs" && f.Service == c.Service }) {
				found = append(found, c)
			}
		}
	}
	rank(found)
	res.LikelyCauses = append(res.LikelyCauses, found[:min(len(found), 10)]...)
	return &answer{data: res, text: comparisonText(a, res)}, nil
}

// flag says what changed for the worse, as the flags are defined, and how much.
func (c *comparedService) flag() {
	now, was := c.Current, c.Previous
	if now.ErrorRate > 1.5*was.ErrorRate && now.ErrorRate > 0.001 {
		c.Flags = append(c.Flags, "error_rate_up")
		c.weight += 20*(now.ErrorRate-was.ErrorRate) + growth(now.ErrorRate, was.ErrorRate)/2
	}
	if was.P95Ms > 0 && now.P95Ms > 2*was.P95Ms {
		c.Flags = append(c.Flags, "latency_up")
		c.weight += math.Log2(now.P95Ms / was.P95Ms)
	}
	if was.Throughput > 0 && now.Throughput < 0.5*was.Throughput {
		c.Flags = append(c.Flags, "throughput_drop")
		c.weight++
	}
}

// suspects are the services to look into: those that changed most, and before them the ones that they call, for trouble moves from a
// service to its callers.
func suspects(list []comparedService, m *svcv2.ServiceMap, logs []cause, only *string) []string {
	if only != nil {
		return []string{*only}
	}
	flagged := map[string]bool{}
	for _, c := range list {
		if len(c.Flags) > 0 {
			flagged[c.Name] = true
		}
	}
	calls := map[string]bool{} // flagged services that call a flagged one
	for _, e := range m.GetEdges() {
		if flagged[e.GetSourceService()] && flagged[e.GetTargetService()] && e.GetSourceService() != e.GetTargetService() {
			calls[e.GetSourceService()] = true
		}
	}
	var first, then []string
	for _, c := range list {
		switch {
		case !flagged[c.Name]:
		case calls[c.Name]:
			then = append(then, c.Name)
		default:
			first = append(first, c.Name)
		}
	}
	order := append(first, then...)
	order = order[:min(len(order), examined)]
	// The service that changed most is looked into even when it only calls others that changed.
	if len(list) > 0 && flagged[list[0].Name] && !slices.Contains(order, list[0].Name) {
		order = append(order, list[0].Name)
	}
	for _, c := range logs {
		if c.Service != "" && !slices.Contains(order, c.Service) && len(order) < examined+2 {
			order = append(order, c.Service)
		}
	}
	return order
}

func comparisonText(a *arguments, res comparison) page {
	text := page{scope: []pair{
		{"Current", res.CurrentPeriod.Start + " to " + res.CurrentPeriod.End}, {"Previous", res.PreviousPeriod.Start + " to " + res.PreviousPeriod.End},
	}}
	for _, name := range []string{"service", "environment"} {
		if v := a.text(name); v != nil {
			text.scope = append(text.scope, pair{name, *v})
		}
	}
	if res.Overall.Previous.TotalSpans == 0 && res.Overall.Current.TotalSpans > 0 {
		text.notes = append(text.notes, "No spans came in the previous period, so whatever is found counts as new; give previous_start and previous_end, or around_time, so that both periods have data.")
	}
	var cells [][]string
	for _, c := range res.Services {
		cells = append(cells, []string{
			c.Name, strings.Join(c.Flags, ", "), number(c.Current.Throughput), number(c.Previous.Throughput), percent(c.Current.ErrorRate), percent(c.Previous.ErrorRate),
			number(c.Current.P95Ms), number(c.Previous.P95Ms),
		})
	}
	o := res.Overall
	text.blocks = []block{
		{heading: "Overall", rows: []string{fmt.Sprintf("- %s spans, %s failed (%s); before %s spans, %s failed (%s)", number(o.Current.TotalSpans), number(o.Current.TotalErrors), percent(o.Current.ErrorRate), number(o.Previous.TotalSpans), number(o.Previous.TotalErrors), percent(o.Previous.ErrorRate))}},
		causeBlock(res.LikelyCauses),
		table("Services", "No service sent spans in either period.", []string{"Service", "Changed", "Spans/s", "before", "Errors", "before", "p95 ms", "before"}, cells),
	}
	if len(res.LikelyCauses) > 0 {
		c, w := res.LikelyCauses[0], res.CurrentPeriod
		next := suggestion{"diagnose_service", a.again(w, map[string]any{"service": c.Service}, "environment"), "the service of the likeliest cause"}
		text.next = append(text.next, next)
		if c.Kind == "logs" {
			text.next = append(text.next, suggestion{"mine_log_patterns", clampWindow(a.again(w, map[string]any{"service": c.Service}, "environment"), w, 1), "its log patterns"})
		} else {
			text.next = append(text.next, suggestion{"find_slow_traces", a.again(w, map[string]any{"service": c.Service}, "environment"), "its slowest traces"},
				suggestion{"find_errors", a.again(w, map[string]any{"service": c.Service}, "environment"), "its errors"})
		}
	}
	return text
}
