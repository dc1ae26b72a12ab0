package engine

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

var indexPattern = regexp.MustCompile(`(?m)^[ │├└─]*(?:(PrimaryKey|Partition|Min-Max|Name: \S+)$|(Granules: \d+/\d+)$)`)

// The frequent reads use the indexes that were made for them. testdata/indexes.txt has the granules that each index leaves.
func TestIndexesAreUsed(t *testing.T) {
	w := warehousetest.NewEngine(t)
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(-72 * time.Hour)
	const at = "toDateTime64('DAY 00:00:00', 9, 'UTC') + toIntervalMillisecond(number * 400)"
	const part = " FROM numbers(200000) SETTINGS max_insert_block_size = 1000000, min_insert_block_size_rows = 1000000, max_threads = 1, " +
		"max_insert_threads = 1"
	for _, sql := range []string{
		"SYSTEM STOP MERGES",
		"ALTER TABLE spans MODIFY SETTING min_bytes_for_wide_part = 0",
		"INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, ServiceName, SpanName, SampleRate, SpanAttributes) SELECT 'org_big', " + at +
			", lower(hex(MD5(toString(intDiv(number, 10))))), lower(hex(number)), concat('service-', toString(number % 20)), 'op', 1, " +
			"map('user.id', toString(number))" + part,
		"INSERT INTO logs (OrgId, Timestamp, ServiceName, SeverityText, Body, LogAttributes) SELECT 'org_big', " + at +
			", concat('service-', toString(number % 20)), 'INFO', if(number = 123456, 'Payment declined for card', concat('request ', " +
			"toString(number), ' served')), map('user.id', toString(number))" + part,
		"ALTER TABLE metrics_sum MODIFY SETTING min_bytes_for_wide_part = 0",
		"ALTER TABLE metrics_histogram MODIFY SETTING min_bytes_for_wide_part = 0",
		"INSERT INTO metrics_sum (OrgId, MetricName, ServiceName, SeriesHash, StartTimestamp, Timestamp, Value, IsMonotonic, " +
			"AggregationTemporality) SELECT 'org_big', " +
			"concat('metric.', toString(number % 10)), concat('service-', toString(number % 20)), number % 200, " + at +
			" AS T, T, 1, 1, 'Cumulative'" + part,
		"INSERT INTO metrics_histogram (OrgId, MetricName, ServiceName, SeriesHash, StartTimestamp, Timestamp, Count, Sum, BucketCounts, " +
			"ExplicitBounds, AggregationTemporality) SELECT 'org_big', " +
			"concat('metric.', toString(number % 10)), concat('service-', toString(number % 20)), number % 200, " + at +
			" AS T, T, 3, 3, [1, 2], [1], 'Cumulative'" + part,
	} {
		if err := w.Exec(t.Context(), strings.ReplaceAll(sql, "DAY", day.Format(time.DateOnly))); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	for _, c := range []struct {
		name, text string
		from       time.Duration
	}{
		{"spans of a service, the last hour", "count|traces|service.name = service-7|", 21 * time.Hour},
		{"spans with an attribute", "count|traces|attr.user.id = 4242|", 0},
		{"spans with one of two values", "count|traces|attr.user.id in (4242, 171717)|", 0},
		{"spans of a trace", "count|traces|trace.id = 28dd2c7955ce926456240b2ff0100bde|", 0},
		{"spans of a resource's service", "count|traces|resource.service.name = service-7|", 0},
		{"logs with words in their body", "count|logs|body contains \" declined for \"|", 0},
		{"logs with an attribute, by severity", "count|logs|log.user.id = 4242|severity", 0},
		{"minutes of a service", "p95_duration|traces|service.name = service-7|", 0},
		{"rollup: hours of services", "p95_duration|traces||service.name", 0},
		{"rollup: hours of operations", "count|traces|service.name = service-7|span.name", 0},
		{"rollup: minutes of logs", "count|logs||severity", 0},
		{"rate of a metric", "rate|metrics||sum metric.3", 0},
		{"rate of a metric of a service", "rate|metrics|service.name = service-13|sum metric.3", 0},
		{"quantile of a histogram, the last hour", "p95|metrics||histogram metric.3", 21 * time.Hour},
	} {
		metric := query.Metric{}
		if kind, name, ok := strings.Cut(c.text[strings.LastIndex(c.text, "|")+1:], " "); ok {
			metric = query.Metric{Name: name, Type: kind}
			c.text = c.text[:strings.LastIndex(c.text, "|")+1]
		}
		q := benchQuery(t, c.text).Spec
		q.Metric = metric
		q.Rollups = query.Rollups{Minutes: query.Rollup{Complete: strings.HasPrefix(c.name, "minutes")}}
		if strings.HasPrefix(c.name, "rollup") {
			q.Rollups = query.AllRollups()
		}
		p, err := query.PlanTimeseries(&q, query.Window{Start: day.Add(c.from), End: day.Add(22 * time.Hour)}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if p.Quick != "" {
			p.SQL, _, _ = strings.Cut(p.Quick, "\nSETTINGS ") // EXPLAIN runs here without permission to change settings
		}
		var plan bytes.Buffer
		if err := w.RawQuery(t.Context(), "EXPLAIN indexes = 1 "+literal(p.Statement, "org_big"), "TSVRaw", &plan); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		fmt.Fprintf(&out, "== %s: %s\n", c.name, p.Reads)
		for _, m := range indexPattern.FindAllStringSubmatch(plan.String(), -1) {
			if m[1] != "" {
				fmt.Fprintf(&out, "  %s: ", strings.TrimPrefix(m[1], "Name: "))
			} else {
				fmt.Fprintf(&out, "%s\n", m[2])
			}
		}
		out.WriteString("\n")
	}
	golden.Compare(t, "indexes.txt", out.String())
}
