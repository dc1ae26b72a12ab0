package instrumentation

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/reads"
)

// personalKey matches attribute keys whose values are personal or secret. Plain user identifiers do not match, because traces
// need them.
var personalKey = regexp.MustCompile(
	`(?i)(^|[._-])(e?mail|email_?address|phone(_?number)?|password|passwd|secret|api_?key|access_?token|refresh_?token|authorization|cookie|set-cookie|ssn|credit_?card|card_?number|iban|cvv|full_?name|first_?name|last_?name|birth_?date|date_of_birth|address_?line\d?)$`,
)

// harmless matches keys that only look personal or secret.
func harmless(key string) bool {
	return strings.HasPrefix(key, "gen_ai.") || strings.HasPrefix(key, "messaging.") || strings.HasPrefix(key, "code.")
}

func personal(e *evidence) verdict {
	v := verdict{nothing: len(e.keys) == 0}
	words := map[string]string{"email": "e-mail addresses", "card": "payment card numbers", "token": "access tokens"}
	seen := map[string]bool{}
	for _, r := range e.values {
		seen[r.Key] = true
		v.affected = append(v.affected, affected("attribute_key", r.Key, "%s have %s", share(r.Spans, r.Of, "spans looked at"), words[r.Sort]))
	}
	for _, k := range e.keys {
		if personalKey.MatchString(k.Key) && !harmless(k.Key) && !seen[k.Key] {
			seen[k.Key] = true
			v.affected = append(
				v.affected,
				affected("attribute_key", k.Key, "suspicious name; %d times on %s as a %s attribute in %s", k.Uses, k.Signal, k.Scope, lastDay),
			)
		}
	}
	looked := uint64(0)
	for _, s := range e.services {
		looked += s.Spans
	}
	v.detail = fmt.Sprintf("%d of %d keys; the audit read the values of up to %d spans %s.", len(v.affected), len(e.keys),
		min(looked, limits.SetupValueSpans), e.label)
	return v
}

func series(e *evidence) verdict {
	v := verdict{nothing: e.signal("metrics").Items == 0, detail: fmt.Sprintf("Metrics with more than %d series in the last hour.",
		limits.SetupSeries)}
	for _, r := range e.metrics {
		v.affected = append(v.affected, affected("metric", r.MetricName, "%d series of %d services in the last hour", r.Series, r.Services))
	}
	return v
}

func failures(e *evidence) verdict {
	return e.ofServices("services with failures do not name them", func(r reads.SetupServiceRow) (uint64, uint64, string) {
		return r.Bare + r.Unset, r.Failed + r.Unset, fmt.Sprintf(
			"failed spans: %d of status Error without message and exception, %d answered with 500 and above without status Error",
			r.Bare,
			r.Unset,
		)
	})
}

func databases(e *evidence) verdict {
	return e.ofServices("services with database spans lack db.system.name", func(r reads.SetupServiceRow) (uint64, uint64, string) {
		return r.Nameless, r.Queries, "database spans"
	})
}

func spanNames(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	for _, r := range e.services {
		if r.Names > limits.SetupSpanNames {
			all = append(all, service(r.ServiceName, "%d names on %d spans, such as %q", r.Names, r.Spans, cmp.Or(r.Sample, "?")))
		}
	}
	return e.about(all, len(e.services), fmt.Sprintf("services have more than %d names", limits.SetupSpanNames))
}

func orphans(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	for _, r := range e.links {
		if tooMany(r.Orphans, r.Children) {
			all = append(all, service(r.ServiceName, "%s have a parent that was not received", share(r.Orphans, r.Children, "spans looked at")))
		}
	}
	return e.about(all, len(e.links), "services")
}

// correlation checks only services that also send spans. The others have no trace to which a record could belong.
func correlation(e *evidence) verdict {
	traced := map[string]bool{}
	for _, r := range e.services {
		traced[r.ServiceName] = true
	}
	const most = 0.5 // start-up, jobs and health checks log outside of traces
	var all []*svcv2.SetupAuditAffected
	looked := 0
	for _, r := range e.logs {
		if !traced[r.ServiceName] {
			continue
		}
		looked++
		if float64(r.NoTrace) > most*float64(r.Records) {
			all = append(all, service(r.ServiceName, "%s have no trace id", share(r.NoTrace, r.Records, "log records")))
		}
	}
	return e.about(all, looked, "services with spans and logs")
}

func severities(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	for _, r := range e.logs {
		if tooMany(r.NoSeverity, r.Records) {
			all = append(all, service(r.ServiceName, "%s have no severity", share(r.NoSeverity, r.Records, "log records")))
		}
	}
	return e.about(all, len(e.logs), "services with logs")
}
