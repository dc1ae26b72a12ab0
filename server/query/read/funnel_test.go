package read_test

import (
	"cmp"
	"context"
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// deed is a product event, in the form that this computation uses.
type deed struct {
	at                     time.Time
	name, path, host       string
	session, visitor, user string
	plan                   string
}

// visit is a session.
type visit struct {
	id, visitor, user, country, source, host string
	at                                       time.Time
}

// history holds the data of one organization. Names, times and people are few, so that ties, repeats and people with several
// sessions are common.
type history struct {
	deeds  []deed
	visits []visit
}

var historyStart = time.Now().UTC().Truncate(24 * time.Hour).Add(-48 * time.Hour)

func drawHistory(t *rapid.T) history {
	var h history
	most := rapid.SampledFrom([]int{40, 8}).Draw(t, "seconds") // with few seconds, many events have the same time
	second := func(name string) time.Time {
		return historyStart.Add(time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Second)
	}
	maybe := func(name string, values ...string) string { return rapid.SampledFrom(append(values, "")).Draw(t, name) }
	for i := range rapid.IntRange(0, 6).Draw(t, "visits") {
		h.visits = append(h.visits, visit{
			id: "s" + strconv.Itoa(i), visitor: maybe("visitor", "v1", "v2"), user: maybe("user", "u1", "u2"), country: maybe("country", "CZ", "DE"),
			source: maybe("source", "ad"), host: "shop", at: second("start"),
		})
	}
	for range rapid.IntRange(0, 30).Draw(t, "deeds") {
		d := deed{
			at: second("at"), name: rapid.SampledFrom([]string{"a", "b", "c", "$pageview"}).Draw(t, "name"),
			session: maybe("session", "s0", "s1", "s2", "s9"),
			visitor: maybe("visitor", "v1", "v2", "v3"), user: maybe("user", "u1", "u2"), plan: maybe("plan", "pro", "free"),
		}
		if d.name == "$pageview" {
			d.path, d.host = rapid.SampledFrom([]string{"/", "/pay"}).Draw(t, "path"), maybe("host", "shop", "blog")
		}
		h.deeds = append(h.deeds, d)
	}
	return h
}

// testContext has the methods that *testing.T and *rapid.T share.
type testContext interface {
	Context() context.Context
	Fatal(...any)
}

// store writes the history to a new organization.
func (h history) store(t testContext, w *warehouse.Warehouse, org principal.OrgID) {
	var events, sessions [][]any
	for _, d := range h.deeds {
		kind, attributes := "custom", map[string]string{}
		if d.path != "" {
			kind = "navigation"
		}
		if d.plan != "" {
			attributes["plan"] = d.plan
		}
		events = append(events, []any{string(org), d.name, d.at, kind, d.visitor, d.user, d.session, d.host, d.path, attributes})
	}
	for _, v := range h.visits {
		// The first version of the session has less data and must not count.
		sessions = append(sessions, []any{string(org), v.id, uint32(1), v.at, "", "", "XX", "", ""},
			[]any{string(org), v.id, uint32(2), v.at, v.visitor, v.user, v.country, v.source, v.host})
	}
	for table, rows := range map[string]struct {
		columns []string
		rows    [][]any
	}{
		"product_events": {
			[]string{"OrgId", "Name", "Timestamp", "Kind", "VisitorId", "UserId", "SessionId", "Host", "PagePath", "Attributes"},
			events,
		},
		"session_replays": {
			[]string{"OrgId", "SessionId", "Version", "StartTime", "VisitorId", "UserId", "Country", "UtmSource", "Host"},
			sessions,
		},
	} {
		if len(rows.rows) == 0 {
			continue
		}
		if err := w.InsertRows(t.Context(), table, rows.columns, rows.rows, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// known adds to the deed the fields that its session knows; ok is false if the filter excludes it.
func (h history) known(d deed, f query.ProductSessionFilters) (visitor, user string, v visit, ok bool) {
	visitor, user, ok = d.visitor, d.user, f.Country == nil
	for _, s := range h.visits {
		if s.id == d.session && d.session != "" {
			v, ok = s, f.Country == nil || s.country == *f.Country
			visitor, user = cmp.Or(visitor, s.visitor), cmp.Or(user, s.user)
		}
	}
	return visitor, user, v, ok
}

// key identifies the actor of the deed.
func (h history) key(by query.KeyBy, d deed, visitor, user string) string {
	switch by {
	case query.ByVisitor:
		return visitor
	case query.ByUser:
		return user
	case query.BySession:
		return d.session
	default:
		if user != "" {
			return "u " + user
		}
		if visitor == "" {
			if d.session == "" {
				return ""
			}
			return "s " + d.session
		}
		best, at := "", time.Time{}
		see := func(v, u string, when time.Time) {
			if v == visitor && u != "" && (best == "" || when.After(at) || when.Equal(at) && u > best) {
				best, at = u, when
			}
		}
		for _, x := range h.deeds {
			see(x.visitor, x.user, x.at)
		}
		for _, v := range h.visits {
			see(v.visitor, v.user, v.at)
		}
		if best != "" {
			return "u " + best
		}
		return "v " + visitor
	}
}

// happening is a deed that matches at least one step, with those steps.
type happening struct {
	at    time.Time
	steps []int
	group string
}

func matches(s reads.Step, d deed) bool {
	if s.EventName != "" {
		for m := range s.Attributes.Matches {
			if d.plan != m.Values[0] || d.plan == "" {
				return false
			}
		}
		return d.name == s.EventName
	}
	return s.PagePath != "" && d.name == "$pageview" && d.path == s.PagePath && (s.Host == nil || d.host == *s.Host)
}

// happenings returns the steps of each actor.
func (h history) happenings(f reads.Funnel) map[string][]happening {
	out := map[string][]happening{}
	for _, d := range h.deeds {
		visitor, user, v, ok := h.known(d, f.Sessions)
		var steps []int
		for i, s := range f.Steps {
			if matches(s, d) {
				steps = append(steps, i)
			}
		}
		if key := h.key(f.KeyBy, d, visitor, user); ok && key != "" && len(steps) > 0 {
			group := ""
			if f.Attribute != "" {
				group = d.plan
			} else if f.Dimension != "" {
				group = v.country
			}
			out[key] = append(out[key], happening{at: d.at, steps: steps, group: group})
		}
	}
	if s := f.Steps[0]; s.Dimension != "" {
		for _, v := range h.visits {
			d := deed{session: v.id, at: v.at}
			visitor, user, _, ok := h.known(d, f.Sessions)
			if key := h.key(f.KeyBy, d, visitor, user); ok && key != "" && v.source == s.Value {
				group := ""
				if f.Dimension != "" {
					group = v.country
				}
				out[key] = append(out[key], happening{at: v.at, steps: []int{0}, group: group})
			}
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b happening) int {
			return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.steps[0], b.steps[0]), cmp.Compare(mask(a.steps), mask(b.steps)),
				cmp.Compare(a.group, b.group))
		})
	}
	return out
}

func mask(steps []int) (m int) {
	for _, s := range steps {
		m |= 1 << s
	}
	return m
}

// attempt finds the best chain by trying all of them, with events of equal time in any order. The best chain reaches the most
// steps. Of several, it is the one whose events come first, compared from the last event backwards; events before the last one
// are as late as possible.
func attempt(list []happening, steps int, within time.Duration) (best []happening) {
	better := func(a, b []happening) bool {
		if len(a) != len(b) || len(b) == 0 {
			return len(a) > len(b)
		}
		if last := len(a) - 1; !a[last].at.Equal(b[last].at) {
			return a[last].at.Before(b[last].at)
		}
		for i := len(a) - 2; i >= 0; i-- {
			if !a[i].at.Equal(b[i].at) {
				return a[i].at.After(b[i].at)
			}
		}
		return false
	}
	used := make([]bool, len(list))
	var try func(chain []happening)
	try = func(chain []happening) {
		if better(chain, best) {
			best = slices.Clone(chain)
		}
		if len(chain) == steps {
			return
		}
		for i, x := range list {
			if used[i] || !slices.Contains(x.steps, len(chain)) {
				continue
			}
			if len(chain) > 0 && (x.at.Before(chain[len(chain)-1].at) || x.at.Sub(chain[0].at) > within) {
				continue
			}
			used[i] = true
			try(append(slices.Clip(chain), x))
			used[i] = false
		}
	}
	try(nil)
	// Of several events at the time of the first step, the first one in the list gives the group.
	if len(best) > 0 {
		for _, x := range list {
			if x.at.Equal(best[0].at) && x.steps[0] == 0 {
				best[0].group = x.group
				break
			}
		}
	}
	return best
}

// quantile interpolates between the closest two.
func quantile(of []float64, q float64) float64 {
	slices.Sort(of)
	place := q * float64(len(of)-1)
	i := int(place)
	if i+1 >= len(of) {
		return of[i]
	}
	return of[i] + (place-float64(i))*(of[i+1]-of[i])
}

// expectedFunnel computes the whole answer, group by group.
func (h history) expectedFunnel(f reads.Funnel) []reads.FunnelRow {
	type tally struct {
		counts []uint64
		gaps   [][]float64
	}
	add := func(x *tally, chain []happening) {
		for i, s := range chain {
			x.counts[i]++
			if i > 0 {
				x.gaps[i-1] = append(x.gaps[i-1], float64(s.at.Sub(chain[i-1].at)))
			}
		}
	}
	blank := func() *tally { return &tally{make([]uint64, len(f.Steps)), make([][]float64, max(len(f.Steps)-1, 0))} }
	all, groups := blank(), map[string]*tally{}
	chains := map[string][][]happening{}
	for _, list := range h.happenings(f) {
		chain := attempt(list, len(f.Steps), f.Within)
		if len(chain) == 0 {
			continue
		}
		add(all, chain)
		chains[chain[0].group] = append(chains[chain[0].group], chain)
	}
	if all.counts[0] == 0 {
		return nil
	}
	var names []string
	for name := range chains {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(chains[b]), len(chains[a])), cmp.Compare(a, b)) })
	row := func(class uint8, name string, x *tally) reads.FunnelRow {
		r := reads.FunnelRow{Class: class, Group: name, Counts: x.counts}
		for _, gaps := range x.gaps {
			if len(gaps) > 0 {
				r.Nanoseconds = append(r.Nanoseconds, []float64{quantile(gaps, 0.5), quantile(gaps, 0.9)})
			}
		}
		return r
	}
	out := []reads.FunnelRow{row(reads.FunnelAll, "", all)}
	if f.Dimension == "" && f.Attribute == "" {
		return out
	}
	for i, name := range names {
		if i >= f.Groups {
			if groups[""] == nil {
				groups[""] = blank()
			}
			for _, chain := range chains[name] {
				add(groups[""], chain)
			}
			continue
		}
		x := blank()
		for _, chain := range chains[name] {
			add(x, chain)
		}
		out = append(out, row(reads.FunnelGroup, name, x))
	}
	if other := groups[""]; other != nil {
		out = append(out, row(reads.FunnelOther, "", other))
	}
	return out
}

func drawFunnel(t *rapid.T) reads.Funnel {
	f := reads.Funnel{
		Window: query.Window{Start: historyStart, End: historyStart.Add(time.Hour)},
		Within: time.Duration(rapid.IntRange(0, 30).Draw(t, "within")) * time.Second,
		KeyBy:  rapid.SampledFrom([]query.KeyBy{query.ByPerson, query.ByVisitor, query.ByUser, query.BySession}).Draw(t, "key"),
		Groups: rapid.IntRange(1, 2).Draw(t, "groups"),
	}
	if rapid.Bool().Draw(t, "by session") {
		f.Steps = append(f.Steps, reads.Step{Dimension: "utm_source", Value: rapid.SampledFrom([]string{"ad", ""}).Draw(t, "value")})
	}
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		f.Steps = append(f.Steps, rapid.SampledFrom([]reads.Step{
			{EventName: "a"},
			{EventName: "b"},
			{EventName: "a", Attributes: query.Filter{Match: &query.Match{
				Field: query.Field{Scope: query.OwnAttribute, Key: "plan"},
				Op:    query.OpEqual, Values: []string{"pro"},
			}}},
			{PagePath: "/pay"},
			{PagePath: "/", Host: new("shop")},
			{EventName: "$pageview"},
		}).Draw(t, "step"))
	}
	switch rapid.SampledFrom([]string{"", "country", "attribute"}).Draw(t, "breakdown") {
	case "country":
		f.Dimension = "country"
	case "attribute":
		f.Attribute = "plan"
	}
	if rapid.Bool().Draw(t, "filtered") {
		f.Sessions.Country = new("CZ")
	}
	return f
}

// Events of equal time count in the order that gets furthest, even if steps are repeated.
func TestFunnelOfEqualTimes(t *testing.T) {
	w := warehousetest.Shared(t)
	base := fresh(t)
	for i, tc := range []struct {
		happened, steps string
		want            []uint64
	}{
		{"a0 b5 a5 b6", "abab", []uint64{1, 1, 1, 1}},
		{"a0 b1 a1 b1", "abab", []uint64{1, 1, 1, 1}},
		{"a0 b1 a1", "abab", []uint64{1, 1, 1, 0}},
		{"a0 b1", "abab", []uint64{1, 1, 0, 0}},
		{"a3 b3 c3", "cba", []uint64{1, 1, 1}},
		{"a3 a3 a3", "aaaa", []uint64{1, 1, 1, 0}},
		{"c1 b1 a2", "abc", []uint64{1, 0, 0}},
	} {
		h := history{}
		for _, word := range strings.Fields(tc.happened) {
			h.deeds = append(h.deeds, deed{at: historyStart.Add(time.Duration(word[1]-'0') * time.Second), name: word[:1], visitor: "v"})
		}
		f := reads.Funnel{Window: query.Window{Start: historyStart, End: historyStart.Add(time.Hour)}, Within: time.Hour, KeyBy: query.ByVisitor}
		for _, name := range tc.steps {
			f.Steps = append(f.Steps, reads.Step{EventName: string(name)})
		}
		org := base + principal.OrgID("_"+strconv.Itoa(i))
		h.store(t, w, org)
		got, err := read.All[reads.FunnelRow](t.Context(), w, org, reads.FunnelCounts(f))
		if err != nil || len(got) != 1 || !slices.Equal(got[0].Counts, tc.want) {
			t.Errorf("%s of %s: %+v, %v, want %v", tc.steps, tc.happened, got, err, tc.want)
		}
	}
}

// check tries a property on fewer histories than rapid's default, because each one costs inserts. The flag -rapid.checks
// overrides this.
func check(t *testing.T, property func(*rapid.T)) {
	const histories = "12"
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set(histories); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	rapid.Check(t, property)
}

// The engine's funnels must equal those found by trying every chain of every actor.
func TestFunnelIsExact(t *testing.T) {
	w := warehousetest.Shared(t)
	base, round := fresh(t), 0
	check(t, func(t *rapid.T) {
		h := drawHistory(t)
		round++
		org := base + principal.OrgID("_"+strconv.Itoa(round))
		h.store(t, w, org)
		for range 3 {
			f := drawFunnel(t)
			got, err := read.All[reads.FunnelRow](t.Context(), w, org, reads.FunnelCounts(f))
			if err != nil {
				t.Fatal(err)
			}
			near := cmpopts.EquateApprox(1e-9, 0)
			if diff := gocmp.Diff(h.expectedFunnel(f), got, cmpopts.EquateEmpty(), near); diff != "" {
				t.Fatalf("%+v of %+v (-want +got):\n%s", f, h, diff)
			}
			if got, err = read.All[reads.FunnelRow](t.Context(), w, base, reads.FunnelCounts(f)); err != nil || len(got) != 0 {
				t.Fatalf("another organization: %v, %v", got, err)
			}
		}
	})
}
