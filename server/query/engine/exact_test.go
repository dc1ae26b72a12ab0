package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
)

// This file computes the same values as the engine, from the rows that the tests insert. It follows the documentation, not the
// engine's SQL.

// item is a span, a log record or a product event.
type item struct {
	source        query.Source
	at            time.Time
	weight        float64
	failed        bool
	duration      time.Duration
	text          map[string]string  // built-in fields
	number        map[string]float64 // built-in fields; 0 means absent
	flag          map[string]bool
	own, resource map[string]string
	eventNames    []string
	eventMaps     []map[string]string
}

// lookup returns the values of a field: none, one, or several for an event field.
func (i *item) lookup(f query.Field) []string {
	find := func(m map[string]string, key string) []string {
		for _, k := range query.SameAttribute(key) {
			if v, ok := m[k]; ok {
				return []string{v}
			}
		}
		return nil
	}
	switch f.Scope {
	case query.OwnAttribute:
		return find(i.own, f.Key)
	case query.ResourceAttribute:
		return find(i.resource, f.Key)
	case query.EventAttribute:
		var out []string
		for _, m := range i.eventMaps {
			out = append(out, find(m, f.Key)...)
		}
		return out
	}
	if f.Key == "event.name" && i.source == query.Traces {
		return i.eventNames
	}
	if f.Key == "duration" {
		return []string{strconv.FormatFloat(float64(i.duration)/1e6, 'f', -1, 64)}
	}
	if n, ok := i.number[f.Key]; ok {
		if n == 0 {
			return nil
		}
		return []string{strconv.FormatFloat(n, 'f', -1, 64)}
	}
	if b, ok := i.flag[f.Key]; ok {
		return []string{strconv.FormatBool(b)}
	}
	if i.text[f.Key] == "" {
		return nil
	}
	return []string{i.text[f.Key]}
}

func parsed(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// limit is a number in a filter, in milliseconds for a duration.
func limit(text string) float64 {
	if d, err := time.ParseDuration(text); err == nil {
		return float64(d) / 1e6
	}
	n, _ := parsed(text)
	return n
}

func (i *item) passes(f query.Filter) bool {
	switch {
	case f.All != nil:
		return !slices.ContainsFunc(f.All, func(c query.Filter) bool { return !i.passes(c) })
	case f.Any != nil:
		return slices.ContainsFunc(f.Any, i.passes)
	case f.Not != nil:
		return !i.passes(*f.Not)
	case f.Match == nil:
		return true
	}
	op := string(f.Match.Op)
	positive := strings.TrimPrefix(op, "!")
	if op == "!=" {
		positive = "="
	}
	found := slices.ContainsFunc(i.lookup(f.Match.Field), func(v string) bool { return i.holds(f.Match.Field, v, positive, f.Match.Values) })
	return found != (positive != op)
}

func (i *item) holds(f query.Field, v, op string, values []string) bool {
	numeric := f.Scope == query.Builtin && (f.Key == "duration" || i.number[f.Key] != 0)
	equal := func(want string) bool {
		if numeric {
			n, _ := parsed(v)
			return n == limit(want)
		}
		folded := f.Scope == query.Builtin && slices.Contains([]string{"severity", "status.code", "span.kind", "event.kind", "source", "host"},
			f.Key)
		return v == want || folded && strings.EqualFold(v, want)
	}
	switch op {
	case "exists":
		return true
	case "=", "in":
		return slices.ContainsFunc(values, equal)
	case "contains":
		return strings.Contains(strings.ToLower(v), strings.ToLower(values[0]))
	}
	n, ok := parsed(v)
	if !ok {
		return false
	}
	switch want := limit(values[0]); op {
	case ">":
		return n > want
	case ">=":
		return n >= want
	case "<":
		return n < want
	default:
		return n <= want
	}
}

func (i *item) group(fields []query.Field) []string {
	out := make([]string, len(fields))
	for n, f := range fields {
		if v := i.lookup(f); len(v) > 0 {
			out[n] = v[0]
		}
	}
	return out
}

// aggregate is the exact value over rows. For a quantile it is the range of values within the sketch's error.
func aggregate(items []*item, a query.Aggregation, seconds float64) (lo, hi float64) {
	exact := func(v float64) (float64, float64) { return v, v }
	sum := func(of func(*item) float64) (total float64) {
		for _, i := range items {
			total += of(i)
		}
		return total
	}
	weight := func(i *item) float64 { return i.weight }
	switch a.Func {
	case query.Count:
		return exact(sum(weight))
	case query.Rate:
		return exact(sum(weight) / seconds)
	case query.ErrorCount, query.ErrorRate:
		errors := sum(func(i *item) float64 {
			if i.failed {
				return i.weight
			}
			return 0
		})
		if a.Func == query.ErrorCount {
			return exact(errors)
		}
		return exact(errors / sum(weight))
	case query.Apdex:
		score := sum(func(i *item) float64 {
			switch {
			case i.failed:
				return 0
			case i.duration < a.Threshold:
				return i.weight
			case i.duration < 4*a.Threshold:
				return i.weight / 2
			default:
				return 0
			}
		})
		return score/sum(weight) - 0.00006, score/sum(weight) + 0.00006
	case query.CountDistinct:
		different := map[string]bool{}
		for _, i := range items {
			for _, v := range i.lookup(*a.Value) {
				different[v] = true
			}
		}
		return exact(float64(len(different)))
	}
	var values []weighted
	for _, i := range items {
		for _, v := range i.lookup(*a.Value) {
			if n, ok := parsed(v); ok {
				values = append(values, weighted{n, i.weight})
			}
		}
	}
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	return values2(values, a)
}

type weighted struct{ value, weight float64 }

func values2(values []weighted, a query.Aggregation) (lo, hi float64) {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	total, weight := 0.0, 0.0
	for _, v := range values {
		total += v.value * v.weight
		weight += v.weight
	}
	switch a.Func {
	case query.Sum:
		return total, total
	case query.Avg:
		return total / weight, total / weight
	case query.Min:
		return values[0].value, values[0].value
	case query.Max:
		last := values[len(values)-1].value
		return last, last
	}
	// A t-digest interpolates between neighbours. It may be off by this much of the rank, and by up to the next different value.
	const slack = 0.02
	at := func(level float64) int {
		seen := 0.0
		for n, v := range values {
			if seen += v.weight; seen >= level*weight {
				return n
			}
		}
		return len(values) - 1
	}
	first, last := at(a.Level-slack), at(a.Level+slack)
	for first > 0 && values[first].value == values[at(a.Level-slack)].value {
		first--
	}
	for last < len(values)-1 && values[last].value == values[at(a.Level+slack)].value {
		last++
	}
	return values[first].value, values[last].value
}

// made makes rows of one organization.
func made(source query.Source, seed uint64, n int, start time.Time, length time.Duration) []*item {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var out []*item
	for k := range n {
		i := &item{
			source: source, at: start.Add(time.Duration(r.Int64N(int64(length)))), weight: 1, text: map[string]string{},
			number: map[string]float64{}, flag: map[string]bool{},
			own: map[string]string{}, resource: map[string]string{},
		}
		service := pick("web", "web", "web", "checkout", "checkout", "cart", "payments", "söarch", `we"ird\ service`)
		i.text["service.name"] = service
		i.resource["service.name"] = service
		if r.IntN(3) > 0 {
			i.resource["k8s.pod.name"] = "pod-" + strconv.Itoa(r.IntN(12))
		}
		if v := pick("7", "12", "1.5", "-3", "1e3", "many", "", "nan", "200"); r.IntN(4) > 0 {
			i.own["cart.size"] = v
		}
		if r.IntN(2) == 0 {
			i.own[pick("db.system", "db.system.name")] = pick("postgresql", "redis")
		}
		if r.IntN(3) == 0 {
			i.own["user.id"] = "user-" + strconv.Itoa(r.IntN(200))
		}
		if source != query.ProductEvents {
			i.text["deployment.environment"] = pick("production", "staging", "")
			i.text["service.namespace"] = pick("shop", "")
			i.text["service.version"] = pick("1.0.0", "1.1.0")
			i.text["scope.name"] = pick("", "lib")
			i.text["trace.id"] = fmt.Sprintf("%032x", k/3)
			i.text["span.id"] = fmt.Sprintf("%016x", k)
			if sha := pick("abc123", "", ""); sha != "" {
				i.resource[pick("deployment.commit_sha", "vcs.ref.head.revision")] = sha
				i.text["deployment.commit_sha"] = sha
			}
		}
		switch source {
		case query.Traces:
			i.weight = []float64{1, 1, 1, 2, 10, 1.5}[r.IntN(6)]
			i.duration = time.Duration(math.Exp(r.NormFloat64()*1.5+3) * 1e6)
			i.text["span.name"] = pick("GET /", "GET /cart", "POST /pay", "SELECT", "publish")
			i.text["span.kind"] = pick("Server", "Client", "Internal")
			i.text["status.code"] = pick("Ok", "Unset", "Unset", "Error")
			i.text["status.message"] = pick("", "it failed")
			i.text["http.method"] = pick("GET", "POST", "get", "")
			i.text["http.route"] = pick("/", "/cart/{id}", "")
			i.number["http.status_code"] = []float64{0, 200, 404, 500}[r.IntN(4)]
			i.failed = i.text["status.code"] == "Error" || i.number["http.status_code"] >= 500
			i.flag["has_error"] = i.failed
			i.text["parent.id"] = pick("", "00000000000000aa")
			i.flag["root_only"] = i.text["parent.id"] == ""
			i.flag["is_entry"] = i.text["span.kind"] == "Server" || i.text["parent.id"] == ""
			for range r.IntN(3) {
				i.eventNames = append(i.eventNames, pick("exception", "retry"))
				i.eventMaps = append(i.eventMaps, map[string]string{"exception.type": pick("TimeoutError", "IOError"), "n": strconv.Itoa(r.IntN(4))})
			}
		case query.Logs:
			i.text["severity"] = pick("DEBUG", "INFO", "WARN", "ERROR", "")
			i.number["severity_number"] = map[string]float64{"DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17, "": 0}[i.text["severity"]]
			i.failed = i.text["severity"] == "ERROR"
			i.text["body"] = pick("Payment declined for card", "request served", "Käse ist aus", "card declined: no funds", "DECLINED card")
			i.text["event.name"] = pick("", "device.app")
		case query.ProductEvents:
			i.text["event.name"] = pick("signup", "view", "view", "buy", "$pageview")
			i.text["event.kind"] = pick("custom", "navigation", "screen")
			i.text["source"] = pick("browser", "server", "mobile")
			i.text["host"] = pick("shop.example", "www.example", "")
			i.text["page.path"] = pick("/", "/cart", "")
			i.text["url"] = pick("https://shop.example/", "")
			i.text["visitor.id"] = "v" + strconv.Itoa(r.IntN(40))
			i.text["user.id"] = pick("", "u1", "u2", "u3")
			i.text["group.id"] = pick("", "g1")
			i.text["session.id"] = "s" + strconv.Itoa(r.IntN(90))
		}
		out = append(out, i)
	}
	return identified(out)
}

// identified names the person of product events without a recorded session: the user, or else the last user of their visitor
// among these events, or else the visitor.
func identified(items []*item) []*item {
	last := map[string]*item{}
	for _, i := range items {
		if v := i.text["visitor.id"]; i.source == query.ProductEvents && i.text["user.id"] != "" && (last[v] == nil || i.at.After(last[v].at)) {
			last[v] = i
		}
	}
	for _, i := range items {
		if i.source != query.ProductEvents {
			break
		}
		i.text["known.user"], i.text["known.visitor"] = i.text["user.id"], i.text["visitor.id"]
		i.text["person"] = cmp.Or(i.text["user.id"], i.text["visitor.id"])
		if seen := last[i.text["visitor.id"]]; i.text["user.id"] == "" && seen != nil {
			i.text["person"] = seen.text["user.id"]
		}
	}
	return items
}

// store inserts rows for an organization.
func store(t testing.TB, w *warehouse.Warehouse, org principal.OrgID, items []*item) {
	t.Helper()
	common := []string{"OrgId", "Timestamp", "ServiceName", "ResourceAttributes"}
	tables := map[query.Source]struct {
		table, own string
		columns    [][2]string // column, built-in field
	}{
		query.Traces: {"spans", "SpanAttributes", [][2]string{
			{"ServiceNamespace", "service.namespace"},
			{"ServiceVersion", "service.version"},
			{"Environment", "deployment.environment"},
			{"ScopeName", "scope.name"},
			{"TraceId", "trace.id"},
			{"SpanId", "span.id"},
			{"ParentSpanId", "parent.id"},
			{"SpanName", "span.name"},
			{"SpanKind", "span.kind"},
			{"StatusCode", "status.code"},
			{"StatusMessage", "status.message"},
			{"HttpMethod", "http.method"},
			{"HttpRoute", "http.route"},
		}},
		query.Logs: {"logs", "LogAttributes", [][2]string{
			{"ServiceNamespace", "service.namespace"},
			{"ServiceVersion", "service.version"},
			{"Environment", "deployment.environment"},
			{"ScopeName", "scope.name"},
			{"TraceId", "trace.id"},
			{"SpanId", "span.id"},
			{"SeverityText", "severity"},
			{"Body", "body"},
			{"EventName", "event.name"},
		}},
		query.ProductEvents: {"product_events", "Attributes", [][2]string{
			{"Name", "event.name"},
			{"Kind", "event.kind"},
			{"Source", "source"},
			{"Host", "host"},
			{"PagePath", "page.path"},
			{"Url", "url"},
			{"VisitorId", "visitor.id"},
			{"UserId", "user.id"},
			{"GroupId", "group.id"},
			{"SessionId", "session.id"},
		}},
	}
	into := tables[items[0].source]
	columns := append(slices.Clone(common), into.own)
	for _, c := range into.columns {
		columns = append(columns, c[0])
	}
	switch items[0].source {
	case query.Traces:
		columns = append(columns, "SampleRate", "HasError", "IsEntry", "DurationNano", "HttpStatusCode", "EventsTimestamp", "EventsName",
			"EventsAttributes")
	case query.Logs:
		columns = append(columns, "SeverityNumber")
	}
	var rows [][]any
	for _, i := range items {
		row := []any{string(org), i.at, i.text["service.name"], i.resource, i.own}
		for _, c := range into.columns {
			row = append(row, i.text[c[1]])
		}
		switch i.source {
		case query.Traces:
			times := []time.Time{}
			for range i.eventNames {
				times = append(times, i.at)
			}
			names, maps := i.eventNames, i.eventMaps
			if names == nil {
				names, maps = []string{}, []map[string]string{}
			}
			row = append(row, i.weight, i.failed, i.flag["is_entry"], uint64(i.duration), uint16(i.number["http.status_code"]), times, names, maps)
		case query.Logs:
			row = append(row, uint8(i.number["severity_number"]))
		}
		rows = append(rows, row)
	}
	if err := w.InsertRows(t.Context(), into.table, columns, rows, ""); err != nil {
		t.Fatal(err)
	}
}
