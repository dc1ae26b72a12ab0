package callhours

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// organizations are those of an installation, and those of them that were deleted.
type organizations struct{ all, deleted []principal.OrgID }

func (o *organizations) OrganizationIDs(context.Context) ([]principal.OrgID, error) {
	return o.all, nil
}

func (o *organizations) DeletedOrganizations(context.Context, []principal.OrgID) ([]principal.OrgID, error) {
	return o.deleted, nil
}

// bed has a counter at a time of the test's own.
type bed struct {
	*testing.T
	w       *warehouse.Warehouse
	orgs    *organizations
	now     time.Time
	counter *Counter
	ids     int
}

func newBed(t *testing.T, now time.Time, orgs ...principal.OrgID) *bed {
	b := &bed{T: t, w: warehousetest.Shared(t), orgs: &organizations{all: orgs}, now: now}
	b.restart()
	return b
}

// restart replaces the counter with one that remembers nothing.
func (b *bed) restart() {
	b.counter = NewCounter(Config{
		Organizations: b.orgs, Warehouse: b.w, Into: b.w, Turn: NewTurn(), Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return b.now },
	}, func(org principal.OrgID) bool { return !strings.HasSuffix(string(org), "_elsewhere") })
}

func (b *bed) step() {
	b.Helper()
	if _, err := b.counter.Step(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// call stores a call of b by a, with its caller begun at from and the called span at the given time.
func (b *bed) call(org principal.OrgID, environment string, from, at time.Time) {
	b.Helper()
	b.ids++
	trace := fmt.Sprintf("%032x", b.ids)
	columns := strings.Fields("OrgId Timestamp TraceId SpanId ParentSpanId ServiceName Environment SpanKind DurationNano SampleRate")
	rows := [][]any{
		{string(org), from, trace, "1", "", "a", environment, "Client", uint64(1000), 2.0},
		{string(org), at, trace, "2", "1", "b", "other", "Server", uint64(500), 2.0},
	}
	if err := b.w.InsertRows(b.Context(), "spans", columns, rows, ""); err != nil {
		b.Fatal(err)
	}
}

// expect compares what is counted and what is left with the wanted numbers: of calls in counted hours, and of hours that are not counted.
func (b *bed) expect(org principal.OrgID, w query.Window, environment *string, calls uint64, left int) {
	b.Helper()
	rows, rest, err := Read(b.Context(), b.w, org, w, environment, b.now)
	if err != nil {
		b.Fatal(err)
	}
	var got uint64
	for _, r := range rows {
		if r.Source != "a" || r.Target != "b" || r.EstimatedCalls != 2*float64(r.Calls) || r.EstimatedNano != 1000*float64(r.Calls) ||
			r.MaxNano != 500 {
			b.Errorf("%+v", r)
		}
		got += r.Calls
	}
	var hours []string
	for _, h := range rest {
		if !h.Hour.Add(time.Hour-1).Before(w.Start) && !h.Hour.After(w.End) {
			hours = append(hours, h.Hour.Format(time.TimeOnly))
		}
	}
	if got != calls || len(hours) != left {
		b.Errorf("%d calls counted and hours %q left, want %d and %d", got, hours, calls, left)
	}
}

func hourOf(start time.Time, n float64) time.Time {
	return start.Add(time.Duration(n * float64(time.Hour)))
}

// A count holds until spans arrive that it did not see: in the hour, in the hour of its callers, or shortly after it.
func TestLateSpans(t *testing.T) {
	const org = "org_hours_late"
	start := time.Now().UTC().Truncate(time.Hour).Add(-10 * time.Hour)
	b := newBed(t, hourOf(start, 3.1), org)
	for _, h := range []float64{0.5, 1.5, 2.5} {
		b.call(org, "prod", hourOf(start, h), hourOf(start, h+0.01))
	}
	all := query.Window{Start: start, End: hourOf(start, 3).Add(-1)}
	b.expect(org, all, nil, 0, 3)
	b.step() // the last hour ended 6 minutes ago: it is not counted yet
	b.expect(org, all, nil, 2, 1)
	b.now = hourOf(start, 3.2)
	b.step()
	b.expect(org, all, nil, 3, 0)
	b.expect(org, all, new("prod"), 3, 0)
	b.expect(org, all, new("other"), 0, 0)
	// A window that cuts an hour finds the calls of this hour in the spans.
	b.expect(org, query.Window{Start: hourOf(start, 0.2), End: all.End}, nil, 2, 1)

	// The clock of a caller is ahead: it begins 2 minutes after the end of the hour that has the called span.
	b.call(org, "prod", hourOf(start, 1).Add(2*time.Minute), hourOf(start, 0.9))
	// It changes hour 0 (called span, and a caller after its end), hour 1 (a caller), and hour 2 (a caller could have begun in hour 1).
	b.expect(org, all, nil, 0, 3)
	b.now = b.now.Add(lookEvery)
	b.step() // not due
	b.expect(org, all, nil, 0, 3)
	b.now = hourOf(start, 4.5)
	b.step() // hour 2 is twice as old as at its count, and hours 1 and 0 are not
	b.expect(org, all, nil, 1, 2)
	b.now = hourOf(start, 6.5)
	b.restart()
	b.step()
	b.expect(org, all, nil, 4, 0)
}

// All hours whose spans exist are counted, the latest first and some at a time, beside other organizations.
func TestCounterCatchesUp(t *testing.T) {
	const org, other, elsewhere, gone = "org_hours_many", "org_hours_other", "org_hours_elsewhere", "org_hours_gone"
	start := time.Now().UTC().Truncate(time.Hour).Add(-60 * time.Hour)
	b := newBed(t, hourOf(start, 50.5), org, other, elsewhere, gone)
	b.orgs.all = []principal.OrgID{org, other, elsewhere}
	for h := range 40 {
		b.call(org, "", hourOf(start, float64(h)+0.1), hourOf(start, float64(h)+0.1))
	}
	for _, o := range []principal.OrgID{other, elsewhere, gone} {
		b.call(o, "", hourOf(start, 5.5), hourOf(start, 5.5))
	}
	all := query.Window{Start: start, End: hourOf(start, 50).Add(-1)}
	b.step()
	b.expect(org, all, nil, uint64(batch), 40-batch)
	b.expect(org, query.Window{Start: hourOf(start, 20), End: all.End}, nil, 20, 0)
	b.expect(other, all, nil, 1, 0)
	b.expect(elsewhere, all, nil, 0, 1)
	b.step()
	b.expect(org, all, nil, 40, 0)

	// A count that is repeated replaces the one before.
	b.call(org, "", hourOf(start, 3.5), hourOf(start, 3.5))
	b.now = b.now.Add(60 * time.Hour)
	b.restart()
	b.step()
	b.expect(org, all, nil, 41, 0)

	// An organization that is being deleted gets no new rows.
	b.orgs.all, b.orgs.deleted = []principal.OrgID{gone}, []principal.OrgID{gone}
	b.step()
	b.expect(gone, all, nil, 0, 1)
}

// faulty fails as many joins as it says.
type faulty struct {
	read.Warehouse
	fails int
}

func (f *faulty) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	if strings.Contains(sql, "JOIN") && f.fails > 0 {
		f.fails--
		return nil, errors.New("too much memory")
	}
	return f.Warehouse.Query(ctx, org, sql, args...)
}

// An hour that cannot be counted holds up no other one, and is tried again after a pause that grows.
func TestHourFails(t *testing.T) {
	const org = "org_hours_fails"
	start := time.Now().UTC().Truncate(time.Hour).Add(-10 * time.Hour)
	b := newBed(t, hourOf(start, 5.5), org)
	for h := range 5 {
		b.call(org, "", hourOf(start, float64(h)+0.1), hourOf(start, float64(h)+0.1))
	}
	all := query.Window{Start: start, End: hourOf(start, 5).Add(-1)}
	f := &faulty{Warehouse: b.w, fails: 1}
	b.counter.cfg.Warehouse = f
	b.step()
	b.expect(org, all, nil, 4, 1)
	for _, pause := range []time.Duration{lookEvery, 2 * lookEvery} {
		f.fails = 1
		b.now = b.now.Add(pause - time.Second)
		b.step()
		if f.fails != 1 {
			t.Errorf("tried again within %s", pause)
		}
		b.now = b.now.Add(time.Second)
		b.step()
		if f.fails != 0 {
			t.Errorf("not tried again after %s", pause)
		}
	}
	b.now = b.now.Add(time.Hour)
	b.step()
	b.expect(org, all, nil, 5, 0)

	// Spans that are counted on arrival and not visible: an insert goes on, or a replica lags.
	columns := strings.Fields("OrgId Minute ServiceName SpanCount")
	if err := b.w.InsertRows(t.Context(), "service_minutes", columns, [][]any{{org, hourOf(start, 2), "a", uint64(1)}}, ""); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(20 * time.Hour)
	b.restart()
	b.step()
	b.expect(org, all, nil, 2, 3)
}

func TestWaits(t *testing.T) {
	hour := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for _, c := range []struct {
		counted, now time.Duration
		want         bool
	}{
		{2 * time.Hour, 3 * time.Hour, true},
		{2 * time.Hour, 4 * time.Hour, false},
		{8 * day, 12 * day, true},
		{8 * day, 13 * day, false},
		{27 * day, countable - lastChance, true},
		{27 * day, countable - time.Hour, false},
		{countable - time.Hour, countable, true},
	} {
		if got := waits(hour, hour.Add(c.counted), hour.Add(c.now)); got != c.want {
			t.Errorf("counted at the age of %s, looked at at %s: waits %v, want %v", c.counted, c.now, got, c.want)
		}
	}
}

// The statement by environment and that of one environment find the same calls.
func TestEnvironments(t *testing.T) {
	const org = "org_hours_environments"
	start := time.Now().UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	b := newBed(t, hourOf(start, 2), org)
	for i, environment := range []string{"prod", "prod", "staging", ""} {
		b.call(org, environment, hourOf(start, 0.1), hourOf(start, 0.2+float64(i)/100))
	}
	w := query.Window{Start: start, End: hourOf(start, 1).Add(-1)}
	rows, err := read.All[reads.CallHourRow](t.Context(), b.w, org, reads.CallsByEnvironment(w))
	if err != nil || len(rows) != 3 || rows[0].Environment != "prod" || rows[0].Calls != 2 {
		t.Errorf("%+v, %v", rows, err)
	}
	b.step()
	for environment, want := range map[string]uint64{"prod": 2, "staging": 1, "": 1, "none": 0} {
		b.expect(org, w, &environment, want, 0)
	}
	b.expect(org, w, nil, 4, 0)
}
