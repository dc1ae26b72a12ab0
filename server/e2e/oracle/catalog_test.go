package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOracleServices compares the figures of services, operations, calls and periods with those of the evaluation.
func TestOracleServices(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{5} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { compareServices(t, seed) })
	}
}

// FuzzOracleServices is TestOracleServices with any seed.
func FuzzOracleServices(f *testing.F) {
	if testing.Short() {
		f.Skip("each input needs an organization of its own on a running server")
	}
	f.Fuzz(func(t *testing.T, seed uint64) { compareServices(t, seed) })
}

func compareServices(tb testing.TB, seed uint64) {
	a, _ := begin(tb, seed)
	k := &catalogAudit{a}
	for n, w := range a.windows() {
		if n%2 == 1 { // whole hours and any times
			continue
		}
		for _, environment := range []string{"", "production", nowhere} {
			k.checkServices(w, environment, n == 2 && environment == "")
			k.checkCalls(w, environment)
			k.checkPeriods(w, environment)
		}
	}
	a.finish(seed)
}

// catalogAudit compares the reads of services and of the calls between them.
type catalogAudit struct{ *audit }

// field compares one field of an answer.
func (k *catalogAudit) field(read, what, field string, of object, want bounds) {
	k.Helper()
	got, ok := of[field].(float64)
	if !ok {
		k.Errorf("%s: %s has no number %s: %v", read, what, field, of)
		return
	}
	k.figure(read, what+" "+field, got, want)
}

// total compares a figure of all services together.
func (k *catalogAudit) total(read, what, field string, of object, want bounds) {
	k.Helper()
	k.field(read+" of all services", what, field, of, want)
}

// list is a list in an answer. Each of its members has a name.
func list(of object, field string) (out []object) {
	all, _ := of[field].([]any)
	for _, v := range all {
		if o, ok := v.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

func namesOf(rows []object) (out []string) {
	for _, r := range rows {
		out = append(out, fmt.Sprint(r["name"]))
	}
	return out
}

// entriesOf are the rows that the figures of a service count: its entry spans, or all spans if it has no entry span.
func entriesOf(rows []*row) []*row {
	var entries []*row
	for _, r := range rows {
		if r.entry {
			entries = append(entries, r)
		}
	}
	if len(entries) == 0 {
		return rows
	}
	return entries
}

// inEnvironment is the condition of a deployment environment, and its part of a request.
func inEnvironment(environment string) (func(*row) bool, object) {
	if environment == "" {
		return func(*row) bool { return true }, object{}
	}
	return func(r *row) bool { return r.environment == environment }, object{"deployment_environment": environment}
}

func camel(field string) string {
	parts := strings.Split(field, "_")
	for n := 1; n < len(parts); n++ {
		parts[n] = strings.ToUpper(parts[n][:1]) + parts[n][1:]
	}
	return strings.Join(parts, "")
}

// checkServices compares the list of services, and the overview, the operations and the Apdex of one or each.
func (k *catalogAudit) checkServices(w window, environment string, each bool) {
	holds, more := inEnvironment(environment)
	services := by(rowsIn(k.spans, w, holds), func(r *row) string { return r.service })
	what := fmt.Sprintf("%v in %q", w, environment)
	var page object
	k.ask("listServices", in(w, merged(more, object{"limit": 100})), &page)
	k.names("listServices", what, namesOf(list(page, "data")), slices.Collect(maps.Keys(services)))
	for _, s := range list(page, "data") {
		k.compareService("listServices", what, s, entriesOf(services[fmt.Sprint(s["name"])]), w)
	}
	arguments := in(w, object{})
	if environment != "" {
		arguments["environment"] = environment
	}
	var answer object
	k.call("list_services", arguments, &answer)
	k.names("list_services", what, namesOf(list(answer, "services")), slices.Collect(maps.Keys(services)))
	for _, s := range list(answer, "services") {
		rows := entriesOf(services[fmt.Sprint(s["name"])])
		of := fmt.Sprint(what, " ", s["name"])
		k.field("list_services", of, "throughput", s, exactly(estimated(rows)/w.seconds()))
		k.field("list_services", of, "errorRate", s, exactly(errorRate(rows)))
		k.field("list_services", of, "p95Ms", s, latency(rows, 0.95))
	}
	for _, name := range slices.Sorted(maps.Keys(services)) {
		rows := services[name]
		k.checkService(w, what+" "+name, merged(more, object{"name": name}), entriesOf(rows))
		if !each {
			break
		}
	}
}

func (k *catalogAudit) compareService(read, what string, of object, rows []*row, w window) {
	what += " " + fmt.Sprint(of["name"])
	compare := func(field string, want bounds) { k.field(read, what, field, of, want) }
	compare("throughput", exactly(estimated(rows)/w.seconds()))
	compare("traced_throughput", exactly(float64(len(rows))/w.seconds()))
	compare("span_count", exactly(float64(len(rows))))
	compare("error_count", exactly(float64(len(failed(rows)))))
	compare("error_rate", exactly(errorRate(rows)))
	compare("sampling_weight", exactly(estimated(rows)/float64(max(len(rows), 1))))
	k.compareLatency(read, what, of, rows)
}

func (k *catalogAudit) compareLatency(read, what string, of object, rows []*row) {
	for field, level := range map[string]float64{"p50_latency_ms": 0.5, "p95_latency_ms": 0.95, "p99_latency_ms": 0.99} {
		want := exactly(0)
		if len(rows) > 0 {
			want = latency(rows, level)
		}
		k.field(read, what, field, of, want)
	}
}

// checkService compares the reads of one service.
func (k *catalogAudit) checkService(w window, what string, request object, rows []*row) {
	operations := by(rows, func(r *row) string { return r.name })
	var overview object
	k.ask("getServiceOverview", in(w, merged(request, object{"bucket_seconds": 600})), &overview)
	points := list(overview, "points")
	buckets := by(rows, func(r *row) string { return r.at.Truncate(10 * time.Minute).Format(time.RFC3339) })
	covered := 0
	for _, p := range points {
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(p["timestamp"]))
		if err != nil {
			k.Fatal(err)
		}
		in := buckets[at.Format(time.RFC3339)]
		covered += len(in)
		k.compareCounts("getServiceOverview", fmt.Sprint(what, " at ", p["timestamp"]), p, in)
	}
	k.figure("getServiceOverview", what+" spans in all points", float64(covered), exactly(float64(len(rows))))
	k.names("getServiceOverview", what+" operations", namesOf(list(overview, "operations")), slices.Collect(maps.Keys(operations)))
	for _, o := range list(overview, "operations") {
		k.compareCounts("getServiceOverview", fmt.Sprint(what, " ", o["name"]), o, operations[fmt.Sprint(o["name"])])
	}
	var page object
	k.ask("listServiceOperations", in(w, merged(request, object{"limit": 100})), &page)
	k.names("listServiceOperations", what, namesOf(list(page, "data")), slices.Collect(maps.Keys(operations)))
	for _, o := range list(page, "data") {
		rows := operations[fmt.Sprint(o["name"])]
		of := fmt.Sprint(what, " ", o["name"])
		k.compareCounts("listServiceOperations", of, o, rows)
		k.field("listServiceOperations", of, "throughput", o, exactly(estimated(rows)/w.seconds()))
		k.field("listServiceOperations", of, "error_count", o, exactly(float64(len(failed(rows)))))
		mean := weigh(rows, (*row).milliseconds) / max(estimated(rows), 1)
		k.field("listServiceOperations", of, "avg_latency_ms", o, exactly(mean))
		score := apdex(rows, 500)
		k.field("listServiceOperations", of, "apdex", o, bounds{score - 0.00005, score + 0.00005})
	}
	var scores object
	k.ask("getServiceApdex", in(w, merged(request, object{"apdex_threshold_ms": 250})), &scores)
	score := apdex(rows, 250)
	k.field("getServiceApdex", what, "apdex_score", scores, bounds{score - 0.00005, score + 0.00005})
	total := 0.0
	for _, p := range list(scores, "points") {
		total += p["total_count"].(float64)
	}
	k.figure("getServiceApdex", what+" total_count", total, exactly(estimated(rows)))
}

func (k *catalogAudit) compareCounts(read, what string, of object, rows []*row) {
	k.field(read, what, "span_count", of, exactly(float64(len(rows))))
	k.field(read, what, "estimated_span_count", of, exactly(estimated(rows)))
	k.field(read, what, "error_rate", of, exactly(errorRate(rows)))
	k.compareLatency(read, what, of, rows)
}
