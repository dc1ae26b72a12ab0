package services

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tools/errorevents"
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
	current, prev tool.TimeRange
	releases      *svcv2.ServiceReleases
	now, before   *svcv2.ServiceMap
	errors        *svcv2.SearchErrorEventsResponse
	errorsBefore  *svcv2.SearchErrorEventsResponse
	patterns      *svcv2.LogPatternList
	operations    []*svcv2.ServiceOperationDetail
	opsBefore     []*svcv2.ServiceOperationDetail
}

// gather reads the evidence. What a service does not have (spans in one period, say) is no failure.
func gather(ctx context.Context, s *tool.Clients, environment *string, service string, current, prev tool.TimeRange) (*evidence, error) {
	e := &evidence{service: service, current: current, prev: prev}
	optional := func(err error) error {
		if err != nil && tool.IsNotFound(err) {
			return nil
		}
		return err
	}
	const most = 50
	err := tool.Parallel(
		func() (err error) {
			e.releases, err = s.Services.ListServiceReleases(ctx, &svcv2.ListServiceReleasesRequest{
				Name: service, StartTime: prev.StartProto(), EndTime: current.EndProto(), DeploymentEnvironment: environment,
			})
			return optional(err)
		},
		func() (err error) { e.now, err = readMap(ctx, s, current, &service, environment); return optional(err) },
		func() (err error) { e.before, err = readMap(ctx, s, prev, &service, environment); return optional(err) },
		func() (err error) {
			e.errors, err = errorevents.SearchErrors(ctx, s, current, &service, environment, most)
			return err
		},
		func() (err error) {
			e.errorsBefore, err = errorevents.SearchErrors(ctx, s, prev, &service, environment, most)
			return err
		},
		func() (err error) {
			e.patterns, err = newPatterns(ctx, s, current, &service, environment)
			return optional(err)
		},
		func() (err error) {
			e.operations, _, err = tool.Collect(ctx, nil, 0, most, fetchOperations(s, current, service, environment, "count"))
			return optional(err)
		},
		func() (err error) {
			e.opsBefore, _, err = tool.Collect(ctx, nil, 0, most, fetchOperations(s, prev, service, environment, "count"))
			return optional(err)
		},
	)
	return e, err
}

// newPatterns reads the log patterns of a period compared with the one before; a longer one than the API takes is cut to its end.
func newPatterns(ctx context.Context, s *tool.Clients, w tool.TimeRange, service, environment *string) (*svcv2.LogPatternList, error) {
	if longest := 24 * time.Hour; w.To.Sub(w.From) > longest {
		w = tool.Period(w.To.Add(-longest), w.To)
	}
	most := int32(50)
	return s.Logs.SearchLogPatterns(ctx, &svcv2.SearchLogPatternsRequest{
		StartTime: w.StartProto(), EndTime: w.EndProto(), MaxPatterns: &most, Filters: &svcv2.LogFilters{ServiceName: service, DeploymentEnvironment: environment},
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
	return tool.Number(math.Round(10*now/before)/10) + " times as before"
}

func growth(now, before float64) float64 { return math.Log2(now / max(before, now/64)) }

// releaseCauses compares each version that began in the time with the one that did the most before.
func (e *evidence) releaseCauses() []cause {
	var list []cause
	versions := e.releases.GetData()
	for _, v := range versions {
		begun := v.GetFirstSeen().AsTime()
		if begun.Before(e.prev.From.Add(2*time.Minute)) || v.GetVersion() == "" {
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
			what = fmt.Sprintf("p95 %s ms, %s ms with %s (%s)", tool.Number(now), tool.Number(before), old.GetVersion(), times(now, before))
			weight = 3 + growth(now, before)
		}
		if now, before := v.GetErrorRate(), old.GetErrorRate(); now > 0.01 && now > 1.5*before {
			if what != "" {
				what += "; "
			}
			what += fmt.Sprintf("errors %s, %s with %s", tool.Percent(now), tool.Percent(before), old.GetVersion())
			weight = max(weight, 3+growth(now, before))
		}
		if what != "" {
			list = append(list, cause{"release", e.service, fmt.Sprintf("Release %s of %s, first seen %s: %s.", v.GetVersion(), e.service, tool.Clock(begun), what), weight, "", false})
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
			list = append(list, cause{"dependency", e.service, fmt.Sprintf("Calls from %s to %s fail: %s of %s (%s before), on average %s ms (%s ms before).", e.service, x.TargetService, tool.Percent(rate), tool.Number(x.CallCount), tool.Percent(was), tool.Number(x.AvgDurationMs), tool.Number(o.AvgDurationMs)), 2.5 + external + math.Min(growth(rate, was), 5) + rate, x.TargetService, external > 0 && rate > 0.2})
		} else if o.CallCount >= 5 && x.AvgDurationMs > 2*o.AvgDurationMs && x.AvgDurationMs-o.AvgDurationMs > 10 {
			list = append(list, cause{"dependency", e.service, fmt.Sprintf("Calls from %s to %s are slow: on average %s ms, %s.", e.service, x.TargetService, tool.Number(x.AvgDurationMs), times(x.AvgDurationMs, o.AvgDurationMs)), 1.5 + external + math.Min(growth(x.AvgDurationMs, o.AvgDurationMs), 5), x.TargetService, false})
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
		list = append(list, cause{"error", e.service, fmt.Sprintf("Error %s in %s: %s times (%s before), first at %s: %s. Fingerprint %s.", tool.Clip(tool.OneLine(x.GetErrorLabel()), 200), e.service, tool.Number(x.GetCount()), tool.Number(math.Round(was)),
			tool.Clock(x.GetFirstSeen().AsTime()), tool.Clip(tool.OneLine(x.GetSampleMessage()), 200), x.GetFingerprintHash()), 1 + math.Min(growth(x.GetCount(), was), 5) + x.GetCount()/max(total, 1), "", false})
	}
	return list
}

// scaled is a count of one period as it would be in another of other length.
func scaled(n float64, from, to tool.TimeRange) float64 {
	return n * float64(to.To.Sub(to.From)) / float64(max(from.To.Sub(from.From), 1))
}

// logCauses are patterns that are new or far more frequent, when they are a good part of all records.
func logCauses(patterns *svcv2.LogPatternList, w tool.TimeRange, service string) []cause {
	minutes := max(w.To.Sub(w.From).Minutes(), 1)
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
		list = append(list, cause{"logs", from, fmt.Sprintf("%s in %s: %s records (%s a minute, %s of all; %s in the time before): %s", word, from, tool.Number(math.Round(now)), tool.Number(math.Round(now/minutes)), tool.Percent(p.GetShare()), tool.Number(math.Round(was)),
			tool.Clip(tool.OneLine(p.GetTemplate()), 200)), 1 + math.Min(growth(now, was), 5)/2 + 4*p.GetShare(), "", false})
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
			list = append(list, cause{"operation", e.service, fmt.Sprintf("%s in %s: p95 %s ms, %s ms before (%s).", tool.Clip(tool.OneLine(o.GetName()), 160), e.service, tool.Number(now), tool.Number(old), times(now, old)), 0.5 + math.Min(growth(now, old), 5)/2, "", false})
		}
		if now, old := o.GetErrorRate(), was.GetErrorRate(); now > 0.02 && now > 2*old {
			list = append(list, cause{"operation", e.service, fmt.Sprintf("%s in %s: %s of its spans fail, %s before.", tool.Clip(tool.OneLine(o.GetName()), 160), e.service, tool.Percent(now), tool.Percent(old)), 0.5 + math.Min(growth(now, old), 5)/2 + now, "", false})
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

func causeBlock(list []cause) tool.Block {
	b := tool.Block{Heading: "Likely causes, the likeliest first", Empty: "Nothing stands out: no release, dependency, error or log pattern changed much against the time before."}
	for i, c := range list {
		b.Rows = append(b.Rows, fmt.Sprintf("%d. (%s) %s", i+1, c.Kind, c.Statement))
	}
	return b
}
