package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-observability/svc/server/store"
)

func testPlans(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	_, err := f.GetPlan(ctx, org)
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.RemovePlan(ctx, org), store.ErrNotFound)
	changes, unsubscribe := watch(f)
	for _, in := range []store.PlanParams{
		{Name: "pro", Active: true, Limits: []store.PlanLimit{
			{Signal: "traces", Items: new(int64(5))},
			{Signal: "logs", Items: new(int64(0)), Bytes: new(int64(1) << 40)},
		}},
		{Name: " none ", Active: false},
	} {
		f.advance(time.Second)
		want := store.Plan{Name: in.Name, Active: in.Active, Limits: in.Limits, UpdatedAt: f.now().UTC()}
		if in.Name == " none " {
			want.Name = "none"
		}
		got, err := f.PutPlan(ctx, org, in)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("put: %v (-want +got):\n%s", err, diff)
		}
		got, err = f.GetPlan(ctx, org)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("get: %v (-want +got):\n%s", err, diff)
		}
	}
	_, err = f.GetPlan(ctx, other)
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.RemovePlan(ctx, other), store.ErrNotFound)
	_, err = f.PutPlan(ctx, "org_none", store.PlanParams{Name: "pro"})
	wantError(t, err, store.ErrNotFound)
	if err := f.RemovePlan(ctx, org); err != nil {
		t.Error(err)
	}
	_, err = f.GetPlan(ctx, org)
	wantError(t, err, store.ErrNotFound)
	change := store.Change{Subject: store.SubjectIngestPolicy, Org: org}
	expect(t, changes, unsubscribe, change, change, change)

	for name, tc := range map[string]struct {
		in   store.PlanParams
		want string
	}{
		"no name": {store.PlanParams{Name: " "}, "name must not be empty"},
		"signal": {
			store.PlanParams{Name: "p", Limits: []store.PlanLimit{{Signal: "spans", Items: new(int64(1))}}},
			`limits[0].signal "spans" is not a signal; use traces, logs, metrics, sessions, events`,
		},
		"twice": {store.PlanParams{Name: "p", Limits: []store.PlanLimit{
			{Signal: "logs", Items: new(int64(1))},
			{Signal: "logs", Bytes: new(int64(1))},
		}}, `limits[1].signal "logs" appears twice`},
		"nothing": {
			store.PlanParams{Name: "p", Limits: []store.PlanLimit{{Signal: "logs"}}},
			"limits[0].items or limits[0].bytes must be given",
		},
		"negative": {
			store.PlanParams{Name: "p", Limits: []store.PlanLimit{{Signal: "logs", Items: new(int64(-1)), Bytes: new(int64(-1))}}},
			"limits[0].items must not be negative; limits[0].bytes must not be negative",
		},
	} {
		_, err := f.PutPlan(ctx, org, tc.in)
		wantInvalid(t, name, err, tc.want)
	}
}

func wantInvalid(t *testing.T, name string, err error, want string) {
	t.Helper()
	wantError(t, err, store.ErrInvalid)
	if err == nil || err.Error() != want {
		t.Errorf("%s: error %q, want %q", name, err, want)
	}
}
