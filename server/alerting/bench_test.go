package alerting

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// fresh shows each organization as if its last minute was not evaluated, so that a benchmark can evaluate it again and again.
type fresh struct{ *store.Store }

func (f fresh) AlertCursors(ctx context.Context, shard int) ([]store.AlertCursor, error) {
	out, err := f.Store.AlertCursors(ctx, shard)
	for i := range out {
		out[i].EvaluatedThrough = nil
	}
	return out, err
}

// uncached gets another reader for each pass, which has no answers of the pass before.
type uncached struct{ Source }

// BenchmarkRules evaluates one minute of all rules of a node, on SQLite: of 100 rules, 80 are about signals of services, 19 have a query of
// the query builder, and one has SQL. Each organization has 20 services; all together have 10,000 entry spans
// a minute.
func BenchmarkRules(b *testing.B) {
	for _, c := range []struct{ orgs, rules int }{{100, 100}, {1000, 10}} {
		b.Run(fmt.Sprintf("organizations=%d/rules=%d", c.orgs, c.orgs*c.rules), func(b *testing.B) { benchRules(b, c.orgs, c.rules) })
	}
}

func benchRules(b *testing.B, organizations, rules int) {
	e := warehousetest.NewEngine(b)
	s, err := store.Open(b.Context(), store.Config{Path: filepath.Join(b.TempDir(), "svc.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	rnd := rand.New(rand.NewPCG(5, 11))
	end := time.Now().UTC().Truncate(time.Minute)
	for n := range organizations {
		created, err := s.CreateOrganization(b.Context(), store.NewOrganization{
			Name: fmt.Sprint("Organization ", n), Slug: fmt.Sprint("organization-", n),
			Admin: &store.NewUser{Email: fmt.Sprintf("admin%d@example.com", n), Name: "Admin"},
		})
		if err != nil {
			b.Fatal(err)
		}
		org := created.Organization.ID
		spans := playSpans(rnd, 600_000/organizations, end, time.Hour)
		for i := range spans {
			spans[i].service, spans[i].entry = fmt.Sprint("service-", rnd.IntN(20)), true
		}
		insertSpans(b, e.Warehouse, org, spans)
		for i := range rules {
			if _, _, err := s.CreateAlertRule(b.Context(), org, created.Admin.ID, *benchRule(rnd, i)); err != nil {
				b.Fatal(err)
			}
		}
	}
	source := &uncached{}
	w := NewWorker(Config{
		Store: fresh{s}, Source: source,
		StoredThrough: func(context.Context) (store.IngestMark, bool, error) {
			return store.IngestMark{Through: time.Now().Add(time.Hour)}, true, nil
		},
		Messages: func(context.Context, principal.OrgID, []Notice) ([]store.NewDelivery, error) { return nil, nil },
		Summary:  func(n Notice) string { return n.Rule.Name },
		Logger:   slog.New(slog.DiscardHandler),
	})
	node := store.WorkNode{ID: uuid.New(), Kinds: []string{store.WorkAlerts}, Host: "bench", Version: "v0"}
	if err := s.JoinWork(b.Context(), node); err != nil {
		b.Fatal(err)
	}
	held, err := s.BeatWork(b.Context(), node)
	if err != nil {
		b.Fatal(err)
	}
	var shards []*Shard
	for _, f := range held {
		shards = append(shards, w.Shard(f))
	}
	for merges(b, e) > 0 {
		time.Sleep(200 * time.Millisecond)
	}
	engineCPU, own := processCPU(b, e.Supervisor.Pid()), ownCPU(b)
	for b.Loop() {
		reader := read.NewReader(read.Config{Warehouse: e.Warehouse})
		source.Source = NewSource(engine.New(engine.Config{Warehouse: reader, Rollups: query.AllRollups()}), reader, query.AllRollups())
		for _, shard := range shards {
			if _, err := shard.Run(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	perOp := func(d time.Duration) float64 { return d.Seconds() / float64(b.N) }
	b.ReportMetric(perOp(processCPU(b, e.Supervisor.Pid())-engineCPU), "engine-cpu-s/minute")
	b.ReportMetric(perOp(ownCPU(b)-own), "server-cpu-s/minute")
}

// merges is the number of merges that the engine does at the moment.
func merges(b *testing.B, e *warehousetest.Engine) int {
	b.Helper()
	var out bytes.Buffer
	if err := e.RawQuery(b.Context(), "SELECT count() FROM system.merges", "TSV", &out); err != nil {
		b.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// benchRule is one of a hundred kinds of rules.
func benchRule(rnd *rand.Rand, i int) *store.AlertRule {
	r := playRule(rnd, i)
	r.MinimumSampleCount, r.WindowMinutes = 0, []int{5, 5, 10, 15}[rnd.IntN(4)]
	if len(r.ServiceNames) > 0 {
		r.ServiceNames = []string{fmt.Sprint("service-", rnd.IntN(20))}
	}
	r.GroupBy, r.ExcludeServiceNames = [][]string{nil, {"service.name"}}[rnd.IntN(2)], nil
	if len(r.ServiceNames) > 0 {
		r.GroupBy = nil
	}
	switch kind := i % 100; {
	case kind == 99:
		sql := "SELECT count() AS value FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp)"
		r.SignalType, r.RawQuerySQL, r.ServiceNames, r.GroupBy, r.Environments = "raw_query", &sql, nil, nil, nil
	case kind%5 == 4:
		r.SignalType, r.ServiceNames, r.GroupBy, r.Environments = "builder_query", nil, nil, nil
		r.QueryBuilderDraft = json.RawMessage(fmt.Sprintf(
			`{"dataSource":"traces","aggregation":"count","whereClause":"service.name = service-%d AND http.route = /items/%d"}`, rnd.IntN(20), i))
	}
	return r
}

func processCPU(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on Linux
}

func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPreview reads the figures of a day, minute by minute, of one rule with a window of 5 minutes, which a preview steps through.
// Each minute has spans of 20 services in 3 environments.
func BenchmarkPreview(b *testing.B) {
	e := warehousetest.NewEngine(b)
	org := warehousetest.OrgID(b)
	rnd := rand.New(rand.NewPCG(5, 11))
	end := time.Now().UTC().Truncate(time.Minute)
	spans := playSpans(rnd, 400_000, end, 24*time.Hour)
	for i := range spans {
		spans[i].service, spans[i].entry = fmt.Sprint("service-", rnd.IntN(20)), true
	}
	for part := range slices.Chunk(spans, 50_000) {
		insertSpans(b, e.Warehouse, org, part)
	}
	var minutes []time.Time
	for at := end.Add(-24 * time.Hour); at.Before(end); at = at.Add(time.Minute) {
		minutes = append(minutes, at)
	}
	reader := read.NewReader(read.Config{Warehouse: e.Warehouse})
	source := NewSource(engine.New(engine.Config{Warehouse: reader, Rollups: query.AllRollups()}), reader, query.AllRollups())
	for _, signal := range []string{"error_rate", "p95_latency"} {
		for _, groups := range [][]string{nil, {"service.name"}} {
			b.Run(fmt.Sprintf("%s/group_by=%v", signal, groups), func(b *testing.B) {
				for b.Loop() {
					got, err := source.Figures(b.Context(), org, []Ask{{
						Rule: &store.AlertRule{SignalType: signal, WindowMinutes: 5, GroupBy: groups}, Minutes: minutes,
					}})
					if err != nil || len(got[0].Groups) != len(minutes) {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
