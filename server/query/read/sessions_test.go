package read_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// fresh returns an organization that no earlier run of the test used.
func fresh(t *testing.T) principal.OrgID {
	return warehousetest.OrgID(t) + principal.OrgID("_"+strconv.FormatInt(time.Now().UnixNano(), 36))
}

// insert stores a set as the pipeline does: each table under its own token.
func insert(t *testing.T, w *warehouse.Warehouse, set *blocks.Set, token string) {
	t.Helper()
	for table := range set.Tables() {
		var body bytes.Buffer
		if _, err := table.WriteTo(&body); err != nil {
			t.Fatal(err)
		}
		if err := w.Insert(t.Context(), table.Name, strings.Trim(table.Columns, "()"), &body, token+"/"+table.Name); err != nil {
			t.Fatalf("%s: %v", table.Name, err)
		}
	}
}

// seed is the data of one organization: a session in two versions, three chunks of which one arrives twice, a timeline, and
// product events.
func seed(t *testing.T, org principal.OrgID, now time.Time) *blocks.Set {
	t.Helper()
	var set blocks.Set
	clock := func(seconds int) string {
		return now.Add(time.Duration(seconds) * time.Second).Format("2006-01-02 15:04:05.000")
	}
	stamp := &otlp.Stamp{Origin: otlp.Origin{Org: org, KeyType: otlp.KeyPublic}, ReceivedUnixNano: now.UnixNano()}
	for kind, lines := range map[activity.Kind][]string{
		activity.SessionReplays: {
			`{"session_id":"s_1","start_time":"` + clock(0) + `","status":"active","browser_name":"Firefox"}`,
			`{"session_id":"s_1","start_time":"` + clock(0) + `","end_time":"` + clock(60) +
				`","version":2,"error_count":1,"browser_name":"Firefox","user_id":"ada","trace_ids":["5b8efff798038103d269b633813fc60c"]}`,
			`{"session_id":"s_2","start_time":"` + clock(5) + `","browser_name":"Safari"}`,
		},
		activity.SessionEvents: {
			`{"session_id":"s_1","timestamp":"` + clock(1) + `","seq":2,"type":"click","target_text":"Buy"}`,
			`{"session_id":"s_1","timestamp":"` + clock(1) + `","seq":1,"type":"navigation","url":"https://Shop.example:8443/cart?x=1","user_id":"ada"}`,
			`{"session_id":"s_1","timestamp":"` + clock(2) + `","type":"custom","message":"order placed","attributes":{"total":12.5}}`,
			`{"session_id":"s_1","timestamp":"` + clock(3) + `","type":"custom","message":"$reserved"}`,
			`{"session_id":"s_2","timestamp":"` + clock(6) + `","type":"error","message":"boom"}`,
		},
		activity.ProductEvents: {`{"name":"refund","timestamp":"` + clock(4) + `","user_id":"ada"}`},
	} {
		if result, err := activity.Walk(t.Context(), kind, []byte(strings.Join(lines, "\n")), stamp, &set); err != nil ||
			result.Accepted != len(lines) {
			t.Fatalf("%+v, %v", result, err)
		}
	}
	for i, seq := range []uint32{2, 0, 1, 1} {
		c := activity.Chunk{SessionID: "s_1", Seq: seq, IsCheckpoint: seq == 0, EventCount: 5, DurationMs: 5000, ByteSize: 1 << 20}
		again := *stamp
		again.ReceivedUnixNano += int64(i)
		c.Append([]byte("\x1f\x8b\x00\xff"+string(rune('0'+seq))), &again, &set)
	}
	return &set
}

func all[T any](t *testing.T, w *warehouse.Warehouse, org principal.OrgID, s sqlbuild.Statement) []T {
	t.Helper()
	rows, err := read.All[T](t.Context(), w, org, s)
	if err != nil {
		t.Fatalf("%s: %v", s.SQL, err)
	}
	return rows
}

func TestSessions(t *testing.T) {
	w := warehousetest.Shared(t)
	org := fresh(t)
	other := org + "_other"
	now := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Hour)
	for range 3 { // neither a repeated insert nor the view adds anything
		insert(t, w, seed(t, org, now), string(org))
	}
	window := query.Window{Start: now.Add(-time.Minute), End: now.Add(time.Minute)}
	stamps := map[string]string{"svc_org_id": string(org), "svc_ingest_key_type": "public", "svc_ingest_source": "svc-ingest-gateway"}
	first := reads.SessionRow{
		SessionID: "s_1", StartTime: now, EndTime: now.Add(time.Minute), LastActivityAt: time.Unix(0, 0).UTC(), Duration: 60_000, Status: "ended",
		UserID:      "ada",
		BrowserName: "Firefox", ErrorCount: 1, TraceCount: 1, Tags: []string{"engaged", "signed_in"}, FirstMatch: time.Unix(0, 0).UTC(),
	}
	second := reads.SessionRow{
		SessionID: "s_2", StartTime: now.Add(5 * time.Second), EndTime: time.Unix(0, 0).UTC(), LastActivityAt: time.Unix(0, 0).UTC(),
		Duration: -1, Status: "active",
		BrowserName: "Safari", Tags: []string{"engaged"}, FirstMatch: time.Unix(0, 0).UTC(),
	}
	first.Tags[0] = "idle" // at most a minute of one page, and no click
	matched := first
	matched.MatchCount, matched.FirstMatch, matched.FirstMatchURL = 2, now.Add(2*time.Second), ""
	firefox, yes, no, sixty := "Firefox", true, false, 60_000.
	type filters = reads.SessionFilters
	for name, c := range map[string]struct {
		filters filters
		want    []reads.SessionRow
	}{
		"all":                 {filters{}, []reads.SessionRow{second, first}},
		"browser":             {filters{BrowserName: &firefox}, []reads.SessionRow{first}},
		"with errors":         {filters{HasErrors: &yes}, []reads.SessionRow{first}},
		"not by version 1":    {filters{HasErrors: &no, BrowserName: &firefox}, nil},
		"user of version 2":   {filters{UserID: &first.UserID}, []reads.SessionRow{first}},
		"part of the user":    {filters{UserSearch: new("DA")}, []reads.SessionRow{first}},
		"tags":                {filters{Tags: []string{"signed_in", "idle"}}, []reads.SessionRow{first}},
		"not all tags":        {filters{Tags: []string{"signed_in", "bounce"}}, nil},
		"page":                {filters{PagePath: new("/cart")}, []reads.SessionRow{first}},
		"another page":        {filters{PagePath: new("/pay")}, nil},
		"longest":             {filters{MinDuration: &sixty}, []reads.SessionRow{first}},
		"too long":            {filters{MaxDuration: new(59_999.)}, nil},
		"active for 3 s":      {filters{MinActive: new(3000.), MaxActive: new(3000.)}, []reads.SessionRow{first}},
		"active for longer":   {filters{MinActive: new(3001.)}, nil},
		"events of a type":    {filters{Events: &reads.SessionEventFilters{Type: new("custom")}}, []reads.SessionRow{matched}},
		"events of a message": {filters{Events: &reads.SessionEventFilters{MessageSearch: new("nothing")}}, nil},
	} {
		got := all[reads.SessionRow](t, w, org, reads.SearchSessions(reads.SessionSearch{Window: window, Filters: c.filters, Limit: 10}))
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	after := reads.SearchSessions(reads.SessionSearch{
		Window: window, Before: &paging.SessionKey{Start: second.StartTime, SessionID: "s_2"},
		Limit: 10,
	})
	if diff := cmp.Diff([]reads.SessionRow{first}, all[reads.SessionRow](t, w, org, after)); diff != "" {
		t.Errorf("second page (-want +got):\n%s", diff)
	}
	detail := all[reads.SessionDetailRow](t, w, org, reads.Session("s_1", reads.Bounds{From: now, To: now}))
	want := []reads.SessionDetailRow{{
		SessionRow: first, TraceIDs: []string{"5b8efff798038103d269b633813fc60c"}, ResourceAttributes: stamps, HasEvents: true, ActiveMs: 3000,
		IdleMs: 57_000,
	}}
	if diff := cmp.Diff(want, detail, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	if got := all[reads.SessionDetailRow](t, w, org, reads.Session("s_1", reads.Bounds{From: now.Add(1)})); len(got) != 0 {
		t.Errorf("a session that began before: %v", got)
	}
	chunk := func(seq uint32, nano int) reads.ChunkRow {
		return reads.ChunkRow{
			ChunkSeq: seq, Timestamp: now.Add(time.Duration(nano)), DurationMs: 5000, EventCount: 5, ByteSize: 1 << 20, IsCheckpoint: seq == 0,
			Payload: "\x1f\x8b\x00\xff" + string(rune('0'+seq)),
		}
	}
	if diff := cmp.Diff([]reads.ChunkRow{chunk(0, 1), chunk(1, 3), chunk(2, 0)},
		all[reads.ChunkRow](t, w, org, reads.SessionChunks(reads.ChunkRange{SessionID: "s_1", To: 9, Limit: 10}))); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]reads.ChunkRow{chunk(1, 3)}, all[reads.ChunkRow](t, w, org,
		reads.SessionChunks(reads.ChunkRange{SessionID: "s_1", From: 1, To: 1, Limit: 10}))); diff != "" {
		t.Errorf("one chunk (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		types []string
		want  []string
	}{{nil, []string{"navigation", "click", "custom", "custom"}}, {[]string{"click", "it's"}, []string{"click"}}} {
		var got []string
		for _, e := range all[reads.SessionEventRow](t, w, org, reads.SessionTimeline(reads.Timeline{
			SessionID: "s_1", Types: c.types,
			Limit: 10,
		})) {
			got = append(got, e.Type)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("timeline of %v (-want +got):\n%s", c.types, diff)
		}
	}
	if got := all[reads.SessionRow](t, w, other, reads.SearchSessions(reads.SessionSearch{Window: window, Limit: 10})); len(got) != 0 {
		t.Errorf("another organization sees %v", got)
	}
}

func TestProductEvents(t *testing.T) {
	w := warehousetest.Shared(t)
	org := fresh(t)
	now := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Hour)
	for range 3 {
		insert(t, w, seed(t, org, now), string(org))
	}
	window := query.Window{Start: now.Add(-time.Minute), End: now.Add(time.Minute)}
	want := []reads.ProductEventRow{
		{Name: "refund", Timestamp: now.Add(4 * time.Second), Kind: "custom", Source: "server", UserID: "ada"},
		{
			Name: "order placed", Timestamp: now.Add(2 * time.Second), Kind: "custom", Source: "browser", SessionID: "s_1",
			Attributes: map[string]string{"total": "12.5"},
		},
		{
			Name: "$pageview", Timestamp: now.Add(time.Second), Kind: "navigation", Source: "browser", UserID: "ada", SessionID: "s_1",
			URL: "https://Shop.example:8443/cart?x=1", Host: "shop.example", PagePath: "/cart",
		},
	}
	got := all[reads.ProductEventRow](t, w, org, reads.SearchProductEvents(reads.ProductEventSearch{Window: window, Limit: 10}))
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(reads.ProductEventRow{}, "ResourceAttributes", "Record",
		"Copy")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, e := range got {
		if e.ResourceAttributes["svc_org_id"] != string(org) {
			t.Errorf("%s is stamped %v", e.Name, e.ResourceAttributes)
		}
	}
	for i, c := range []struct {
		filters reads.ProductEventFilters
		want    int
	}{
		{reads.ProductEventFilters{Names: []string{"$pageview"}}, 1},
		{reads.ProductEventFilters{UserID: new("ada")}, 2},
		{reads.ProductEventFilters{UserID: new("ada"), Names: []string{"nothing"}}, 0},
		{reads.ProductEventFilters{Attributes: query.Filter{Match: &query.Match{
			Field: query.Field{Scope: query.OwnAttribute, Key: "total"},
			Op:    query.OpGreater, Values: []string{"12"},
		}}}, 1},
	} {
		got := all[reads.ProductEventRow](t, w, org, reads.SearchProductEvents(reads.ProductEventSearch{
			Window: window, Filters: c.filters,
			Limit: 10,
		}))
		if len(got) != c.want {
			t.Errorf("%d: %d events, want %d", i, len(got), c.want)
		}
	}
	names := all[reads.ProductEventNameRow](t, w, org, reads.ListProductEventNames(reads.ProductEventNameList{Window: window, Limit: 10}))
	seen := func(name, kind string, seconds int, sessions uint64) reads.ProductEventNameRow {
		at := now.Add(time.Duration(seconds) * time.Second)
		return reads.ProductEventNameRow{Name: name, Kind: kind, Count: 1, Sessions: sessions, Persons: 1, Users: 1, FirstSeen: at, LastSeen: at}
	}
	// The order was placed in a session that has a known user.
	if diff := cmp.Diff([]reads.ProductEventNameRow{
		seen("$pageview", "navigation", 1, 1), seen("order placed", "custom", 2, 1),
		seen("refund", "custom", 4, 0),
	}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// statements returns reads that cover everything in seed.
func statements(window query.Window) map[string]sqlbuild.Statement {
	chunks := reads.ChunkRange{SessionID: "s_1", To: 9, Limit: 100}
	funnel := reads.Funnel{
		Window: window, Steps: []reads.Step{{PagePath: "/cart"}, {EventName: "order placed"}, {EventName: "nothing"}},
		KeyBy: query.ByPerson, Within: time.Hour,
	}
	paths := reads.Paths{
		Window: window, Anchor: funnel.Steps[0], Depth: 3, Branches: 1, KeyBy: query.BySession, Within: time.Hour,
		Include: reads.IncludeAll,
	}
	return map[string]sqlbuild.Statement{
		"sessions": reads.SearchSessions(reads.SessionSearch{Window: window, Limit: 100}), "session": reads.Session("s_1", reads.Bounds{}),
		"extent": reads.SessionExtent("s_1"), "recorded": reads.RecordedSessions([]string{"s_1", "s_2"}),
		"facets":   reads.SessionFacets(window, reads.SessionFilters{}),
		"of trace": reads.SessionsOfTrace("5b8efff798038103d269b633813fc60c", window, 0, 100), "chunks": reads.SessionChunks(chunks),
		"manifest": reads.SessionManifest(chunks),
		"timeline": reads.SessionTimeline(reads.Timeline{SessionID: "s_1", Limit: 100}),
		"events":   reads.SearchProductEvents(reads.ProductEventSearch{Window: window, Limit: 100}),
		"names":    reads.ListProductEventNames(reads.ProductEventNameList{Window: window, Limit: 100}),
		"funnel":   reads.FunnelCounts(funnel), "leavers": reads.FunnelLeavers(funnel),
		"path nodes": reads.PathNodes(paths), "path links": reads.PathLinks(paths, []reads.PathNodeRow{{Hop: 1, Node: "order placed"}}),
	}
}

// The sessions of two organizations have the same ids, and no statement mixes them.
func TestSessionsAreIsolated(t *testing.T) {
	w := warehousetest.Shared(t)
	mine := fresh(t)
	theirs := mine + "_theirs"
	now := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Hour)
	insert(t, w, seed(t, theirs, now), string(theirs))
	window := query.Window{Start: now.Add(-time.Minute), End: now.Add(time.Minute)}
	statements := statements(window)
	count := func(org principal.OrgID) map[string]int {
		counts := map[string]int{}
		for name, s := range statements {
			rows, err := w.Query(context.Background(), org, s.SQL, s.Args...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for rows.Next() {
				counts[name]++
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return counts
	}
	full := map[string]int{
		"sessions": 2, "session": 1, "extent": 1, "recorded": 1, "facets": 7, "of trace": 1, "chunks": 3, "manifest": 3, "timeline": 4,
		"events": 3, "names": 3,
		"funnel": 1, "leavers": 1, "path nodes": 1, "path links": 2,
	}
	if diff := cmp.Diff(map[string]int{}, count(mine)); diff != "" {
		t.Errorf("rows of another organization (-want +got):\n%s", diff)
	}
	insert(t, w, seed(t, mine, now), string(mine))
	for _, org := range []principal.OrgID{mine, theirs} {
		if diff := cmp.Diff(full, count(org)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", org, diff)
		}
	}
}

var granules = regexp.MustCompile(`(?s)PrimaryKey.*?Granules: (\d+)/(\d+)`)

// The reads of one session use the primary key, and the reads of events use the event name.
func TestSessionsAreFoundByKey(t *testing.T) {
	w := warehousetest.Shared(t)
	org := fresh(t)
	const at = "now64(9) - toIntervalHour(1)"
	for table, columns := range map[string]string{
		"session_replays": "SessionId, StartTime) SELECT '" + string(org) + "', concat('s_', toString(number)), " + at,
		"session_replay_events": "SessionId, ChunkSeq, Timestamp) SELECT '" + string(org) +
			"', concat('s_', toString(number % 5000)), intDiv(number, 5000), " + at,
		"session_events": "SessionId, Timestamp) SELECT '" + string(org) + "', concat('s_', toString(number % 5000)), " + at,
		"product_events": "Name, Timestamp) SELECT '" + string(org) + "', concat('event ', toString(number % 50)), " + at,
	} {
		if err := w.Exec(t.Context(), "INSERT INTO "+table+" (OrgId, "+columns+" FROM numbers(200000)"); err != nil {
			t.Fatal(err)
		}
	}
	name := "event 7"
	now := time.Now()
	for what, s := range map[string]sqlbuild.Statement{
		"extent": reads.SessionExtent("s_77"), "session": reads.Session("s_77", reads.Bounds{}),
		"chunks":   reads.SessionChunks(reads.ChunkRange{SessionID: "s_77", To: 9, Limit: 10}),
		"manifest": reads.SessionManifest(reads.ChunkRange{SessionID: "s_77", To: 9, Limit: 10}),
		"timeline": reads.SessionTimeline(reads.Timeline{SessionID: "s_77", Limit: 10}),
		"recorded": reads.RecordedSessions([]string{"s_77", "s_78"}),
		"events": reads.SearchProductEvents(reads.ProductEventSearch{
			Window: query.Window{Start: now.Add(-2 * time.Hour), End: now}, Filters: reads.ProductEventFilters{Names: []string{name}}, Limit: 10,
		}),
		"funnel": reads.FunnelCounts(reads.Funnel{
			Window: query.Window{Start: now.Add(-2 * time.Hour), End: now}, Steps: []reads.Step{{EventName: name}, {EventName: "event 8"}},
			KeyBy: query.BySession, Within: time.Hour,
		}),
	} {
		rows, err := w.Query(t.Context(), org, "EXPLAIN indexes = 1 "+s.SQL, s.Args...)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var plan strings.Builder
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			plan.WriteString(line + "\n")
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		m := granules.FindStringSubmatch(plan.String())
		if m == nil {
			t.Errorf("%s does not use the primary key:\n%s", what, plan.String())
			continue
		}
		read, _ := strconv.Atoi(m[1])
		of, _ := strconv.Atoi(m[2])
		if read == 0 || of < 20 || read > of/4 {
			t.Errorf("%s reads %d of %d granules:\n%s", what, read, of, plan.String())
		}
	}
}
