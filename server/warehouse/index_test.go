package warehouse_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// seedDay is one whole day within the tables' TTL, so that each table has one partition.
var seedDay = time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)

// seedIndexes fills spans and logs: a million rows in one part each for one organization, and a few rows for another.
func seedIndexes(t *testing.T, e *warehousetest.Engine) {
	t.Helper()
	const at = "toDateTime64('2026-03-01 00:00:00', 9, 'UTC') + toIntervalMillisecond(number * 50)"
	for _, sql := range []string{
		"SYSTEM STOP MERGES",
		`CREATE TABLE old_spans AS spans ENGINE = MergeTree PARTITION BY toDate(Timestamp)
			ORDER BY (OrgId, ServiceName, Timestamp) SETTINGS index_granularity = 2048`,
		`ALTER TABLE spans MODIFY SETTING min_bytes_for_wide_part = 0`,
		`INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, ServiceName, SpanName, SpanAttributes)
			SELECT 'org_big', ` + at + `, lower(hex(MD5(toString(intDiv(number, 10))))), lower(hex(number)), concat('service-', toString(number % 20)), 'op', map('user.id', toString(number))
			FROM numbers(500000) SETTINGS max_insert_block_size = 1000000, min_insert_block_size_rows = 1000000, max_threads = 1, max_insert_threads = 1`,
		`INSERT INTO logs (OrgId, Timestamp, TraceId, ServiceName, SeverityText, Body, LogAttributes)
			SELECT 'org_big', ` + at + `, lower(hex(MD5(toString(intDiv(number, 10))))), concat('service-', toString(number % 20)), 'INFO',
			if(number = 123456, 'Payment declined for card', concat('request ', toString(number), ' served')), map('user.id', toString(number))
			FROM numbers(500000) SETTINGS max_insert_block_size = 1000000, min_insert_block_size_rows = 1000000, max_threads = 1, max_insert_threads = 1`,
		`INSERT INTO old_spans SELECT * FROM spans
			SETTINGS max_insert_block_size = 1000000, min_insert_block_size_rows = 1000000, max_threads = 1, max_insert_threads = 1`,
	} {
		if err := e.Exec(t.Context(), strings.ReplaceAll(sql, "2026-03-01", seedDay)); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

var (
	indexPattern = regexp.MustCompile(`(?m)^[ │├└─]*(?:(PrimaryKey|Partition|Min-Max|Name: \S+)$|(Granules: \d+/\d+)$)`)
	readPattern  = regexp.MustCompile(`Read type: \w+|Parts: \d+ \| Granules: \d+`)
)

// indexes reduces a plan to how it reads and how many granules each index leaves. The rest changes with engine versions.
func indexes(plan string) string {
	var b strings.Builder
	for _, read := range readPattern.FindAllString(plan, -1) {
		fmt.Fprintf(&b, "%s\n", read)
	}
	for _, m := range indexPattern.FindAllStringSubmatch(plan, -1) {
		if m[1] != "" {
			fmt.Fprintf(&b, "  %s: ", strings.TrimPrefix(m[1], "Name: "))
		} else {
			fmt.Fprintf(&b, "%s\n", m[2])
		}
	}
	return b.String()
}

// lastOfService is the order in which the API reads the latest rows of a service.
func lastOfService(table string) string {
	return "SELECT SpanId FROM " + table + " WHERE OrgId = 'org_big' AND ServiceName = 'service-7' AND Timestamp >= '" + seedDay +
		" 06:00:00' ORDER BY toStartOfSecond(Timestamp) DESC, Timestamp DESC LIMIT 50"
}

// The main queries of the API read few granules, through the indexes made for them.
func TestIndexesAreUsed(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	seedIndexes(t, e)
	var out strings.Builder
	for _, q := range []struct{ name, sql string }{
		{"trace by id", "SELECT SpanId FROM spans WHERE OrgId = 'org_big' AND TraceId = lower(hex(MD5('777')))"},
		{"logs of a trace", "SELECT Body FROM logs WHERE OrgId = 'org_big' AND TraceId = lower(hex(MD5('777')))"},
		{"last 50 of a service", lastOfService("spans")},
		{"last 50 of a service, in a table from before the key ended in the second", lastOfService("old_spans")},
		{"body search", "SELECT Timestamp FROM logs WHERE OrgId = 'org_big' AND hasAllTokens(Body, 'payment declined') ORDER BY Timestamp DESC LIMIT 50"},
		{"span attribute", "SELECT SpanId FROM spans WHERE OrgId = 'org_big' AND SpanAttributes['user.id'] = '4242' AND has(arrayMap((k, v) -> " +
			"cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64('user.id', '4242'))"},
		{"log attribute", "SELECT Body FROM logs WHERE OrgId = 'org_big' AND LogAttributes['user.id'] = '4242' AND has(arrayMap((k, v) -> " +
			"cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)), cityHash64('user.id', '4242'))"},
		{"another organization", "SELECT SpanId FROM spans WHERE OrgId = 'org_small'"},
	} {
		var plan bytes.Buffer
		if err := e.RawQuery(t.Context(), "EXPLAIN indexes = 1 "+q.sql, "TSVRaw", &plan); err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		fmt.Fprintf(&out, "== %s\n%s\n", q.name, indexes(plan.String()))
	}
	golden.Compare(t, "indexes.txt", out.String())
	for _, sql := range []string{
		"SELECT count() FROM logs WHERE OrgId = 'org_big' AND hasAllTokens(Body, 'payment declined')",
		"SELECT count() FROM spans WHERE OrgId = 'org_big' AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), " +
			"mapValues(SpanAttributes)), cityHash64('user.id', '4242'))",
	} {
		if got := raw(t, e.Warehouse, sql); got != "1\n" {
			t.Errorf("%s: found %q, want 1", sql, got)
		}
	}
}
