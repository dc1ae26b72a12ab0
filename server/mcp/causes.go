package mcp

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strings"
	"sync"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// cause is something that changed and explains what else changed, with the figures that say so.
type cause struct {
	Kind      string  `json:"kind" jsonschema:"release, dependency, error, logs or operation"`
	Service   string  `json:"service"`
	Statement string  `json:"statement"`
	Weight    float64 `json:"weight" jsonschema:"larger is more likely"`

	target string // of a dependency
	broken bool   // a dependency that nobody here runs, and that fails often
}

// evidence is what is read of one service in two periods to find what changed in it.
type evidence struct {
	service       string
	current, prev timeRange
	releases      *svcv2.ServiceReleases
	now, before   *svcv2.ServiceMap
	errors        *svcv2.SearchErrorEventsResponse
	errorsBefore  *svcv2.SearchErrorEventsResponse
	patterns      *svcv2.LogPatternList
	operations    []*svcv2.ServiceOperationDetail
	opsBefore     []*svcv2.ServiceOperationDetail
}

// parallel runs reads side by side and returns the first failure, in their order.
func parallel(reads ...func() error) error {
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[i] = read() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// period is a time range with its texts.
func period(start, end time.Time) timeRange {
	return timeRange{Start: clock(start), End: clock(end), start: start, end: end}
}

// before is the equally long time before.
func (w timeRange) before() timeRange { return period(w.start.Add(-w.end.Sub(w.start)), w.start) }

// gather reads the evidence. What a service does not have (spans in one period, say) is no failure.
func (s *Server) gather(ctx context.Context, a *arguments, service string, current, prev timeRange) (*evidence, error) {
	e := &evidence{service: service, current: current, prev: prev}
	environment := a.text("environment")
	optional := func(err error) error {
		if err != nil && isNotFound(err) {
			return nil
		}
		return err
	}
	const most = 50
	err := parallel(
		func() (err error) {
			e.releases, err = s.clients.services.ListServiceReleases(ctx, &svcv2.ListServiceReleasesRequest{
				Name: service, StartTime: prev.startProto(), EndTime: current.endProto(), DeploymentEnvironment: environment,
			})
			return optional(err)
		},
		func() (err error) { e.now, err = s.readMap(ctx, current, &service, environment); return optional(err) },
		func() (err error) { e.before, err = s.readMap(ctx, prev, &service, environment); return optional(err) },
		func() (err error) {
			e.errors, err = s.searchErrors(ctx, current, &service, environment, most)
			return err
		},
		func() (err error) {
			e.errorsBefore, err = s.searchErrors(ctx, prev, &service, environment, most)
			return err
		},
		func() (err error) {
			e.patterns, err = s.newPatterns(ctx, current, &service, environment)
			return optional(err)
		},
		func() (err error) {
			e.operations, _, err = collect(ctx, nil, 0, most, s.fetchOperations(a, current, service, "count"))
			return optional(err)
		},
		func() (err error) {
			e.opsBefore, _, err = collect(ctx, nil, 0, most, s.fetchOperations(a, prev, service, "count"))
			return optional(err)
		},
	)
	return e, err
}

// newPatterns reads the log patterns of a period compared with the one before; a longer one than the API takes is cut to its end.
func (s *Server) newPatterns(ctx context.Context, w timeRange, service, environment *string) (*svcv2.LogPatternList, error) {
	if longest := 24 * time.Hour; w.end.Sub(w.start) > longest {
		w = period(w.end.Add(-longest), w.end)
	}
	most := int32(50)
	return s.clients.logs.SearchLogPatterns(ctx, &svcv2.SearchLogPatternsRequest{
		StartTime: w.startProto(), EndTime: w.endProto(), MaxPatterns: &most, Filters: &svcv2.LogFilters{ServiceName: service, DeploymentEnvironment: environment},
	})
}

// causes are the changes that stand out, the likeliest first.
func (e *evidence) causes() []cause {
	var list []cause
	list = append(list, e.releaseCauses()...)
	list = append(list, e.dependencyCauses()...)
	list = append(list, e.errorCauses()...)
	list = append(list, logCauses(e.patterns, e.current, e.service)...)
	list = append(list, e.operationCauses()...)
	rank(list)
	return list
}

// times says how many times as large as before something is.
func times(now, before float64) string {
	if before <= 0 {
		return "none before"
	}
	return number(math.Round(10*now/before)/10) + " times as before"
}

func growth(now, before float64) float64 { return math.Log2(now / max(before, now/64)) }

// releaseCauses compares each version that began in the time with the one that did the most before.
func (e *evidence) releaseCauses() []cause {
	var list []cause
	versions := e.releases.GetData()
	for _, v := range versions {
		begun := v.GetFirstSeen().AsTime()
		if begun.Before(e.prev.start.Add(2*time.Minute)) || v.GetVersion() == "" {
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
			what = fmt.Sprintf("p95 %s ms, %s ms with %s (%s)", number(now), number(before), old.GetVersion(), times(now, before))
			weight = 3 + growth(now, before)
		}
		if now, before := v.GetErrorRate(), old.GetErrorRate(); now > 0.01 && now > 1.5*before {
			if what != "" {
				what += "; "
			}
			what += fmt.Sprintf("errors %s, %s with %s", percent(now), percent(before), old.GetVersion())
			weight = max(weight, 3+growth(now, before))
		}
		if what != "" {
			list = append(list, cause{"release", e.service, fmt.Sprintf("Release %s of %s, first seen %s: %s.", v.GetVersion(), e.service, clock(begun), what), weight, "", false})
		}
	}
	return list
}

// dependencyCauses are edges from the service whose calls fail or last longer than before.
func (e *evidence) dependencyCauses() []cause {
	before := map[string]edgeRow{}
	for _, x := range append(serviceEdges(e.before), peerEdges(e.before)...) {
		before[x.SourceService+" "+x.TargetService] = x
	}
	var list []cause
	for _, x := range append(serviceEdges(e.now), peerEdges(e.now)...) {
		if x.SourceService != e.service || x.CallCount < 5 {
			continue
		}
		o := before[x.SourceService+" "+x.TargetService]
		rate, was := x.ErrorCount/x.CallCount, o.ErrorCount/max(o.CallCount, 1)
		external := 0.0
		if strings.Contains(x.TargetService, ":") { // nobody but its own operators see more of it
			external = 1
		}
		if rate > 0.02 && rate > 2*was && x.ErrorCount >= 3 {
			list = append(list, cause{"dependency", e.service, fmt.Sprintf("Calls from %s to %s fail: %s of %s (%s before), on average %s ms (%s ms before).", e.service, x.TargetService, percent(rate), number(x.CallCount), percent(was), number(x.AvgDurationMs), number(o.AvgDurationMs)), 2.5 + external + math.Min(growth(rate, was), 5) + rate, x.TargetService, external > 0 && rate > 0.2})
		} else if o.CallCount >= 5 && x.AvgDurationMs > 2*o.AvgDurationMs && x.AvgDurationMs-o.AvgDurationMs > 10 {
			list = append(list, cause{"dependency", e.service, fmt.Sprintf("Calls from %s to %s are slow: on average %s ms, %s.", e.service, x.TargetService, number(x.AvgDurationMs), times(x.AvgDurationMs, o.AvgDurationMs)), 1.5 + external + math.Min(growth(x.AvgDurationMs, o.AvgDurationMs), 5), x.TargetService, false})
		}
	}
	return list
}

func (e *evidence) errorCauses() []cause {
	before := map[string]float64{}
	for _, x := range e.errorsBefore.GetData() {
		before[x.GetFingerprintHash()] = x.GetCount()
	}
	total := e.errors.GetTotals().GetOccurrences()
	var list []cause
	for _, x := range e.errors.GetData() {
		was := scaled(before[x.GetFingerprintHash()], e.prev, e.current)
		if x.GetCount() < 5 || x.GetCount() < 2*was || x.GetCount() < 0.05*total {
			continue
		}
		list = append(list, cause{"error", e.service, fmt.Sprintf("Error %s in %s: %s times (%s before), first at %s: %s. Fingerprint %s.", clip(oneLine(x.GetErrorLabel()), 200), e.service, number(x.GetCount()), number(math.Round(was)),
			clock(x.GetFirstSeen().AsTime()), clip(oneLine(x.GetSampleMessage()), 200), x.GetFingerprintHash()), 1 + math.Min(growth(x.GetCount(), was), 5) + x.GetCount()/max(total, 1), "", false})
	}
	return list
}

// scaled is a count of one period as it would be in another of other length.
func scaled(n float64, from, to timeRange) float64 {
	return n * float64(to.end.Sub(to.start)) / float64(max(from.end.Sub(from.start), 1))
}

// logCauses are patterns that are new or far more frequent, when they are a good part of all records.
func logCauses(patterns *svcv2.LogPatternList, w timeRange, service string) []cause {
	minutes := max(w.end.Sub(w.start).Minutes(), 1)
	var list []cause
	for _, p := range patterns.GetData() {
		now, was := p.GetEstimatedCount(), p.GetBaselineEstimatedCount()
		severe := false
		for severity, n := range p.GetSeverityCounts() {
			severe = severe || n > 0 && (severity == "WARN" || severity == "ERROR" || severity == "FATAL")
		}
		if !severe || now < 20 || !p.GetIsNew() && now < 4*was || p.GetShare() < 0.02 {
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
		list = append(list, cause{"logs", from, fmt.Sprintf("%s in %s: %s records (%s a minute, %s of all; %s in the time before): %s", word, from, number(math.Round(now)), number(math.Round(now/minutes)), percent(p.GetShare()), number(math.Round(was)),
			clip(oneLine(p.GetTemplate()), 200)), 1 + math.Min(growth(now, was), 5)/2 + 4*p.GetShare(), "", false})
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
			list = append(list, cause{"operation", e.service, fmt.Sprintf("%s in %s: p95 %s ms, %s ms before (%s).", clip(oneLine(o.GetName()), 160), e.service, number(now), number(old), times(now, old)), 0.5 + math.Min(growth(now, old), 5)/2, "", false})
		}
		if now, old := o.GetErrorRate(), was.GetErrorRate(); now > 0.02 && now > 2*old {
			list = append(list, cause{"operation", e.service, fmt.Sprintf("%s in %s: %s of its spans fail, %s before.", clip(oneLine(o.GetName()), 160), e.service, percent(now), percent(old)), 0.5 + math.Min(growth(now, old), 5)/2 + now, "", false})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Weight > list[j].Weight })
	return list[:min(len(list), 5)]
}

// rank puts the likeliest first. What goes wrong in a service is a symptom for its callers, so the far end goes in front; and errors of a
// service whose external dependency is broken are symptoms of that.
func rank(list []cause) {
	for range list {
		for i := range list {
			y := &list[i]
			for _, x := range list {
				inTarget := x.Kind == "dependency" && x.target == y.Service && x.Service != y.Service && y.target != x.Service && (y.Kind == "dependency" || y.Kind == "error" || y.Kind == "release")
				breaks := y.broken && x.Kind == "error" && x.Service == y.Service
				if (inTarget || breaks) && x.Weight >= y.Weight {
					y.Weight = x.Weight + 0.1
				}
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Weight > list[j].Weight })
}

func causeBlock(list []cause) block {
	b := block{heading: "Likely causes, the likeliest first", empty: "Nothing stands out: no release, dependency, error or log pattern changed much against the time before."}
	for i, c := range list {
		b.rows = append(b.rows, fmt.Sprintf("%d. (%s) %s", i+1, c.Kind, c.Statement))
	}
	return b
}
