package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// TestPlan: a seed determines the faults of each slot. They lie in the second half of the slot, and quiet days have none.
func TestPlan(t *testing.T) {
	from, to := noon(), noon().Add(3*day)
	for _, kind := range Kinds() {
		cfg := Config{Seed: 5, Plant: kind}
		list := cfg.Faults(from, to)
		if want := 18 * map[bool]int{false: 1, true: 2}[kind == KindTwo]; len(list) != want {
			t.Errorf("%s: %d faults in 18 slots, want %d", kind, len(list), want)
		}
		places, starts := map[string]bool{}, map[time.Duration]bool{}
		for _, f := range list {
			slot := f.Start.Truncate(SlotLength)
			into := f.Start.Sub(slot)
			if kind != KindTwo && f.Name != kind || !slices.Contains(singleKinds(), f.Name) {
				t.Errorf("%s: a fault of the kind %s", kind, f.Name)
			}
			if into < earliestOnset*time.Minute || f.End.Before(f.Start.Add(19*time.Minute)) || f.End.After(slot.Add(SlotLength-4*time.Minute)) {
				t.Errorf("%s: %s to %s", kind, f.Start, f.End)
			}
			if !slices.Contains(f.Truth.Services, f.Service) || len(f.Truth.Causes) == 0 || f.What == "" {
				t.Errorf("%s: %+v, truth %+v", kind, f, f.Truth)
			}
			if f.Truth.Felt.Before(f.Start) || !f.Truth.Felt.Before(f.End) {
				t.Errorf("%s: %+v, truth %+v", kind, f, f.Truth)
			}
			places[f.Service+f.What], starts[into] = true, true
		}
		if len(places) < 3 || len(starts) < 15 {
			t.Errorf("%s: %d different places and %d different times", kind, len(places), len(starts))
		}
		// The middle of the list, from a window that begins in it.
		if again := cfg.Faults(from.Add(day), to); len(again) == 0 || again[0].What != list[len(list)-len(again)].What {
			t.Errorf("%s: a later window shows other faults", kind)
		}
		if other := (Config{Seed: 6, Plant: kind}).Faults(from, to); other[0].Start.Equal(list[0].Start) {
			t.Errorf("%s: another seed gives the same fault", kind)
		}
	}
	if list := (Config{Seed: 5, Plant: PlantNone}).Faults(from, to); len(list) != 0 {
		t.Errorf("quiet days have %d faults", len(list))
	}
	kinds := map[string]bool{}
	for _, f := range (Config{Seed: 5, Plant: PlantRandom}).Faults(from, from.Add(20*day)) {
		kinds[f.Name] = true
	}
	if len(kinds) != len(singleKinds()) {
		t.Errorf("random faults are of %d kinds: %v", len(kinds), kinds)
	}
}

// TestPlannedTelemetry: seed and window determine the telemetry with a plan, too.
func TestPlannedTelemetry(t *testing.T) {
	cfg := Config{Seed: 7, Rate: 0.5, Plant: KindTwo}
	at := cfg.Faults(noon(), noon().Add(day))[1].Start.Add(-time.Minute)
	whole := take(t, cfg, at, 4*time.Minute)
	const cut = 90 * time.Second
	if parts := append(take(t, cfg, at, cut), take(t, cfg, at.Add(cut), 4*time.Minute-cut)...); !slices.Equal(whole, parts) {
		t.Errorf("two windows give other telemetry than one over both: %d and %d units", len(parts), len(whole))
	}
	if other := take(t, Config{Seed: 8, Rate: 0.5, Plant: KindTwo}, at, 4*time.Minute); slices.Equal(whole, other) {
		t.Error("another seed gives the same telemetry")
	}
}

// sign is a figure of a window in which a fault of a kind shows.
func sign(f Fault, p *planted, pod, version string, units []*Unit) float64 {
	sum, of := 0.0, 0.0
	add := func(v float64) { sum, of = sum+v, of+1 }
	for _, u := range units {
		for _, x := range u.spans {
			if textOf(x.from.pb.Attributes, "deployment.environment.name")+textOf(x.from.pb.Attributes, "deployment.environment") != production {
				continue
			}
			service, took := textOf(x.from.pb.Attributes, "service.name"), float64(x.span.EndTimeUnixNano-x.span.StartTimeUnixNano)
			failed := x.span.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR
			entry := x.span.Kind == server || x.span.Kind == consumer
			to := textOf(x.span.Attributes, "peer.service") + textOf(x.span.Attributes, "db.namespace") + textOf(x.span.Attributes, "db.name")
			if f.Name == KindCustomer && service == edge && entry && textOf(x.span.Attributes, "shop.customer.id") == p.customer {
				sum, of = sum+1, 1
			}
			if service != f.Service {
				continue
			}
			switch {
			case f.Name == KindPod && entry && textOf(x.from.pb.Attributes, "k8s.pod.name") == pod,
				f.Name == KindQuery && textOf(x.span.Attributes, "db.collection.name") == p.table:
				add(took)
			case f.Name == KindRegion && entry && textOf(x.from.pb.Attributes, "cloud.region") == p.region:
				if p.fails {
					took = 0
					if failed {
						took = 1
					}
				}
				add(took)
			case f.Name == KindFlag && textOf(x.span.Attributes, "feature_flag."+p.flag) == "on",
				f.Name == KindCache && hasException(x.span, cacheKind), f.Name == KindRetries && to == p.dependency && failed,
				f.Name == KindRelease && textOf(x.from.pb.Attributes, "service.version") == version,
				f.Name == KindCertificate && to == p.dependency && hasException(x.span, "TLSError"):
				sum, of = sum+1, 1
			}
		}
		for _, l := range u.logs {
			if f.Name == KindLogLevel && l.record.SeverityNumber == levelDebug && textOf(l.from.pb.Attributes, "service.name") == f.Service {
				sum, of = sum+1, 1
			}
		}
		for _, m := range u.metrics {
			switch {
			case f.Name == KindLeak && m.metric.Name == "k8s.pod.memory.usage" && textOf(m.from.pb.Attributes, "service.name") == f.Service &&
				textOf(m.from.pb.Attributes, "deployment.environment.name")+textOf(m.from.pb.Attributes, "deployment.environment") == production:
				add(float64(m.metric.GetGauge().DataPoints[0].GetAsInt()))
			case f.Name == KindQueue && m.metric.Name == "kafka.consumer_group.lag":
				for _, d := range m.metric.GetGauge().DataPoints {
					if textOf(d.Attributes, "group") == f.Service && textOf(d.Attributes, "topic") == p.dependency {
						add(float64(d.GetAsInt()))
					}
				}
			case f.Name == KindQueue && m.metric.Name == "rabbitmq.message.current" &&
				textOf(m.from.pb.Attributes, "rabbitmq.queue.name") == p.dependency:
				add(float64(m.metric.GetSum().DataPoints[0].GetAsInt()))
			}
		}
	}
	return sum / max(of, 1)
}

func hasException(s *tracepb.Span, kind string) bool {
	return slices.ContainsFunc(s.Events, func(e *tracepb.Span_Event) bool { return textOf(e.Attributes, "exception.type") == kind })
}

// TestPlannedFaultsShow: each kind of fault is visible at its place, late in its time. It is neither before it nor on a quiet day.
func TestPlannedFaultsShow(t *testing.T) {
	const look = 4 * time.Minute
	for i, kind := range singleKinds() {
		cfg := Config{Seed: uint64(30 + i), Rate: 2, Plant: kind}
		sh := newShop(cfg)
		number := noon().UnixNano() / slotNanos
		p := sh.plan.slot(number).faults[0]
		f := sh.plan.told(p)
		pod, version := "", ""
		switch kind {
		case KindPod:
			pod = sh.plan.pod(p)
		case KindRelease:
			version = sh.plan.released(p)
		}
		of := func(plant string, from time.Time) float64 {
			return sign(f, p, pod, version, NewStream(Config{Seed: cfg.Seed, Rate: cfg.Rate, Plant: plant}, from).Take(from.Add(look)))
		}
		late := f.End.Add(-look - 30*time.Second)
		during, before, quiet := of(kind, late), of(kind, f.Start.Add(-look)), of(PlantNone, late)
		// Memory grows by its size, at least 2.2 times at the end; the sawtooth of the usual memory is 1.4 times its mean.
		times := 2.0
		if kind == KindLeak {
			times = 1.5
		}
		if during == 0 || during < times*before || during < times*quiet {
			t.Errorf("%s (%s): %.3g during it, %.3g before, %.3g on a quiet day", kind, f.What, during, before, quiet)
		}
		if strings.Contains(f.What, "%!") {
			t.Errorf("%s: %s", kind, f.What)
		}
	}
}
