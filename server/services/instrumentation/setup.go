package instrumentation

import (
	"fmt"
	"maps"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func destination(d *store.AlertDestination, format string, args ...any) *svcv2.SetupAuditAffected {
	return identified("alert_destination", publicid.Encode(publicid.AlertDestination, d.ID), d.Name, format, args...)
}

func rule(r *store.AlertRule, format string, args ...any) *svcv2.SetupAuditAffected {
	return identified("alert_rule", publicid.Encode(publicid.AlertRule, r.ID), r.Name, format, args...)
}

// identified is an affected object with an id.
func identified(kind, id, name, format string, args ...any) *svcv2.SetupAuditAffected {
	a := affected(kind, name, format, args...)
	a.Id = &id
	return a
}

func hasDestination(e *evidence) verdict {
	v := verdict{missing: true, detail: "There is no alert destination."}
	for i := range e.alerts.Destinations {
		d := &e.alerts.Destinations[i]
		if d.Enabled {
			v.missing = false
			continue
		}
		v.affected = append(v.affected, destination(d, "disabled"))
	}
	if n := len(e.alerts.Destinations); n > 0 {
		v.detail = fmt.Sprintf("%d of %s enabled.", n-len(v.affected), plural(n, "destination is", "destinations are"))
	}
	if !v.missing {
		v.affected = nil
	}
	return v
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// enabledRules returns the rules that are evaluated.
func (e *evidence) enabledRules() []*store.AlertRule {
	var out []*store.AlertRule
	for i := range e.alerts.Rules {
		if e.alerts.Rules[i].Enabled {
			out = append(out, &e.alerts.Rules[i])
		}
	}
	return out
}

func hasRule(e *evidence) verdict {
	n := len(e.enabledRules())
	v := verdict{missing: n == 0, detail: "There is no alert rule."}
	if all := len(e.alerts.Rules); all > 0 {
		v.detail = fmt.Sprintf("%d of %s enabled.", n, plural(all, "rule is", "rules are"))
	}
	return v
}

func rulesTell(e *evidence) verdict {
	enabled := map[string]bool{}
	for _, d := range e.alerts.Destinations {
		enabled[d.ID.String()] = d.Enabled
	}
	rules := e.enabledRules()
	v := verdict{nothing: len(rules) == 0}
	for _, r := range rules {
		switch {
		case slices.ContainsFunc(r.DestinationIds, func(id string) bool { return enabled[id] }):
		case len(r.DestinationIds) == 0:
			v.affected = append(v.affected, rule(r, "has no destination"))
		default:
			v.affected = append(v.affected, rule(r, "its %s disabled", plural(len(r.DestinationIds), "destination is", "destinations are")))
		}
	}
	if v.detail = "No rule is enabled."; len(rules) > 0 {
		v.detail = fmt.Sprintf("%d of %d enabled rules tell nobody.", len(v.affected), len(rules))
	}
	return v
}

// destinationsWork checks enabled destinations, and those that were disabled because messages failed. A destination that was never tested
// neither passes nor fails.
func destinationsWork(e *evidence) verdict {
	tested := 0
	var v verdict
	for i := range e.alerts.Destinations {
		d := &e.alerts.Destinations[i]
		switch {
		case !d.Enabled && d.DisabledReason != nil:
			tested++
			v.affected = append(v.affected, destination(d, "disabled after failures: %s", *d.DisabledReason))
		case !d.Enabled || d.LastTestedAt == nil:
		case d.LastTestError != nil:
			tested++
			v.affected = append(v.affected, destination(d, "the test at %s failed: %s", clock(*d.LastTestedAt), *d.LastTestError))
		default:
			tested++
		}
	}
	v.nothing = tested == 0
	if v.detail = "No enabled destination was tested."; tested > 0 {
		v.detail = fmt.Sprintf("%d of %d tested destinations failed.", len(v.affected), tested)
	}
	return v
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// evaluatedInTime checks each enabled rule: the time counts from its last evaluation, or from when it was enabled.
func evaluatedInTime(e *evidence) verdict {
	rules := e.enabledRules()
	v := verdict{nothing: len(rules) == 0, detail: "No rule is enabled."}
	through := e.alerts.EvaluatedThrough
	for _, r := range rules {
		since, note := e.now, "not evaluated yet, enabled at"
		if r.EnabledAt != nil {
			since = *r.EnabledAt
		}
		if through != nil && through.After(since) {
			since, note = *through, "evaluated through"
		}
		if e.now.Sub(since) > limits.SetupAlertDelay {
			v.affected = append(v.affected, rule(r, "%s %s", note, clock(since)))
		}
	}
	if len(rules) > 0 {
		v.detail = "No rule was evaluated yet."
		if through != nil {
			v.detail = fmt.Sprintf("Rules are evaluated through %s, %s ago.", clock(*through), e.now.Sub(*through).Truncate(time.Second))
		}
	}
	return v
}

func targetsAnswer(e *evidence) verdict {
	v := verdict{nothing: e.targets == 0, detail: "No scrape target is enabled."}
	for i := range e.failing {
		t := &e.failing[i]
		note := "fails"
		if t.FailingSince != nil {
			note += " since " + clock(*t.FailingSince)
		}
		if t.LastScrapeError != nil {
			note += ": " + *t.LastScrapeError
		}
		v.affected = append(v.affected, identified("scrape_target", publicid.Encode(publicid.ScrapeTarget, t.ID), t.Name, "%s", note))
	}
	if e.targets > 0 {
		v.detail = fmt.Sprintf("%d of %d enabled targets fail for more than %d minutes.", len(e.failing), e.targets,
			int(limits.SetupScrapeFailure.Minutes()))
	}
	return v
}

// accountsAnswer checks the connected accounts of other services.
func accountsAnswer(e *evidence) verdict {
	v := verdict{nothing: len(e.accounts) == 0, detail: "No account of another service is connected."}
	for i := range e.accounts {
		c := &e.accounts[i]
		if c.State == store.IntegrationConnected || e.now.Sub(c.StateChangedAt) < limits.IntegrationLoud {
			continue
		}
		v.affected = append(v.affected, identified("integration", c.PublicID(), c.Name,
			"%s since %s: %s", c.State, clock(c.StateChangedAt), c.Reason))
	}
	if len(e.accounts) > 0 {
		v.detail = fmt.Sprintf("%d of %d connected accounts cannot be read for more than %s.", len(v.affected), len(e.accounts),
			limits.Lasts(limits.IntegrationLoud))
	}
	for i := range e.accounts {
		// Messages arrive all the same, so this is not a failure.
		if c := &e.accounts[i]; c.PictureFailedAt != nil && e.now.Sub(*c.PictureFailedAt) < limits.ChartPause {
			v.detail += fmt.Sprintf(" Messages to %s have no pictures until %s: its service could not fetch one from this server at %s. "+
				"The operator checks that `public-url` can be reached from outside.", c.Name, clock(c.PictureFailedAt.Add(limits.ChartPause)),
				clock(*c.PictureFailedAt))
		}
	}
	return v
}

// sourceKeys returns the keys by which one can tell whether spans arrive to which the mappings apply. Of a mapping that moves an attribute
// of spans, stored spans have only the target.
func sourceKeys(mappings []store.AttributeMapping) []string {
	keys := map[string]bool{}
	for _, m := range mappings {
		if m.Enabled {
			keys[m.SourceKey] = true
			if moves(m) {
				keys[m.TargetKey] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

func moves(m store.AttributeMapping) bool {
	return m.Operation == store.AttributeMappingOperationMove && m.SourceContext == store.AttributeMappingSourceContextSpan
}

func mappingsFind(e *evidence) verdict {
	type use struct{ scope, key string }
	uses := map[use]bool{}
	for _, r := range e.keyUse {
		uses[use{r.Scope, r.Key}] = true
	}
	v := verdict{}
	looked := 0
	for _, m := range e.mappings {
		if !m.Enabled {
			continue
		}
		looked++
		if uses[use{string(m.SourceContext), m.SourceKey}] || moves(m) && uses[use{"span", m.TargetKey}] {
			continue
		}
		v.affected = append(v.affected, identified("attribute_mapping", publicid.Encode(publicid.AttributeMapping, m.ID), m.Name,
			"no %s attribute %s on spans of the last %d days", m.SourceContext, m.SourceKey, int(limits.SetupMappingIdle/limits.Day)))
	}
	v.nothing = looked == 0 || len(e.keyUse) == 0
	switch {
	case looked == 0:
		v.detail = "No attribute mapping is enabled."
	case len(e.keyUse) == 0:
		v.detail = "No spans arrived to which a mapping could apply."
	default:
		v.detail = fmt.Sprintf("%d of %d enabled mappings.", len(v.affected), looked)
	}
	return v
}
