package instrumentation

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// Kinds of recommendations.
const (
	kindRename = "rename"
	kindDouble = "double-emission"
	kindNaming = "naming"
)

// maxNaming bounds the recommendations about names of an organization's own.
const maxNaming = 10

// renames are attribute keys that OpenTelemetry or habit gave up, and what took their place. Reads that find both names of an attribute have a
// list of their own (query.SameAttribute): that one is about types that agree.
func renames() map[string]string {
	return map[string]string{
		"http.method": "http.request.method", "http.status_code": "http.response.status_code", "http.url": "url.full", "http.target": "url.path",
		"http.scheme": "url.scheme", "http.host": "server.address", "http.flavor": "network.protocol.version",
		"http.request_content_length": "http.request.body.size", "http.response_content_length": "http.response.body.size", "http.user_agent": "user_agent.original",
		"net.peer.name": "server.address", "net.peer.port": "server.port", "net.host.name": "server.address", "net.host.port": "server.port",
		"net.sock.peer.addr": "network.peer.address", "net.sock.peer.port": "network.peer.port", "net.transport": "network.transport",
		"net.protocol.name": "network.protocol.name", "net.protocol.version": "network.protocol.version",
		"db.statement": "db.query.text", "db.operation": "db.operation.name", "db.system": "db.system.name", "db.name": "db.namespace", "db.sql.table": "db.collection.name",
		"messaging.destination": "messaging.destination.name", "messaging.url": "server.address", "messaging.protocol": "network.protocol.name",
		"messaging.protocol_version": "network.protocol.version", "faas.execution": "faas.invocation_id", "enduser.id": "user.id",
		"httpMethod": "http.request.method", "httpStatusCode": "http.response.status_code", "httpUrl": "url.full", "httpRoute": "http.route",
		"dbStatement": "db.query.text", "dbOperation": "db.operation.name", "userId": "user.id",
	}
}

// dotted is how attribute keys are written: parts of lower-case snake case with dots between them.
var dotted = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_-]+)+$`)

// sender is how one service sends an old key.
type sender = reads.SetupRenameRow

// pairsIn are the old keys among those that are used, without those that mappings take care of, and what took their places.
func pairsIn(uses map[string]int64, mapped map[string]bool) (olds, news []string) {
	known := renames()
	for _, old := range slices.Sorted(maps.Keys(known)) {
		if uses[old] > 0 && !mapped[old] {
			olds, news = append(olds, old), append(news, known[old])
		}
	}
	return olds, news
}

// divide tells the services that send an old key beside the one that took its place from those that send it alone, with the uses of both:
// what one service sends says nothing about another.
func divide(all []sender, old string, uses int64) (alone, beside []sender, aloneUses, besideUses int64) {
	var seen, twice uint64
	for _, s := range all {
		if s.OldKey != old {
			continue
		}
		seen += s.Old
		if s.New > 0 {
			beside, twice = append(beside, s), twice+s.Old
		} else {
			alone = append(alone, s)
		}
	}
	if seen > 0 { // the spans that were looked at can be a part of those that were counted
		besideUses = int64(math.Round(float64(uses) * float64(twice) / float64(seen)))
	}
	return alone, beside, uses - besideUses, besideUses
}

// findings are what the keys of spans could do better, in a fixed order. Keys that mappings take care of are none.
func findings(uses map[string]int64, mapped map[string]bool, senders []sender) []store.Finding {
	var out, names []store.Finding
	known := renames()
	for key, n := range uses {
		if mapped[key] {
			continue
		}
		canonical, old := known[key]
		switch {
		case old:
			alone, beside, aloneUses, besideUses := divide(senders, key, n)
			if len(beside) > 0 {
				out = append(out, store.Finding{Key: "dual:" + key, Kind: kindDouble, SourceKey: key, CanonicalKey: &canonical, Usage: besideUses})
			}
			if len(alone) > 0 || len(beside) == 0 {
				out = append(out, store.Finding{Key: "rename:" + key, Kind: kindRename, SourceKey: key, CanonicalKey: &canonical, Usage: aloneUses})
			}
		case !dotted.MatchString(key) && key != "SampleRate":
			names = append(names, store.Finding{Key: "naming:" + key, Kind: kindNaming, SourceKey: key, Usage: n})
		}
	}
	slices.SortFunc(names, func(a, b store.Finding) int { return cmp.Or(cmp.Compare(b.Usage, a.Usage), cmp.Compare(a.Key, b.Key)) })
	slices.SortFunc(out, func(a, b store.Finding) int { return cmp.Compare(a.Key, b.Key) })
	return append(out, names[:min(len(names), maxNaming)]...)
}
