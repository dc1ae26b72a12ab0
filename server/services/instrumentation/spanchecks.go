package instrumentation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/reads"
)

// browser is the language of the SDK for pages. They send no log records, and their spans are those of libraries.
const browser = "webjs"

// instrumented reports whether the spans of a service come from an SDK in its own process: not from a proxy, and not from a page.
func instrumented(r reads.SetupServiceRow) bool { return r.Language != "" && r.Language != browser }

func hiddenFailures(e *evidence) verdict {
	return e.ofServices("services with failures hide them in attributes", func(r reads.SetupServiceRow) (uint64, uint64, string) {
		return r.Hidden, r.Hidden + r.Failed, "failed spans say it only in an attribute"
	})
}

func outgoingKinds(e *evidence) verdict {
	return e.ofServices("services with outgoing calls give them another kind", func(r reads.SetupServiceRow) (uint64, uint64, string) {
		return r.Unmarked, r.Unmarked + r.Outgoing, "outgoing calls are internal spans"
	})
}

func incomingKinds(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	looked := 0
	for _, r := range e.links {
		if r.Calls == 0 {
			continue
		}
		looked++
		if tooMany(r.Unmarked, r.Calls) {
			all = append(all, service(r.ServiceName, "%s are neither server nor consumer spans",
				share(r.Unmarked, r.Calls, "spans called by another service")))
		}
	}
	return e.about(all, looked, "called services")
}

// libraries compares the metrics of libraries, which show that a service uses them, with its spans.
func libraries(e *evidence) verdict {
	spans := map[string]reads.SetupServiceRow{}
	for _, r := range e.services {
		spans[r.ServiceName] = r
	}
	v := verdict{}
	looked := 0
	for _, r := range e.instruments {
		if r.Serves+r.Requests+r.Databases+r.Messages == 0 {
			continue
		}
		looked++
		has := spans[r.ServiceName]
		var untraced []string
		for _, u := range []struct {
			used  uint8
			spans uint64
			what  string
		}{
			{r.Serves, has.Servers, "incoming requests"},
			{r.Requests, has.Clients, "outgoing requests"},
			{r.Databases, has.Queries, "database calls"},
			{r.Messages, has.Messages, "messages"},
		} {
			if u.used > 0 && u.spans == 0 {
				untraced = append(untraced, u.what)
			}
		}
		if len(untraced) > 0 {
			v.affected = append(v.affected, service(r.ServiceName, "metrics but no spans of %s", strings.Join(untraced, ", ")))
		}
	}
	v.nothing = looked == 0
	v.detail = fmt.Sprintf("%d of %d services with metrics of libraries have no spans of them, in the last %s.", len(v.affected),
		looked, lastDay)
	return v
}

func ownOperations(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	looked := 0
	for _, r := range e.services {
		if !instrumented(r) || r.Servers+r.Handlers == 0 {
			continue
		}
		looked++
		if r.Internal == 0 {
			all = append(all, service(r.ServiceName, "no internal span beside %d incoming requests and messages", r.Servers+r.Handlers))
		}
	}
	return e.about(all, looked, "services that answer requests")
}

func handledMessages(e *evidence) verdict {
	v := verdict{nothing: len(e.queues) == 0}
	byService := map[string][]string{}
	var names []string
	for _, q := range e.queues {
		if q.Received > 0 {
			continue
		}
		for _, name := range q.Senders {
			if byService[name] == nil {
				names = append(names, name)
			}
			byService[name] = append(byService[name], q.Queue)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		const most = 5
		queues := byService[name]
		text := strings.Join(queues[:min(len(queues), most)], ", ")
		if more := len(queues) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		v.affected = append(v.affected, service(name, "sends to %s, and no span handles these messages", text))
	}
	v.detail = fmt.Sprintf("%d services send to queues whose consumers are not traced, of %s, in the last %s.", len(names),
		plural(len(e.queues), "queue", "queues"), lastDay)
	return v
}

func noise(e *evidence) verdict {
	return e.ofServices("services trace health checks", func(r reads.SetupServiceRow) (uint64, uint64, string) {
		return r.Probes, r.Entries, "entry spans are health checks"
	})
}

func peerNamed(e *evidence) verdict {
	return e.ofServices("services with calls do not name the called side", func(r reads.SetupServiceRow) (uint64, uint64, string) {
		return r.Unnamed, r.Calls, "client spans have neither an address nor a name"
	})
}

func queueNamed(e *evidence) verdict {
	return e.ofServices("services with messages or remote procedures", func(r reads.SetupServiceRow) (uint64, uint64, string) {
		return r.Vague, r.Messages + r.Remote, "spans do not name their queue or service"
	})
}

// spelling is a name without the differences by which one service gets two names.
func spelling(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(name))
}

// peerNames finds addresses that callers name differently, and names that differ only in their spelling.
func peerNames(e *evidence) verdict {
	v := verdict{nothing: len(e.peers) == 0}
	told := map[string]bool{}
	tell := func(name, format string, args ...any) {
		if !told[name] {
			told[name] = true
			v.affected = append(v.affected, service(name, format, args...))
		}
	}
	for _, p := range e.peers {
		if p.Address != "" && len(p.Names) > 1 {
			tell(p.Names[0], "%s is called %s by %s", strings.TrimSuffix(p.Address, ":"), strings.Join(p.Names, ", "),
				strings.Join(p.Services, ", "))
		}
	}
	known := map[string]string{}
	for _, r := range e.services {
		known[spelling(r.ServiceName)] = r.ServiceName
	}
	looked := map[string]bool{}
	for _, p := range e.peers {
		for _, name := range p.Names {
			looked[name] = true
			other := cmp.Or(known[spelling(name)], name)
			if other != name {
				tell(other, "called %s by %s", name, strings.Join(p.Services, ", "))
			}
			known[spelling(name)] = other
		}
	}
	v.detail = fmt.Sprintf("%d of %d names of called services, %s.", len(v.affected), len(looked), e.label)
	return v
}

// languageModels looks at whole services: beside the span that follows the conventions, the HTTP client makes one that does not.
func languageModels(e *evidence) verdict {
	var all []*svcv2.SetupAuditAffected
	looked := 0
	for _, r := range e.services {
		if r.Models+r.Generative == 0 {
			continue
		}
		looked++
		if r.Generative == 0 {
			all = append(all, service(r.ServiceName, "%d calls of a provider of language models, and no span with gen_ai attributes", r.Models))
		}
	}
	return e.about(all, looked, "services that call language models")
}

// logged leaves out organizations that send no log records at all: they use another store for them.
func logged(e *evidence) verdict {
	if e.signal("logs").Items == 0 {
		return verdict{nothing: true, detail: "The organization sends no log records."}
	}
	sends := map[string]bool{}
	for _, r := range e.signals {
		if r.Signal == "logs" && r.Whole == 0 {
			sends[r.ServiceName] = true
		}
	}
	var all []*svcv2.SetupAuditAffected
	looked := 0
	for _, r := range e.services {
		if !instrumented(r) {
			continue
		}
		looked++
		if !sends[r.ServiceName] {
			all = append(all, service(r.ServiceName, "%d spans and no log record", r.Spans))
		}
	}
	return e.about(all, looked, "services with spans")
}

func structured(e *evidence) verdict {
	const most = 0.5 // single messages need no values
	var all []*svcv2.SetupAuditAffected
	for _, r := range e.logs {
		if float64(r.Plain) > most*float64(r.Records) {
			all = append(all, service(r.ServiceName, "%s are text without attributes", share(r.Plain, r.Records, "log records")))
		}
	}
	return e.about(all, len(e.logs), "services with logs")
}
