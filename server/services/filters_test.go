package services_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

var filterCases = flag.Int("filters", 7, "how many random filters TestFiltersAgree tries for each signal and form")

// item is a span, a log record, a point of a metric, a product event or a session as it is stored. The test evaluates filters over items,
// and every read must agree with the result.
type item struct {
	id                              string // the id of its trace, which has no other item
	service, namespace, environment string
	name, status, method, route     string
	code                            int
	duration                        time.Duration
	root                            bool
	severity                        string
	number                          int
	body, spanID                    string
	attributes, resource            map[string]string
	// Product events and sessions have these.
	event, kind, from, host, page       string
	visitor, user, group, session       string
	person, knownUser, knownVisitor     string
	country, referrer, campaign, device string
	fresh                               bool
}

// These are sources of random text. Several values are common, so that filters match something, and some are hard to handle
// correctly.
func services() []string { return []string{"cart", "shop", "Shop"} }

func keys() []string {
	return []string{"http.method", "http.request.method", "db.system", "db.system.name", "http.route", "k", "it's \\ odd"}
}

func values() []string {
	return []string{"GET", "get", "mysql", "", "3", "12.5", "nan", "Größe", "a,b"}
}

func resources() []string {
	return []string{
		"deployment.environment", "deployment.environment.name", "service.name", "host", "deployment.commit_sha", "vcs.ref.head.revision",
	}
}

func words() []string {
	return []string{"payment declined by BANK", "größe falsch", "one two-three four", "ready", ""}
}
func severities() []string { return []string{"INFO", "WARN", "ERROR"} }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func pairs(r *rand.Rand, keys []string) map[string]string {
	out := map[string]string{}
	for range r.IntN(4) {
		out[pick(r, keys)] = pick(r, values())
	}
	return out
}

func randomItem(r *rand.Rand, n int) item {
	i := item{
		id: fmt.Sprintf("%032x", n+0xa0), service: pick(r, services()), namespace: pick(r, []string{"", "eu"}),
		environment: pick(r, []string{"", "prod", "test"}),
		name:        pick(r, []string{"GET", "list Orders", "größe", ""}), status: pick(r, []string{"Unset", "Ok", "Error"}),
		method: pick(r, []string{"", "GET", "get"}),
		route:  pick(r, []string{"", "/a/{id}"}), code: pick(r, []int{0, 200, 404, 503}), duration: time.Duration(r.IntN(9)) * 1_450_000,
		root:     r.IntN(3) > 0,
		severity: pick(r, severities()), number: pick(r, []int{0, 9, 17}), body: pick(r, words()), spanID: fmt.Sprintf("%016x", r.IntN(3)+0xb0),
		attributes: pairs(r, keys()), resource: pairs(r, resources()),
	}
	if _, ok := i.resource["service.name"]; ok { // ingest promotes it to the column
		i.resource["service.name"] = i.service
	}
	return i
}

// sameKey lists the names of an attribute that OpenTelemetry renamed, the requested name first.
func sameKey(key string) []string {
	for _, pair := range [][]string{
		{"http.method", "http.request.method"}, {"db.system", "db.system.name"}, {"deployment.environment", "deployment.environment.name"},
	} {
		if i := slices.Index(pair, key); i >= 0 {
			return []string{key, pair[1-i]}
		}
	}
	return []string{key}
}

func contains(text, part string) bool {
	return text != "" && strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func attributeHolds(of map[string]string, f *svcv2.AttributeFilter) bool {
	value, present := "", false
	for _, key := range sameKey(f.GetKey()) {
		if value, present = of[key]; present {
			break
		}
	}
	number, err := strconv.ParseFloat(value, 64)
	isNumber, limit := err == nil && value != "nan", f.GetValue().GetNumberValue()
	holds := false
	switch f.GetOperator() {
	case "exists":
		holds = present
	case "equals":
		holds = present && value == f.GetValue().GetStringValue()
	case "contains":
		holds = present && strings.Contains(strings.ToLower(value), strings.ToLower(f.GetValue().GetStringValue()))
	case "gt":
		holds = isNumber && number > limit
	case "gte":
		holds = isNumber && number >= limit
	case "lt":
		holds = isNumber && number < limit
	case "lte":
		holds = isNumber && number <= limit
	}
	return holds != f.GetNegated()
}

func allHold(of map[string]string, list []*svcv2.AttributeFilter) bool {
	return !slices.ContainsFunc(list, func(f *svcv2.AttributeFilter) bool { return !attributeHolds(of, f) })
}

func is(wanted *string, have string) bool { return wanted == nil || *wanted == have }

func folded(wanted *string, have string) bool {
	return wanted == nil || strings.EqualFold(*wanted, have)
}

func (i item) spanMatches(f *svcv2.TraceFilters) bool {
	ms := float64(i.duration) / 1e6
	return is(f.ServiceName, i.service) && is(f.SpanName, i.name) && folded(f.TraceId, i.id) && is(f.HttpRoute, i.route) &&
		is(f.HttpMethod, i.method) &&
		(f.StatusCode == nil || strings.EqualFold(f.GetStatusCode(), i.status)) && is(f.DeploymentEnvironment, i.environment) &&
		is(f.ServiceNamespace, i.namespace) && (f.SpanNameContains == nil || contains(i.name, f.GetSpanNameContains())) &&
		(f.HttpStatusCode == nil || i.code != 0 && f.GetHttpStatusCode() == strconv.Itoa(i.code)) &&
		(f.HasError == nil || f.GetHasError() == (i.status == "Error")) && (f.MinDurationMs == nil || ms >= f.GetMinDurationMs()) &&
		(f.MaxDurationMs == nil || ms <= f.GetMaxDurationMs()) && (f.GetSpanScope() != "root" || i.root) &&
		allHold(i.attributes, f.GetAttributes()) && allHold(i.resource, f.GetResourceAttributes())
}

func (i item) recordMatches(f *svcv2.LogFilters) bool {
	return is(f.ServiceName, i.service) && folded(f.TraceId, i.id) && folded(f.SpanId, i.spanID) &&
		is(f.DeploymentEnvironment, i.environment) &&
		is(f.ServiceNamespace, i.namespace) && (f.Severity == nil || strings.EqualFold(strings.TrimSpace(f.GetSeverity()), i.severity)) &&
		(f.BodySearch == nil || contains(i.body, f.GetBodySearch())) &&
		(f.GetMinimumSeverity() == 0 || i.number >= int(f.GetMinimumSeverity()) || i.number == 0 &&
			numberOf(i.severity) >= f.GetMinimumSeverity()) &&
		allHold(i.attributes, f.GetAttributes()) && allHold(i.resource, f.GetResourceAttributes())
}

// numberOf is the lowest number of a severity text, or 0 for a text that OpenTelemetry does not have.
func numberOf(severity string) int32 {
	return map[string]int32{"TRACE": 1, "DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}[severity]
}

// sometimes gives a value for one in eight filters.
func sometimes[T any](r *rand.Rand, list ...T) *T {
	if r.IntN(8) > 0 {
		return nil
	}
	return new(pick(r, list))
}

func randomAttributes(r *rand.Rand, keys []string) []*svcv2.AttributeFilter {
	var out []*svcv2.AttributeFilter
	for range max(0, r.IntN(4)-1) {
		f := &svcv2.AttributeFilter{
			Key: pick(r, keys), Operator: pick(r, []string{"exists", "equals", "equals", "contains", "gt", "gte", "lt", "lte"}),
			Negated: new(r.IntN(3) == 0),
		}
		switch f.GetOperator() {
		case "exists":
		case "equals", "contains":
			f.Value = structpb.NewStringValue(pick(r, values()))
		default:
			f.Value = structpb.NewNumberValue(pick(r, []float64{3, 12.5, -1, 1e9}))
		}
		out = append(out, f)
	}
	return out
}

func randomTraceFilters(r *rand.Rand, items []item) *svcv2.TraceFilters {
	return &svcv2.TraceFilters{
		ServiceName: sometimes(r, services()...), SpanName: sometimes(r, "GET", "größe", ""),
		SpanNameContains: sometimes(r, "ORDERS", "GRÖSSE", "größ", "t"),
		TraceId:          sometimes(r, pick(r, items).id, strings.ToUpper(pick(r, items).id)), StatusCode: sometimes(r, "Error", "Ok"),
		HttpRoute: sometimes(r, "/a/{id}", ""), HttpMethod: sometimes(r, "GET", "get"),
		HttpStatusCode: sometimes(r, "200", "503", "0", "0200", "many"), DeploymentEnvironment: sometimes(r, "prod", ""),
		ServiceNamespace: sometimes(r, "eu"), HasError: sometimes(r, true, false), MinDurationMs: sometimes(r, 4.35, 0),
		MaxDurationMs: sometimes(r, 4.35, 1e12), SpanScope: sometimes(r, "root"), Attributes: randomAttributes(r, keys()),
		ResourceAttributes: randomAttributes(r, resources()),
	}
}

func randomLogFilters(r *rand.Rand, items []item) *svcv2.LogFilters {
	return &svcv2.LogFilters{
		ServiceName: sometimes(r, services()...), Severity: sometimes(r, "error", "INFO", " Warn "),
		MinimumSeverity: sometimes[int32](r, 0, 9, 17), TraceId: sometimes(r, pick(r, items).id, strings.ToUpper(pick(r, items).id)),
		SpanId:                sometimes(r, items[0].spanID, strings.ToUpper(items[1].spanID)),
		BodySearch:            sometimes(r, " declined ", "two-three", "GRÖSSE", "größe f", "e"),
		DeploymentEnvironment: sometimes(r, "test", ""), ServiceNamespace: sometimes(r, "eu"), Attributes: randomAttributes(r, keys()),
		ResourceAttributes: randomAttributes(r, resources()),
	}
}

// matching are the items for which holds is true.
func matching(items []item, holds func(item) bool) (out []item) {
	for _, i := range items {
		if holds(i) {
			out = append(out, i)
		}
	}
	return out
}

func (f *filtered) matching(holds func(item) bool) []item { return matching(f.items, holds) }

// TestFiltersAgree compares every read that takes a filter with a plain evaluation of the filter over random spans, records, points,
// product events and sessions.
func TestFiltersAgree(t *testing.T) {
	f := newFiltered(t, 7, "org_filters_agree")
	r := rand.New(rand.NewPCG(7, 2))
	some, all := 0, 0
	for range *filterCases {
		for _, n := range f.checkAll(t, r) {
			if all++; n.matching > 0 && n.matching < n.items {
				some++
			}
		}
	}
	if some < all/2 {
		t.Errorf("only %d of %d filters hold for some items and not for all", some, all)
	}
}

// TestSeverity checks at every door that the letter case of a severity and the space around it do not matter.
func TestSeverity(t *testing.T) {
	f := newFiltered(t, 13, "org_filters_severity")
	r := rand.New(rand.NewPCG(13, 2))
	errors := f.checkLogs(t, &svcv2.LogFilters{Severity: new(" error\t")})
	for _, filter := range []tree{
		{field: "severity", op: "=", values: []string{" error\t"}},
		{field: "level", op: "in", values: []string{"Error ", " none"}},
		{not: &tree{field: "severity", op: "!=", values: []string{"  ERROR"}}},
	} {
		if n := f.checkTree(t, r, logSource, filter); n != errors || n == 0 {
			t.Errorf("%v holds for %d records, the filter of the log methods for %d", filter, n, errors)
		}
	}
}

// TestCommits checks that query_data finds a commit and an environment under each attribute that names one, as the language does.
func TestCommits(t *testing.T) {
	f := newFiltered(t, 17, "org_filters_commits")
	f.metric = "gauge"
	r := rand.New(rand.NewPCG(17, 2))
	for argument, filter := range map[string]tree{
		"commit_shas":  {field: "deployment.commit_sha", op: "in", values: []string{"GET", "get", "mysql", "nan", "3"}},
		"environments": {field: "deployment.environment", op: "in", values: []string{"prod", "test"}},
	} {
		for _, source := range []string{spanSource, logSource, metricSource, eventSource} {
			if n := f.checkTree(t, r, source, filter); n < 3 {
				t.Errorf("only %d items of %v", n, filter)
			}
			agree(t, "query_data by "+argument, source, counts(matching(f.of(source), filter.holds)),
				f.ofQueryData(t, source, map[string]any{argument: filter.values}))
		}
	}
}

// telling repeats random filters until one holds for some items and not for all. Sometimes it takes the first one as it is.
func telling[F any](items []item, r *rand.Rand, random func() F, holds func(item, F) bool) F {
	for range 100 {
		filter := random()
		n := len(matching(items, func(i item) bool { return holds(i, filter) }))
		if n > 0 && n < len(items) || r.IntN(50) == 0 {
			return filter
		}
	}
	return random()
}

// share is how many of the items match a filter.
type share struct{ matching, items int }

// checkAll tries a random filter of each signal and form, and returns the numbers of matching items.
func (f *filtered) checkAll(t testing.TB, r *rand.Rand) (all []share) {
	t.Helper()
	ofSpans := telling(f.items, r, func() *svcv2.TraceFilters { return randomTraceFilters(r, f.items) }, item.spanMatches)
	ofRecords := telling(f.items, r, func() *svcv2.LogFilters { return randomLogFilters(r, f.items) }, item.recordMatches)
	ofPoints := telling(f.items, r, func() *svcv2.MetricFilters { return randomMetricFilters(r) }, item.pointMatches)
	ofEvents := telling(f.events, r, func() *svcv2.ProductEventFilters { return randomEventFilters(r, f.events) }, item.eventMatches)
	ofSessions := telling(f.sessions, r, func() *svcv2.ProductFilters { return randomProductFilters(r) }, f.sessionMatches)
	f.metric = pick(r, metricTypes())
	all = append(all, share{f.checkTraces(t, ofSpans), len(f.items)}, share{f.checkLogs(t, ofRecords), len(f.items)},
		share{f.checkPoints(t, ofPoints), len(f.items)}, share{f.checkEvents(t, ofEvents), len(f.events)},
		share{f.checkSessions(t, r, ofSessions), len(f.sessions)})
	for _, source := range []string{spanSource, logSource, metricSource, eventSource, sessionSource} {
		of := f.of(source)
		filter := telling(of, r, func() tree { return randomTree(r, source, of, 2) }, func(i item, filter tree) bool { return filter.holds(i) })
		all = append(all, share{f.checkTree(t, r, source, filter), len(of)})
	}
	return all
}

// FuzzFiltersAgree is TestFiltersAgree with random filters of any seed.
func FuzzFiltersAgree(f *testing.F) {
	f.Add(uint64(1))
	of := newFiltered(f, 11, "org_filters_fuzz")
	f.Fuzz(func(t *testing.T, seed uint64) {
		of.checkAll(t, rand.New(rand.NewPCG(seed, 3)))
	})
}
