package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// template is the pattern of a body of the generator: only its numbers vary.
func template(r *row) string {
	if strings.HasPrefix(r.name, "paid ") {
		return "paid <num>"
	}
	return r.name
}

type logPatterns struct {
	Total         float64 `json:"total_count"`
	Sampled       float64 `json:"sampled_count"`
	BaselineStart string  `json:"baseline_start_time"`
	BaselineEnd   string  `json:"baseline_end_time"`
	BaselineTotal float64 `json:"baseline_total_count"`
	Patterns      float64 `json:"pattern_count"`
	Data          []struct {
		Template         string
		Count            float64
		Estimated        float64 `json:"estimated_count"`
		Share            float64
		Severities       map[string]float64 `json:"severity_counts"`
		Services         map[string]float64 `json:"service_counts"`
		FirstSeen        string             `json:"first_seen"`
		LastSeen         string             `json:"last_seen"`
		Baseline         float64            `json:"baseline_count"`
		BaselineEstimate float64            `json:"baseline_estimated_count"`
		CountError       float64            `json:"count_error"`
		PerMinute        float64            `json:"records_per_minute"`
	}
}

// checkPatterns compares the patterns of records, which are few enough to be counted, with those of the period before.
func (a *audit) checkPatterns() {
	const read = "searchLogPatterns"
	middle := a.start.Add(a.end.Sub(a.start) / 2)
	windows := append(a.windows()[:3], window{middle, a.end})
	for i, c := range a.recordConditions() {
		w := windows[i%len(windows)]
		rows := rowsIn(a.records, w, c.meets)
		what := fmt.Sprintf("%v in %s", c.filters, w)
		var got logPatterns
		a.ask(read, in(w, object{"filters": c.filters}), &got)
		was := window{moment(got.BaselineStart), moment(got.BaselineEnd)}
		a.figure(read, "length of the period before of "+what, w.start.Sub(was.start).Seconds(), exactly(w.seconds()))
		before := rowsIn(a.records, was, c.meets)
		patterns, earlier := by(rows, template), by(before, template)
		a.figure(read, "records of "+what, got.Total, exactly(float64(len(rows))))
		a.figure(read, "records read of "+what, got.Sampled, exactly(float64(len(rows))))
		a.figure(read, "records before "+what, got.BaselineTotal, exactly(float64(len(before))))
		a.figure(read, "number of patterns of "+what, got.Patterns, exactly(float64(len(patterns))))
		var found []string
		for _, p := range got.Data {
			found = append(found, p.Template)
			of, name := patterns[p.Template], fmt.Sprintf("%q of %s", p.Template, what)
			if len(of) == 0 {
				continue
			}
			count := float64(len(of))
			a.figure(read, "count of "+name, p.Count, exactly(count))
			a.figure(read, "estimate of "+name, p.Estimated, exactly(count))
			a.figure(read, "error of the estimate of "+name, p.CountError, exactly(0))
			a.figure(read, "share of "+name, p.Share, exactly(count/float64(len(rows))))
			a.figure(read, "count before of "+name, p.Baseline, exactly(float64(len(earlier[p.Template]))))
			a.figure(read, "estimate before of "+name, p.BaselineEstimate, exactly(float64(len(earlier[p.Template]))))
			a.counts(read, "severities of "+name, p.Severities, by(of, func(r *row) string { return r.severity }))
			a.counts(read, "services of "+name, p.Services, by(of, func(r *row) string { return r.service }))
			order := func(x, y *row) int { return x.at.Compare(y.at) }
			first, last := slices.MinFunc(of, order).at, slices.MaxFunc(of, order).at
			a.figure(read, "first_seen of "+name, float64(moment(p.FirstSeen).Sub(first)), exactly(0))
			a.figure(read, "last_seen of "+name, float64(moment(p.LastSeen).Sub(last)), exactly(0))
			a.figure(read, "rate of "+name, p.PerMinute, exactly(count/max(last.Sub(first).Minutes(), 1)))
		}
		a.names(read, "patterns of "+what, found, slices.Collect(maps.Keys(patterns)))
	}
}

// counts compares numbers of rows by name.
func (a *audit) counts(read, what string, got map[string]float64, want map[string][]*row) {
	a.Helper()
	a.names(read, what, slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(want)))
	for name, n := range got {
		a.figure(read, name+" in "+what, n, exactly(float64(len(want[name]))))
	}
}
