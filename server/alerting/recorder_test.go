package alerting

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// waiting are checks in memory. Its first deletes fail, like those of a process that dies after the insert.
type waiting struct {
	groups   []store.AlertCheckGroup
	failures int
	aside    []store.AlertCheckBatch
	deleted  []principal.OrgID
}

func (w *waiting) SetAsideAlertChecks(_ context.Context, _ store.Fence, batches []store.AlertCheckBatch) error {
	w.aside = append(w.aside, batches...)
	w.groups[0].Batches = slices.DeleteFunc(w.groups[0].Batches, func(b store.AlertCheckBatch) bool {
		return slices.ContainsFunc(batches, func(o store.AlertCheckBatch) bool { return o.ID == b.ID })
	})
	return nil
}

func (w *waiting) DeletedOrganizations(context.Context, []principal.OrgID) ([]principal.OrgID, error) {
	return w.deleted, nil
}

var errKilled = errors.New("killed")

func (w *waiting) NextAlertChecks(context.Context, store.Fence, int) (store.AlertCheckGroup, error) {
	if len(w.groups) == 0 {
		return store.AlertCheckGroup{}, nil
	}
	return w.groups[0], nil
}

func (w *waiting) DeleteAlertChecks(_ context.Context, _ store.Fence, group uuid.UUID) error {
	if w.failures > 0 {
		w.failures--
		return errKilled
	}
	if w.groups[0].ID == group {
		w.groups = w.groups[1:]
	}
	return nil
}

func pack(t *testing.T, checks ...Check) store.AlertCheckBatch {
	t.Helper()
	rows, err := packChecks(checks)
	if err != nil {
		t.Fatal(err)
	}
	return store.AlertCheckBatch{ID: uuid.New(), Rows: rows}
}

// TestRecordSetsAside: a batch that cannot be read holds up no other, and checks of a deleted organization are not stored.
func TestRecordSetsAside(t *testing.T) {
	w := warehousetest.Shared(t)
	mine, gone := warehousetest.OrgID(t), principal.OrgID("org_record_gone")
	at := time.Now().UTC().Truncate(time.Minute).Add(-time.Hour)
	one := Check{Org: mine, RuleID: "alrt_1", At: at, GroupKey: "web", Status: Healthy, Transition: None}
	other := one
	other.Org = gone
	broken, notJSON := pack(t, one), pack(t)
	broken.Rows = broken.Rows[:len(broken.Rows)/2]
	notJSON.Rows = zstdOf(t, "{")
	waits := &waiting{failures: 1, deleted: []principal.OrgID{gone}, groups: []store.AlertCheckGroup{
		{ID: uuid.New(), Batches: []store.AlertCheckBatch{broken, pack(t, one, other), notJSON}},
		{ID: uuid.New(), Batches: []store.AlertCheckBatch{{ID: uuid.New()}}}, // empty
	}}
	var reported []error
	r := Recorder{Waiting: waits, Into: w, Unreadable: func(_ store.AlertCheckBatch, err error) { reported = append(reported, err) }}
	if err := r.Record(t.Context(), store.Fence{}); !errors.Is(err, errKilled) {
		t.Fatalf("got %v", err)
	}
	if err := r.Record(t.Context(), store.Fence{}); err != nil || len(waits.groups) != 0 {
		t.Fatalf("%d groups wait, %v", len(waits.groups), err)
	}
	if len(waits.aside) != 3 || len(reported) != 3 || waits.aside[0].ID != broken.ID || waits.aside[1].ID != notJSON.ID {
		t.Errorf("%d batches set aside: %v", len(waits.aside), reported)
	}
	for org, want := range map[principal.OrgID]int{mine: 1, gone: 0} {
		list := reads.AlertChecks(reads.AlertCheckList{Rule: "alrt_1", Since: at, Until: at.Add(time.Hour), Limit: 10})
		rows, err := read.All[reads.AlertCheckRow](t.Context(), w, org, list)
		if err != nil || len(rows) != want {
			t.Errorf("%s has %d checks, want %d (%v)", org, len(rows), want, err)
		}
	}
}

func zstdOf(t *testing.T, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll([]byte(text), nil)
}

// TestRecord moves checks of two organizations, one group twice, and reads them back.
func TestRecord(t *testing.T) {
	w := warehousetest.Shared(t)
	mine, theirs := warehousetest.OrgID(t), principal.OrgID("org_record_other")
	at := time.Now().UTC().Truncate(time.Minute).Add(-time.Hour)
	observed, upper := 0.25, 0.9
	full := Check{
		Org: mine, RuleID: "alrt_1", At: at, GroupKey: "web", Status: Breached, SignalType: "error_rate", Comparator: "between",
		Threshold: 0.1, ThresholdUpper: &upper, ObservedValue: &observed, SampleCount: 12.5, WindowMinutes: 5, ConsecutiveBreaches: 2,
		IncidentID: "inc_1", Transition: Opened, DurationMs: 17,
	}
	failed := Check{
		Org: mine, RuleID: "alrt_1", At: at.Add(time.Minute), GroupKey: TotalGroup, Status: Failed, Transition: None,
		ErrorMessage: "no answer", ErrorCategory: "warehouse",
	}
	other := full
	other.Org = theirs
	waits := &waiting{failures: 1, groups: []store.AlertCheckGroup{
		{ID: uuid.New(), Batches: []store.AlertCheckBatch{pack(t, full), pack(t, other)}},
		{ID: uuid.New(), Batches: []store.AlertCheckBatch{pack(t, failed), pack(t)}},
	}}
	r := Recorder{Waiting: waits, Into: w}
	if err := r.Record(t.Context(), store.Fence{}); !errors.Is(err, errKilled) {
		t.Fatalf("got %v", err)
	}
	if err := r.Record(t.Context(), store.Fence{}); err != nil || len(waits.groups) != 0 {
		t.Fatalf("%d groups wait, %v", len(waits.groups), err)
	}
	list := func(org principal.OrgID, change func(l *reads.AlertCheckList)) []reads.AlertCheckRow {
		t.Helper()
		l := reads.AlertCheckList{Rule: "alrt_1", Since: at, Until: at.Add(time.Hour), Limit: 10}
		change(&l)
		rows, err := read.All[reads.AlertCheckRow](t.Context(), w, org, reads.AlertChecks(l))
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	rows := list(mine, func(*reads.AlertCheckList) {})
	if len(rows) != 2 || rows[0].ErrorCategory != "warehouse" || rows[0].ObservedValue != nil {
		t.Fatalf("got %+v", rows)
	}
	got := rows[1]
	if !got.Timestamp.Equal(at) || got.GroupKey != "web" || got.Status != "breached" || *got.ObservedValue != observed ||
		*got.ThresholdUpper != upper || got.SampleCount != 12.5 || got.IncidentID != "inc_1" || got.IncidentTransition != "opened" ||
		got.ConsecutiveBreaches != 2 || got.EvaluationDurationMs != 17 || got.WindowMinutes != 5 || got.Threshold != 0.1 {
		t.Errorf("got %+v", got)
	}
	for name, c := range map[string]struct {
		org    principal.OrgID
		change func(l *reads.AlertCheckList)
		want   int
	}{
		"other organization": {theirs, func(*reads.AlertCheckList) {}, 1},
		"no organization":    {"org_record_none", func(*reads.AlertCheckList) {}, 0},
		"group":              {mine, func(l *reads.AlertCheckList) { l.Group = "web" }, 1},
		"status":             {mine, func(l *reads.AlertCheckList) { l.Status = "error" }, 1},
		"until is left out":  {mine, func(l *reads.AlertCheckList) { l.Until = at.Add(time.Minute) }, 1},
		"since":              {mine, func(l *reads.AlertCheckList) { l.Since = at.Add(time.Minute) }, 1},
		"second page":        {mine, func(l *reads.AlertCheckList) { l.Offset, l.Limit = 1, 1 }, 1},
		"other rule":         {mine, func(l *reads.AlertCheckList) { l.Rule = "alrt_2" }, 0},
	} {
		if rows := list(c.org, c.change); len(rows) != c.want {
			t.Errorf("%s: %d rows, want %d: %+v", name, len(rows), c.want, rows)
		}
	}
}
