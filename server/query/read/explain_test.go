package read_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

var (
	planIndex = regexp.MustCompile(`^[ │├└─]*(?:(Min-?Max|Partition|PrimaryKey|Name: \S+)$|(Granules: \d+/\d+)$)`)
	planRead  = regexp.MustCompile(`Read type: \w+|ReadFromMergeTree \([^)]*\)`)
)

// TestPlans records how many granules each hot read reads, and which index selects them. A statement that loses its index fails
// here. The tables have one part of 200,000 rows each.
func TestPlans(t *testing.T) {
	e := warehousetest.NewEngine(t)
	day := time.Now().UTC().AddDate(0, 0, -3).Truncate(24 * time.Hour)
	const settings = " SETTINGS max_insert_block_size = 1000000, min_insert_block_size_rows = 1000000, max_threads = 1, max_insert_threads = 1"
	at := fmt.Sprintf("fromUnixTimestamp64Nano(toInt64(%d) + toInt64(number) * 400000000, 'UTC')", day.UnixNano())
	for _, sql := range []string{
		"SYSTEM STOP MERGES",
		"ALTER TABLE spans MODIFY SETTING min_bytes_for_wide_part = 0", "ALTER TABLE logs MODIFY SETTING min_bytes_for_wide_part = 0",
		"ALTER TABLE error_events MODIFY SETTING min_bytes_for_wide_part = 0",
		"INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, ServiceName, SpanName, SpanKind, IsEntry, StatusCode, StatusMessage, " +
			"SampleRate) SELECT 'org_plans', " + at +
			", lower(hex(MD5(toString(intDiv(number, 10))))), lower(leftPad(hex(number), 16, '0')), concat('service-', toString(number % 20)), " +
			"'op', 'Server', 1, 'Error', " +
			"concat('error ', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'][number % 8 + 1]), 1 FROM numbers(200000)" + settings,
		"INSERT INTO logs (OrgId, Timestamp, TraceId, SpanId, ServiceName, SeverityText, Body) SELECT 'org_plans', " + at +
			", lower(hex(MD5(toString(intDiv(number, 10))))), '', concat('service-', toString(number % 20)), 'INFO', concat('line ', " +
			"toString(number)) FROM numbers(200000)" + settings,
	} {
		if err := e.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var one bytes.Buffer
	if err := e.RawQuery(t.Context(), "SELECT TraceId, SpanId, ServiceName, toUnixTimestamp64Nano(Timestamp), FingerprintHash FROM "+
		"error_events ORDER BY Timestamp LIMIT 1 OFFSET 70000", "TSV", &one); err != nil {
		t.Fatal(err)
	}
	var sample reads.ErrorSampleRow
	var nano int64
	var fingerprint uint64
	if _, err := fmt.Sscan(one.String(), &sample.TraceID, &sample.SpanID, &sample.ServiceName, &nano, &fingerprint); err != nil {
		t.Fatal(err)
	}
	sample.Timestamp, sample.SpanName = time.Unix(0, nano).UTC(), "a span"
	w := query.Window{Start: day, End: day.Add(80000*time.Second - 1)} // 200,000 rows, one every 0.4 s
	last := query.Window{Start: w.End.Add(-5 * time.Minute), End: w.End}
	service := "service-7"
	ofService := query.Filter{Match: &query.Match{Field: query.Field{Key: "service.name"}, Op: query.OpEqual, Values: []string{service}}}
	read := reads.ServiceRead{Name: service, Window: last, Bucket: time.Minute}
	statements := map[string]sqlbuild.Statement{
		"span": reads.Span(sample.TraceID, sample.SpanID, time.Time{}),
		"skeleton of a trace": reads.TraceSkeleton(reads.Skeleton{
			TraceID: sample.TraceID,
			Window:  query.Window{Start: sample.Timestamp.Add(-time.Minute), End: sample.Timestamp.Add(time.Minute)}, Limit: 100,
		}),
		"log record":                    reads.LogRecord(sample.Timestamp, strings.Repeat("ab", 16)),
		"horizon of logs, all services": reads.LogHorizon(reads.LogSearch{Window: last, Limit: 51}),
		"horizon of logs, one service":  reads.LogHorizon(reads.LogSearch{Window: w, Limit: 51, Filter: ofService}),
		"page of logs behind its horizon": reads.SearchLogs(reads.LogSearch{Window: query.Window{
			Start: w.End.Add(-30 * time.Second),
			End:   w.End,
		}, Limit: 51}),
		"operations of a service, 5 minutes":   reads.ServiceOperations(read, "", time.Second, 0, 25),
		"Apdex of a service, 5 minutes":        reads.ServiceApdex(read, time.Second),
		"calls between services, 5 minutes":    reads.ServiceCalls(last, nil),
		"one group of errors, a day":           reads.ErrorGroups(w, reads.ErrorFilters{Fingerprints: []uint64{fingerprint}}, "", 0, 1),
		"stacks of errors":                     reads.ErrorStacks([]reads.ErrorSampleRow{sample}),
		"trace facets of a service, 5 minutes": reads.TraceFacets(last, ofService, query.Rollups{}),
		"sample of logs, two spans of a second": reads.LogSample([]query.Window{
			{Start: w.Start, End: w.Start.Add(time.Second)},
			{Start: w.End.Add(-time.Second), End: w.End},
		}, ofService, 100, 0.5, 10),
		"horizon of root spans, the whole day": reads.TraceHorizon(w, 51),
		"series of a service from its rollup":  reads.ServicePoints(reads.ServiceRead{Name: service, Window: w, Bucket: time.Hour}),
		"peers of a service from their rollup": reads.PeerCalls(w, &service, nil, 100),
		"latest spans of a service":            reads.SpanHorizon(w, ofService, 200),
		"traces by an attribute, 5 minutes": reads.MatchingTraces(last,
			query.Filter{Match: &query.Match{Field: query.Field{Scope: query.OwnAttribute, Key: "k"}, Op: query.OpEqual, Values: []string{"v"}}},
			1001),
		"spans of a trace":  reads.TraceSpans(sample.TraceID, time.Time{}, 5001),
		"extent of a trace": reads.TraceExtent(sample.TraceID),
	}
	var names []string
	for name := range statements {
		names = append(names, name)
	}
	slices.Sort(names)
	var out strings.Builder
	for _, name := range names {
		s := statements[name]
		rows, err := e.Query(t.Context(), "org_plans", "EXPLAIN indexes = 1 "+s.SQL, s.Args...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fmt.Fprintf(&out, "== %s\n", name)
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			if m := planRead.FindString(line); m != "" {
				fmt.Fprintf(&out, "%s\n", m)
			}
			if m := planIndex.FindStringSubmatch(line); m != nil {
				if m[1] != "" {
					fmt.Fprintf(&out, "  %s: ", strings.TrimPrefix(m[1], "Name: "))
				} else {
					fmt.Fprintf(&out, "%s\n", m[2])
				}
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	golden.Compare(t, "plans.txt", out.String())
}
