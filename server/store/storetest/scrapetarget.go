package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func aTarget(name string) store.ScrapeTarget {
	return store.ScrapeTarget{
		ID: uuid.Must(uuid.NewV7()), Name: name, URL: "https://metrics.example.com/metrics", TargetType: store.ScrapePrometheus,
		ScrapeIntervalSeconds: 15, AuthType: store.ScrapeAuthNone, Enabled: true,
	}
}

func testScrapeTargets(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	other, _ := f.org(t)
	in := aTarget(" nodes ")
	in.LabelsJSON, in.ServiceName, in.IncludeBranches, in.CreatedBy, in.UpdatedBy = new(`{"a":"b"}`), new(" "), []string{}, user, user
	in.AuthType, in.Credentials = store.ScrapeAuthBearer, []byte{1, 2, 3}
	changes, unsubscribe := watch(f)
	made, err := f.CreateScrapeTarget(ctx, org, in)
	want := in
	want.Org, want.Name, want.Shard, want.ServiceName, want.IncludeBranches = org, "nodes", store.ShardOf(store.WorkScrape, in.ID.String()),
		nil, nil
	want.CreatedAt, want.UpdatedAt = f.now().UTC(), f.now().UTC()
	if diff := cmp.Diff(want, made); err != nil || diff != "" {
		t.Fatalf("created: %v (-want +got):\n%s", err, diff)
	}
	_, err = f.CreateScrapeTarget(ctx, org, aTarget("nodes"))
	wantError(t, err, store.ErrConflict)
	if _, err := f.CreateScrapeTarget(ctx, other, aTarget("nodes")); err != nil {
		t.Errorf("another organization has the name: %v", err)
	}
	f.advance(time.Second)
	second, err := f.CreateScrapeTarget(ctx, org, aTarget("zwei"))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := f.ListScrapeTargets(ctx, org, 0, 10); err != nil || !cmp.Equal([]store.ScrapeTarget{second, want}, list) {
		t.Errorf("list: %v %s", err, cmp.Diff([]store.ScrapeTarget{second, want}, list))
	}
	for name, call := range map[string]func() error{
		"get": func() error { _, err := f.GetScrapeTarget(ctx, other, made.ID); return err },
		"edit": func() error {
			_, err := f.EditScrapeTarget(ctx, other, made.ID, user, func(t *store.ScrapeTarget) error { t.Name = "theirs"; return nil })
			return err
		},
		"delete": func() error { return f.DeleteScrapeTarget(ctx, other, made.ID) },
		"probe":  func() error { _, err := f.RecordProbe(ctx, other, made.ID, f.now(), "x"); return err },
	} {
		t.Run(name, func(t *testing.T) { wantError(t, call(), store.ErrNotFound) })
	}
	edited, err := f.EditScrapeTarget(ctx, org, made.ID, user, func(t *store.ScrapeTarget) error {
		t.Name, t.AuthType, t.Enabled, t.LabelsJSON = "renamed", store.ScrapeAuthNone, false, nil
		return nil
	})
	want.Name, want.AuthType, want.Enabled, want.LabelsJSON, want.Credentials, want.UpdatedAt = "renamed", store.ScrapeAuthNone, false, nil,
		nil, f.now().UTC()
	if diff := cmp.Diff(want, edited); err != nil || diff != "" {
		t.Errorf("edited: %v (-want +got):\n%s", err, diff)
	}
	if err := f.DeleteScrapeTarget(ctx, org, made.ID); err != nil {
		t.Error(err)
	}
	_, err = f.GetScrapeTarget(ctx, org, made.ID)
	wantError(t, err, store.ErrNotFound)
	list := changes()
	unsubscribe()
	told := 0
	for _, c := range list {
		if c.Subject == store.SubjectScrapeTarget && c.Org == org {
			told++
		}
	}
	if told != 4 {
		t.Errorf("%d changes were reported, want 4: %v", told, list)
	}
	var actions []string
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{ResourceID: publicid.Encode(publicid.ScrapeTarget, made.ID)}, 0, 10)
	for _, e := range entries {
		actions = append(actions, e.Action)
	}
	if want := []string{"scrape_target.deleted", "scrape_target.updated", "scrape_target.created"}; err != nil || len(actions) != len(want) {
		t.Errorf("audit: %v, %v", actions, err)
	}
}

func testScrapeTargetRules(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	for name, tc := range map[string]struct {
		change func(*store.ScrapeTarget)
		field  string
	}{
		"no name":            {func(t *store.ScrapeTarget) { t.Name = " " }, "name"},
		"another scheme":     {func(t *store.ScrapeTarget) { t.URL = "ftp://example.com/" }, "url"},
		"no URL":             {func(t *store.ScrapeTarget) { t.URL = "" }, "url"},
		"no host":            {func(t *store.ScrapeTarget) { t.URL = "https:///metrics" }, "url"},
		"password in URL":    {func(t *store.ScrapeTarget) { t.URL = "https://a:b@example.com/" }, "url"},
		"fragment":           {func(t *store.ScrapeTarget) { t.URL = "https://example.com/#x" }, "url"},
		"short interval":     {func(t *store.ScrapeTarget) { t.ScrapeIntervalSeconds = 4 }, "scrape_interval_seconds"},
		"long interval":      {func(t *store.ScrapeTarget) { t.ScrapeIntervalSeconds = 301 }, "scrape_interval_seconds"},
		"no credentials":     {func(t *store.ScrapeTarget) { t.AuthType = store.ScrapeAuthToken }, "auth_credentials"},
		"labels, a list":     {func(t *store.ScrapeTarget) { t.LabelsJSON = new(`[]`) }, "labels_json"},
		"labels, null":       {func(t *store.ScrapeTarget) { t.LabelsJSON = new(`null`) }, "labels_json"},
		"labels, a number":   {func(t *store.ScrapeTarget) { t.LabelsJSON = new(`{"a":1}`) }, "labels_json"},
		"labels, job":        {func(t *store.ScrapeTarget) { t.LabelsJSON = new(`{"job":"x"}`) }, "labels_json"},
		"labels, instance":   {func(t *store.ScrapeTarget) { t.LabelsJSON = new(`{"instance":"x"}`) }, "labels_json"},
		"labels, ours":       {func(t *store.ScrapeTarget) { t.LabelsJSON = new(`{"svc_x":"x"}`) }, "labels_json"},
		"labels, underscore": {func(t *store.ScrapeTarget) { t.LabelsJSON = new(`{"__name__":"x"}`) }, "labels_json"},
		"labels, no name":    {func(t *store.ScrapeTarget) { t.LabelsJSON = new(`{"":"x"}`) }, "labels_json"},
		"branch":             {func(t *store.ScrapeTarget) { t.ExcludeBranches = []string{strings.Repeat("x", 201)} }, "exclude_branches"},
	} {
		t.Run(name, func(t *testing.T) {
			in := aTarget("t")
			tc.change(&in)
			_, err := f.CreateScrapeTarget(ctx, org, in)
			wantField(t, err, tc.field)
		})
	}
	managed := aTarget("managed")
	managed.ManagedBy = "planetscale:acme"
	if _, err := f.CreateScrapeTarget(ctx, org, managed); err != nil {
		t.Fatal(err)
	}
	_, err := f.EditScrapeTarget(ctx, org, managed.ID, user, func(t *store.ScrapeTarget) error { t.Enabled = false; return nil })
	wantField(t, err, "managed_by")
	wantField(t, f.DeleteScrapeTarget(ctx, org, managed.ID), "managed_by")
}

func testScrapeResults(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	made, err := f.CreateScrapeTarget(ctx, org, aTarget("t"))
	if err != nil {
		t.Fatal(err)
	}
	start := f.now().UTC()
	record := func(at time.Duration, problem string) {
		t.Helper()
		err := f.RecordScrapes(ctx, []store.ScrapeResult{
			{Org: other, ID: made.ID, At: start.Add(time.Hour), Problem: "theirs"}, // changes nothing
			{Org: org, ID: made.ID, At: start.Add(at), Problem: problem},
			{Org: org, ID: uuid.New(), At: start.Add(at)}, // was deleted
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	is := func(last, since *time.Time, problem *string) {
		t.Helper()
		got, err := f.GetScrapeTarget(ctx, org, made.ID)
		want := made
		want.LastScrapeAt, want.FailingSince, want.LastScrapeError = last, since, problem
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	at := func(d time.Duration) *time.Time { return new(start.Add(d)) }
	record(time.Second, "answered 503")
	record(2*time.Second, "answered\x00 500")
	is(nil, at(time.Second), new("answered  500"))
	for before, want := range map[time.Duration]int{0: 0, time.Second: 1, time.Hour: 1} {
		if list, err := f.FailingScrapeTargets(ctx, org, start.Add(before), 10); err != nil || len(list) != want {
			t.Errorf("failing since before %s: %d, want %d, %v", before, len(list), want, err)
		}
	}
	if list, err := f.FailingScrapeTargets(ctx, other, start.Add(time.Hour), 10); err != nil || len(list) != 0 {
		t.Errorf("failing targets of the other organization: %d, %v", len(list), err)
	}
	record(3*time.Second, "")
	is(at(3*time.Second), nil, nil)
	record(2*time.Second, "") // it ended later, but began before
	is(at(3*time.Second), nil, nil)
	if _, err := f.RecordProbe(ctx, org, made.ID, start.Add(4*time.Second), "no route"); err != nil {
		t.Error(err)
	}
	is(at(3*time.Second), at(4*time.Second), new("no route"))
	// A process that lost its lease writes nothing any more.
	node := store.WorkNode{ID: uuid.New(), Kinds: []string{store.WorkScrape}, Host: "test"}
	if err := f.JoinWork(ctx, node); err != nil {
		t.Fatal(err)
	}
	held, err := f.BeatWork(ctx, node)
	if err != nil || len(held) != store.WorkShards(store.WorkScrape) {
		t.Fatalf("%d leases, %v", len(held), err)
	}
	lease := held[made.Shard]
	under := func(lease *store.Fence, at time.Duration) {
		t.Helper()
		if err := f.RecordScrapes(ctx, []store.ScrapeResult{{Org: org, ID: made.ID, At: start.Add(at), Under: lease}}); err != nil {
			t.Fatal(err)
		}
	}
	under(&lease, 5*time.Second)
	is(at(5*time.Second), nil, nil)
	old := lease
	old.Token--
	under(&old, 6*time.Second)
	if err := f.LeaveWork(ctx, node.ID); err != nil {
		t.Fatal(err)
	}
	under(&lease, 7*time.Second)
	is(at(5*time.Second), nil, nil)
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{Action: "scrape_target.probed"}, 0, 10)
	if err != nil || len(entries) != 1 || entries[0].Metadata["error"] != "no route" {
		t.Errorf("audit: %+v, %v", entries, err)
	}
	all := 0
	for shard := range store.WorkShards(store.WorkScrape) {
		rows, err := f.ScrapeTargetsOfShards(ctx, []int{shard})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.ID == made.ID {
				all++
			}
		}
	}
	if all != 1 {
		t.Errorf("the target is in %d shards", all)
	}
}

// wantField checks that the input is refused for one field.
func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var invalid *store.InvalidError
	if !errors.As(err, &invalid) || invalid.Violations[0].Field != field {
		t.Errorf("%v, want a fault of %s", err, field)
	}
}
