// Package storetest holds the one suite that every database under server/store passes.
package storetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Open returns a store on its own empty database, which is closed with the test. now is its clock.
type Open func(t *testing.T, now func() time.Time) *store.Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"schema":                  testSchema,
		"region":                  testRegion,
		"identity":                testIdentity,
		"organizations":           testOrganizations,
		"bootstrap once":          testBootstrapOnce,
		"users":                   testUsers,
		"change password":         testChangePassword,
		"memberships":             testMemberships,
		"last administrator":      testLastAdministrator,
		"administrators race":     testAdministratorsRace,
		"invitations":             testInvitations,
		"invitation refusals":     testInvitationRefusals,
		"invitation race":         testInvitationRace,
		"edit organization":       testEditOrganization,
		"delete organization":     testDeleteOrganization,
		"deletion race":           testDeleteOrganizationRace,
		"api key fields":          testApiKeyFields,
		"api key order":           testApiKeyOrder,
		"api key isolation":       testApiKeyIsolation,
		"api key revoke":          testApiKeyRevoke,
		"api key roll":            testApiKeyRoll,
		"api key roll race":       testApiKeyRollRace,
		"api key touch":           testApiKeyTouch,
		"txid":                    testTxid,
		"audit":                   testAudit,
		"idempotency keys":        testIdempotencyKeys,
		"idempotency key race":    testIdempotencyKeyRace,
		"default ingest keys":     testDefaultIngestKeys,
		"custom ingest keys":      testCustomIngestKeys,
		"ingest key roll race":    testIngestKeyRollRace,
		"ingest key rules":        testIngestKeyRules,
		"ingest key touch":        testIngestKeyTouch,
		"attribute mappings":      testAttributeMappings,
		"markers":                 testMarkers,
		"investigations":          testInvestigations,
		"saved views":             testSavedViews,
		"saved view isolation":    testSavedViewIsolation,
		"saved view bounds":       testSavedViewBounds,
		"preferences":             testPreferences,
		"dashboards":              testDashboards,
		"dashboard order":         testDashboardOrder,
		"dashboard race":          testDashboardRace,
		"dashboard history":       testDashboardHistory,
		"dashboard shares":        testDashboardShares,
		"sampling policies":       testSamplingPolicies,
		"ingest policy":           testIngestPolicy,
		"plans":                   testPlans,
		"ingest usage":            testIngestUsage,
		"ingest usage of nodes":   testIngestUsageOfNodes,
		"ingest usage flushes":    testFlushIngestUsage,
		"ingest outcomes":         testIngestOutcomes,
		"log push connectors":     testLogpushConnectors,
		"log push touch":          testLogpushTouch,
		"scrape targets":          testScrapeTargets,
		"scrape target rules":     testScrapeTargetRules,
		"scrape results":          testScrapeResults,
		"sessions":                testSessions,
		"device logins":           testDeviceLogins,
		"oauth clients":           testOAuthClients,
		"oauth grants":            testOAuthGrants,
		"oauth member":            testOAuthMember,
		"oauth race":              testOAuthRace,
		"device login race":       testDeviceLoginRace,
		"recommendations":         testRecommendations,
		"alert destinations":      testAlertDestinations,
		"outbox":                  testOutbox,
		"user identities":         testUserIdentities,
		"unproved address":        testUnprovedAddress,
		"changes":                 testChanges,
		"times":                   testTimes,
		"cancelled context":       testCancelled,
		"closed database":         testClosed,
		"writers and readers mix": testConcurrentUse,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fixture{}
			f.clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
			f.Store = open(t, f.now)
			test(t, f)
		})
	}
}

// fixture is a store with a clock that stands still until the test advances it.
type fixture struct {
	*store.Store
	clock atomic.Int64
	names atomic.Int64
}

func (f *fixture) now() time.Time { return time.UnixMicro(f.clock.Load()) }

func (f *fixture) advance(d time.Duration) { f.clock.Add(d.Microseconds()) }

// secret returns a different secret each time.
func (f *fixture) secret() store.Secret {
	return store.Secret{Hash: "hash-" + f.name(), Prefix: "svc_ak_abcde..."}
}

func (f *fixture) name() string {
	n := f.names.Add(1)
	var b []byte
	for ; n > 0; n /= 26 {
		b = append(b, byte('a'+n%26))
	}
	return string(b)
}

// org creates an organization and returns it with its administrator.
func (f *fixture) org(t *testing.T) (principal.OrgID, principal.UserID) {
	t.Helper()
	n := f.name()
	out, err := f.CreateOrganization(t.Context(), store.NewOrganization{Name: "Org " + n, Admin: &store.NewUser{Email: n + "@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Organization.ID, out.Admin.ID
}

func (f *fixture) apiKey(t *testing.T, org principal.OrgID) store.ApiKey {
	t.Helper()
	key, _, err := f.CreateApiKey(t.Context(), org, store.NewApiKey{
		Name: "key " + f.name(), Kind: store.ApiKeyStandard, Secret: f.secret(), CreatedBy: "user_x",
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func testSchema(t *testing.T, f *fixture) {
	drift, err := f.SchemaDrift(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if drift != "" {
		t.Errorf("the migrations do not give what ent/schema declares; missing:\n%s", drift)
	}
}

func testCancelled(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := f.CreateApiKey(ctx, org, store.NewApiKey{Name: "n", Kind: store.ApiKeyStandard, Secret: f.secret()})
	wantError(t, err, store.ErrUnavailable)
	wantError(t, err, context.Canceled)
	if keys, err := f.ListApiKeys(t.Context(), org, 0, 10); err != nil || len(keys) != 0 {
		t.Errorf("after a cancelled create: %d keys, %v", len(keys), err)
	}
}

func testClosed(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	if err := f.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.Ping(t.Context()), store.ErrUnavailable)
	_, err := f.ListApiKeys(t.Context(), org, 0, 10)
	wantError(t, err, store.ErrUnavailable)
	_, _, err = f.RevokeApiKey(t.Context(), org, [16]byte{1})
	wantError(t, err, store.ErrUnavailable)
}
