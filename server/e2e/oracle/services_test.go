package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// measured are the spans that measure a service: its entry spans, or all of its spans if it has no entry spans in the window.
func measured(rows []*row) []*row {
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

// figures are the figures of spans that several reads share.
type figures struct {
	SpanCount          float64  `json:"span_count"`
	EstimatedSpanCount *float64 `json:"estimated_span_count"`
	ErrorCount         *float64 `json:"error_count"`
	ErrorRate          float64  `json:"error_rate"`
	P50                *float64 `json:"p50_latency_ms"`
	P95                *float64 `json:"p95_latency_ms"`
	P99                *float64 `json:"p99_latency_ms"`
}

// checkFigures compares the figures that a read has.
func (a *audit) checkFigures(read, what string, f figures, rows []*row) {
	a.Helper()
	a.figure(read, "span_count of "+what, f.SpanCount, exactly(float64(len(rows))))
	a.figure(read, "error_rate of "+what, f.ErrorRate, exactly(errorRate(rows)))
	if f.EstimatedSpanCount != nil {
		a.figure(read, "estimated_span_count of "+what, *f.EstimatedSpanCount, exactly(estimated(rows)))
	}
	if f.ErrorCount != nil {
		a.figure(read, "error_count of "+what, *f.ErrorCount, exactly(float64(len(failed(rows)))))
	}
	for level, got := range map[float64]*float64{0.5: f.P50, 0.95: f.P95, 0.99: f.P99} {
		if got == nil {
			continue
		}
		want := exactly(0)
		if len(rows) > 0 {
			want = latency(rows, level)
		}
		a.figure(read, fmt.Sprintf("p%v of %s", level*100, what), *got, want)
	}
}

type serviceFigures struct {
	Name string
	figures
	Throughput       float64
	TracedThroughput float64 `json:"traced_throughput"`
	SamplingWeight   float64 `json:"sampling_weight"`
	HasSampling      bool    `json:"has_sampling"`
	Environments     []string
}

func (a *audit) checkService(read, what string, s serviceFigures, rows []*row, w window) {
	a.Helper()
	a.checkFigures(read, what, s.figures, rows)
	a.figure(read, "throughput of "+what, s.Throughput, exactly(estimated(rows)/w.seconds()))
	a.figure(read, "traced_throughput of "+what, s.TracedThroughput, exactly(float64(len(rows))/w.seconds()))
	a.figure(read, "sampling_weight of "+what, s.SamplingWeight, exactly(estimated(rows)/float64(len(rows))))
}

// checkServices compares the reads of services, in each window shape, over all environments and over one.
func (a *audit) checkServices() {
	for _, w := range a.windows() {
		for _, environment := range []string{"", a.pick("production", "staging")} {
			scope := object{}
			if environment != "" {
				scope["deployment_environment"] = environment
			}
			rows := rowsIn(a.spans, w, func(r *row) bool { return environment == "" || r.environment == environment })
			services := by(rows, func(r *row) string { return r.service })
			var list struct{ Data []serviceFigures }
			a.ask("listServices", in(w, merged(scope, object{"limit": 100})), &list)
			var names []string
			for _, s := range list.Data {
				names = append(names, s.Name)
				if of := services[s.Name]; len(of) > 0 {
					a.checkService("listServices", fmt.Sprintf("%s in %q, %s", s.Name, environment, w), s, measured(of), w)
				}
			}
			a.names("listServices", fmt.Sprintf("services of %q in %s", environment, w), names, slices.Collect(maps.Keys(services)))
			for _, name := range slices.Sorted(maps.Keys(services)) {
				a.checkOneService(
					fmt.Sprintf("%s in %q, %s", name, environment, w), merged(scope, object{"name": name}), w, services[name], environment == "",
				)
				if environment != "" { // one service shows that the condition holds
					break
				}
			}
			if !a.late { // the calls of a block of time are kept for ten minutes
				a.checkMap(w, environment, scope)
			}
		}
		a.checkEnvironments(w)
	}
}

func (a *audit) checkOneService(what string, scope object, w window, spans []*row, all bool) {
	rows := measured(spans)
	if all {
		var one serviceFigures
		a.ask("getService", in(w, scope), &one)
		a.checkService("getService", what, one, rows, w)
	}
	a.checkOperations(what, scope, w, rows)
	a.checkOverview(what, merged(scope, object{"bucket_seconds": 900}), w, rows)
	a.checkApdex(what, merged(scope, object{"bucket_seconds": 900, "apdex_threshold_ms": 200}), w, rows)
	a.checkReleases(what, scope, w, rows)
}

func (a *audit) checkOperations(what string, scope object, w window, rows []*row) {
	var list struct {
		Data []struct {
			Name string
			figures
			Throughput float64
			Average    float64 `json:"avg_latency_ms"`
			Apdex      float64
			LastSeen   time.Time `json:"last_seen"`
		}
	}
	operations := by(rows, func(r *row) string { return r.name })
	order := a.pick("count", "error_rate", "avg_duration", "p50_duration", "p95_duration", "p99_duration", "total_duration")
	a.ask("listServiceOperations", in(w, merged(scope, object{"limit": 100, "order_by": order})), &list)
	var names []string
	for _, o := range list.Data {
		of := operations[o.Name]
		names = append(names, o.Name)
		if len(of) == 0 {
			continue
		}
		of1 := o.Name + " of " + what
		a.checkFigures("listServiceOperations", of1, o.figures, of)
		a.figure("listServiceOperations", "throughput of "+of1, o.Throughput, exactly(estimated(of)/w.seconds()))
		a.figure("listServiceOperations", "mean of "+of1, o.Average, exactly(weigh(of, (*row).milliseconds)/estimated(of)))
		score := apdex(of, 500)
		a.figure("listServiceOperations", "apdex of "+of1, o.Apdex, bounds{score - 0.00005, score + 0.00005})
		last := slices.MaxFunc(of, func(x, y *row) int { return x.at.Compare(y.at) }).at
		a.figure("listServiceOperations", "last_seen of "+of1, float64(o.LastSeen.Sub(last)), exactly(0))
	}
	a.names("listServiceOperations", "operations of "+what, names, slices.Collect(maps.Keys(operations)))
}

func (a *audit) checkOverview(what string, request object, w window, rows []*row) {
	var got struct {
		BucketSeconds int64 `json:"bucket_seconds"`
		Points        []struct {
			Timestamp time.Time
			figures
		}
		Operations []struct {
			Name string
			figures
		}
	}
	a.ask("getServiceOverview", in(w, request), &got)
	buckets := bucketed(rows, got.BucketSeconds)
	for _, p := range got.Points {
		of := buckets[p.Timestamp.Unix()]
		delete(buckets, p.Timestamp.Unix())
		a.checkFigures("getServiceOverview", p.Timestamp.Format("15:04:05")+" of "+what, p.figures, of)
	}
	a.figure("getServiceOverview", "missing points of "+what, float64(len(buckets)), exactly(0))
	operations := by(rows, func(r *row) string { return r.name })
	for _, o := range got.Operations {
		a.checkFigures("getServiceOverview", o.Name+" of "+what, o.figures, operations[o.Name])
	}
	a.figure("getServiceOverview", "number of operations of "+what, float64(len(got.Operations)), exactly(float64(len(operations))))
}

// bucketed divides spans into the buckets of a service. There, the last instant of a window can have a bucket of its own.
func bucketed(rows []*row, seconds int64) map[int64][]*row {
	return by(rows, func(r *row) int64 { return r.at.Unix() / seconds * seconds })
}

// bucketed divides rows into the buckets of a series.
func (w window) bucketed(rows []*row, seconds int64) map[int64][]*row {
	return by(rows, func(r *row) int64 { return w.bucket(r.at, seconds) })
}

func (a *audit) checkApdex(what string, request object, w window, rows []*row) {
	var got struct {
		BucketSeconds int64    `json:"bucket_seconds"`
		Score         *float64 `json:"apdex_score"`
		Points        []struct {
			Timestamp  time.Time
			Total      float64 `json:"total_count"`
			Satisfied  float64 `json:"satisfied_count"`
			Tolerating float64 `json:"tolerating_count"`
			Score      float64 `json:"apdex_score"`
		}
	}
	a.ask("getServiceApdex", in(w, request), &got)
	const read, threshold = "getServiceApdex", 200
	rounded := func(v float64) bounds { return bounds{v - 0.00005, v + 0.00005} }
	if got.Score != nil {
		a.figure(read, "score of "+what, *got.Score, rounded(apdex(rows, threshold)))
	}
	buckets := bucketed(rows, got.BucketSeconds)
	a.figure(read, "number of points of "+what, float64(len(got.Points)), exactly(float64(len(buckets))))
	for _, p := range got.Points {
		of, at := buckets[p.Timestamp.Unix()], p.Timestamp.Format("15:04:05")+" of "+what
		if len(of) == 0 {
			continue
		}
		satisfied := weigh(of, func(r *row) float64 { return truth(!r.failed && r.milliseconds() < threshold) })
		tolerating := weigh(of, func(r *row) float64 {
			return truth(!r.failed && r.milliseconds() >= threshold && r.milliseconds() < 4*threshold)
		})
		a.figure(read, "total at "+at, p.Total, exactly(estimated(of)))
		a.figure(read, "satisfied at "+at, p.Satisfied, exactly(satisfied))
		a.figure(read, "tolerating at "+at, p.Tolerating, exactly(tolerating))
		a.figure(read, "score at "+at, p.Score, rounded(apdex(of, threshold)))
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (a *audit) checkReleases(what string, scope object, w window, rows []*row) {
	var got struct {
		BucketSeconds int64 `json:"bucket_seconds"`
		Data          []struct {
			Version string
			figures
			FirstSeen time.Time `json:"first_seen"`
			LastSeen  time.Time `json:"last_seen"`
			Points    []struct {
				Timestamp time.Time
				Count     float64
			}
		}
	}
	const read = "listServiceReleases"
	a.ask(read, in(w, scope), &got)
	versions := by(rows, func(r *row) string { return r.version })
	a.figure(read, "number of versions of "+what, float64(len(got.Data)), exactly(float64(len(versions))))
	for _, v := range got.Data {
		of := versions[v.Version]
		if len(of) == 0 {
			continue
		}
		name := v.Version + " of " + what
		a.checkFigures(read, name, v.figures, of)
		order := func(x, y *row) int { return x.at.Compare(y.at) }
		first, last := slices.MinFunc(of, order).at, slices.MaxFunc(of, order).at
		a.figure(read, "first_seen of "+name, v.FirstSeen.Sub(first.Truncate(time.Minute)).Seconds(), exactly(0))
		a.figure(read, "last_seen of "+name, v.LastSeen.Sub(last.Truncate(time.Minute)).Seconds(), exactly(0))
		buckets := bucketed(of, got.BucketSeconds)
		a.figure(read, "number of points of "+name, float64(len(v.Points)), exactly(float64(len(buckets))))
		for _, p := range v.Points {
			a.figure(read, p.Timestamp.Format("15:04:05")+" of "+name, p.Count, exactly(estimated(buckets[p.Timestamp.Unix()])))
		}
	}
}

func (a *audit) checkEnvironments(w window) {
	var got struct {
		Data []struct {
			Name         string
			SpanCount    float64 `json:"span_count"`
			ServiceCount float64 `json:"service_count"`
		}
	}
	a.ask("listEnvironments", in(w, nil), &got)
	environments := by(rowsIn(a.spans, w, func(r *row) bool { return r.environment != "" }), func(r *row) string { return r.environment })
	var names []string
	for _, e := range got.Data {
		of := environments[e.Name]
		names = append(names, e.Name)
		a.figure("listEnvironments", "spans of "+e.Name, e.SpanCount, exactly(float64(len(of))))
		a.figure("listEnvironments", "services of "+e.Name, e.ServiceCount,
			exactly(float64(len(by(of, func(r *row) string { return r.service })))))
	}
	a.names("listEnvironments", "environments of "+w.String(), names, slices.Collect(maps.Keys(environments)))
}

// checkMap compares the calls from service to service: Server and Consumer spans of the window whose parent is a Client or Producer
// span of another service.
func (a *audit) checkMap(w window, environment string, scope object) {
	var got struct {
		Edges []struct {
			Source         string  `json:"source_service"`
			Target         string  `json:"target_service"`
			Calls          float64 `json:"call_count"`
			Estimated      float64 `json:"estimated_call_count"`
			Errors         float64 `json:"error_count"`
			ErrorRate      float64 `json:"error_rate"`
			Average        float64 `json:"avg_duration_ms"`
			Longest        float64 `json:"max_duration_ms"`
			SamplingWeight float64 `json:"sampling_weight"`
		}
	}
	const read = "getServiceMap"
	a.ask(read, in(w, scope), &got)
	parents := by(a.spans, func(r *row) string { return r.trace + r.id })
	calls := map[string][]*row{}
	for _, r := range rowsIn(a.spans, w, func(r *row) bool { return r.kind == "Server" || r.kind == "Consumer" }) {
		for _, p := range parents[r.trace+r.parent] {
			caller := p.kind == "Client" || p.kind == "Producer"
			if caller && p.service != r.service && (environment == "" || p.environment == environment) {
				edge := p.service + " → " + r.service
				calls[edge] = append(calls[edge], r)
			}
		}
	}
	var names []string
	for _, e := range got.Edges {
		edge := e.Source + " → " + e.Target
		names = append(names, edge)
		of, what := calls[edge], fmt.Sprintf("%s in %q, %s", edge, environment, w)
		if len(of) == 0 {
			continue
		}
		a.figure(read, "calls of "+what, e.Calls, exactly(float64(len(of))))
		a.figure(read, "estimated calls of "+what, e.Estimated, exactly(estimated(of)))
		a.figure(read, "errors of "+what, e.Errors, exactly(float64(len(failed(of)))))
		a.figure(read, "error rate of "+what, e.ErrorRate, exactly(errorRate(of)))
		a.figure(read, "mean of "+what, e.Average, exactly(weigh(of, (*row).milliseconds)/estimated(of)))
		longest := slices.MaxFunc(of, func(x, y *row) int { return int(x.duration - y.duration) })
		a.figure(read, "longest of "+what, e.Longest, exactly(longest.milliseconds()))
		a.figure(read, "weight of "+what, e.SamplingWeight, exactly(estimated(of)/float64(len(of))))
	}
	a.names(read, fmt.Sprintf("edges of %q in %s", environment, w), names, slices.Collect(maps.Keys(calls)))
}
