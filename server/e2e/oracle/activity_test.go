package oracle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// visit is a session of a visitor.
type visit struct {
	id, visitor, user, country, referrer, source, service string
	start, end                                            time.Time
	ended                                                 bool
	pages, clicks, errors                                 int
	recording
}

// action is a product event. Those of a page come as events of their session.
type action struct {
	at                                     time.Time
	name, kind, origin                     string
	visitor, user, group, service, address string
	session                                *visit
	attributes                             map[string]string
}

func (e *action) sessionID() string {
	if e.session == nil {
		return ""
	}
	return e.session.id
}

// activity is the behaviour of people in a product. It has a source of chance of its own, so that the rest of the telemetry stays as it is.
type activity struct {
	r       *rand.Rand
	chance  *rand.PCG // of r
	visits  []*visit
	actions []*action
}

func (t *telemetry) addActivity(seed uint64) {
	chance := rand.NewPCG(seed, 15)
	a := &activity{r: rand.New(chance), chance: chance}
	t.activity = a
	any := func() time.Time {
		return t.start.Add(time.Minute + time.Duration(a.r.Int64N(int64(t.end.Sub(t.start)-2*time.Minute)))).Truncate(time.Millisecond)
	}
	one := func(list ...string) string { return list[a.r.IntN(len(list))] }
	for n := range 40 {
		start := any()
		v := &visit{
			id: fmt.Sprintf("session-%d", n), start: start, end: start.Add(time.Duration(a.r.IntN(20*60)) * time.Second), ended: a.r.IntN(4) > 0,
			visitor: one("", fmt.Sprintf("v%d", a.r.IntN(20))), country: one("CZ", "DE", ""), referrer: one("news.example", "search.example", ""),
			source: one("letter", ""), service: one("shop", "app"), pages: a.r.IntN(9), clicks: a.r.IntN(30), errors: a.r.IntN(3),
		}
		if a.r.IntN(2) == 0 {
			v.user = fmt.Sprintf("u%d", a.r.IntN(12))
		}
		a.visits = append(a.visits, v)
	}
	for range 500 {
		e := &action{
			at: any(), attributes: map[string]string{"plan": one("free", "pro", "ü")}, origin: "server", kind: "custom",
			service: one("shop", "app", ""),
		}
		e.name = one("signed up", "added to cart", "added to cart", "purchase", "purchase ü", "$screen", "$pageview", "$pageview", "$pageview")
		if a.r.IntN(3) > 0 {
			v := a.visits[a.r.IntN(len(a.visits))]
			e.session, e.at = v, v.start.Add(time.Duration(a.r.Int64N(int64(v.end.Sub(v.start)+time.Millisecond)))).Truncate(time.Millisecond)
		}
		if a.r.IntN(2) == 0 {
			e.visitor = fmt.Sprintf("v%d", a.r.IntN(20))
		}
		if a.r.IntN(4) == 0 {
			e.user = fmt.Sprintf("u%d", a.r.IntN(12))
		}
		e.group = one("", "g1", "g2")
		e.address = one("https://shop.example/", "https://shop.example/cart?x=1", "https://app.example/pricing")
		switch {
		case e.name == "$screen":
			e.kind, e.origin = "screen", "mobile"
		case e.name == "$pageview" && e.session == nil:
			e.name = "signed up"
		case e.name == "$pageview":
			e.kind, e.origin = "navigation", "browser"
			e.service = e.session.service
			e.attributes = nil
		}
		a.actions = append(a.actions, e)
	}
	// No two events have the same time: which of them is first is no matter of chance for a funnel, but one for this evaluation.
	taken := map[time.Time]bool{}
	for _, e := range a.actions {
		for taken[e.at] {
			e.at = e.at.Add(time.Millisecond)
		}
		taken[e.at] = true
	}
}

func (e *action) host() string { return strings.Split(e.address, "/")[2] }

func (e *action) path() string {
	return strings.Split("/"+strings.SplitN(e.address, "/", 4)[3], "?")[0]
}

const stamp = "2006-01-02 15:04:05.000"

// send sends the sessions in both of their versions, in random order, and the events.
func (a *activity) send(tb testing.TB, s *testkit.Server) {
	tb.Helper()
	a.sendChunks(tb, s)
	var sessions, pages, events []object
	for _, v := range a.visits {
		row := object{
			"session_id": v.id, "start_time": v.start.Format(stamp), "visitor_id": v.visitor, "user_id": v.user, "country": v.country, "version": 1,
			"status": "active", "referrer_host": v.referrer, "utm_source": v.source, "service_name": v.service, "page_views": 1,
		}
		if !v.ended {
			row["page_views"], row["click_count"], row["error_count"] = v.pages, v.clicks, v.errors
		}
		maps.Copy(row, v.meta())
		for _, s := range v.timeline {
			pages = append(pages, s.line(v))
		}
		sessions = append(sessions, row)
		if v.ended {
			sessions = append(sessions, merged(row, object{
				"version": 2, "status": "ended", "end_time": v.end.Format(stamp), "duration_ms": v.end.Sub(v.start).Milliseconds(),
				"page_views": v.pages, "click_count": v.clicks, "error_count": v.errors,
			}))
		}
	}
	for _, e := range a.actions {
		if e.origin == "browser" {
			pages = append(pages, object{
				"session_id": e.session.id, "timestamp": e.at.Format(stamp), "type": "navigation", "url": e.address, "visitor_id": e.visitor,
				"user_id": e.user, "group_id": e.group,
			})
			continue
		}
		events = append(events, object{
			"name": e.name, "timestamp": e.at.Format(time.RFC3339Nano), "source": e.origin, "visitor_id": e.visitor, "user_id": e.user,
			"group_id": e.group, "session_id": e.sessionID(), "service_name": e.service, "url": e.address, "attributes": e.attributes,
		})
	}
	for path, lines := range map[string][]object{"/v1/sessionReplays/meta": sessions, "/v1/sessionEvents": pages, "/v1/events": events} {
		a.r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		for part := range slices.Chunk(lines, 150) {
			var body bytes.Buffer
			for _, l := range part {
				if err := json.NewEncoder(&body).Encode(l); err != nil {
					tb.Fatal(err)
				}
			}
			postLines(tb, s, path, body.Bytes())
		}
	}
}
