package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// checkRecording compares one session: its active time, its timeline, its traces and its chunks.
func (a *audit) checkRecording(v *visit, id string) {
	var detail object
	a.ask("getSessionReplay", object{"id": id}, &detail)
	active, idle, known := a.activeTime(v)
	if !known {
		a.names("getSessionReplay", "active time of "+v.id, some(detail["active_time_ms"] != nil), nil)
	} else {
		a.figure("getSessionReplay", "active time of "+v.id, number64(detail["active_time_ms"]), exactly(active))
		a.figure("getSessionReplay", "idle time of "+v.id, number64(detail["idle_time_ms"]), exactly(idle))
	}
	if length, known := v.duration(); known {
		a.figure("getSessionReplay", "duration of "+v.id, number64(detail["duration_ms"]), exactly(length))
		a.figure("getSessionReplay", "end of "+v.id, float64(moment(detail["end_time"]).Sub(v.end)), exactly(0))
	}
	if !v.active.IsZero() {
		a.figure("getSessionReplay", "last activity of "+v.id, float64(moment(detail["last_activity_at"]).Sub(v.active)), exactly(0))
	}
	a.names("getSessionReplay", "counts of "+v.id, []string{
		fmt.Sprint(detail["page_views"], detail["click_count"], detail["error_count"], detail["trace_count"], detail["visitor_is_new"]),
	}, []string{fmt.Sprint(v.pages, v.clicks, v.errors, len(v.traces), v.isNew)})
	a.names("getSessionReplay", "traces of "+v.id, strings.Fields(joined(detail["trace_ids"])), slices.Clone(v.traces))
	a.checkTimeline(v, id)
	a.checkSessionTraces(v, id)
	a.checkChunks(v, id)
}

func (a *audit) checkTimeline(v *visit, id string) {
	const read = "getSessionReplayTranscript"
	for request, meets := range map[string]func(*sight) bool{
		"":            func(*sight) bool { return true },
		"errors_only": (*sight).failed,
	} {
		all := slices.DeleteFunc(a.sights(v), func(s *sight) bool { return !meets(s) })
		asked, arguments := object{"id": id}, object{"session_id": id, "limit": 100}
		if request != "" {
			asked[request], arguments["only_errors"] = true, true
		}
		what := "events of " + v.id + " " + request
		var got, want []string
		for n, o := range a.walk(read, what, asked, len(all)) {
			status := blank(o["net_status"])
			got = append(got, strings.Join([]string{
				fmt.Sprint(n), moment(o["timestamp"]).UTC().Format(stamp), fmt.Sprint(o["type"], o["seq"]), fmt.Sprint(o["url"]), blank(o["trace_id"]),
				blank(o["level"]), blank(o["message"]), blank(o["target_selector"]), blank(o["error_stack"]), status, blank(o["net_duration_ms"]),
			}, "|"))
		}
		for n, s := range all {
			status, took := s.network()
			want = append(want, strings.Join([]string{
				fmt.Sprint(n), s.at.UTC().Format(stamp), fmt.Sprint(s.kind, s.seq), s.address, s.trace, s.level, s.message, s.target, s.stack, status, took,
			}, "|"))
		}
		a.names(read, what, got, want)
		var answer object
		a.call("get_session_transcript", arguments, &answer)
		got, want = nil, nil
		for n, o := range list(answer, "events") {
			got = append(got, fmt.Sprint(
				n, " ", moment(o["timestamp"]).UTC().Format(stamp), " ", o["type"], " ", blank(o["netStatus"]), " ", blank(o["netDurationMs"]),
			))
		}
		for n, s := range all {
			status, took := s.network()
			want = append(want, fmt.Sprint(n, " ", s.at.UTC().Format(stamp), " ", s.kind, " ", status, " ", took))
		}
		a.names("get_session_transcript", what, got, want)
	}
}

// network is the status and the duration of a request. A request without an answer has no status.
func (s *sight) network() (status, took string) {
	if s.kind != "network" {
		return "", ""
	}
	if s.status > 0 {
		status = fmt.Sprint(s.status)
	}
	return status, fmt.Sprint(s.took)
}

// tracesOf are the traces of a session: those that it reported, those that its timeline names, and those with a span that names it.
func (a *audit) tracesOf(v *visit) map[string][]*row {
	of := map[string]bool{}
	for _, trace := range v.traces {
		of[trace] = true
	}
	for _, s := range v.timeline {
		of[s.trace] = true
	}
	for _, s := range a.spans {
		if s.attributes["session.id"] == v.id {
			of[s.trace] = true
		}
	}
	return by(slices.DeleteFunc(slices.Clone(a.spans), func(s *row) bool { return !of[s.trace] }), func(s *row) string { return s.trace })
}

func (a *audit) checkSessionTraces(v *visit, id string) {
	const read = "listSessionReplayTraces"
	traces := a.tracesOf(v)
	text := func(trace string, at time.Time, ms, spans, failed any, name any) string {
		return fmt.Sprint(trace, " ", at.UTC().Format(time.RFC3339Nano), " ", ms, " ", spans, " ", failed, " ", name)
	}
	var want, got []string
	for trace, spans := range traces {
		start, ms := extent(spans)
		want = append(want, text(trace, start, ms, len(spans), len(failed(spans)) > 0, displayed(seenFrom(spans))))
	}
	rows := a.walk(read, "traces of "+v.id, object{"id": id}, len(traces))
	for _, o := range rows {
		got = append(got, text(
			fmt.Sprint(o["trace_id"]), moment(o["start_time"]), o["duration_ms"], o["span_count"], o["has_error"], o["root_span_name"],
		))
	}
	slices.Reverse(rows)
	a.ordered(read, "traces of "+v.id+", from the last", "start_time", rows)
	a.names(read, "traces of "+v.id, got, slices.Clone(want))
	const tool = "get_session_traces"
	var answer object
	a.call(tool, object{"session_id": id, "limit": 100}, &answer)
	got, want = nil, nil
	for trace, spans := range traces {
		_, ms := extent(spans)
		want = append(want, fmt.Sprint(trace, " ", ms, " ", len(spans), " ", len(failed(spans)) > 0))
	}
	for _, o := range list(answer, "traces") {
		got = append(got, fmt.Sprint(o["traceId"], " ", o["durationMs"], " ", o["spanCount"], " ", o["hasError"]))
	}
	a.names(tool, "traces of "+v.id, got, want)
	a.figure(tool, "reported traces of "+v.id, number64(answer["totalTraceCount"]), exactly(float64(len(v.traces))))
	session, _ := answer["session"].(object)
	a.names(tool, "counts of "+v.id, []string{fmt.Sprint(session["pageViews"], session["clickCount"], session["errorCount"])},
		[]string{fmt.Sprint(v.pages, v.clicks, v.errors)})
	if active, idle, known := a.activeTime(v); known {
		a.figure(tool, "active time of "+v.id, number64(session["activeTimeMs"]), exactly(active))
		a.figure(tool, "idle time of "+v.id, number64(session["idleTimeMs"]), exactly(idle))
	}
	if length, known := v.duration(); known {
		a.figure(tool, "duration of "+v.id, number64(session["durationMs"]), exactly(length))
	}
}

// extent is the start of a trace and its length in milliseconds.
func extent(spans []*row) (start time.Time, ms float64) {
	start = slices.MinFunc(spans, func(x, y *row) int { return x.at.Compare(y.at) }).at
	end := start
	for _, s := range spans {
		if at := s.at.Add(s.duration); at.After(end) {
			end = at
		}
	}
	return start, float64(end.Sub(start)) / 1e6
}

// checkChunks compares the manifest and the events of a recording. A chunk that was sent twice counts once.
func (a *audit) checkChunks(v *visit, id string) {
	var got object
	a.ask("getSessionReplayManifest", object{"id": id}, &got)
	size := 0
	text := func(seq, took, events, bytes, checkpoint any) string {
		return fmt.Sprint(seq, " ", took, " ", events, " ", bytes, " ", checkpoint)
	}
	var want, found, bodies []string
	for _, c := range v.chunks {
		size += len(c.body)
		want = append(want, text(c.seq, c.took, c.events, len(c.body), c.checkpoint))
		bodies = append(bodies, c.body)
	}
	for _, o := range list(got, "chunks") {
		found = append(found, text(o["chunk_seq"], o["duration_ms"], o["event_count"], o["byte_size"], o["is_checkpoint"]))
	}
	a.names("getSessionReplayManifest", "chunks of "+v.id, found, slices.Clone(want))
	a.figure("getSessionReplayManifest", "number of chunks of "+v.id, number64(got["chunk_count"]), exactly(float64(len(v.chunks))))
	a.figure("getSessionReplayManifest", "bytes of "+v.id, number64(got["total_byte_size"]), exactly(float64(size)))
	const read = "getSessionReplayEvents"
	var events []string
	found = nil
	for _, o := range a.walk(read, "chunks of "+v.id, object{"id": id}, len(v.chunks)) {
		found = append(found, text(o["chunk_seq"], o["duration_ms"], o["event_count"], o["byte_size"], o["is_checkpoint"]))
		events = append(events, fmt.Sprint(o["events"]))
	}
	a.names(read, "chunks of "+v.id, found, want)
	a.names(read, "events of "+v.id, events, bodies)
}

// checkSessionsOfTraces compares the sessions of some traces.
func (a *audit) checkSessionsOfTraces(ids map[*visit]string) {
	const read = "listSessionReplaysForTrace"
	of := map[string][]*visit{}
	for _, v := range a.visits {
		for trace := range a.tracesOf(v) {
			of[trace] = append(of[trace], v)
		}
	}
	for n, trace := range slices.Sorted(maps.Keys(of)) {
		if n == 6 {
			return
		}
		var want, got []string
		for _, v := range of[trace] {
			ms := ""
			if length, known := v.duration(); known {
				ms = fmt.Sprint(length)
			}
			want = append(want, fmt.Sprint(ids[v], " ", v.start.UTC().Format(stamp), " ", ms))
		}
		rows := a.walk(read, "sessions of "+trace, in(window{a.start, a.end}, object{"trace_id": trace}), len(want))
		for _, o := range rows {
			got = append(got, fmt.Sprint(o["id"], " ", moment(o["start_time"]).UTC().Format(stamp), " ", blank(o["duration_ms"])))
		}
		a.ordered(read, "sessions of "+trace, "start_time", rows)
		a.names(read, "sessions of "+trace, got, want)
	}
}
