package services_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/warehouse"
)

func eventNames() []string {
	return []string{"order placed", "Signup", "größe", "$pageview", "$screen"}
}
func hosts() []string { return []string{"shop.example", "www.example"} }
func paths() []string { return []string{"/", "/cart", "/Cart"} }

// address is the URL of an event, which no other event has.
func address(id string) string { return "https://shop.example/" + id }

// fillEvents inserts random sessions and product events.
func (f *filtered) fillEvents(t testing.TB, w *warehouse.Warehouse, r *rand.Rand) {
	t.Helper()
	var sessions, events [][]any
	start := f.start.AsTime()
	for n := range 12 {
		s := item{
			session: fmt.Sprintf("s%02d", n), visitor: pick(r, []string{"", "v1", "v2", "v3"}), user: pick(r, []string{"", "", "ada"}),
			service: pick(r, services()), host: pick(r, hosts()), page: pick(r, paths()), country: pick(r, []string{"", "DE", "FR"}),
			referrer: pick(r, []string{"", "news.example"}), campaign: pick(r, []string{"", "mail"}), device: pick(r, []string{"desktop", "mobile"}),
			fresh: r.IntN(2) == 0, status: pick(r, []string{"Unset", "Error"}), attributes: pairs(r, keys()), resource: pairs(r, resources()),
		}
		s.environment = environmentOf(s.resource)
		f.sessions = append(f.sessions, s)
		failed := uint32(0)
		if s.status == "Error" {
			failed = 1
		}
		at := start.Add(time.Duration(n) * 7 * time.Minute)
		sessions = append(sessions, []any{
			string(f.org), s.session, uint32(1), at, at.Add(time.Minute), s.visitor, s.user, s.service, s.host, s.page, s.country, s.referrer,
			s.campaign,
			s.device, s.fresh, failed, s.attributes, s.resource,
		})
	}
	for n := range 60 {
		i := item{
			event: pick(r, eventNames()), kind: "custom", from: pick(r, []string{"browser", "server", "mobile"}), host: pick(r, append(hosts(), "")),
			page: pick(r, append(paths(), "")), visitor: pick(r, []string{"", "", "v1", "v2", "v3"}),
			user:  pick(r, []string{"", "", "", "ada", "Bob"}),
			group: pick(r, []string{"", "acme"}), session: pick(r, append([]string{"", "unknown"}, sessionIDs(f.sessions)...)),
			service: pick(r, services()), attributes: pairs(r, keys()), resource: pairs(r, resources()),
		}
		if n%4 == 0 {
			i.resource[pick(r, resources()[:2])] = "prod"
		}
		switch i.event {
		case "$pageview":
			i.kind = "navigation"
		case "$screen":
			i.kind = "screen"
		}
		i.id, i.environment = address(fmt.Sprint(n)), environmentOf(i.resource)
		f.events = append(f.events, i)
		events = append(events, []any{
			string(f.org), i.event, start.Add(time.Duration(n)*170*time.Second + time.Duration(n)), i.kind, i.from, i.visitor, i.user, i.group,
			i.session,
			i.service, i.id, i.host, i.page, i.attributes, i.resource,
		})
	}
	f.recognize()
	columns := strings.Fields(`OrgId SessionId Version StartTime EndTime VisitorId UserId ServiceName Host EntryPath Country ReferrerHost UtmSource
		DeviceType VisitorIsNew ErrorCount UserTraits ResourceAttributes`)
	if err := w.InsertRows(f.ctx, "session_replays", columns, sessions, ""); err != nil {
		t.Fatal(err)
	}
	columns = strings.Fields(`OrgId Name Timestamp Kind Source VisitorId UserId GroupId SessionId ServiceName Url Host PagePath Attributes
		ResourceAttributes`)
	if err := w.InsertRows(f.ctx, "product_events", columns, events, ""); err != nil {
		t.Fatal(err)
	}
}

// environmentOf is the environment in attributes of a resource whose table has no column for it.
func environmentOf(resource map[string]string) string {
	return cmp.Or(resource["deployment.environment.name"], resource["deployment.environment"])
}

func sessionIDs(sessions []item) (ids []string) {
	for _, s := range sessions {
		ids = append(ids, s.session)
	}
	return ids
}

// sessionOf is the session of an event, or a session without properties.
func (f *filtered) sessionOf(event item) (session item, ok bool) {
	n := slices.IndexFunc(f.sessions, func(s item) bool { return s.session == event.session })
	if n < 0 {
		return item{}, false
	}
	return f.sessions[n], true
}

// recognize finds the user, the visitor and the person of each event. The events are in the order of their times.
func (f *filtered) recognize() {
	start := f.start.AsTime()
	type seen struct {
		at   time.Time
		user string
	}
	last := map[string]seen{}
	see := func(at time.Time, i item) {
		if i.visitor != "" && i.user != "" && !at.Before(last[i.visitor].at) {
			last[i.visitor] = seen{at, i.user}
		}
	}
	for n, s := range f.sessions {
		see(start.Add(time.Duration(n)*7*time.Minute), s)
	}
	for n, i := range f.events {
		see(start.Add(time.Duration(n)*170*time.Second+time.Duration(n)), i)
	}
	for n := range f.events {
		i := &f.events[n]
		s, _ := f.sessionOf(*i)
		i.knownUser, i.knownVisitor = cmp.Or(i.user, s.user), cmp.Or(i.visitor, s.visitor)
		i.person = cmp.Or(i.knownUser, last[i.knownVisitor].user, i.knownVisitor, i.session)
	}
}

func (i item) eventMatches(f *svcv2.ProductEventFilters) bool {
	session := f.SessionId
	if session != nil && strings.HasPrefix(*session, publicid.SessionReplay) {
		id, _ := publicid.DecodeText(publicid.SessionReplay, *session)
		session = &id
	}
	return (len(f.GetNames()) == 0 || slices.Contains(f.GetNames(), i.event)) && is(f.Kind, i.kind) && is(f.Source, i.from) &&
		(f.Search == nil || contains(i.event, f.GetSearch())) && is(f.UserId, i.user) && is(f.VisitorId, i.visitor) && is(f.GroupId, i.group) &&
		is(session, i.session) && is(f.ServiceName, i.service) && (f.Host == nil || strings.ToLower(f.GetHost()) == i.host) &&
		is(f.PagePath, i.page) && allHold(i.attributes, f.GetAttributes()) && allHold(i.resource, f.GetResourceAttributes())
}

// sessionMatches evaluates the filters on a session, whose pages are those of its events, too.
func (f *filtered) sessionMatches(s item, p *svcv2.ProductFilters) bool {
	visited := func(i item) bool { return i.kind != "custom" && i.session == s.session && i.page == p.GetPagePath() }
	return (p.Host == nil || strings.ToLower(p.GetHost()) == s.host) && is(p.ReferrerHost, s.referrer) && is(p.Country, s.country) &&
		is(p.UtmSource, s.campaign) && is(p.DeviceType, s.device) && (p.VisitorType == nil || (p.GetVisitorType() == "new") == s.fresh) &&
		(p.PagePath == nil || p.GetPagePath() == s.page || slices.ContainsFunc(f.events, visited))
}

func randomEventFilters(r *rand.Rand, events []item) *svcv2.ProductEventFilters {
	session := pick(r, events).session
	f := &svcv2.ProductEventFilters{
		Kind: sometimes(r, "custom", "navigation"), Source: sometimes(r, "browser", "server"),
		Search: sometimes(r, "ORDER", "GRÖSSE", "g", "sign"),
		UserId: sometimes(r, "ada", ""), VisitorId: sometimes(r, "v1", ""), GroupId: sometimes(r, "acme", ""),
		SessionId: sometimes(r, session, publicid.EncodeText(publicid.SessionReplay, session)), ServiceName: sometimes(r, services()...),
		Host: sometimes(r, "shop.example", "WWW.Example", ""), PagePath: sometimes(r, "/cart", "/"), Attributes: randomAttributes(r, keys()),
		ResourceAttributes: randomAttributes(r, resources()),
	}
	if r.IntN(4) == 0 {
		f.Names = []string{pick(r, eventNames()), pick(r, eventNames())}
	}
	return f
}

func randomProductFilters(r *rand.Rand) *svcv2.ProductFilters {
	return &svcv2.ProductFilters{
		Host: sometimes(r, "shop.example", "WWW.Example"), PagePath: sometimes(r, "/cart", "/Cart"),
		ReferrerHost: sometimes(r, "news.example", ""),
		Country:      sometimes(r, "DE", ""), UtmSource: sometimes(r, "mail", ""), DeviceType: sometimes(r, "mobile"),
		VisitorType: sometimes(r, "new", "returning"),
	}
}

// treeOfEvents says the same as the filters of the methods of product events.
func treeOfEvents(f *svcv2.ProductEventFilters) (t tree) {
	t.equal("event.kind", f.Kind)
	t.equal("source", f.Source)
	t.equal("user.id", f.UserId)
	t.equal("visitor.id", f.VisitorId)
	t.equal("group.id", f.GroupId)
	t.equal("service.name", f.ServiceName)
	t.equal("host", f.Host)
	t.equal("page.path", f.PagePath)
	if f.SessionId != nil {
		id := f.GetSessionId()
		if own, err := publicid.DecodeText(publicid.SessionReplay, id); err == nil {
			id = own
		}
		t.and("session.id", "=", id)
	}
	if f.Search != nil {
		t.and("event.name", "contains", f.GetSearch())
	}
	if len(f.GetNames()) > 0 {
		t.and("event.name", "in", f.GetNames()...)
	}
	t.attributes("attr.", f.GetAttributes())
	t.attributes("resource.", f.GetResourceAttributes())
	return t
}
