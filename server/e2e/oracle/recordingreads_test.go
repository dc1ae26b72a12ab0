package oracle_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// duration is the length of a session. It is not known while the session is open.
func (v *visit) duration() (ms float64, known bool) {
	return float64(v.end.Sub(v.start)) / 1e6, v.ended
}

// tags are the tags of a session: one kind, and additional ones.
func (v *visit) tags() []string {
	ms, known := v.duration()
	if !known && !v.active.IsZero() {
		ms, known = float64(v.active.Sub(v.start))/1e6, true
	}
	kind := "engaged"
	switch {
	case strings.Contains(strings.ToLower(v.agent), "bot"):
		kind = "bot"
	case known && ms < 5000 && v.clicks == 0:
		kind = "bounce"
	case known && ms >= 30000 && v.clicks == 0 && v.pages <= 1:
		kind = "idle"
	case known && ms < 30000 && v.clicks <= 2 && v.pages <= 1 && v.errors == 0:
		kind = "glance"
	}
	list := []string{kind}
	if v.user != "" {
		list = append(list, "signed_in")
	}
	if v.isNew {
		list = append(list, "new_visitor")
	}
	return list
}

// sights are the events of the timeline of a session, with its views of pages.
func (a *activity) sights(v *visit) []*sight {
	list := slices.Clone(v.timeline)
	for _, e := range a.actions {
		if e.session == v && e.origin == "browser" {
			list = append(list, &sight{at: e.at, kind: "navigation", address: e.address})
		}
	}
	slices.SortStableFunc(list, func(x, y *sight) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.seq, y.seq), cmp.Compare(x.kind, y.kind))
	})
	return list
}

// activeTime divides a session into its activity and its pauses of more than 15 s. Its start, its end and the events between them count.
func (a *activity) activeTime(v *visit) (active, idle float64, known bool) {
	length, ended := v.duration()
	places := []float64{0}
	for _, s := range a.sights(v) {
		at := float64(s.at.Sub(v.start)) / 1e6
		if ended {
			at = min(max(at, 0), length)
		}
		places = append(places, at)
	}
	known = len(places) > 1
	if ended {
		places = append(places, length)
	}
	slices.Sort(places)
	for n, at := range places[1:] {
		if gap := at - places[n]; gap > 15000 {
			idle += gap
		} else {
			active += gap
		}
	}
	return active, idle, known
}

// visitCondition is a filter of sessions.
type visitCondition struct {
	filters object
	meets   func(*visit) bool
	events  func(*sight) bool
}

func (a *activity) visitConditions() []visitCondition {
	tagged := func(tags ...string) func(*visit) bool {
		return func(v *visit) bool {
			return !slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(v.tags(), tag) })
		}
	}
	return []visitCondition{
		{object{}, func(*visit) bool { return true }, nil},
		{object{"browser": "Firefox"}, func(v *visit) bool { return v.browser == "Firefox" }, nil},
		{object{"device_type": "mobile", "has_errors": true}, func(v *visit) bool { return v.device == "mobile" && v.errors > 0 }, nil},
		{object{"tags": []string{"engaged", "signed_in"}}, tagged("engaged", "signed_in"), nil},
		{object{"tags": []string{"bot"}}, tagged("bot"), nil},
		{object{"user_search": "U1"}, func(v *visit) bool { return contains(v.user, "u1") }, nil},
		{
			object{"duration_min_ms": 60000, "duration_max_ms": 600000},
			func(v *visit) bool { ms, known := v.duration(); return known && ms >= 60000 && ms <= 600000 },
			nil,
		},
		{
			object{"active_time_min_ms": 5000},
			func(v *visit) bool { ms, _, known := a.activeTime(v); return known && ms >= 5000 },
			nil,
		},
		{
			object{"events": object{"type": "network", "min_status": 500}},
			nil,
			func(s *sight) bool { return s.kind == "network" && s.status >= 500 },
		},
		{object{"events": object{"message_search": "STOCK"}}, nil, func(s *sight) bool { return contains(s.message, "stock") }},
		{
			object{"events": object{"url_search": "/API"}},
			nil,
			func(s *sight) bool { return contains(s.address, "/api") || contains(s.called, "/api") },
		},
	}
}

// checkRecordings compares the reads of sessions and of their recordings: each filter in one window, and some sessions in whole.
func (a *audit) checkRecordings() {
	windows := a.windows()
	ids := map[*visit]string{}
	for n, c := range a.activity.visitConditions() {
		a.checkFoundSessions(windows[n%len(windows)], c, ids)
	}
	for n, v := range slices.SortedFunc(maps.Keys(ids), func(x, y *visit) int { return cmp.Compare(x.id, y.id) }) {
		if n%5 == 0 {
			a.checkRecording(v, ids[v])
		}
	}
	a.checkSessionsOfTraces(ids)
}

func (a *audit) checkFoundSessions(w window, c visitCondition, ids map[*visit]string) {
	what := fmt.Sprintf("sessions of %v in %s", c.filters, w)
	var found []*visit
	matches := map[*visit][]*sight{}
	for _, v := range a.visits {
		if c.events != nil {
			matches[v] = slices.DeleteFunc(a.sights(v), func(s *sight) bool { return !c.events(s) })
		}
		if w.holds(v.start) && (c.meets == nil || c.meets(v)) && (c.events == nil || len(matches[v]) > 0) {
			found = append(found, v)
		}
	}
	const read = "searchSessionReplays"
	var got, want []string
	for _, o := range a.walk(read, what, in(w, c.filters), len(found)) {
		got = append(got, summaryOfSession(o))
		for _, v := range a.visits {
			if v.start.Equal(moment(o["start_time"])) {
				ids[v] = fmt.Sprint(o["id"])
			}
		}
	}
	for _, v := range found {
		want = append(want, v.summary(matches[v], c.events != nil))
	}
	a.names(read, what, got, want)
	a.checkSessionFacets(what, in(w, c.filters), found)
	a.checkSessionTool(what, w, c, found, matches)
}

func counted(matches []*sight, filtered bool) string {
	if !filtered || len(matches) == 0 {
		return "|"
	}
	return fmt.Sprint(len(matches), "|", matches[0].at.UTC().Format(stamp), " ", matches[0].address)
}

func (v *visit) summary(matches []*sight, filtered bool) string {
	ms, active := "", ""
	if length, known := v.duration(); known {
		ms = fmt.Sprint(length)
	}
	if !v.active.IsZero() {
		active = v.active.UTC().Format(stamp)
	}
	return strings.Join([]string{
		v.start.UTC().Format(stamp), ms, active, v.browser, v.device, fmt.Sprint(v.pages, v.clicks, v.errors, len(v.traces), len(v.chunks) > 0),
		strings.Join(v.tags(), " "), counted(matches, filtered),
	}, "|")
}

func summaryOfSession(o object) string {
	active, match := "", "|"
	if o["last_activity_at"] != nil {
		active = moment(o["last_activity_at"]).UTC().Format(stamp)
	}
	if first, ok := o["first_match"].(object); ok {
		match = fmt.Sprint(o["match_count"], "|", moment(first["timestamp"]).UTC().Format(stamp), " ", first["url"])
	}
	return strings.Join([]string{
		moment(o["start_time"]).UTC().Format(stamp), blank(o["duration_ms"]), active, fmt.Sprint(o["browser_name"]), fmt.Sprint(o["device_type"]),
		fmt.Sprint(o["page_views"], o["click_count"], o["error_count"], o["trace_count"], o["recorded"]), joined(o["tags"]), match,
	}, "|")
}

// joined is a list of texts in an answer as one text.
func joined(v any) string {
	var out []string
	list, _ := v.([]any)
	for _, s := range list {
		out = append(out, fmt.Sprint(s))
	}
	return strings.Join(out, " ")
}

func (a *audit) checkSessionFacets(what string, request object, found []*visit) {
	const read = "searchSessionReplayFacets"
	var got object
	a.ask(read, request, &got)
	a.figure(read, what, number64(got["session_count"]), exactly(float64(len(found))))
	withErrors := slices.DeleteFunc(slices.Clone(found), func(v *visit) bool { return v.errors == 0 })
	a.figure(read, "failing "+what, number64(got["error_count"]), exactly(float64(len(withErrors))))
	for facet, of := range map[string]func(*visit) string{
		"services": func(v *visit) string { return v.service }, "browsers": func(v *visit) string { return v.browser },
		"countries": func(v *visit) string { return v.country }, "devices": func(v *visit) string { return v.device },
	} {
		want, names := by(found, of), []string{}
		for _, o := range list(got, facet) {
			name := fmt.Sprint(o["name"])
			names = append(names, name)
			a.figure(read, facet+" "+name+" of "+what, number64(o["count"]), exactly(float64(len(want[name]))))
		}
		a.names(read, facet+" of "+what, names, slices.Collect(maps.Keys(want)))
	}
}

// checkSessionTool compares the list of the tool. The names of its filters differ, and it has no tags.
func (a *audit) checkSessionTool(what string, w window, c visitCondition, found []*visit, matches map[*visit][]*sight) {
	const read = "search_sessions"
	arguments := in(w, object{"limit": 100})
	for name, value := range c.filters {
		switch name {
		case "tags":
			return
		case "events":
			for name, value := range value.(object) {
				spelled := map[string]string{
					"type": "event_type", "min_status": "http_status_min", "message_search": "message_contains", "url_search": "url_contains",
				}
				arguments[spelled[name]] = value
			}
		default:
			arguments[strings.Replace(strings.Replace(name, "active_time", "active", 1), "service_name", "service", 1)] = value
		}
	}
	var answer object
	a.call(read, arguments, &answer)
	var got, want []string
	for _, o := range list(answer, "sessions") {
		got = append(got, fmt.Sprint(
			moment(o["startTime"]).UTC().Format(stamp), " ", blank(o["durationMs"]), " ", o["pageViews"], o["clickCount"], o["errorCount"],
			o["traceCount"], " ", blank(o["matchCount"]),
		))
	}
	for _, v := range found {
		ms, count := "", ""
		if length, known := v.duration(); known {
			ms = fmt.Sprint(length)
		}
		if c.events != nil {
			count = fmt.Sprint(len(matches[v]))
		}
		want = append(want, fmt.Sprint(
			v.start.UTC().Format(stamp), " ", ms, " ", v.pages, v.clicks, v.errors, len(v.traces), " ", count,
		))
	}
	a.names(read, what, got, want)
}
