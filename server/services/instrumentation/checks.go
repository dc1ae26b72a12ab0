package instrumentation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// These are the severities of checks.
const (
	critical = "critical"
	warn     = "warn"
	info     = "info"
)

// These are the categories of checks.
const (
	alerting   = "alerting"
	ingestion  = "ingestion"
	attributes = "attributes"
	traces     = "traces"
	connected  = "integrations"
)

// tolerated is the share of items that may lack something. Old senders and start-up spans need no action.
const tolerated = 0.05

func service(name, format string, args ...any) *svcv2.SetupAuditAffected {
	return affected("service", cmp.Or(name, "(no name)"), format, args...)
}

func affected(kind, name, format string, args ...any) *svcv2.SetupAuditAffected {
	note := fmt.Sprintf(format, args...)
	return &svcv2.SetupAuditAffected{Kind: kind, Name: name, Note: &note}
}

// share describes a part of a whole in words.
func share(part, of uint64, noun string) string {
	return fmt.Sprintf("%d of %d %s (%.3g %%)", part, of, noun, 100*float64(part)/float64(max(of, 1)))
}

func tooMany(part, of uint64) bool { return part > 0 && float64(part) > tolerated*float64(of) }

func (e *evidence) about(all []*svcv2.SetupAuditAffected, of int, noun string) verdict {
	return verdict{nothing: of == 0, affected: all, detail: fmt.Sprintf("%d of %d %s, %s.", len(all), of, noun, e.label)}
}

func arrives(e *evidence) verdict {
	var parts []string
	total := uint64(0)
	for _, name := range signals() {
		row := e.signal(name)
		if row.Items > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d, last at %s", name, row.Items, row.Last.UTC().Format("2006-01-02T15:04:05Z")))
		}
		if name == "traces" || name == "logs" || name == "metrics" {
			total += row.Items
		}
	}
	v := verdict{detail: "Nothing arrived in the last " + lastDay + "."}
	if len(parts) > 0 {
		v.detail = "In the last " + lastDay + " " + strings.Join(parts, "; ") + "."
	}
	if total == 0 {
		v.affected = []*svcv2.SetupAuditAffected{affected("integration", "OTLP", "no span, log record or data point in %s", lastDay)}
	}
	return v
}

// refusals adds up the latest answers of each key that match, newest first.
func (e *evidence) refusals(
	fits func(tag string, rejected int) bool, note func(n, of, items int, tag, reason, signal, agent string) string,
) verdict {
	type sum struct {
		n, of, items               int
		tag, reason, signal, agent string
	}
	var order []string
	sums := map[string]*sum{}
	for _, o := range e.outcomes { // newest first
		s := sums[o.KeyID]
		if s == nil {
			s = &sum{}
			sums[o.KeyID] = s
			order = append(order, o.KeyID)
		}
		s.of++
		if fits(o.Tag, o.Rejected) {
			if s.n == 0 {
				s.tag, s.reason, s.signal, s.agent = o.Tag, o.Reason, o.Signal, o.Agent
			}
			s.n++
			s.items += o.Rejected
		}
	}
	v := verdict{nothing: len(e.outcomes) == 0, detail: "No ingest key has been used yet."}
	bad := 0
	for _, id := range order {
		s := sums[id]
		if s.n == 0 {
			continue
		}
		bad += s.n
		a := affected("ingest_key", cmp.Or(e.keyNames[id], id), "%s", note(s.n, s.of, s.items, s.tag, s.reason, s.signal, s.agent))
		a.Id = &id
		v.affected = append(v.affected, a)
	}
	if !v.nothing {
		v.detail = fmt.Sprintf("%d of the last %d answers to %d keys.", bad, len(e.outcomes), len(order))
	}
	return v
}

func accepted(e *evidence) verdict {
	return e.refusals(func(tag string, _ int) bool { return tag != "" }, func(n, of, _ int, tag, reason, signal, agent string) string {
		return fmt.Sprintf("%d of its last %d requests were refused, lately %s for %s%s: %s", n, of, tag, signal, fromAgent(agent),
			cmp.Or(reason, "no reason"))
	})
}

func rejected(e *evidence) verdict {
	return e.refusals(func(tag string, items int) bool {
		return tag == "" &&
			items > 0
	}, func(n, of, items int, _, reason, signal, agent string) string {
		return fmt.Sprintf("%s in %d of its last %d requests, lately of %s%s: %s", counted(items, "item"), n, of, signal, fromAgent(agent),
			cmp.Or(reason, "no reason"))
	})
}

// fromAgent names the sender of a request by its User-Agent, which some senders omit.
func fromAgent(agent string) string {
	if agent == "" {
		return ""
	}
	return fmt.Sprintf(" from %q", agent)
}

// counted is a number with its noun: 1 item, 2 items.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func clocks(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	names := map[string]bool{}
	for _, r := range e.services {
		names[r.ServiceName] = true
		if r.Future > 0 {
			all = append(
				all,
				service(
					r.ServiceName,
					"%s begin after now, the latest at %s",
					share(r.Future, r.Spans, "spans"),
					r.Last.UTC().Format("2006-01-02T15:04:05Z"),
				),
			)
		}
	}
	for _, r := range e.links {
		if tooMany(r.Early, r.Calls) {
			all = append(
				all,
				service(r.ServiceName, "%s begin before the call that caused them, by %.3g ms on average", share(r.Early, r.Calls, "calls"), r.AheadMs),
			)
		}
	}
	for _, r := range e.logs {
		names[r.ServiceName] = true
		if tooMany(r.Skewed, r.Records) {
			all = append(
				all,
				service(r.ServiceName, "%s differ by more than %s from when they were observed", share(r.Skewed, r.Records, "log records"),
					limits.Lasts(limits.SetupClock)),
			)
		}
	}
	return e.about(all, len(names), "services")
}

func named(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	for _, r := range e.services {
		if r.ServiceName == "" || strings.HasPrefix(r.ServiceName, "unknown_service") {
			all = append(all, service(r.ServiceName, "%d spans", r.Spans))
		}
	}
	return e.about(all, len(e.services), "services")
}

// lacking is the check for a missing resource attribute.
func lacking(key string, missing func(reads.SetupServiceRow) uint64) func(*evidence) verdict {
	return func(e *evidence) verdict {
		return e.ofServices("services lack it", func(r reads.SetupServiceRow) (uint64, uint64, string) {
			return missing(r), r.Spans, "spans lack " + key
		})
	}
}

// ofServices is a check of a part of each service's spans.
func (e *evidence) ofServices(noun string, count func(reads.SetupServiceRow) (part, of uint64, what string)) verdict {
	type hit struct {
		share float64
		a     *svcv2.SetupAuditAffected
	}
	var hits []hit
	looked := 0
	for _, r := range e.services {
		part, of, what := count(r)
		if of == 0 {
			continue
		}
		looked++
		if tooMany(part, of) {
			hits = append(hits, hit{float64(part) / float64(of), service(r.ServiceName, "%s", share(part, of, what))})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.share, a.share) })
	all := make([]*svcv2.SetupAuditAffected, len(hits))
	for i, h := range hits {
		all[i] = h.a
	}
	return e.about(all, looked, noun)
}

// sentBy names the services that send the key of a recommendation, and the number of their spans that have both names.
func (e *evidence) sentBy(r store.Recommendation) string {
	const most = 3
	list := servicesOf(r, e.senders)
	var names []string
	for _, s := range list[:min(len(list), most)] {
		text := s.GetName()
		if r.Kind == kindDouble {
			text += fmt.Sprintf(" (both on %.0f of %.0f spans)", s.GetBoth(), s.GetSpans())
		}
		names = append(names, text)
	}
	if len(names) == 0 {
		return ""
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "; sent by " + strings.Join(names, ", ")
}

// renamed is the check for one kind of recommendation.
func renamed(kind string) func(*evidence) verdict {
	return func(e *evidence) verdict {
		v := verdict{nothing: len(e.keys) == 0}
		for _, r := range e.open {
			if r.Kind != kind {
				continue
			}
			note := fmt.Sprintf("%d spans", r.Usage)
			if r.CanonicalKey != nil {
				note += "; should be " + *r.CanonicalKey
			}
			note += e.sentBy(r)
			a := affected("attribute_key", r.SourceKey, "%s", note)
			v.affected = append(v.affected, a)
		}
		v.detail = fmt.Sprintf("%d of the attribute keys of spans in the last %s.", len(v.affected), lastDay)
		return v
	}
}
