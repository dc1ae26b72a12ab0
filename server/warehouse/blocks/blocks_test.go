package blocks_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// migrated reads the columns of the tables from the migrations, which are the contract.
func migrated(t *testing.T) map[string][]string {
	t.Helper()
	var sql []byte
	for _, name := range []string{"0001_telemetry.sql", "0002_sessions_events.sql"} {
		b, err := os.ReadFile("../migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sql = append(sql, b...)
	}
	tables := map[string][]string{}
	table := regexp.MustCompile(`(?s)CREATE TABLE IF NOT EXISTS \{\{create "(\w+)"\}\}\n\(\n(.*?)\n\)\n`)
	column := regexp.MustCompile(`^\s+([A-Z]\w*) (.*?)( CODEC\(.*)?,?$`)
	aggregate := regexp.MustCompile(`^SimpleAggregateFunction\(\w+, (.*)\)$`)
	for _, m := range table.FindAllStringSubmatch(string(sql), -1) {
		for line := range strings.SplitSeq(m[2], "\n") {
			c := column.FindStringSubmatch(line)
			if c == nil || c[1] == "INDEX" {
				continue
			}
			typ := strings.TrimSuffix(c[2], ",")
			// A block sends the plain type, which the engine takes for the aggregate of it.
			if a := aggregate.FindStringSubmatch(typ); a != nil {
				typ = a[1]
			}
			tables[m[1]] = append(tables[m[1]], c[1]+" "+typ)
		}
	}
	return tables
}

func fieldsOf(b native.Block) []string {
	var out []string
	for _, f := range b.Fields {
		out = append(out, f.Name+" "+f.Column.Type())
	}
	return out
}

func TestColumnsAreThoseOfTheMigration(t *testing.T) {
	var s blocks.Set
	want := migrated(t)
	for name, block := range map[string]native.Block{
		"spans": s.Spans().Block, "logs": s.Logs().Block, "metrics_gauge": s.Gauge().Block, "metrics_sum": s.Sum().Block,
		"metrics_histogram": s.Histogram().Block, "metrics_exponential_histogram": s.ExponentialHistogram().Block, "metrics_summary": s.Summary().Block,
		"session_replays": s.SessionReplays().Block, "session_replay_events": s.SessionReplayEvents().Block, "session_events": s.SessionEvents().Block,
		"product_events": s.ProductEvents().Block,
	} {
		if d := cmp.Diff(want[name], fieldsOf(block)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	s.AttributeKeys().Add([]byte("o"), 3600, blocks.Traces, blocks.OnSpan, []byte("k"), blocks.IntValue, 1)
	s.MetricCatalog().Add(&blocks.MetricUse{})
	n := 0
	for table := range s.Tables() {
		var names []string
		for _, c := range want[table.Name] {
			name, _, _ := strings.Cut(c, " ")
			names = append(names, "`"+name+"`")
		}
		if got := "(" + strings.Join(names, ",") + ")"; got != table.Columns {
			t.Errorf("%s has columns %s, want %s", table.Name, table.Columns, got)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d tables have rows, want 2", n)
	}
}

func fill(s *blocks.Set, seed int) {
	for i := range 5 {
		key, org := []byte(fmt.Sprint("key", (i+seed)%3)), []byte(fmt.Sprint("org", seed%2))
		s.AttributeKeys().Add(org, 3600*uint32(1+i%2), blocks.LogRecords, blocks.OnLog, key, blocks.ValueType(i%2), uint64(i+1))
		s.MetricCatalog().Add(&blocks.MetricUse{
			Org: org, Name: key, Service: []byte("s"), Description: []byte(fmt.Sprint("d", seed)), Hour: 3600, Type: blocks.SumMetric, Monotonic: i == 0,
			Points: 2, First: int64(10 - i), Last: int64(20 + i + seed),
		})
	}
}

func dump(t *testing.T, s *blocks.Set) []byte {
	t.Helper()
	var b bytes.Buffer
	for table := range s.Tables() {
		if _, err := table.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestRollupsMergeAlikeInOneOrManySteps(t *testing.T) {
	var direct, merged, again blocks.Set
	for seed := range 4 {
		fill(&direct, seed)
		var one blocks.Set
		fill(&one, seed)
		merged.AppendFrom(&one)
		again.AppendFrom(&one)
	}
	if !bytes.Equal(dump(t, &merged), dump(t, &again)) {
		t.Error("the same merges gave other bytes")
	}
	if !bytes.Equal(dump(t, &direct), dump(t, &merged)) {
		t.Error("merging differs from adding")
	}
	total, sum := uint64(0), uint64(0)
	for table := range merged.Tables() {
		for _, r := range nativetest.Rows(t, table) {
			switch table.Name {
			case "attribute_keys":
				total += r["UsageCount"].(uint64)
			case "metric_catalog":
				sum += r["DataPointCount"].(uint64)
			}
		}
	}
	if total != 4*15 || sum != 4*10 {
		t.Errorf("counts %d and %d, want 60 and 40", total, sum)
	}
}

func TestPoolGivesEmptySets(t *testing.T) {
	var p blocks.Pool
	s := p.Get(blocks.ForLogs)
	fill(s, 1)
	s.Spans()
	p.Put(s)
	for _, purpose := range []blocks.Purpose{blocks.ForLogs, blocks.ForLogs, blocks.ForTraces, blocks.ForSessions} {
		got := p.Get(purpose)
		if got == s && purpose != blocks.ForLogs {
			t.Error("a set was taken for another purpose")
		}
		if got.Rows() != 0 || len(dump(t, got)) != 0 {
			t.Error("a set from the pool has rows")
		}
	}
	p.Put(nil)
}
