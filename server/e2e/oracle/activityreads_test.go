package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// person is the user of an event, or else of its session; else the user that its visitor was last seen with in the window; else the
// visitor, else the session.
type persons struct {
	w    window
	last map[string]string // the last user of each visitor
}

func (a *activity) persons(w window) *persons {
	p := &persons{w: w, last: map[string]string{}}
	at := map[string]time.Time{}
	saw := func(visitor, user string, when time.Time) {
		if visitor == "" || user == "" || when.After(w.end) {
			return
		}
		if seen, ok := at[visitor]; !ok || when.After(seen) || when.Equal(seen) && user > p.last[visitor] {
			at[visitor], p.last[visitor] = when, user
		}
	}
	for _, e := range a.actions {
		if w.holds(e.at) {
			saw(e.visitor, e.user, e.at)
		}
	}
	for _, v := range a.visits {
		saw(v.visitor, v.user, v.start)
	}
	return p
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func (p *persons) visitor(e *action) string {
	if e.visitor == "" && e.session != nil {
		return e.session.visitor
	}
	return e.visitor
}

func (p *persons) user(e *action) string {
	if e.user == "" && e.session != nil {
		return e.session.user
	}
	return e.user
}

// key is the actor of an event, empty without one.
func (p *persons) key(by string, e *action) string {
	switch by {
	case "user", "users":
		return p.user(e)
	case "visitor", "visitors":
		return p.visitor(e)
	case "session", "sessions":
		return e.sessionID()
	}
	visitor := p.visitor(e)
	if user := first(p.user(e), p.last[visitor]); user != "" {
		return "user " + user
	}
	if visitor != "" {
		return "visitor " + visitor
	}
	if e.session != nil {
		return "session " + e.session.id
	}
	return ""
}

func (p *persons) aggregate(rows []*action, aggregation string, seconds float64) float64 {
	switch aggregation {
	case "count":
		return float64(len(rows))
	case "rate":
		return float64(len(rows)) / seconds
	}
	actors := by(rows, func(e *action) string { return p.key(aggregation, e) })
	delete(actors, "")
	return float64(len(actors))
}

func (a *activity) in(w window, meets func(*action) bool) (out []*action) {
	for _, e := range a.actions {
		if w.holds(e.at) && meets(e) {
			out = append(out, e)
		}
	}
	return out
}

type actionCondition struct {
	filters object
	meets   func(*action) bool
}

func actionConditions() []actionCondition {
	return []actionCondition{
		{object{}, func(*action) bool { return true }},
		{object{"names": []string{"purchase", "signed up"}}, func(e *action) bool { return e.name == "purchase" || e.name == "signed up" }},
		{object{"kind": "navigation"}, func(e *action) bool { return e.kind == "navigation" }},
		{object{"source": "mobile"}, func(e *action) bool { return e.origin == "mobile" }},
		{object{"search": "Ü"}, func(e *action) bool { return contains(e.name, "ü") }},
		{object{"user_id": "u3"}, func(e *action) bool { return e.user == "u3" }},
		{object{"session_id": "session-7"}, func(e *action) bool { return e.sessionID() == "session-7" }},
		{object{"host": "shop.example", "page_path": "/cart"}, func(e *action) bool { return e.host() == "shop.example" && e.path() == "/cart" }},
		{
			object{"attributes": []object{onAttribute("plan", "equals", "pro", false)}},
			func(e *action) bool { return e.attributes["plan"] == "pro" },
		},
	}
}

// checkActivity compares the reads of product events and of sessions.
func (a *audit) checkActivity() {
	windows := a.windows()
	for i, c := range actionConditions() {
		a.walkActions(c, windows[i%len(windows)])
	}
	for n, w := range windows {
		p := a.persons(w)
		a.checkNames(w, p)
		a.checkActionSeries(w, p)
		a.checkFunnels(w, p)
		if n%2 == 0 {
			a.checkFunnelDetails(w, p)
		} else {
			a.checkPaths(w, p)
		}
		a.walkVisits(w)
		a.checkVisitDifference(w)
	}
}

// checkVisitDifference compares the sides and the values of a difference of sessions.
func (a *audit) checkVisitDifference(w window) {
	const read = "explainDifference"
	request := in(w, object{"signal": "sessions", "where": "page_views > 0 AND has_error = true", "selected": "country = CZ"})
	var got object
	a.ask(read, request, &got)
	sides := map[string][]*visit{}
	for _, v := range a.visits {
		switch {
		case !w.holds(v.start) || v.pages == 0 || v.errors == 0:
		case v.country == "CZ":
			sides["selected"] = append(sides["selected"], v)
		default:
			sides["other"] = append(sides["other"], v)
		}
	}
	for _, name := range []string{"selected", "other"} {
		side, _ := got[name].(object)
		a.figure(read, name+" sessions in "+w.String(), number64(side["received_count"]), exactly(float64(len(sides[name]))))
	}
	if w.start.Equal(a.start) && w.end.Equal(a.end) && len(list(got, "data")) == 0 {
		a.Errorf("%s: the country sets the sessions apart, and no value does", read)
	}
	for _, d := range list(got, "data") {
		key, value := fmt.Sprint(d["key"]), fmt.Sprint(d["value"])
		for name, field := range map[string]string{"selected": "selected_share", "other": "other_share"} {
			with := 0
			for _, v := range sides[name] {
				of := map[string]string{
					"country": v.country, "service.name": v.service, "referrer.host": v.referrer, "utm.source": v.source, "user.id": v.user,
				}
				if held, ok := of[key]; !ok {
					a.Errorf("%s: %s is no value of a session", read, key)
				} else if held == value {
					with++
				}
			}
			a.figure(read, fmt.Sprintf("%s of %s=%s in %s", field, key, value, w), number64(d[field]),
				exactly(float64(with)/float64(len(sides[name]))))
		}
	}
}

func (a *audit) walkActions(c actionCondition, w window) {
	const read = "searchProductEvents"
	matched := a.activity.in(w, c.meets)
	what := fmt.Sprintf("events of %v in %s", c.filters, w)
	rows := a.walk(read, what, in(w, object{"filters": c.filters}), len(matched))
	a.ordered(read, what, "timestamp", rows)
	var got, want []string
	for _, o := range rows {
		session := "none"
		if o["session_id"] != nil {
			session = "a session"
		}
		got = append(got, strings.Join([]string{
			moment(o["timestamp"]).UTC().Format(stamp), fmt.Sprint(o["name"]), fmt.Sprint(o["kind"]), fmt.Sprint(o["source"]), blank(o["user_id"]),
			blank(o["visitor_id"]), blank(o["group_id"]), blank(o["host"]), blank(o["page_path"]), session,
			printed(texts(o["attributes"])),
		}, "|"))
	}
	for _, e := range matched {
		session := "none"
		if e.session != nil {
			session = "a session"
		}
		want = append(want, strings.Join([]string{
			e.at.UTC().Format(stamp), e.name, e.kind, e.origin, e.user, e.visitor, e.group, e.host(), e.path(), session, printed(e.attributes),
		}, "|"))
	}
	a.names(read, what, got, want)
}

// checkNames compares the list of names, over all sessions and over those of a country.
func (a *audit) checkNames(w window, p *persons) {
	const read = "listProductEvents"
	for filter, meets := range map[string]func(*action) bool{
		"":               func(*action) bool { return true },
		"country=CZ":     func(e *action) bool { return e.session != nil && e.session.country == "CZ" },
		"kind=screen":    func(e *action) bool { return e.kind == "screen" },
		"search=PURCHAS": func(e *action) bool { return contains(e.name, "purchas") },
	} {
		request := object{}
		if key, value, ok := strings.Cut(filter, "="); ok {
			request[key] = value
		}
		names := by(a.activity.in(w, meets), func(e *action) string { return e.name + " " + e.kind })
		what := fmt.Sprintf("names of %q in %s", filter, w)
		var found []string
		for _, o := range a.walk(read, what, in(w, request), len(names)) {
			name := fmt.Sprint(o["name"], " ", o["kind"])
			found = append(found, name)
			rows := names[name]
			if len(rows) == 0 {
				continue
			}
			for field, aggregation := range map[string]string{
				"count": "count", "sessions": "sessions", "persons": "persons", "unique_users": "users", "visitors": "visitors",
			} {
				got, _ := o[field].(float64)
				a.figure(read, field+" of "+name+" of "+what, got, exactly(p.aggregate(rows, aggregation, 0)))
			}
			order := func(x, y *action) int { return x.at.Compare(y.at) }
			a.figure(read, "first_seen of "+name, float64(moment(o["first_seen"]).Sub(slices.MinFunc(rows, order).at)), exactly(0))
			a.figure(read, "last_seen of "+name, float64(moment(o["last_seen"]).Sub(slices.MaxFunc(rows, order).at)), exactly(0))
		}
		a.names(read, what, found, slices.Collect(maps.Keys(names)))
		a.checkNamesTool(what, in(w, merged(request, object{"limit": 100})), names, p)
	}
}

// checkNamesTool compares the list of the tool with the same evaluation.
func (a *audit) checkNamesTool(what string, arguments object, names map[string][]*action, p *persons) {
	const read = "list_product_events"
	var got struct {
		Events []struct {
			EventName, Kind          string
			Count, Sessions, Persons float64
		}
	}
	a.call(read, arguments, &got)
	var found []string
	for _, e := range got.Events {
		name := e.EventName + " " + e.Kind
		found = append(found, name)
		for aggregation, n := range map[string]float64{"count": e.Count, "sessions": e.Sessions, "persons": e.Persons} {
			a.figure(read, aggregation+" of "+name+" of "+what, n, exactly(p.aggregate(names[name], aggregation, 0)))
		}
	}
	a.names(read, what, found, slices.Collect(maps.Keys(names)))
}

// checkActionSeries compares breakdowns and series by each aggregation.
func (a *audit) checkActionSeries(w window, p *persons) {
	groupings := []struct {
		request object
		of      func(*action) string
	}{
		{object{"group_by": "event_name"}, func(e *action) string { return e.name }},
		{object{"group_by": "kind"}, func(e *action) string { return e.kind }},
		{object{"group_by": "source"}, func(e *action) string { return e.origin }},
		{object{"group_by": "host"}, (*action).host},
		{object{"group_by": "page_path"}, (*action).path},
		{object{"group_by": "group"}, func(e *action) string { return e.group }},
		{object{"group_by": "attribute", "group_by_attribute_key": "plan"}, func(e *action) string { return e.attributes["plan"] }},
	}
	for n, aggregation := range []string{"count", "rate", "sessions", "persons", "users", "visitors"} {
		g := groupings[(n+a.activity.r.IntN(len(groupings)))%len(groupings)]
		request, meets := merged(g.request, object{"aggregation": aggregation}), func(*action) bool { return true }
		if a.activity.r.IntN(2) == 0 {
			request["event_names"] = []string{"purchase", "added to cart"}
			meets = func(e *action) bool { return e.name == "purchase" || e.name == "added to cart" }
		}
		rows := a.activity.in(w, meets)
		what := fmt.Sprintf("%v in %s", request, w)
		groups := by(rows, func(e *action) string { return orNone(g.of(e)) })
		var answer object
		a.ask("queryProductEventBreakdown", in(w, merged(request, object{"limit": 100})), &answer)
		var names []string
		for _, o := range list(answer, "data") {
			name := fmt.Sprint(o["name"])
			names = append(names, name)
			got, _ := o["value"].(float64)
			a.figure("queryProductEventBreakdown", what+" for "+name, got, exactly(p.aggregate(groups[name], aggregation, w.seconds())))
		}
		for name, of := range groups { // a group without an actor may be left out
			if p.aggregate(of, aggregation, 1) == 0 {
				delete(groups, name)
				names = slices.DeleteFunc(names, func(s string) bool { return s == name })
			}
		}
		a.names("queryProductEventBreakdown", "groups of "+what, names, slices.Collect(maps.Keys(groups)))
		bucket := []int64{60, 900, 3600, 77}[a.activity.r.IntN(4)]
		var series timeseries
		a.ask("queryProductEventTimeseries", in(w, merged(request, object{"series_limit": 100, "bucket_seconds": bucket})), &series)
		for _, s := range series.Series {
			name := "all"
			if s.Group != nil {
				name = *s.Group
			}
			buckets := by(groups[name], func(e *action) int64 { return w.bucket(e.at, bucket) })
			for _, point := range s.Points {
				at := point.Timestamp.Unix()
				want := p.aggregate(buckets[at], aggregation, covered(w, point.Timestamp, bucket))
				a.figure("queryProductEventTimeseries", what+" for "+name+" at "+point.Timestamp.Format("15:04:05"), point.Value, exactly(want))
				delete(buckets, at)
			}
			for at, of := range buckets {
				if p.aggregate(of, aggregation, 1) == 0 {
					delete(buckets, at)
				}
			}
			a.figure("queryProductEventTimeseries", "missing points of "+what+" for "+name, float64(len(buckets)), exactly(0))
			delete(groups, name)
		}
		a.names("queryProductEventTimeseries", "missing series of "+what, slices.Collect(maps.Keys(groups)), nil)
	}
}

// walkVisits compares the sessions that begin in a window.
func (a *audit) walkVisits(w window) {
	const read = "searchSessionReplays"
	country := []string{"", "CZ"}[a.activity.r.IntN(2)]
	request := in(w, nil)
	if country != "" {
		request["country"] = country
	}
	var got, want []string
	for _, v := range a.visits {
		if !w.holds(v.start) || country != "" && v.country != country {
			continue
		}
		status, end := "active", ""
		if v.ended {
			status, end = "ended", v.end.UTC().Format(stamp)
		}
		want = append(want, strings.Join([]string{
			v.start.UTC().Format(stamp), end, status, v.user, v.visitor, v.country, v.source, v.service, fmt.Sprint(v.pages),
			fmt.Sprint(v.clicks), fmt.Sprint(v.errors),
		}, "|"))
	}
	what := fmt.Sprintf("sessions of %q in %s", country, w)
	rows := a.walk(read, what, request, len(want))
	a.ordered(read, what, "start_time", rows)
	for _, o := range rows {
		end := ""
		if o["end_time"] != nil {
			end = moment(o["end_time"]).UTC().Format(stamp)
		}
		got = append(got, strings.Join([]string{
			moment(o["start_time"]).UTC().Format(stamp), end, fmt.Sprint(o["status"]), blank(o["user_id"]), fmt.Sprint(o["visitor_id"]),
			fmt.Sprint(o["country"]), fmt.Sprint(o["utm_source"]), fmt.Sprint(o["service_name"]),
			fmt.Sprint(o["page_views"]), fmt.Sprint(o["click_count"]), fmt.Sprint(o["error_count"]),
		}, "|"))
	}
	a.names(read, what, got, want)
	if len(rows) == 0 {
		return
	}
	one := rows[a.activity.r.IntN(len(rows))]
	var detail object
	a.ask("getSessionReplay", object{"id": one["id"]}, &detail)
	i := slices.IndexFunc(a.visits, func(v *visit) bool { return v.start.Equal(moment(detail["start_time"])) })
	if i < 0 {
		a.Errorf("getSessionReplay: no session begins at %v", detail["start_time"])
		return
	}
	v := a.visits[i]
	a.names("getSessionReplay", "referrer of "+v.id, []string{fmt.Sprint(detail["referrer_host"])}, []string{v.referrer})
}
