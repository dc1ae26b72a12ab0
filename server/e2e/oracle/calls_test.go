package oracle_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// calls are the calls of a window: a Server or Consumer span whose parent is a Client or Producer span of another service. The
// environment is the caller's.
func (t *telemetry) calls(w window, holds func(*row) bool) map[string][]*row {
	spans := map[string]*row{}
	for _, s := range t.spans {
		spans[s.trace+s.id] = s
	}
	out := map[string][]*row{}
	for _, s := range t.spans {
		p := spans[s.trace+s.parent]
		if p == nil || s.parent == "" || s.kind != "Server" && s.kind != "Consumer" || p.kind != "Client" && p.kind != "Producer" {
			continue
		}
		if p.service != s.service && w.holds(s.at) && holds(p) {
			edge := p.service + " → " + s.service
			out[edge] = append(out[edge], s)
		}
	}
	return out
}

// checkCalls compares the calls of the service map, and its services.
func (k *catalogAudit) checkCalls(w window, environment string) {
	holds, more := inEnvironment(environment)
	what := fmt.Sprintf("%v in %q", w, environment)
	calls := k.calls(w, holds)
	var answer object
	k.ask("getServiceMap", in(w, more), &answer)
	k.compareCalls("getServiceMap", what, list(answer, "edges"), calls, strings.Clone)
	arguments := in(w, object{})
	if environment != "" {
		arguments["environment"] = environment
	}
	answer = nil
	k.call("service_map", arguments, &answer)
	k.compareCalls("service_map", what, list(answer, "edges"), calls, camel)
}

func (k *catalogAudit) compareCalls(read, what string, edges []object, calls map[string][]*row, spelled func(string) string) {
	var found []string
	for _, e := range edges {
		name := fmt.Sprint(e[spelled("source_service")], " → ", e[spelled("target_service")])
		found = append(found, name)
		rows := calls[name]
		compare := func(field string, want bounds) { k.field(read, what+" "+name, spelled(field), e, want) }
		if len(rows) == 0 {
			continue
		}
		longest := 0.0
		for _, r := range rows {
			longest = max(longest, r.milliseconds())
		}
		compare("avg_duration_ms", exactly(weigh(rows, (*row).milliseconds)/estimated(rows)))
		compare("max_duration_ms", exactly(longest))
		if read == "service_map" { // the tool gives only estimates
			compare("call_count", exactly(estimated(rows)))
			compare("error_count", exactly(estimated(failed(rows))))
			continue
		}
		compare("call_count", exactly(float64(len(rows))))
		compare("error_count", exactly(float64(len(failed(rows)))))
		compare("estimated_call_count", exactly(estimated(rows)))
		compare("error_rate", exactly(errorRate(rows)))
		compare("sampling_weight", exactly(estimated(rows)/float64(len(rows))))
	}
	k.names(read, what, found, slices.Collect(maps.Keys(calls)))
}

// checkPeriods compares two periods: the second half of a window with its first half.
func (k *catalogAudit) checkPeriods(w window, environment string) {
	middle := w.start.Add(w.end.Sub(w.start) / 2)
	now, was := window{middle, w.end}, window{w.start, middle.Add(-time.Nanosecond)}
	holds, more := inEnvironment(environment)
	what := fmt.Sprintf("%v in %q", w, environment)
	request := in(now, merged(more, object{
		"previous_start_time": was.start.Format(time.RFC3339Nano), "previous_end_time": was.end.Format(time.RFC3339Nano),
	}))
	var answer object
	k.ask("comparePeriods", request, &answer)
	k.comparePeriods("comparePeriods", what, answer, now, was, holds, strings.Clone)
	arguments := object{
		"current_start": request["start_time"], "current_end": request["end_time"],
		"previous_start": request["previous_start_time"], "previous_end": request["previous_end_time"],
	}
	if environment != "" {
		arguments["environment"] = environment
	}
	answer = nil
	if !k.call("compare_periods", arguments, &answer) {
		return
	}
	if overall, ok := answer["overall"].(object); ok {
		maps.Copy(answer, overall)
	}
	k.comparePeriods("compare_periods", what, answer, now, was, holds, camel)
}

func (k *catalogAudit) comparePeriods(
	read, what string, answer object, now, was window, holds func(*row) bool, spelled func(string) string,
) {
	for field, w := range map[string]window{"current": now, "previous": was} {
		services := by(rowsIn(k.spans, w, holds), func(r *row) string { return r.service })
		var counted []*row
		for _, rows := range services {
			counted = append(counted, entriesOf(rows)...)
		}
		totals, _ := answer[field].(object)
		spans, errors := "span_count", "error_count"
		if read == "compare_periods" {
			spans, errors = "totalSpans", "totalErrors"
		}
		data := dataSeconds(rowsIn(k.spans, w, holds), w)
		if len(counted) > 0 {
			k.checkData(read, what+" "+field, totals, data)
		}
		k.total(read, what+" "+field, spans, totals, exactly(estimated(counted)))
		k.total(read, what+" "+field, errors, totals, exactly(estimated(failed(counted))))
		k.total(read, what+" "+field, spelled("error_rate"), totals, exactly(errorRate(counted)))
		for _, s := range list(answer, "services") {
			rows := entriesOf(services[fmt.Sprint(s["name"])])
			figures, _ := s[field].(object)
			of := fmt.Sprint(what, " ", field, " ", s["name"])
			k.field(read, of, spelled("throughput"), figures, exactly(estimated(rows)/max(data, math.Ceil(w.seconds()/60))))
			k.field(read, of, spelled("error_rate"), figures, exactly(errorRate(rows)))
			want := exactly(0)
			if len(rows) > 0 {
				want = latency(rows, 0.95)
			}
			p95 := "p95_latency_ms"
			if read == "compare_periods" {
				p95 = "p95Ms"
			}
			k.field(read, of, p95, figures, want)
		}
	}
}

// dataSeconds is the length of the part of a period that has spans, from the second of the first to that of the last one.
func dataSeconds(rows []*row, w window) float64 {
	if len(rows) == 0 {
		return w.seconds()
	}
	first, last := rows[0].at, rows[0].at
	for _, r := range rows {
		if r.at.Before(first) {
			first = r.at
		}
		if r.at.After(last) {
			last = r.at
		}
	}
	first, last = first.Truncate(time.Second), last.Truncate(time.Second).Add(time.Second)
	if first.Before(w.start) {
		first = w.start
	}
	if last.After(w.end) {
		last = w.end
	}
	return last.Sub(first).Seconds()
}

// checkData compares the part of a period that has spans with what an answer says of it.
func (k *catalogAudit) checkData(read, what string, totals object, seconds float64) {
	start, end := totals["data_start_time"], totals["data_end_time"]
	if data, ok := totals["data"].(object); ok {
		start, end = data["start"], data["end"]
	}
	from, err := time.Parse(time.RFC3339Nano, fmt.Sprint(start))
	to, err2 := time.Parse(time.RFC3339Nano, fmt.Sprint(end))
	if err != nil || err2 != nil {
		k.Errorf("%s: %s has no part with data: %v to %v", read, what, start, end)
		return
	}
	k.figure(read, "seconds with data of "+what, to.Sub(from).Seconds(), exactly(seconds))
}
