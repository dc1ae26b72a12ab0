package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// SlotLength is the length of the slots into which a plan divides the time since 1970. Each slot has at most one fault, or two at once.
// They begin in the second half of the slot and end in it, so the first half shows the usual behaviour.
const SlotLength = 4 * time.Hour

const (
	slotNanos   = int64(SlotLength)
	slotMinutes = int(SlotLength / time.Minute)
	// earliestOnset is the first minute of a slot in which a fault can begin.
	earliestOnset = 130
)

// How many minutes a fault lasts: the usual ones, those of KindQueue, and those that grow slowly.
const (
	ShortestFault, LongestFault     = 20, 45
	ShortestBacklog, LongestBacklog = 40, 75
	ShortestGrowth, LongestGrowth   = 50, 80
)

const (
	// TwoWithin is the time within which two faults at once begin.
	TwoWithin = 3 * time.Minute
	// StormAttempts is how often a call is made at most in a storm of retries.
	StormAttempts = 6
)

// plan is the timetable of random faults. It depends on the seed and on the kind only, so windows that adjoin show the same faults. It
// makes the shop a little larger, too: its pods run in two regions, and services are released without a fault.
type plan struct {
	shop *shop
	seed uint64
	what string

	slots map[int64]*slotPlan
}

// slotPlan has the faults of a slot, and its release.
type slotPlan struct {
	faults []*planted
	// released is a service that gets a new version without a fault, at a time of the slot.
	released string
	at       int64
}

func newPlan(sh *shop, cfg Config) *plan {
	if cfg.Plant == "" {
		return nil
	}
	return &plan{shop: sh, seed: cfg.Seed, what: cfg.Plant, slots: map[int64]*slotPlan{}}
}

// slot returns what happens in a slot.
func (p *plan) slot(number int64) *slotPlan {
	if s := p.slots[number]; s != nil {
		return s
	}
	r := newRandom(p.seed, "plan", number)
	s := &slotPlan{}
	kind := p.what
	if kind == PlantRandom {
		kind = pick(r, Kinds())
	}
	switch kind {
	case PlantNone:
	case KindTwo:
		s.faults = p.two(r, number)
	default:
		s.faults = []*planted{p.draw(kind, r, number)}
	}
	var others []string
	for _, x := range []string{edge, search, cart, checkout, payments, inventory, shipping} {
		if !slices.ContainsFunc(s.faults, func(f *planted) bool { return f.service == x }) {
			others = append(others, x)
		}
	}
	s.released, s.at = pick(r, others), number*slotNanos+r.Int64N(slotNanos)
	p.slots[number] = s
	return s
}

// two draws two faults of different kinds in different services. The second begins within TwoWithin of the first.
func (p *plan) two(r random, number int64) []*planted {
	first := p.draw(pick(r, singleKinds()), r, number)
	for {
		second := p.draw(pick(r, singleKinds()), r, number)
		if second.kind == first.kind || second.service == first.service || second.dependency != "" && second.dependency == first.dependency {
			continue
		}
		length := second.to - second.from
		second.from = first.from + r.Int64N(int64(TwoWithin))
		second.to = min(second.from+length, (number+1)*slotNanos-5*nanosPerMinute)
		return []*planted{first, second}
	}
}

// at returns the faults that are active at a time. Without a plan there are none.
func (p *plan) at(nano int64) []*planted {
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.slot(nano/slotNanos).faults), func(f *planted) bool { return !f.on(nano) })
}

// list returns the faults that overlap a window.
func (p *plan) list(from, to time.Time) []Fault {
	var out []Fault
	for number := from.UnixNano() / slotNanos; number*slotNanos < to.UnixNano(); number++ {
		faults := slices.Clone(p.slot(number).faults)
		slices.SortStableFunc(faults, func(x, y *planted) int { return int(x.from - y.from) })
		for _, f := range faults {
			if f.from < to.UnixNano() && f.to > from.UnixNano() {
				out = append(out, p.told(f))
			}
		}
	}
	return out
}

// version returns the version of a service at a time. base is the version before all releases of the plan.
func (p *plan) version(service, base string, nano int64) string {
	cut := strings.LastIndexByte(base, '.')
	for _, f := range p.at(nano) {
		if f.kind == KindRelease && f.service == service {
			return base[:cut+1] + f.version
		}
	}
	const remembered = 60 // slots: ten days
	for number := nano / slotNanos; number > nano/slotNanos-remembered; number-- {
		if s := p.slot(number); s.released == service && s.at <= nano {
			return fmt.Sprintf("%s%d", base[:cut+1], 1000+number%9000)
		}
	}
	return base
}

// released returns the whole version of a bad release.
func (p *plan) released(f *planted) string {
	return p.shop.versionOf(p.shop.services[f.service], production, f.from)
}

// pod returns the name of the pod in which a fault is.
func (p *plan) pod(f *planted) string {
	s := p.shop.services[f.service]
	return podName(s, production, p.shop.versionOf(s, production, f.from), f.replica)
}

// Places of a planned shop.

func regions() []string { return []string{"eu-central-1", "us-east-1"} }

// replicasInRegions is the number of replicas of each service that has several: half of them in each region.
const replicasInRegions = 4

// regionOf returns the region of a replica or node.
func regionOf(replica int) string { return regions()[replica%len(regions())] }

// usShare is the part of the requests that the second region handles.
const usShare = 0.35

func customers() []string { return []string{"acme", "globex", "initech"} }

func categories() []string { return []string{"kitchen", "outdoor", "office", "textiles"} }

// flagged lists the services whose requests carry the variant of a feature flag.
func flagged() []string { return []string{edge, catalog, search, cart, checkout} }

func flagOf(service string) string {
	return map[string]string{
		edge: "http3-upstreams", catalog: "price-rounding-v2", search: "semantic-ranking", cart: "bundle-discounts", checkout: "express-lane",
	}[service]
}

// brokerOf returns the broker of a topic or queue.
func brokerOf(destination string) string {
	if destination == "labels" {
		return "rabbitmq"
	}
	return "kafka"
}
