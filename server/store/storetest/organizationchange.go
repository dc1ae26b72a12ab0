package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func testEditOrganization(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	was, err := f.GetOrganization(ctx, org)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second changes nothing
		got, err := f.EditOrganization(ctx, org, store.OrganizationEdit{Name: store.Set("Größe"), Slug: store.Set("groesse")})
		want := store.Organization{ID: org, Name: "Größe", Slug: "groesse", CreatedAt: was.CreatedAt}
		if read, readErr := f.GetOrganization(ctx, org); err != nil || got != want || readErr != nil || read != want {
			t.Errorf("edited: %+v, %v; read: %+v, %v", got, err, read, readErr)
		}
	}
	_, err = f.EditOrganization(ctx, other, store.OrganizationEdit{Slug: store.Set("groesse")})
	wantError(t, err, store.ErrConflict)
	_, err = f.EditOrganization(ctx, "org_none", store.OrganizationEdit{Name: store.Set("x")})
	wantError(t, err, store.ErrNotFound)
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{Action: "organization.updated"}, 0, 10)
	if err != nil || len(entries) != 1 || entries[0].Changes.Before["slug"] != was.Slug || entries[0].Changes.After["slug"] != "groesse" {
		t.Errorf("audit: %+v, %v", entries, err)
	}
}

// filled is an organization with rows of every kind.
type filled struct {
	org              principal.OrgID
	admin, guest     principal.UserID // the guest also belongs to another organization
	key, ingest      string
	session, invited string
	share            string
	dashboard        uuid.UUID
}

func (f *fixture) filled(t *testing.T, home principal.OrgID) filled {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	org, admin := f.org(t)
	x := filled{org: org, admin: admin, guest: f.user(t).ID, session: "session-" + f.name()}
	check(f.CreateMembership(ctx, org, x.guest, principal.RoleAdmin))
	check(f.CreateMembership(ctx, home, x.guest, principal.RoleMember))
	x.key = f.apiKey(t, org).SecretHash
	secret := f.secret()
	x.ingest = secret.Hash
	_, err := f.CreateIngestKey(ctx, org, store.NewIngestKey{Name: "k", Signals: store.Signals(), Secret: secret})
	check(err)
	_, err = f.CreateAttributeMapping(ctx, org, store.NewAttributeMapping{
		Name: "m", SourceContext: store.AttributeMappingSourceContextSpan, SourceKey: "a", TargetKey: "b",
		Operation: store.AttributeMappingOperationMove,
	})
	check(err)
	_, err = f.PutSamplingPolicy(ctx, org, store.SamplingPolicyParams{TraceSampleRatio: 0.5})
	check(err)
	_, err = f.PutPlan(ctx, org, store.PlanParams{Name: "pro", Active: true})
	check(err)
	check(f.AddIngestUsage(ctx, []store.UsageDelta{{
		Org: org, Day: f.now(), Signal: "logs", KeyID: "ingk_a",
		Usage: store.Usage{Requests: 1},
	}}))
	check(f.PutIngestOutcomes(ctx, []store.NodeOutcomes{{Org: org, KeyID: "ingk_a", Node: "n", Outcomes: []store.IngestOutcome{
		{KeyID: "ingk_a", Node: "n", At: f.now(), Signal: "logs", Door: "http", Status: 200},
	}}}))
	_, err = f.CreateLogpushConnector(ctx, org, store.NewLogpushConnector{Name: "c", ZoneName: "example.com", Secret: f.secret()})
	check(err)
	_, x.invited = f.invite(t, org, store.NewInvitation{})
	d, _, err := f.CreateDashboard(ctx, org, admin, newDashboard("d"))
	check(err)
	x.dashboard, x.share = d.ID, "share-"+f.name()
	_, err = f.UpsertDashboardShare(ctx, org, d.ID, "", store.SharePublic, admin,
		func(uuid.UUID) (string, string) { return "sealed", x.share })
	check(err)
	_, _, err = f.ClaimIdempotencyKey(ctx, org, store.IdempotencyKey{Caller: "key_1", KeyHash: "k", RequestHash: "r"}, time.Minute)
	check(err)
	_, err = f.CreateAgentFeedback(ctx, org, store.AgentFeedback{
		Kind: "bug", Summary: "s", Reason: "r",
		Agent: store.FeedbackAgent{Type: "ci"}, Source: store.SourceAPI,
	})
	check(err)
	_, err = f.CreateSavedView(ctx, org, view(x.guest, store.ViewPrivate, "v"))
	check(err)
	_, err = f.EditPreferences(ctx, admin, store.PreferencesEdit{Theme: store.Set("dark")})
	check(err)
	_, err = f.CreateSession(ctx, store.NewSession{User: x.guest, Org: org, TokenHash: x.session, ExpiresAt: f.now().Add(time.Hour)})
	check(err)
	return x
}

// found reports which parts of an organization can still be read.
func (f *fixture) found(t *testing.T, x filled) map[string]bool {
	t.Helper()
	ctx := t.Context()
	out := map[string]bool{}
	one := func(name string, err error) {
		t.Helper()
		if out[name] = err == nil; err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	list := func(name string, n int, err error) {
		t.Helper()
		if out[name] = n > 0; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := f.GetOrganization(ctx, x.org)
	one("organization", err)
	_, err = f.ApiKeyByHash(ctx, x.key)
	one("API key", err)
	_, err = f.IngestKeyByHash(ctx, x.ingest)
	one("ingest key", err)
	_, err = f.SessionByHash(ctx, x.session)
	one("session", err)
	_, _, err = f.InvitationByHash(ctx, x.invited)
	one("invitation", err)
	_, err = f.DashboardShareByHash(ctx, x.share)
	one("share link", err)
	_, err = f.GetDashboard(ctx, x.org, x.dashboard)
	one("dashboard", err)
	versions, err := f.ListDashboardVersions(ctx, x.org, x.dashboard, 0, 10)
	if !errors.Is(err, store.ErrNotFound) {
		list("dashboard version", len(versions), err)
	}
	_, err = f.GetPlan(ctx, x.org)
	one("plan", err)
	policy, err := f.GetSamplingPolicy(ctx, x.org)
	list("sampling policy", int(2-2*policy.TraceSampleRatio), err) // an organization without a policy has 1
	mappings, err := f.ListAttributeMappings(ctx, x.org)
	list("attribute mapping", len(mappings), err)
	usage, err := f.IngestUsageOfMonth(ctx, x.org, f.now())
	list("usage", len(usage), err)
	outcomes, err := f.ListIngestOutcomes(ctx, x.org, "ingk_a")
	list("outcome", len(outcomes), err)
	connectors, err := f.ListLogpushConnectors(ctx, x.org)
	list("connector", len(connectors), err)
	feedback, err := f.ListAgentFeedback(ctx, x.org, 0, 10)
	list("feedback", len(feedback), err)
	members, err := f.ListMembers(ctx, x.org, 0, 10)
	list("member", len(members), err)
	entries, err := f.ListAuditLogEntries(ctx, x.org, store.AuditFilter{}, 0, 10)
	list("audit log", len(entries), err)
	views, err := f.ListSavedViews(ctx, x.org, store.Viewer{User: x.guest}, store.SavedViewFilter{}, 0, 10)
	list("saved view", len(views), err)
	own, err := f.UserPreferences(ctx, x.admin)
	if out["preferences"] = own.Theme == "dark"; err != nil {
		t.Error(err)
	}
	_, err = f.GetUser(ctx, x.admin)
	one("user of this organization only", err)
	return out
}

func testDeleteOrganization(t *testing.T, f *fixture) {
	ctx := t.Context()
	home, _ := f.org(t)
	doomed, stays := f.filled(t, home), f.filled(t, home)
	for name, found := range f.found(t, doomed) {
		if !found {
			t.Errorf("there was no %s to delete", name)
		}
	}
	changes, unsubscribe := watch(f)
	wantError(t, f.DeleteOrganization(ctx, "org_none"), store.ErrNotFound)
	was, err := f.GetOrganization(ctx, doomed.org)
	if err != nil {
		t.Fatal(err)
	}
	by := principal.WithResult(principal.WithOrigin(ctx, principal.Origin{IP: "192.0.2.7"}), principal.Result{Principal: &principal.Principal{
		Org: doomed.org, User: doomed.admin, Name: "Ada", Kind: principal.KindSession,
	}})
	if err := f.DeleteOrganization(by, doomed.org); err != nil {
		t.Fatal(err)
	}
	unsubscribe()
	wantError(t, f.DeleteOrganization(ctx, doomed.org), store.ErrNotFound)
	for name, found := range f.found(t, doomed) {
		if found {
			t.Errorf("the %s is still there", name)
		}
	}
	for name, found := range f.found(t, stays) {
		if !found {
			t.Errorf("the %s of the other organization is gone", name)
		}
	}
	if list, err := f.MembershipsOf(ctx, doomed.guest); err != nil || len(list) != 1 || list[0].Org != home {
		t.Errorf("who belongs to another organization, too, belongs to %+v, %v", list, err)
	}
	if _, err := f.GetUser(ctx, doomed.guest); err != nil {
		t.Errorf("who belongs to another organization, too: %v", err)
	}
	gone := map[string]bool{}
	for _, c := range changes() {
		if c.Org == doomed.org && c.Gone {
			gone[string(c.Subject)+c.Hash] = true
		}
	}
	for _, want := range []string{
		string(store.SubjectOrganization), string(store.SubjectAPIKey) + doomed.key, string(store.SubjectIngestKey) + doomed.ingest,
		string(store.SubjectSession) + doomed.session,
	} {
		if !gone[want] {
			t.Errorf("no cache learns that %s is gone: %v", want, gone)
		}
	}
	tombstones, err := f.ListTombstones(ctx)
	want := []store.Tombstone{{Org: doomed.org, DeletedAt: f.now().UTC(), Name: was.Name, Slug: was.Slug, By: &store.AuditActor{
		Type: store.ActorUser, ID: string(doomed.admin), Name: "Ada", Source: store.SourceDashboard, OriginIP: "192.0.2.7",
	}}}
	if diff := cmp.Diff(want, tombstones); err != nil || diff != "" {
		t.Errorf("tombstones, %v (-want +got):\n%s", err, diff)
	}
	// The name can be used again; the id never is.
	if _, err := f.CreateOrganization(ctx, store.NewOrganization{Name: "again", AdminUser: doomed.guest}); err != nil {
		t.Error(err)
	}
}

// testDeleteOrganizationRace: whatever happens to an organization during its deletion, no row of it stays.
func testDeleteOrganizationRace(t *testing.T, f *fixture) {
	ctx := t.Context()
	home, _ := f.org(t)
	x := f.filled(t, home)
	i, _ := f.invite(t, x.org, store.NewInvitation{})
	joins := f.user(t)
	if err := f.CreateMembership(ctx, home, joins.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for name, call := range map[string]func() error{
		"delete":       func() error { return f.DeleteOrganization(ctx, x.org) },
		"delete again": func() error { return f.DeleteOrganization(ctx, x.org) },
		"key": func() error {
			_, _, err := f.CreateApiKey(ctx, x.org, store.NewApiKey{Name: "n", Kind: store.ApiKeyStandard, Secret: f.secret()})
			return err
		},
		"dashboard": func() error { _, _, err := f.CreateDashboard(ctx, x.org, x.admin, newDashboard("late")); return err },
		"member":    func() error { _, err := f.AcceptInvitation(ctx, i, joins.ID, nil); return err },
		"role":      func() error { _, err := f.SetRole(ctx, x.org, x.guest, principal.RoleMember); return err },
	} {
		wg.Go(func() {
			if err := call(); err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	wg.Wait()
	for name, found := range f.found(t, x) {
		if found {
			t.Errorf("the %s is still there", name)
		}
	}
	if list, err := f.MembershipsOf(ctx, joins.ID); err != nil || len(list) != 1 || list[0].Org != home {
		t.Errorf("who joined meanwhile belongs to %+v, %v", list, err)
	}
}
