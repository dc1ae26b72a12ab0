package oracle_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// checkPages walks searches of traces and of records page by page. Each walk returns every match once, latest first.
func (a *audit) checkPages() {
	windows := a.windows()
	for i, c := range a.recordConditions() {
		a.walkRecords(c, windows[i%len(windows)])
	}
	for i, c := range a.spanConditions() {
		a.walkTraces(c, windows[i%len(windows)])
	}
}

// walk reads the pages of a search with pages of a random size. It stops after more pages than the matches can fill.
func (a *audit) walk(read, what string, request object, matches int) (rows []object) {
	a.Helper()
	limit := 7 + a.r.IntN(94)
	request = merged(request, object{"limit": limit})
	for range matches/limit + 2 {
		var page object
		a.ask(read, request, &page)
		data := list(page, "data")
		rows = append(rows, data...)
		more, _ := page["has_more"].(bool)
		if len(data) > limit || more && len(data) < limit {
			a.Errorf("%s: a page of %s has %d rows of %d, and has_more is %v", read, what, len(data), limit, more)
		}
		if !more {
			return rows
		}
		request["cursor"] = page["next_cursor"]
	}
	a.Errorf("%s: %s has more pages than its %d matches fill", read, what, matches)
	return rows
}

// ordered checks that times do not rise from row to row.
func (a *audit) ordered(read, what, field string, rows []object) {
	a.Helper()
	inOrder := slices.IsSortedFunc(rows, func(x, y object) int { return moment(y[field]).Compare(moment(x[field])) })
	a.figure(read, "order of "+what, truth(inOrder), exactly(1))
}

func moment(v any) time.Time {
	at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(v))
	if err != nil {
		return time.Time{}
	}
	return at
}

func texts(v any) map[string]string {
	out := map[string]string{}
	m, _ := v.(object)
	for k, v := range m {
		out[k] = fmt.Sprint(v)
	}
	return out
}

// printed is a map as text, sorted by key.
func printed(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%q=%q ", k, m[k])
	}
	return b.String()
}

// blank is a value of an answer as text; null is the empty text.
func blank(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// stored are the attributes of a resource as they are stored: ingest adds the organization and the kind of key.
func (a *audit) stored(o *origin) map[string]string {
	m := o.resource()
	m["svc_org_id"], m["svc_ingest_key_type"], m["svc_ingest_source"] = a.server.OrgID, "private", "svc-ingest-gateway"
	return m
}

// record is a log record as one text: everything that was sent.
func (a *audit) record(r *row) string {
	return strings.Join([]string{
		r.at.UTC().Format(time.RFC3339Nano), r.service, r.severity, fmt.Sprint(r.severityNumber), r.name, r.trace, r.id,
		printed(r.attributes), printed(a.stored(r.origin)),
	}, "|")
}

func recordOf(o object) string {
	return strings.Join([]string{
		moment(o["timestamp"]).UTC().Format(time.RFC3339Nano), fmt.Sprint(o["service_name"]), fmt.Sprint(o["severity_text"]),
		fmt.Sprint(o["severity_number"]), fmt.Sprint(o["body"]), blank(o["trace_id"]), blank(o["span_id"]),
		printed(texts(o["log_attributes"])), printed(texts(o["resource_attributes"])),
	}, "|")
}

func (a *audit) walkRecords(c condition, w window) {
	const read = "searchLogs"
	matched := rowsIn(a.records, w, c.meets)
	what := fmt.Sprintf("records of %v in %s", c.filters, w)
	rows := a.walk(read, what, in(w, object{"filters": c.filters}), len(matched))
	a.ordered(read, what, "timestamp", rows)
	var got, want []string
	for _, o := range rows {
		got = append(got, recordOf(o))
	}
	for _, r := range matched {
		want = append(want, a.record(r))
	}
	a.names(read, what, got, want)
	if len(rows) == 0 {
		return
	}
	one := rows[a.r.IntN(len(rows))]
	var again object
	a.ask("getLog", object{"id": one["id"]}, &again)
	a.names("getLog", fmt.Sprint(one["id"]), []string{recordOf(again)}, []string{recordOf(one)})
}

// seenFrom is the span that a list shows a trace from: its root, or else its earliest span.
func seenFrom(spans []*row) *row {
	return slices.MinFunc(spans, func(x, y *row) int {
		if x.root != y.root {
			return int(truth(y.root) - truth(x.root))
		}
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.id, y.id))
	})
}

// displayed is the name of a span in a list. A name that holds only the verb is shown with the route.
func displayed(s *row) string {
	if s.name == s.method && s.route != "" {
		return s.method + " " + s.route
	}
	return s.name
}

func summary(s *row) string {
	return strings.Join([]string{
		s.trace, s.at.UTC().Format(time.RFC3339Nano), fmt.Sprint(s.milliseconds()), displayed(s), s.kind, s.service, s.status,
		fmt.Sprint(s.failed),
		s.environment, s.namespace, s.method, s.route, statusText(s.code),
	}, "|")
}

func summaryOf(o object) string {
	return strings.Join([]string{
		fmt.Sprint(o["id"]), moment(o["start_time"]).UTC().Format(time.RFC3339Nano), fmt.Sprint(o["duration_ms"]),
		fmt.Sprint(o["root_span_name"]),
		fmt.Sprint(o["root_span_kind"]), fmt.Sprint(o["root_service_name"]), fmt.Sprint(o["root_status_code"]), fmt.Sprint(o["root_has_error"]),
		blank(o["deployment_environment"]), blank(o["service_namespace"]), blank(o["http_method"]),
		blank(o["http_route"]), blank(o["http_status_code"]),
	}, "|")
}

func (a *audit) walkTraces(c condition, w window) {
	const read = "searchTraces"
	traces := by(a.spans, func(r *row) string { return r.trace })
	var want []string
	for _, spans := range traces {
		if from := seenFrom(spans); w.holds(from.at) && slices.ContainsFunc(spans, c.meets) {
			want = append(want, summary(from))
		}
	}
	what := fmt.Sprintf("traces of %v in %s", c.filters, w)
	rows := a.walk(read, what, in(w, object{"filters": c.filters}), len(want))
	a.ordered(read, what, "start_time", rows)
	var got []string
	for _, o := range rows {
		got = append(got, summaryOf(o))
	}
	a.names(read, what, got, want)
	if len(rows) == 0 {
		return
	}
	id := fmt.Sprint(rows[a.r.IntN(len(rows))]["id"])
	a.checkTrace(id, traces[id])
}

// checkTrace compares a whole trace, and one of its spans.
func (a *audit) checkTrace(id string, spans []*row) {
	const read = "getTrace"
	var got object
	a.ask(read, object{"trace_id": id}, &got)
	first := slices.MinFunc(spans, func(x, y *row) int { return x.at.Compare(y.at) }).at
	last := first
	services := map[string]bool{}
	var want []string
	for _, s := range spans {
		services[s.service] = true
		if end := s.at.Add(s.duration); end.After(last) {
			last = end
		}
		want = append(want, a.spanText(s))
	}
	number := func(field string) float64 { n, _ := got[field].(float64); return n }
	a.figure(read, "span_count of "+id, number("span_count"), exactly(float64(len(spans))))
	a.figure(read, "service_count of "+id, number("service_count"), exactly(float64(len(services))))
	a.figure(read, "start_time of "+id, float64(moment(got["start_time"]).Sub(first)), exactly(0))
	a.figure(read, "end_time of "+id, float64(moment(got["end_time"]).Sub(last)), exactly(0))
	a.figure(read, "duration_ms of "+id, number("duration_ms"), exactly(float64(last.Sub(first))/1e6))
	var found []string
	rows := list(got, "spans")
	for _, o := range rows {
		found = append(found, spanTextOf(o))
	}
	a.names(read, "spans of "+id, found, want)
	slices.Reverse(rows)
	a.ordered(read, "spans of "+id+", from the last", "start_time", rows)
	if len(rows) == 0 {
		return
	}
	one := rows[a.r.IntN(len(rows))]
	var span object
	a.ask("getSpan", object{"trace_id": id, "span_id": one["id"]}, &span)
	a.names("getSpan", fmt.Sprint(one["id"]), []string{spanTextOf(span)}, []string{spanTextOf(one)})
}

func (a *audit) spanText(s *row) string {
	return strings.Join([]string{
		s.id, s.trace, s.parent, s.name, s.service, s.kind, s.at.UTC().Format(time.RFC3339Nano), fmt.Sprint(s.milliseconds()), s.status,
		printed(s.attributes), printed(a.stored(s.origin)), s.traceState, s.exception,
	}, "|")
}

func spanTextOf(o object) string {
	exception := ""
	for _, e := range list(o, "events") {
		exception = texts(e["attributes"])["exception.type"]
	}
	return strings.Join([]string{
		fmt.Sprint(o["id"]), fmt.Sprint(o["trace_id"]), blank(o["parent_span_id"]), fmt.Sprint(o["name"]), fmt.Sprint(o["service_name"]),
		fmt.Sprint(o["kind"]), moment(o["start_time"]).UTC().Format(time.RFC3339Nano), fmt.Sprint(o["duration_ms"]), fmt.Sprint(o["status_code"]),
		printed(texts(o["attributes"])), printed(texts(o["resource_attributes"])), blank(o["trace_state"]), exception,
	}, "|")
}
