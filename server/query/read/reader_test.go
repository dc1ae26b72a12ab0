package read

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// counting counts the statements that reach the warehouse.
type counting struct {
	*warehouse.Warehouse
	n atomic.Int64
	// hold blocks SQL of users until the test closes it.
	hold chan struct{}
}

func (c *counting) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	c.n.Add(1)
	return c.Warehouse.Query(ctx, org, sql, args...)
}

func (c *counting) SelectConfined(
	ctx context.Context, org principal.OrgID, _ string, _ warehouse.TenantLimits,
) (*warehouse.TenantResult, error) {
	c.n.Add(1)
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &warehouse.TenantResult{Rows: []json.RawMessage{[]byte("[1]")}}, nil
}

type numberRow struct {
	N uint64 `ch:"N"`
}

func numbers(n string) sqlbuild.Statement {
	return sqlbuild.Statement{SQL: "SELECT number AS N FROM numbers(" + n + ") WHERE {org:String} != ''"}
}

func tagOf(err error) apierr.Tag {
	var e *apierr.Error
	if errors.As(err, &e) {
		return e.Tag
	}
	return 0
}

// Open rows hold a slot, for Query and for SelectConfined. Other organizations have slots of their own.
func TestReaderAdmitsAShare(t *testing.T) {
	w := &counting{Warehouse: warehousetest.Shared(t), hold: make(chan struct{})}
	g := NewReader(Config{Warehouse: w, PerOrganization: 2})
	open, err := g.Query(t.Context(), "org_gate", numbers("3").SQL)
	if err != nil {
		t.Fatal(err)
	}
	var sql sync.WaitGroup
	sql.Go(func() {
		if _, err := g.SelectConfined(t.Context(), "org_gate", "SELECT 1", warehouse.TenantLimits{}); err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(20 * time.Second); w.n.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("SQL does not begin")
		}
	}
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := All[numberRow](brief, g, "org_gate", numbers("1")); tagOf(err) != apierr.QueryEngineTimeout {
		t.Errorf("a third statement: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := g.SelectConfined(gone, "org_gate", "SELECT 1", warehouse.TenantLimits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	if rows, err := All[numberRow](t.Context(), g, "org_gate_other", numbers("2")); err != nil || len(rows) != 2 {
		t.Errorf("another organization: %v, %v", rows, err)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	if rows, err := All[numberRow](t.Context(), g, "org_gate", numbers("2")); err != nil || len(rows) != 2 {
		t.Errorf("behind closed rows: %v, %v", rows, err)
	}
	close(w.hold)
	sql.Wait()
	if _, err := All[numberRow](t.Context(), g, "org_gate", sqlbuild.Statement{SQL: "SELECT nothing WHERE {org:String} != ''"}); tagOf(err) != apierr.WarehouseSchemaDrift {
		t.Errorf("a statement that fails: %v", err)
	}
	if !g.slots.Idle() {
		t.Error("a slot is left")
	}
}

func TestReaderKeepsClosedWindows(t *testing.T) {
	w := &counting{Warehouse: warehousetest.Shared(t)}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	g := NewReader(Config{Warehouse: w, Now: func() time.Time { return now }})
	run := func(ctx context.Context, org principal.OrgID, s sqlbuild.Statement) int64 {
		t.Helper()
		before := w.n.Load()
		rows, err := All[numberRow](ctx, g, org, s)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 {
			rows[0].N = 99 // the list belongs to the caller
			if again, err := All[numberRow](ctx, g, org, s); err != nil || again[0].N != 0 {
				t.Fatalf("%v, %v", again, err)
			}
		}
		return w.n.Load() - before
	}
	closed := numbers("2").Until(now.Add(-settled))
	open := numbers("2").Until(now.Add(-settled + 1))
	for _, c := range []struct {
		name string
		org  principal.OrgID
		s    sqlbuild.Statement
		want int64
	}{
		{"first", "org_kept", closed, 1},
		{"again", "org_kept", closed, 0},
		{"another organization", "org_kept_other", closed, 1},
		{"another statement", "org_kept", numbers("3").Until(now.Add(-settled)), 1},
		{"an open window", "org_kept", numbers("4").Until(open.End), 2},
		{"no window", "org_kept", numbers("5"), 2},
		{"nothing", "org_kept", numbers("0").Until(closed.End), 1},
		{"still nothing", "org_kept", numbers("0").Until(closed.End), 1},
	} {
		if n := run(t.Context(), c.org, c.s); n != c.want {
			t.Errorf("%s: %d statements, want %d", c.name, n, c.want)
		}
	}
	crowd := AllowStale(t.Context(), 15*time.Second)
	if n := run(crowd, "org_kept", numbers("6")); n != 1 {
		t.Errorf("a crowd: %d statements", n)
	}
	now = now.Add(15*time.Second + 1)
	if n := run(crowd, "org_kept", numbers("6")); n != 1 {
		t.Errorf("a crowd, later: %d statements", n)
	}
	now = now.Add(KeptFor)
	if n := run(t.Context(), "org_kept", closed); n != 1 {
		t.Errorf("later: %d statements", n)
	}
}

// Equal reads that arrive together run once. A caller who leaves does not affect the others.
func TestEqualReadsRunOnce(t *testing.T) {
	w := &counting{Warehouse: warehousetest.Shared(t), hold: make(chan struct{})}
	g := NewReader(Config{Warehouse: w})
	crowd := AllowStale(t.Context(), time.Minute)
	first, leave := context.WithCancel(crowd)
	var all sync.WaitGroup
	run := func(ctx context.Context, want error) {
		all.Go(func() {
			if _, err := g.SelectConfined(ctx, "org_once", "SELECT 1", warehouse.TenantLimits{}); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
	run(first, context.Canceled)
	for deadline := time.Now().Add(20 * time.Second); w.n.Load() < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not begin")
		}
	}
	for range 10 {
		run(crowd, nil)
	}
	leave()
	for deadline := time.Now().Add(20 * time.Second); w.n.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody reads for the others")
		}
	}
	close(w.hold)
	all.Wait()
	if n := w.n.Load(); n != 2 {
		t.Errorf("%d statements", n)
	}
	run(crowd, nil)
	if all.Wait(); w.n.Load() != 2 {
		t.Error("the result of the read was not kept")
	}
}

func TestResultsAreBounded(t *testing.T) {
	now := time.Now()
	r := newResults(32<<10, func() time.Time { return now })
	put := func(key string, bytes int) {
		t.Helper()
		if _, err := r.once(t.Context(), key, time.Minute, func() (any, int, error) { return key, bytes, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		put(strings.Repeat("k", i+1), 600)
	}
	put("huge", 5<<10)
	values, used := r.kept.Size()
	if _, ok := r.kept.Get("huge"); ok || used > 32<<10 || used != 600*values || values != 32<<10/600 {
		t.Errorf("%d bytes in %d entries", used, values)
	}
	if n := sizeOf(reflect.ValueOf([]reads.FunnelRow{{Group: "ten bytes!", Counts: []uint64{1, 2}}})); n < 100 || n > 400 {
		t.Errorf("a row of a funnel takes %d bytes", n)
	}
}

// A read that panics fails for all callers who wait for it. The next read runs.
func TestReadThatPanics(t *testing.T) {
	r := newResults(32<<10, time.Now)
	if _, err := r.once(t.Context(), "key", time.Minute, func() (any, int, error) { panic("in a read") }); err == nil ||
		!strings.Contains(err.Error(), "in a read") {
		t.Errorf("a panic is no error: %v", err)
	}
	if v, err := r.once(t.Context(), "key", time.Minute, func() (any, int, error) { return 1, 1, nil }); err != nil || v != 1 {
		t.Errorf("after a panic: %v %v", v, err)
	}
}
