package instrumentation

import (
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/reads"
)

// parallels maps names that people invent for resource attributes to the standard names.
func parallels() map[string]string {
	return map[string]string{
		"service":            "service.name",
		"service_name":       "service.name",
		"serviceName":        "service.name",
		"app":                "service.name",
		"app.name":           "service.name",
		"version":            "service.version",
		"service_version":    "service.version",
		"serviceVersion":     "service.version",
		"app.version":        "service.version",
		"release":            "service.version",
		"env":                "deployment.environment.name",
		"environment":        "deployment.environment.name",
		"app.env":            "deployment.environment.name",
		"stage":              "deployment.environment.name",
		"instance_id":        "service.instance.id",
		"hostname":           "host.name",
		"git.commit":         "vcs.ref.head.revision",
		"git.sha":            "vcs.ref.head.revision",
		"git.commit.sha":     "vcs.ref.head.revision",
		"commit":             "vcs.ref.head.revision",
		"commit_sha":         "vcs.ref.head.revision",
		"git.repository":     "vcs.repository.url.full",
		"git.repository_url": "vcs.repository.url.full",
		"repository":         "vcs.repository.url.full",
		"region":             "cloud.region",
		"pod_name":           "k8s.pod.name",
	}
}

func invented(e *evidence) verdict {
	v := verdict{}
	known := parallels()
	seen := map[string]bool{}
	looked := 0
	for _, k := range e.keys {
		if k.Scope != "resource" {
			continue
		}
		looked++
		if standard, ok := known[k.Key]; ok && !seen[k.Key] {
			seen[k.Key] = true
			v.affected = append(v.affected, affected("attribute_key", k.Key, "%d times on %s in %s; the standard name is %s", k.Uses,
				k.Signal, lastDay, standard))
		}
	}
	v.nothing = looked == 0
	v.detail = fmt.Sprintf("%d of the attribute keys of resources in the last %s.", len(v.affected), lastDay)
	return v
}

// reserved checks the attributes of items: ingest itself removes such attributes of resources and writes its own.
func reserved(e *evidence) verdict {
	v := verdict{}
	seen := map[string]bool{}
	looked := 0
	for _, k := range e.keys {
		if k.Scope == "resource" {
			continue
		}
		looked++
		if strings.HasPrefix(k.Key, "svc_") && !strings.HasPrefix(k.Key, "svc_ai.") && !seen[k.Key] {
			seen[k.Key] = true
			v.affected = append(v.affected, affected("attribute_key", k.Key, "%d times on %s as a %s attribute in %s", k.Uses, k.Signal, k.Scope,
				lastDay))
		}
	}
	v.nothing = looked == 0
	v.detail = fmt.Sprintf("%d of the attribute keys in the last %s.", len(v.affected), lastDay)
	return v
}

func replicas(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	looked := 0
	for _, r := range e.services {
		if r.Instances < 2 {
			continue
		}
		looked++
		if tooMany(r.NoInstance, r.Spans) {
			all = append(all, service(r.ServiceName, "%d replicas; %s", r.Instances, share(r.NoInstance, r.Spans, "spans lack service.instance.id")))
		}
	}
	return e.about(all, looked, "services with replicas")
}

// runtimes expects cloud attributes only where a service of the organization has them: others run outside a cloud.
func runtimes(e *evidence) verdict {
	cloud := false
	looked := 0
	for _, r := range e.services {
		cloud = cloud || r.NoCloud < r.Spans
	}
	var all []*svcv2.SetupAuditAffected
	for _, r := range e.services {
		if !instrumented(r) {
			continue
		}
		looked++
		var lacks []string
		if tooMany(r.NoRuntime, r.Spans) {
			lacks = append(lacks, share(r.NoRuntime, r.Spans, "spans lack process.runtime.name"))
		}
		if cloud && tooMany(r.NoCloud, r.Spans) {
			lacks = append(lacks, share(r.NoCloud, r.Spans, "spans lack cloud.provider"))
		}
		if len(lacks) > 0 {
			all = append(all, service(r.ServiceName, "%s", strings.Join(lacks, "; ")))
		}
	}
	return e.about(all, looked, "services with an SDK")
}

func businessMetrics(e *evidence) verdict {
	spans := map[string]reads.SetupServiceRow{}
	for _, r := range e.services {
		spans[r.ServiceName] = r
	}
	v := verdict{}
	looked := 0
	for _, r := range e.instruments {
		s := spans[r.ServiceName]
		if s.Servers+s.Handlers == 0 {
			continue
		}
		looked++
		if r.Own == 0 {
			v.affected = append(v.affected, service(r.ServiceName, "its %s of libraries and the runtime",
				plural(int(r.Metrics), "metric is", "metrics are")))
		}
	}
	v.nothing = looked == 0
	v.detail = fmt.Sprintf("%d of %d services that answer requests and send metrics have none of their own, in the last %s.",
		len(v.affected), looked, lastDay)
	return v
}

func instruments(e *evidence) verdict {
	v := verdict{nothing: e.signal("metrics").Items == 0, detail: fmt.Sprintf(
		"Counters of which a series began more than %d times in the last hour.", limits.SetupCounterStarts)}
	for _, r := range e.restarts {
		v.affected = append(v.affected, affected("metric", r.MetricName, "one series of %s began %d times in the last hour",
			service(r.ServiceName, "").GetName(), r.Starts))
	}
	return v
}
