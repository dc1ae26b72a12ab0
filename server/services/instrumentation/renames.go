package instrumentation

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// These are the kinds of recommendations.
const (
	kindRename = "rename"
	kindDouble = "double-emission"
	kindNaming = "naming"
)

// maxNaming is the highest number of recommendations about an organization's own names.
const maxNaming = limits.SetupNaming

// renames maps attribute keys that OpenTelemetry or common practice gave up to their replacements. Reads that search both names
// of an attribute use another list, query.SameAttribute, whose pairs have equal types.
func renames() map[string]string {
	return map[string]string{
		"http.method":                  "http.request.method",
		"http.status_code":             "http.response.status_code",
		"http.url":                     "url.full",
		"http.target":                  "url.path",
		"http.scheme":                  "url.scheme",
		"http.host":                    "server.address",
		"http.flavor":                  "network.protocol.version",
		"http.request_content_length":  "http.request.body.size",
		"http.response_content_length": "http.response.body.size",
		"http.user_agent":              "user_agent.original",
		"net.peer.name":                "server.address",
		"net.peer.port":                "server.port",
		"net.host.name":                "server.address",
		"net.host.port":                "server.port",
		"net.sock.peer.addr":           "network.peer.address",
		"net.sock.peer.port":           "network.peer.port",
		"net.transport":                "network.transport",
		"net.protocol.name":            "network.protocol.name",
		"net.protocol.version":         "network.protocol.version",
		"db.statement":                 "db.query.text",
		"db.operation":                 "db.operation.name",
		"db.system":                    "db.system.name",
		"db.name":                      "db.namespace",
		"db.sql.table":                 "db.collection.name",
		"messaging.destination":        "messaging.destination.name",
		"messaging.url":                "server.address",
		"messaging.protocol":           "network.protocol.name",
		"messaging.protocol_version":   "network.protocol.version",
		"faas.execution":               "faas.invocation_id",
		"enduser.id":                   "user.id",
		"httpMethod":                   "http.request.method",
		"httpStatusCode":               "http.response.status_code",
		"httpUrl":                      "url.full",
		"httpRoute":                    "http.route",
		"dbStatement":                  "db.query.text",
		"dbOperation":                  "db.operation.name",
		"userId":                       "user.id",
	}
}

// dotted matches the usual form of attribute keys: parts in lower-case snake case with dots between them.
var dotted = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_-]+)+$`)

// sender says how one service sends an old key.
type sender = reads.SetupRenameRow

// pairsIn returns the old keys in use that no mapping handles, and their replacements.
func pairsIn(uses map[string]int64, mapped map[string]bool) (olds, news []string) {
	known := renames()
	for _, old := range slices.Sorted(maps.Keys(known)) {
		if uses[old] > 0 && !mapped[old] {
			olds, news = append(olds, old), append(news, known[old])
		}
	}
	return olds, news
}

// divide separates the services that send an old key together with its replacement from the services that send only the old key,
// with the uses of both groups. One service's spans say nothing about another service.
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
	if seen > 0 { // the examined spans may be only a part of the counted ones
		besideUses = int64(math.Round(float64(uses) * float64(twice) / float64(seen)))
	}
	return alone, beside, uses - besideUses, besideUses
}

// findings returns possible improvements to the keys of spans, in a fixed order. It skips keys that mappings handle.
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
