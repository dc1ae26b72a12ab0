package blocks_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// migrated reads the columns of the tables from all migrations, which define them.
func migrated(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob("../migrations/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	create := regexp.MustCompile(`(?s)^CREATE TABLE IF NOT EXISTS \{\{create "(\w+)"\}\}\n\(\n(.*?)\n\)\n`)
	alter := regexp.MustCompile(`^ALTER TABLE \{\{alter "(\w+)"\}\}\s+(.*)`)
	tables := map[string][]string{}
	for _, path := range paths { // sorted by Glob
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range regexp.MustCompile(`(?m)^;[ \t]*$`).Split(string(b), -1) {
			statement = strings.TrimSpace(regexp.MustCompile(`(?m)^--.*\n`).ReplaceAllString(statement, ""))
			if m := create.FindStringSubmatch(statement); m != nil {
				for line := range strings.SplitSeq(m[2], "\n") {
					if c := column(line); c != "" {
						tables[m[1]] = append(tables[m[1]], c)
					}
				}
			}
			if m := alter.FindStringSubmatch(statement); m != nil && strings.Contains(m[2], "COLUMN") {
				added, ok := strings.CutPrefix(m[2], "ADD COLUMN IF NOT EXISTS ")
				if !ok || strings.Contains(added, " AFTER ") {
					t.Fatalf("%s changes the columns of %s in a way that this test cannot follow: %s", path, m[1], m[2])
				}
				tables[m[1]] = append(tables[m[1]], column(" "+added))
			}
		}
	}
	return tables
}

var (
	columnLine = regexp.MustCompile(`^\s+([A-Z]\w*) (.*?)( CODEC\(.*)?,?$`)
	aggregate  = regexp.MustCompile(`^SimpleAggregateFunction\(\w+, (.*)\)$`)
)

// column returns the name and type of a column in a line of DDL, or "" if the line has no column.
func column(line string) string {
	c := columnLine.FindStringSubmatch(line)
	if c == nil || c[1] == "INDEX" {
		return ""
	}
	typ := strings.TrimSuffix(c[2], ",")
	// A block sends the plain type, which the engine accepts for the aggregate type.
	if a := aggregate.FindStringSubmatch(typ); a != nil {
		typ = a[1]
	}
	return c[1] + " " + typ
}

func TestColumnsAreThoseOfTheMigrations(t *testing.T) {
	want := migrated(t)
	for _, block := range blocks.Schema() {
		var got []string
		for _, f := range block.Fields {
			got = append(got, f.Name+" "+f.Column.Type())
		}
		if d := cmp.Diff(want[block.Name], got); d != "" {
			t.Errorf("%s: %s", block.Name, d)
		}
	}
}

func TestTablesNameTheirColumns(t *testing.T) {
	var s blocks.Set
	s.AttributeKeys().Add([]byte("o"), 3600, blocks.Traces, blocks.OnSpan, []byte("k"), blocks.IntValue, 1)
	s.MetricCatalog().Add(&blocks.MetricUse{})
	want := map[string]string{}
	for _, block := range blocks.Schema() {
		var names []string
		for _, f := range block.Fields {
			names = append(names, "`"+f.Name+"`")
		}
		want[block.Name] = strings.Join(names, ",")
	}
	n := 0
	for table := range s.Tables() {
		if got := table.Columns; got != want[table.Name] {
			t.Errorf("%s has columns %s, want %s", table.Name, got, want[table.Name])
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
			Org: org, Name: key, Service: []byte("s"), Description: []byte(fmt.Sprint("d", seed)), Hour: 3600, Type: blocks.SumMetric,
			Monotonic: i == 0, Points: 2, First: int64(10 - i), Last: int64(20 + i + seed),
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
	s.Release()
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
