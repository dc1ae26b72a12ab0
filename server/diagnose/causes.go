package diagnose

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/wording"
)

// cause is a change that explains other changes, with its figures.
type cause struct {
	kind, service, statement string
	weight                   float64

	target string // the called end of a dependency
	broken bool   // an external dependency that fails often
}

func toCauses(list []cause, most int) []*svcv2.Cause {
	var out []*svcv2.Cause
	for _, c := range list[:min(len(list), most)] {
		p := &svcv2.Cause{Kind: c.kind, ServiceName: c.service, Statement: c.statement, Weight: c.weight}
		if c.target != "" {
			p.Target = &c.target
		}
		out = append(out, p)
	}
	return out
}

// causes returns the changes that stand out, likeliest first. If the previous period has next to no data, only releases are
// reported: they are compared with each other, not with that period.
func (e *evidence) causes() []cause {
	var list []cause
	list = append(list, e.releaseCauses()...)
	if !e.coveredBefore.thin(e.covered) {
		list = append(list, e.dependencyCauses()...)
		list = append(list, e.errorCauses()...)
		list = append(list, logCauses(e.patterns, e.service, scaled(1, e.coveredBefore.Period, e.covered.Period))...)
		list = append(list, e.operationCauses()...)
		list = append(list, e.newOperationCauses()...)
	}
	rank(list, edges(e.now))
	return list
}

// times says how many times its earlier value something is.
func times(now, before float64) string {
	if before <= 0 {
		return "none before"
	}
	return wording.Number(math.Round(10*now/before)/10) + " times the earlier value"
}

func growth(now, before float64) float64 { return math.Log2(now / max(before, now/64)) }

// releaseCauses compares each version that began in one of the two periods with the version that had the most spans before.
func (e *evidence) releaseCauses() []cause {
	var list []cause
	versions := e.releases.GetData()
	for _, v := range versions {
		begun := v.GetFirstSeen().AsTime()
		if begun.Before(e.prev.Start.Add(2*time.Minute)) || v.GetVersion() == "" {
			continue
		}
		var old *svcv2.ServiceRelease
		for _, o := range versions {
			if o != v && o.GetFirstSeen().AsTime().Before(begun) && (old == nil || o.GetEstimatedSpanCount() > old.GetEstimatedSpanCount()) {
				old = o
			}
		}
		if old == nil {
			continue
		}
		what := ""
		weight := 0.0
		if now, before := v.GetP95LatencyMs(), old.GetP95LatencyMs(); now > 1.5*before && now-before > 5 {
			what = fmt.Sprintf("p95 %s ms, %s ms with %s (%s)", wording.Number(now), wording.Number(before), old.GetVersion(), times(now, before))
			weight = 3 + growth(now, before)
		}
		if now, before := v.GetErrorRate(), old.GetErrorRate(); now > 0.01 && now > 1.5*before {
			if what != "" {
				what += "; "
			}
			what += fmt.Sprintf("errors %s, %s with %s", wording.Percent(now), wording.Percent(before), old.GetVersion())
			weight = max(weight, 3+growth(now, before))
		}
		if what != "" {
			list = append(
				list,
				cause{
					"release",
					e.service,
					fmt.Sprintf("Release %s of %s, first seen %s: %s.", v.GetVersion(), e.service, wording.Clock(begun), what),
					weight,
					"",
					false,
				},
			)
		}
	}
	return list
}

// dependencyCauses finds edges from the service whose calls fail more or last longer than before.
func (e *evidence) dependencyCauses() []cause {
	before := map[string]edge{}
	for _, x := range edges(e.before) {
		before[x.source+" "+x.target] = x
	}
	var list []cause
	for _, x := range edges(e.now) {
		if x.source != e.service || x.calls < 5 {
			continue
		}
		o := before[x.source+" "+x.target]
		rate, was := x.failed/x.calls, o.failed/max(o.calls, 1)
		external := 0.0
		if strings.Contains(x.target, ":") { // only its own operators can see more of it
			external = 1
		}
		if rate > 0.02 && rate > 2*was && x.failed >= 3 {
			list = append(
				list,
				cause{
					"dependency",
					e.service,
					fmt.Sprintf(
						"Calls from %s to %s fail: %s of %s (%s before), on average %s ms (%s ms before).",
						e.service,
						x.target,
						wording.Percent(rate),
						wording.Number(x.calls),
						wording.Percent(was),
						wording.Number(x.average),
						wording.Number(o.average),
					),
					2.5 + external + math.Min(growth(rate, was), 5) + rate,
					x.target,
					external > 0 && rate > 0.2,
				},
			)
		} else if o.calls >= 5 && x.average > 2*o.average && x.average-o.average > 10 {
			list = append(
				list,
				cause{
					"dependency",
					e.service,
					fmt.Sprintf(
						"Calls from %s to %s are slow: on average %s ms, %s.",
						e.service,
						x.target,
						wording.Number(x.average),
						times(x.average, o.average),
					),
					1.5 + external + math.Min(growth(x.average, o.average), 5),
					x.target,
					false,
				},
			)
		}
	}
	return list
}

// errorCauses finds errors that are far more frequent than before, by more than chance. The counts are corrected for sampling.
func (e *evidence) errorCauses() []cause {
	before := map[string]*svcv2.ErrorEvent{}
	for _, x := range e.errorsBefore.GetData() {
		before[x.GetFingerprintHash()] = x
	}
	total := e.errors.GetTotals().GetEstimatedOccurrences()
	var list []cause
	for _, x := range e.errors.GetData() {
		o := before[x.GetFingerprintHash()]
		count, was := x.GetEstimatedCount(), scaled(o.GetEstimatedCount(), e.coveredBefore.Period, e.covered.Period)
		received := scaled(o.GetCount(), e.coveredBefore.Period, e.covered.Period)
		if x.GetCount() < 5 || count < 2*was || count < 0.05*total || x.GetCount()-received < chance(x.GetCount()+received) {
			continue
		}
		list = append(
			list,
			cause{
				"error",
				e.service,
				fmt.Sprintf(
					"Error %s in %s: %s occurrences (%s before), first seen at %s%s. Fingerprint %s.",
					wording.Clip(wording.OneLine(x.GetErrorLabel()), 200),
					e.service,
					wording.Number(math.Round(count)),
					wording.Number(math.Round(was)),
					wording.Clock(x.GetFirstSeen().AsTime()),
					said(x.GetSampleMessage()),
					x.GetFingerprintHash(),
				),
				1 + math.Min(growth(count, was), 5) + count/max(total, 1),
				"",
				false,
			},
		)
	}
	return list
}

// said appends the message of an error, if it has one.
func said(message string) string {
	if message = wording.OneLine(message); message == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(wording.Clip(message, 200), ".")
}

// chance is the largest rise of a count that chance explains: counts of rare events vary by about their square root.
func chance(both float64) float64 { return 2.5 * math.Sqrt(both) }

// scaled converts a count from one period to another of different length.
func scaled(n float64, from, to Period) float64 {
	return n * float64(to.length()) / float64(max(from.length(), 1))
}

// logCauses finds patterns that report problems and are new or far more frequent: warnings that make up a good part of all records, and
// errors in any number above chance. The factor converts a count of the time before into one of the time now.
func logCauses(patterns *svcv2.LogPatternList, service string, factor float64) []cause {
	almost := ""
	if float64(patterns.GetSampledCount()) < patterns.GetTotalCount() {
		almost = "≈ " // the counts are estimates from a sample
	}
	var list []cause
	for _, p := range patterns.GetData() {
		now, was := p.GetEstimatedCount(), factor*p.GetBaselineEstimatedCount()
		var warnings, errors, all float64
		for severity, n := range p.GetSeverityCounts() {
			all += float64(n)
			switch severity {
			case "WARN":
				warnings += float64(n)
			case "ERROR", "FATAL":
				errors += float64(n)
			}
		}
		// A pattern of requests has a severe record here and there.
		severe := 2*(warnings+errors) >= all && all > 0
		many := now >= 20 && p.GetShare() >= 0.02 || 2*errors >= all && now >= 5
		if !severe || !many || !p.GetIsNew() && now < 4*was || now-was < chance(now+was) {
			continue
		}
		from := service
		for name, n := range p.GetServiceCounts() {
			if from == "" || n > p.GetServiceCounts()[from] {
				from = name
			}
		}
		word := "New log pattern"
		if !p.GetIsNew() {
			word = "Log pattern far more frequent than before"
		}
		list = append(
			list,
			cause{
				"logs",
				from,
				fmt.Sprintf(
					"%s in %s: %s%s records from %s to %s (%s a minute, %s of all; %s in the time before): %s",
					word,
					from,
					almost,
					wording.Number(math.Round(now)),
					wording.Clock(p.GetFirstSeen().AsTime()),
					wording.Clock(p.GetLastSeen().AsTime()),
					wording.Number(math.Round(p.GetRecordsPerMinute())),
					wording.Percent(p.GetShare()),
					wording.Number(math.Round(was)),
					wording.Clip(wording.OneLine(p.GetTemplate()), 200),
				),
				1 + math.Min(growth(now, was), 5)/2 + 4*p.GetShare() + errors/all,
				"",
				false,
			},
		)
	}
	return list
}

func (e *evidence) operationCauses() []cause {
	before := map[string]*svcv2.ServiceOperationDetail{}
	for _, o := range e.opsBefore {
		before[o.GetName()] = o
	}
	var list []cause
	for _, o := range e.operations {
		was := before[o.GetName()]
		if was == nil || o.GetSpanCount() < 5 || was.GetSpanCount() < 5 {
			continue
		}
		if now, old := o.GetP95LatencyMs(), was.GetP95LatencyMs(); now > 2*old && now-old > 10 {
			list = append(
				list,
				cause{
					"operation",
					e.service,
					fmt.Sprintf(
						"%s in %s: p95 %s ms, %s ms before (%s).",
						wording.Clip(wording.OneLine(o.GetName()), 160),
						e.service,
						wording.Number(now),
						wording.Number(old),
						times(now, old),
					),
					0.5 + math.Min(growth(now, old), 5)/2,
					"",
					false,
				},
			)
		}
		failed := o.GetErrorRate() * o.GetSpanCount()
		failedBefore := scaled(was.GetErrorRate()*was.GetSpanCount(), e.coveredBefore.Period, e.covered.Period)
		byChance := failed-failedBefore < chance(failed+failedBefore)
		if now, old := o.GetErrorRate(), was.GetErrorRate(); now > 0.02 && now > 2*old && !byChance {
			list = append(
				list,
				cause{
					"operation",
					e.service,
					fmt.Sprintf(
						"%s in %s: %s of its spans fail, %s before.",
						wording.Clip(wording.OneLine(o.GetName()), 160),
						e.service,
						wording.Percent(now),
						wording.Percent(old),
					),
					0.5 + math.Min(growth(now, old), 5)/2 + now,
					"",
					false,
				},
			)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].weight > list[j].weight })
	return list[:min(len(list), 5)]
}

// newOperationCauses finds operations that the service did not have before and now spends a good part of its time in.
func (e *evidence) newOperationCauses() []cause {
	var list []cause
	for _, o := range e.spans {
		if o.count < newOperationSpans || o.before > 0 || e.spansBefore == 0 || o.share < newOperationShare {
			continue
		}
		list = append(list, cause{
			kind: "operation", service: e.service, weight: 1 + 2*o.share,
			statement: fmt.Sprintf("New operation %s in %s: %s spans (0 before), on average %s ms, %s of the time that the service's spans take.",
				wording.Clip(wording.OneLine(o.name), 160), e.service, wording.Number(math.Round(o.count)), wording.Number(o.average),
				wording.Percent(o.share)),
		})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].weight > list[j].weight })
	return list[:min(len(list), 3)]
}

// rank puts the likeliest causes first. A failing service makes its callers fail too, so the called service comes before its
// callers. This also holds if a gateway between them only forwards the failure. Errors of a service whose external dependency is
// broken are symptoms of that dependency.
func rank(list []cause, calls []edge) {
	behind := failingBehind(calls)
	for range list {
		for i := range list {
			y := &list[i]
			for _, x := range list {
				inTarget := x.kind == "dependency" && x.service != y.service && y.target != x.service &&
					(x.target == y.service || behind[x.target][y.service] && !behind[y.service][x.service]) &&
					(y.kind == "dependency" || y.kind == "error" || y.kind == "release")
				breaks := y.broken && x.kind == "error" && x.service == y.service
				if (inTarget || breaks) && x.weight >= y.weight {
					y.weight = x.weight + 0.1
				}
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].weight > list[j].weight })
}

// failingBehind returns, for each service, the services that it reaches through calls of which some failed.
func failingBehind(calls []edge) map[string]map[string]bool {
	next := map[string][]string{}
	for _, x := range calls {
		if x.failed > 0 && x.source != x.target {
			next[x.source] = append(next[x.source], x.target)
		}
	}
	out := map[string]map[string]bool{}
	for source := range next {
		reached, open := map[string]bool{}, []string{source}
		for len(open) > 0 {
			name := open[len(open)-1]
			open = open[:len(open)-1]
			for _, target := range next[name] {
				if !reached[target] {
					reached[target] = true
					open = append(open, target)
				}
			}
		}
		out[source] = reached
	}
	return out
}
