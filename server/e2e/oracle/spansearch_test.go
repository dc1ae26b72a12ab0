package oracle_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// spanFields are fields that a search of spans adds to its rows.
var spanFields = map[string]func(*row) string{
	"attr.tenant":          func(s *row) string { return s.attributes["tenant"] },
	"attr.cart.size":       func(s *row) string { return s.attributes["cart.size"] },
	"resource.tenant":      func(s *row) string { return s.tenant },
	"service.version":      func(s *row) string { return s.version },
	"event.exception.type": func(s *row) string { return s.exception },
}

// checkSpanSearch compares the rows of searches of spans, their order and their fields, for each condition in one order.
func (a *audit) checkSpanSearch() {
	const read = "searchSpans"
	windows := a.windows()
	var fields []string
	for name := range spanFields {
		fields = append(fields, name)
	}
	for n, c := range a.spanConditions() {
		w := windows[n%len(windows)]
		request := in(w, object{"filters": c.filters, "fields": fields, "order_by": "start_time"})
		if a.r.IntN(2) == 0 {
			delete(request, "filters")
			request["where"] = c.where
		}
		order := func(x, y *row) int {
			return cmp.Or(y.at.Compare(x.at), cmp.Compare(y.trace, x.trace), cmp.Compare(y.id, x.id))
		}
		matched := slices.Clone(rowsIn(a.spans, w, c.meets))
		slices.SortFunc(matched, order)
		if n%3 == 1 {
			request["order_by"] = "duration"
			slices.SortStableFunc(matched, func(x, y *row) int { return cmp.Compare(y.duration, x.duration) })
		}
		// A span that was sent twice has one row.
		matched = slices.CompactFunc(matched, func(x, y *row) bool { return x.trace == y.trace && x.id == y.id })
		what := fmt.Sprintf("spans of %v by %v in %s", cond(request), request["order_by"], w)
		var got, want []string
		for n, o := range a.walk(read, what, request, len(matched)) {
			got = append(got, foundSpan(n, o))
		}
		for n, s := range matched {
			want = append(want, s.found(n))
		}
		a.names(read, what, got, want)
	}
}

// found is a span as a search shows it, with its place.
func (r *row) found(n int) string {
	fields := map[string]string{}
	for name, of := range spanFields {
		if v := of(r); v != "" {
			fields[name] = v
		}
	}
	return strings.Join([]string{
		fmt.Sprint(n), r.trace, r.id, r.parent, r.at.UTC().Format(time.RFC3339Nano), fmt.Sprint(r.milliseconds()), displayed(r), r.kind,
		r.service, r.status, fmt.Sprint(r.failed), r.environment, r.method, r.route, statusText(r.code), printed(fields),
	}, "|")
}

func foundSpan(n int, o object) string {
	return strings.Join([]string{
		fmt.Sprint(n), fmt.Sprint(o["trace_id"]), fmt.Sprint(o["id"]), blank(o["parent_span_id"]),
		moment(o["start_time"]).UTC().Format(time.RFC3339Nano), fmt.Sprint(o["duration_ms"]), fmt.Sprint(o["name"]), fmt.Sprint(o["kind"]),
		fmt.Sprint(o["service_name"]), fmt.Sprint(o["status_code"]), fmt.Sprint(o["has_error"]), blank(o["deployment_environment"]),
		blank(o["http_method"]), blank(o["http_route"]), blank(o["http_status_code"]), printed(texts(o["fields"])),
	}, "|")
}
