package demo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// noon is a time without active faults.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// told returns a unit as bytes, so that units can be compared.
func told(t *testing.T, u *Unit) string {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintln(&b, u.due)
	for _, m := range []proto.Message{groupSpans(u.spans), groupLogs(u.logs), groupMetrics(u.metrics)} {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	for _, lines := range [][][]byte{u.sessions, u.timeline, u.products} {
		b.Write(bytes.Join(lines, []byte("\n")))
	}
	for _, c := range u.chunks {
		text, err := json.Marshal(c.events)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, c.session, c.seq, c.checkpoint, c.duration, string(text))
	}
	return b.String()
}

func take(t *testing.T, cfg Config, from time.Time, steps ...time.Duration) []string {
	t.Helper()
	s := NewStream(cfg, from)
	var out []string
	for _, step := range steps {
		from = from.Add(step)
		for _, u := range s.Take(from) {
			out = append(out, told(t, u))
		}
	}
	return out
}

// TestSameTelemetry: seed and window determine everything. Two adjacent windows give the same telemetry as one window over both.
func TestSameTelemetry(t *testing.T) {
	cfg := Config{Seed: 7, Rate: 0.5}
	const m = time.Minute
	whole := take(t, cfg, noon(), 6*m)
	if len(whole) < 100 {
		t.Fatalf("only %d units in 6 minutes", len(whole))
	}
	if again := take(t, cfg, noon(), 6*m); !slices.Equal(whole, again) {
		t.Error("the same window gives other telemetry")
	}
	if steps := take(t, cfg, noon(), 17*time.Second, 2*m, 43*time.Second, 3*m); !slices.Equal(whole, steps) {
		t.Error("a window that is taken in steps gives other telemetry")
	}
	cut := 2*m + 30*time.Second
	if parts := append(take(t, cfg, noon(), cut), take(t, cfg, noon().Add(cut), 6*m-cut)...); !slices.Equal(whole, parts) {
		t.Errorf("two windows give other telemetry than one over both: %d and %d units", len(parts), len(whole))
	}
	if other := take(t, Config{Seed: 8, Rate: 0.5}, noon(), 6*m); slices.Equal(whole, other) {
		t.Error("another seed gives the same telemetry")
	}
}

// TestTraces: ids, parents and times are like those of real traces.
func TestTraces(t *testing.T) {
	type key struct{ trace, span string }
	spans := map[key]*tracepb.Span{}
	services := map[string]bool{}
	var list []*tracepb.Span
	from, to := noon(), noon().Add(20*time.Minute)
	for _, u := range NewStream(Config{Seed: 1, Rate: 2}, from).Take(to) {
		if u.due <= from.UnixNano() || u.due > to.UnixNano() {
			t.Fatalf("a unit is due at %s", time.Unix(0, u.due))
		}
		for _, s := range u.spans {
			id := key{string(s.span.TraceId), string(s.span.SpanId)}
			if spans[id] != nil || len(s.span.TraceId) != 16 || len(s.span.SpanId) != 8 {
				t.Fatalf("span %x of %x is there twice, or its ids are of another size", s.span.SpanId, s.span.TraceId)
			}
			spans[id] = s.span
			list = append(list, s.span)
			services[textOf(s.from.pb.Attributes, "service.name")] = true
			if int64(s.span.EndTimeUnixNano) > u.due {
				t.Errorf("%s is sent before it ends", s.span.Name)
			}
		}
	}
	if len(services) != 12 {
		t.Errorf("%d services send spans: %v", len(services), services)
	}
	kinds := map[tracepb.Span_SpanKind]int{}
	errors, exceptions, links, weighted := 0, 0, 0, 0
	for _, s := range list {
		kinds[s.Kind]++
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s ends before it starts", s.Name)
		}
		if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			errors++
		}
		links += len(s.Links)
		if s.TraceState != "" {
			weighted++
		}
		for _, e := range s.Events {
			if e.Name == "exception" && textOf(e.Attributes, "exception.stacktrace") != "" {
				exceptions++
			}
		}
		if len(s.ParentSpanId) == 0 {
			continue
		}
		parent := spans[key{string(s.TraceId), string(s.ParentSpanId)}]
		if parent == nil {
			t.Fatalf("the parent of %s is missing", s.Name)
		}
		if parent.StartTimeUnixNano > s.StartTimeUnixNano {
			t.Errorf("%s starts before its parent %s", s.Name, parent.Name)
		}
	}
	if len(kinds) != 5 || errors == 0 || exceptions == 0 || links == 0 || weighted == 0 {
		t.Errorf("kinds %v, %d errors, %d exceptions, %d links, %d of sampled traces", kinds, errors, exceptions, links, weighted)
	}
	perDay := float64(len(list)) * 72 / traffic(noon().UnixNano())
	if perDay < 1e6 || perDay > 2e6 {
		t.Errorf("the default makes %.0f spans a day, not 1 to 2 million", perDay)
	}
}

// TestCounters: a cumulative value falls only at a restart, and restarts once a day.
func TestCounters(t *testing.T) {
	type last struct {
		value float64
		start uint64
	}
	before := map[string]last{}
	restarts := 0
	sh := newShop(Config{Seed: 3, Rate: 0.01})
	begin := noon().UnixNano() / nanosPerMinute
	for minute := begin; minute < begin+26*60; minute += 7 {
		g := &slot{shop: sh, minute: minute, start: minute * nanosPerMinute}
		g.metrics()
		for _, m := range g.units[0].metrics {
			sum := m.metric.GetSum()
			if sum == nil || !sum.IsMonotonic || sum.AggregationTemporality != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
				continue
			}
			for _, p := range sum.DataPoints {
				key := fmt.Sprint(m.metric.Name, m.from.pb.Attributes, p.Attributes)
				now := last{p.GetAsDouble() + float64(p.GetAsInt()), p.StartTimeUnixNano}
				was, known := before[key]
				switch {
				case now.value < 0 || now.start > p.TimeUnixNano:
					t.Fatalf("%s is %v at %d", m.metric.Name, now, p.TimeUnixNano)
				case !known:
				case now.start != was.start:
					restarts++
				case now.value < was.value:
					t.Fatalf("%s falls from %v to %v", key, was, now)
				}
				before[key] = now
			}
		}
	}
	if len(before) < 100 || restarts < len(before)/3 {
		t.Errorf("%d counters start anew %d times", len(before), restarts)
	}
}

// TestTimetable: the faults are active at the listed times, even if the timetable is moved, and the document has the same times.
func TestTimetable(t *testing.T) {
	document, err := os.ReadFile("../../docs/demo.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range timetable() {
		clock := func(d time.Duration) string { return time.Time{}.Add(d).Format("15:04") }
		entry := fmt.Sprintf("\n* `%s` of `%s`, %s to %s: ", f.name, f.service, clock(f.at), clock(f.at+f.lasts))
		if !strings.Contains(string(document), entry) {
			t.Errorf("docs/demo.md lacks %q", entry)
		}
	}
	for _, shift := range []time.Duration{0, 5 * time.Hour, -11 * time.Hour, 23 * time.Hour} {
		cfg := Config{FaultShift: shift}
		c := newFaultClock(cfg)
		from := noon()
		list := cfg.Faults(from, from.Add(48*time.Hour))
		if len(list) < 7 || len(list) > 9 {
			t.Errorf("shift %s: %d faults in two days", shift, len(list))
		}
		on := map[string]time.Duration{}
		for at := from; at.Before(from.Add(48 * time.Hour)); at = at.Add(time.Minute) {
			for _, f := range timetable() {
				listed := slices.ContainsFunc(list, func(g Fault) bool { return g.Name == f.name && !at.Before(g.Start) && at.Before(g.End) })
				if c.on(f.name, at.UnixNano()) != listed {
					t.Fatalf("shift %s: %s at %s: listed %v", shift, f.name, at, listed)
				}
				if listed {
					on[f.name] += time.Minute
				}
			}
		}
		for name, lasted := range on {
			if got := c.seconds(name, from.UnixNano(), from.Add(48*time.Hour).UnixNano()); got != lasted.Seconds() {
				t.Errorf("shift %s: %s was on for %v s, counted %v", shift, name, lasted.Seconds(), got)
			}
		}
		for _, f := range list {
			if f.Name != FaultRelease {
				continue
			}
			at := f.Start.UnixNano()
			if old, bad, good := c.catalogVersion(at-1), c.catalogVersion(at), c.catalogVersion(f.End.UnixNano()); old == bad ||
				bad == good || !strings.HasSuffix(bad, ".0") {
				t.Errorf("versions %s, %s, %s", old, bad, good)
			}
			if got := c.released(at + int64(time.Minute)); got != at {
				t.Errorf("the bad version was released at %s, not %s", time.Unix(0, got), f.Start)
			}
		}
	}
	patterns := map[string]bool{}
	for d := range 7 {
		patterns[floodPattern(noon().Add(time.Duration(d)*day).UnixNano())] = true
	}
	if len(patterns) != 7 {
		t.Errorf("%d patterns in a week", len(patterns))
	}
}

// TestFaultsShow: each fault is visible in the spans and logs of its time, and not before.
func TestFaultsShow(t *testing.T) {
	look := func(from time.Time, fault string) seen {
		var s seen
		for _, u := range NewStream(Config{Seed: 5, Rate: 4}, from).Take(from.Add(8 * time.Minute)) {
			for _, x := range u.spans {
				service, took := textOf(x.from.pb.Attributes, "service.name"), time.Duration(x.span.EndTimeUnixNano-x.span.StartTimeUnixNano)
				if environment := textOf(x.from.pb.Attributes, "deployment.environment.name") +
					textOf(x.from.pb.Attributes, "deployment.environment"); environment != production {
					continue
				}
				failed := x.span.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR
				switch {
				case fault == FaultRelease && service == catalog && x.span.Name == "GET /products/{id}":
					s.count(took > 200*time.Millisecond)
				case fault == FaultErrors && service == cart && x.span.Name == "POST /cart/items":
					s.count(failed)
				case fault == FaultDependency && service == payments && textOf(x.span.Attributes, "server.address") == "api.payfast.example":
					s.count(failed && took >= 3*time.Second)
				}
			}
			for _, l := range u.logs {
				if fault == FaultLogs && textOf(l.from.pb.Attributes, "service.name") == inventory {
					s.count(textOf(l.record.Attributes, "log.logger") == "shop.inventory.Ledger")
				}
			}
		}
		return s
	}
	want := map[string]float64{FaultRelease: 1, FaultErrors: 0.35, FaultDependency: 0.65, FaultLogs: 0.95}
	for _, f := range (Config{}).Faults(noon(), noon().Add(day)) {
		quiet, on := look(f.Start.Add(-10*time.Minute), f.Name), look(f.Start.Add(time.Minute), f.Name)
		share := float64(on.hits) / float64(on.of)
		if on.of < 40 || share < want[f.Name]-0.12 || share > want[f.Name]+0.12 {
			t.Errorf("%s: %d of %d, want about %.0f %%", f.Name, on.hits, on.of, 100*want[f.Name])
		}
		if float64(quiet.hits) > 0.03*float64(quiet.of) {
			t.Errorf("%s before it begins: %d of %d", f.Name, quiet.hits, quiet.of)
		}
	}
}

// seen counts items: of is the number that a fault could affect, hits the number that shows it.
type seen struct{ of, hits int }

func (s *seen) count(hit bool) {
	s.of++
	if hit {
		s.hits++
	}
}

// TestLogsBelongToSpans: a record with a trace has a span of that trace in the same unit, at the time of the record.
func TestLogsBelongToSpans(t *testing.T) {
	with, levels := 0, map[string]int{}
	for _, u := range NewStream(Config{Seed: 2, Rate: 2}, noon()).Take(noon().Add(30 * time.Minute)) {
		for _, l := range u.logs {
			levels[l.record.SeverityText]++
			if len(l.record.TraceId) == 0 {
				continue
			}
			with++
			if !slices.ContainsFunc(u.spans, func(s spanOf) bool {
				return s.from == l.from && bytes.Equal(s.span.SpanId, l.record.SpanId) && s.span.StartTimeUnixNano <= l.record.TimeUnixNano &&
					l.record.TimeUnixNano <= s.span.EndTimeUnixNano
			}) {
				t.Fatalf("%q stands alone", l.record.Body.GetStringValue())
			}
		}
	}
	if with == 0 || len(levels) < 4 {
		t.Errorf("%d records of traces, levels %v", with, levels)
	}
}

// TestServerDurations: the histograms of the services agree with the spans and their weights.
func TestServerDurations(t *testing.T) {
	from, to := noon(), noon().Add(10*time.Minute)
	s := NewStream(Config{Seed: 4, Rate: 2}, from)
	spans, counted := map[string]float64{}, map[string]float64{}
	for _, u := range s.Take(to.Add(time.Hour)) {
		for _, x := range u.spans {
			end := int64(x.span.EndTimeUnixNano)
			route := textOf(x.span.Attributes, "http.route")
			if x.span.Kind != server || route == "" || end < from.UnixNano() || end >= to.UnixNano() {
				continue
			}
			weight := 1.0
			if x.span.TraceState != "" {
				weight = 4
			}
			spans[textOf(x.from.pb.Attributes, "service.name")+route] += weight
		}
		for _, m := range u.metrics {
			if m.metric.Name != "http.server.request.duration" || u.due > to.UnixNano() {
				continue
			}
			for _, p := range m.metric.GetHistogram().DataPoints {
				sum := uint64(0)
				for _, n := range p.BucketCounts {
					sum += n
				}
				if sum != p.Count {
					t.Fatalf("buckets have %d, count is %d", sum, p.Count)
				}
				counted[textOf(m.from.pb.Attributes, "service.name")+textOf(p.Attributes, "http.route")] += float64(p.Count)
			}
		}
	}
	if len(spans) < 8 {
		t.Errorf("routes: %v", spans)
	}
	for route, n := range spans {
		if counted[route] != n {
			t.Errorf("%s: spans %v, histogram %v", route, n, counted[route])
		}
	}
}

// TestSessions: a visitor's actions follow from earlier ones, the shares of the funnel are plausible, and every trace that a
// session names exists.
func TestSessions(t *testing.T) {
	from, to := noon(), noon().Add(3*time.Hour)
	steps, traces, named := map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}
	ended, recordings := 0, map[string]int{}
	played := map[string]int64{}
	whole := map[string]bool{} // sessions that began in the window
	for _, u := range NewStream(Config{Seed: 6, Rate: 2}, from).Take(to) {
		for _, s := range u.spans {
			traces[hex.EncodeToString(s.span.TraceId)] = true
		}
		for _, text := range u.timeline {
			var row struct {
				Session string `json:"session_id"`
				Type    string `json:"type"`
				Message string `json:"message"`
				Trace   string `json:"trace_id"`
			}
			if err := json.Unmarshal(text, &row); err != nil {
				t.Fatal(err)
			}
			name := row.Message
			if row.Type == "navigation" {
				name = "visit"
			}
			if row.Type == "navigation" || row.Type == "custom" {
				if steps[name] == nil {
					steps[name] = map[string]bool{}
				}
				steps[name][row.Session] = true
			}
			if row.Trace != "" && whole[row.Session] {
				named[row.Trace] = true
			}
		}
		for _, text := range u.sessions {
			var row struct {
				Session string `json:"session_id"`
			}
			if err := json.Unmarshal(text, &row); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte(`"active"`)) && u.due > from.Add(time.Minute).UnixNano() {
				whole[row.Session] = true
			}
			if bytes.Contains(text, []byte(`"ended"`)) {
				ended++
			}
		}
		for _, c := range u.chunks {
			if c.seq != recordings[c.session] && whole[c.session] {
				t.Errorf("chunk %d of %s comes after %d others", c.seq, c.session, recordings[c.session])
			}
			recordings[c.session]++
			for _, e := range c.events {
				if e.Timestamp < played[c.session] {
					t.Errorf("in %s, chunk %d, an event comes before the one before it", c.session, c.seq)
				}
				played[c.session] = e.Timestamp
			}
			playable(t, c)
		}
	}
	for id := range named {
		if !traces[id] {
			t.Fatalf("the trace %s of a session is missing", id)
		}
	}
	if ended < 100 || len(recordings) < 15 {
		t.Errorf("%d sessions, %d recordings", ended, len(recordings))
	}
	visits := float64(len(steps["visit"]))
	for _, f := range []struct {
		name      string
		low, high float64
	}{
		{"product viewed", 0.65, 0.85},
		{"added to cart", 0.2, 0.4},
		{"checkout started", 0.1, 0.25},
		{"order placed", 0.06, 0.2},
		{"signed up", 0.05, 0.2},
	} {
		if share := float64(len(steps[f.name])) / visits; share < f.low || share > f.high {
			t.Errorf("%s: %.2f of the sessions", f.name, share)
		}
	}
}

// playable checks that a player can play a chunk. A checkpoint begins with a snapshot, and no event refers to a node that does
// not exist.
func playable(t *testing.T, c chunk) {
	t.Helper()
	text, err := json.Marshal(c.events)
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		ID       int    `json:"id"`
		Children []node `json:"childNodes"`
	}
	var events []struct {
		Type      int   `json:"type"`
		Timestamp int64 `json:"timestamp"`
		Data      struct {
			Node node `json:"node"`
			ID   int  `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &events); err != nil {
		t.Fatal(err)
	}
	if c.checkpoint != (events[0].Type == eventMeta && events[1].Type == eventFullSnapshot) {
		t.Errorf("chunk %d of %s: checkpoint %v begins with %d", c.seq, c.session, c.checkpoint, events[0].Type)
	}
	ids := map[int]bool{}
	var walk func(n node)
	walk = func(n node) {
		if ids[n.ID] || n.ID == 0 {
			t.Errorf("node %d is there twice", n.ID)
		}
		ids[n.ID] = true
		for _, child := range n.Children {
			walk(child)
		}
	}
	for _, e := range events {
		if e.Type == eventFullSnapshot {
			clear(ids)
			walk(e.Data.Node)
		}
		if e.Type == eventIncremental && e.Data.ID != 0 && len(ids) > 0 && !ids[e.Data.ID] {
			t.Errorf("an event refers to node %d, which is not there", e.Data.ID)
		}
	}
}
