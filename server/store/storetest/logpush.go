package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/store"
)

func testLogpushConnectors(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	other, _ := f.org(t)
	in := store.NewLogpushConnector{Name: "edge", ZoneName: "example.com", Secret: f.secret(), CreatedBy: user}
	c, err := f.CreateLogpushConnector(ctx, org, in)
	want := store.LogpushConnector{
		ID: c.ID, Org: org, Name: "edge", ZoneName: "example.com", ServiceName: "cloudflare/example.com", Dataset: "http_requests",
		SecretHash: in.Secret.Hash, SecretPrefix: in.Secret.Prefix, CreatedAt: f.now().UTC(), CreatedBy: user, UpdatedAt: f.now().UTC(),
	}
	if diff := cmp.Diff(want, c); err != nil || diff != "" {
		t.Fatalf("created: %v (-want +got):\n%s", err, diff)
	}
	f.advance(time.Second)
	named, err := f.CreateLogpushConnector(ctx, org, store.NewLogpushConnector{
		Name: "b", ZoneName: "b.example", ServiceName: "cdn",
		Secret: f.secret(),
	})
	if err != nil || named.ServiceName != "cdn" {
		t.Fatalf("%+v, %v", named, err)
	}
	if list, err := f.ListLogpushConnectors(ctx, org); err != nil || !cmp.Equal([]store.LogpushConnector{want, named}, list) {
		t.Errorf("list: %v %s", err, cmp.Diff([]store.LogpushConnector{want, named}, list))
	}
	if list, err := f.ListLogpushConnectors(ctx, other); err != nil || len(list) != 0 {
		t.Errorf("the other organization lists %d, %v", len(list), err)
	}
	for name, call := range map[string]func() error{
		"get":     func() error { _, err := f.GetLogpushConnector(ctx, other, c.ID); return err },
		"roll":    func() error { _, err := f.RollLogpushConnector(ctx, other, c.ID, f.secret()); return err },
		"disable": func() error { _, err := f.SetLogpushConnectorDisabled(ctx, other, c.ID, true); return err },
		"edit": func() error {
			_, err := f.EditLogpushConnector(ctx, other, c.ID, store.LogpushConnectorEdit{Name: store.Set("x")})
			return err
		},
		"delete":  func() error { return f.DeleteLogpushConnector(ctx, other, c.ID) },
		"no such": func() error { return f.DeleteLogpushConnector(ctx, org, uuid.New()) },
		"hash of another": func() error {
			_, err := f.LogpushConnectorByHash(ctx, named.ID, in.Secret.Hash)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, call(), store.ErrNotFound) })
	}

	changes, unsubscribe := watch(f)
	secret := f.secret()
	c, err = f.RollLogpushConnector(ctx, org, c.ID, secret)
	want.SecretHash, want.SecretPrefix, want.SecretRotatedAt, want.UpdatedAt = secret.Hash, secret.Prefix, new(f.now().UTC()), f.now().UTC()
	if diff := cmp.Diff(want, c); err != nil || diff != "" {
		t.Errorf("rolled: %v (-want +got):\n%s", err, diff)
	}
	_, err = f.LogpushConnectorByHash(ctx, c.ID, in.Secret.Hash)
	wantError(t, err, store.ErrNotFound)
	want.DisabledAt, want.UpdatedAt = new(f.now().UTC()), f.now().UTC()
	for range 2 {
		c, err = f.SetLogpushConnectorDisabled(ctx, org, c.ID, true)
		if diff := cmp.Diff(want, c); err != nil || diff != "" {
			t.Errorf("disabled: %v (-want +got):\n%s", err, diff)
		}
		f.advance(time.Second)
	}
	if got, err := f.LogpushConnectorByHash(ctx, c.ID, secret.Hash); err != nil || !cmp.Equal(want, got) {
		t.Errorf("by hash: %v %s", err, cmp.Diff(want, got))
	}
	if c, err = f.SetLogpushConnectorDisabled(ctx, org, c.ID, false); err != nil || c.DisabledAt != nil {
		t.Errorf("enabled: %+v, %v", c, err)
	}
	c, err = f.EditLogpushConnector(ctx, org, c.ID, store.LogpushConnectorEdit{Name: store.Set(" www "), ServiceName: store.Set("web")})
	if err != nil || c.Name != "www" || c.ServiceName != "web" || c.ZoneName != "example.com" || c.DisabledAt != nil {
		t.Errorf("edited: %+v, %v", c, err)
	}
	_, err = f.EditLogpushConnector(ctx, org, c.ID, store.LogpushConnectorEdit{ZoneName: store.Set(" ")})
	wantInvalid(t, "edit", err, "zone_name must not be empty")
	if err := f.DeleteLogpushConnector(ctx, org, c.ID); err != nil {
		t.Error(err)
	}
	_, err = f.GetLogpushConnector(ctx, org, c.ID)
	wantError(t, err, store.ErrNotFound)
	gone := store.Change{Subject: store.SubjectLogpushConnector, Org: org, Hash: secret.Hash, Gone: true}
	rolled, enabled := gone, gone
	rolled.Hash, enabled.Gone = in.Secret.Hash, false
	expect(t, changes, unsubscribe, rolled, gone, gone, enabled, enabled, gone)

	_, err = f.CreateLogpushConnector(ctx, org, store.NewLogpushConnector{ZoneName: "a\nb", Secret: f.secret()})
	wantInvalid(t, "create", err, "name must not be empty; zone_name contains a control character; service_name contains a control character")
	_, err = f.CreateLogpushConnector(ctx, "org_none", store.NewLogpushConnector{Name: "a", ZoneName: "b", Secret: f.secret()})
	wantError(t, err, store.ErrNotFound)
}

func testLogpushTouch(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	c, err := f.CreateLogpushConnector(ctx, org, store.NewLogpushConnector{Name: "a", ZoneName: "b", Secret: f.secret()})
	if err != nil {
		t.Fatal(err)
	}
	start := f.now().UTC()
	if err := f.TouchLogpushConnector(ctx, other, c.ID, start, "from elsewhere"); err != nil {
		t.Error(err)
	}
	if got, err := f.GetLogpushConnector(ctx, org, c.ID); err != nil || got.LastReceivedAt != nil || got.LastError != nil {
		t.Errorf("another organization touched it: %+v, %v", got, err)
	}
	long := strings.Repeat("ü", 1500)
	for _, step := range []struct {
		at      time.Duration
		problem string
		want    time.Duration
		says    string
	}{
		{0, "", 0, ""},
		{time.Second, "", 0, ""},
		{2 * time.Second, "line 1 is not JSON", 2 * time.Second, "line 1 is not JSON"},
		{3 * time.Second, "line 1 is not JSON", 2 * time.Second, "line 1 is not JSON"},
		{4 * time.Second, "other\x00\xff", 4 * time.Second, "other \uFFFD"},
		{time.Second, "", 4 * time.Second, "other \uFFFD"}, // a late writer does not move the time back
		{5 * time.Second, "", 5 * time.Second, ""},
		{time.Hour, long, time.Hour, long[:2000]},
	} {
		if err := f.TouchLogpushConnector(ctx, org, c.ID, start.Add(step.at), step.problem); err != nil {
			t.Fatal(err)
		}
		got, err := f.GetLogpushConnector(ctx, org, c.ID)
		if err != nil || got.LastReceivedAt == nil || !got.LastReceivedAt.Equal(start.Add(step.want)) {
			t.Errorf("after +%s: %v, %v; want +%s", step.at, got.LastReceivedAt, err, step.want)
		}
		says := ""
		if got.LastError != nil {
			says = *got.LastError
		}
		if says != step.says {
			t.Errorf("after +%s: error %q, want %q", step.at, says, step.says)
		}
	}
}
