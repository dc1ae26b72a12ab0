package read_test

import (
	"cmp"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// node returns the name of the deed on a path.
func (d deed) node() string { return cmp.Or(d.path, d.name) }

// walked is a deed of an actor. It may be an anchor, a node, or both.
type walked struct {
	at           time.Time
	node         string
	anchor, live bool
}

// walks returns the deeds of each actor, in the order in which paths follow them.
func (h history) walks(p reads.Paths) map[string][]walked {
	out := map[string][]walked{}
	for _, d := range h.deeds {
		visitor, user, _, ok := h.known(d, p.Sessions)
		x := walked{at: d.at, node: d.node(), anchor: matches(p.Anchor, d), live: !slices.Contains(p.Exclude, d.node())}
		switch p.Include {
		case reads.IncludePages:
			x.live = x.live && d.path != ""
		case reads.IncludeEvents:
			x.live = x.live && d.path == ""
		}
		if key := h.key(p.KeyBy, d, visitor, user); ok && key != "" && (x.anchor || x.live) {
			out[key] = append(out[key], x)
		}
	}
	number := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b walked) int {
			order := a.at.Compare(b.at)
			if p.Before {
				order = -order
			}
			return cmp.Or(order, number(b.anchor)-number(a.anchor), cmp.Compare(a.node, b.node), number(a.live)-number(b.live))
		})
	}
	return out
}

// expectedPaths computes the whole answer.
func (h history) expectedPaths(p reads.Paths) []reads.PathLinkRow {
	var all [][]string
	counts := make([]map[string]int, p.Depth+1)
	for i := range counts {
		counts[i] = map[string]int{}
	}
	for _, list := range h.walks(p) {
		first := slices.IndexFunc(list, func(x walked) bool { return x.anchor })
		if first < 0 {
			continue
		}
		nodes := []string{list[first].node}
		for _, x := range list[first+1:] {
			if x.live && x.at.Sub(list[first].at).Abs() <= p.Within && x.node != nodes[len(nodes)-1] && len(nodes) <= p.Depth {
				nodes = append(nodes, x.node)
			}
		}
		for hop, n := range nodes {
			counts[hop][n]++
		}
		all = append(all, nodes)
	}
	kept := make([][]string, p.Depth+1)
	for hop := 1; hop <= p.Depth; hop++ {
		for n := range counts[hop] {
			kept[hop] = append(kept[hop], n)
		}
		slices.SortFunc(kept[hop], func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[hop][b], counts[hop][a]), cmp.Compare(a, b))
		})
		kept[hop] = kept[hop][:min(len(kept[hop]), p.Branches)]
	}
	links := map[reads.PathLinkRow]uint64{}
	for _, nodes := range all {
		shown := func(hop int) string {
			switch {
			case hop >= len(nodes):
				return ""
			case hop == 0 || slices.Contains(kept[hop], nodes[hop]):
				return nodes[hop]
			default:
				return reads.OtherNode
			}
		}
		for hop := 1; hop <= min(p.Depth, len(nodes)); hop++ {
			links[reads.PathLinkRow{Hop: uint8(hop), From: shown(hop - 1), To: shown(hop)}]++
		}
	}
	var out []reads.PathLinkRow
	for link, n := range links {
		link.Count = n
		out = append(out, link)
	}
	slices.SortFunc(out, func(a, b reads.PathLinkRow) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare(b.Count, a.Count), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out
}

// The engine's paths must equal those found by following every deed.
func TestPathsAreExact(t *testing.T) {
	w := warehousetest.Shared(t)
	base, round := fresh(t), 0
	check(t, func(t *rapid.T) {
		h := drawHistory(t)
		round++
		org := base + principal.OrgID("_"+strconv.Itoa(round))
		h.store(t, w, org)
		for range 3 {
			p := reads.Paths{
				Window: query.Window{Start: historyStart, End: historyStart.Add(time.Hour)},
				Within: time.Duration(rapid.IntRange(0, 40).Draw(t, "within")) * time.Second,
				KeyBy:  rapid.SampledFrom([]query.KeyBy{query.ByPerson, query.ByVisitor, query.ByUser, query.BySession}).Draw(t, "key"),
				Anchor: rapid.SampledFrom([]reads.Step{
					{EventName: "a"},
					{EventName: "b"},
					{PagePath: "/"},
					{PagePath: "/pay", Host: new("shop")},
				}).Draw(t, "anchor"),
				Before: rapid.Bool().Draw(t, "before"), Depth: rapid.IntRange(1, 5).Draw(t, "depth"),
				Branches: rapid.IntRange(1, 3).Draw(t, "branches"),
				Include:  rapid.SampledFrom([]string{reads.IncludeAll, reads.IncludeEvents, reads.IncludePages}).Draw(t, "include"),
			}
			if rapid.Bool().Draw(t, "exclude") {
				p.Exclude = []string{"b", "/pay"}
			}
			if rapid.Bool().Draw(t, "filtered") {
				p.Sessions.Country = new("CZ")
			}
			nodes, err := read.All[reads.PathNodeRow](t.Context(), w, org, reads.PathNodes(p))
			if err != nil {
				t.Fatal(err)
			}
			got, err := read.All[reads.PathLinkRow](t.Context(), w, org, reads.PathLinks(p, nodes))
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(h.expectedPaths(p), got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%+v of %+v (-want +got):\n%s", p, h, diff)
			}
		}
	})
}

// The next steps of people who left the funnel must agree too.
func TestLeaversAreExact(t *testing.T) {
	w := warehousetest.Shared(t)
	base, round := fresh(t), 0
	check(t, func(t *rapid.T) {
		h := drawHistory(t)
		round++
		org := base + principal.OrgID("_"+strconv.Itoa(round))
		h.store(t, w, org)
		f := drawFunnel(t)
		got, err := read.All[reads.LeaverRow](t.Context(), w, org, reads.FunnelLeavers(f))
		if err != nil {
			t.Fatal(err)
		}
		all := h.walks(reads.Paths{Include: reads.IncludeAll, KeyBy: f.KeyBy, Sessions: f.Sessions, Anchor: reads.Step{EventName: "none"}})
		counts := map[reads.LeaverRow]uint64{}
		for key, list := range h.happenings(f) {
			chain := attempt(list, len(f.Steps), f.Within)
			if len(chain) == 0 || len(chain) == len(f.Steps) {
				continue
			}
			row := reads.LeaverRow{Level: uint64(len(chain))}
			for _, x := range all[key] {
				if x.at.After(chain[len(chain)-1].at) {
					row.Name = x.node
					break
				}
			}
			counts[row]++
		}
		var want []reads.LeaverRow
		for row, n := range counts {
			row.Count = n
			want = append(want, row)
		}
		slices.SortFunc(want, func(a, b reads.LeaverRow) int {
			return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
		})
		seen := map[uint64]int{}
		want = slices.DeleteFunc(want, func(r reads.LeaverRow) bool { seen[r.Level]++; return seen[r.Level] > 5 })
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%+v of %+v (-want +got):\n%s", f, h, diff)
		}
	})
}
