package e2e

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/planetscale/planetscaletest"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/testkit"
)

const planetscalePath = "/v2/integrations/planetscale"

// planetscaleBench is a server with a stand-in for PlanetScale, and its administrator in a browser.
type planetscaleBench struct {
	*sourceBench

	platform *planetscaletest.Platform
}

func planetscaleOf(p *planetscaletest.Platform) func(*config.Config) {
	return func(c *config.Config) {
		c.PlanetScale = config.PlanetScale{
			URL: p.URL, AuthURL: p.URL, ClientID: planetscaletest.ClientID, ClientSecret: planetscaletest.ClientSecret,
		}
	}
}

func newPlanetscaleBench(t *testing.T, organizations ...string) *planetscaleBench {
	t.Helper()
	b := &planetscaleBench{platform: planetscaletest.New(t, organizations...)}
	b.platform.AddDatabase("shop", "mysql", "main", "preview-1", "next")
	b.platform.AddDatabase("facts", "postgresql", "main")
	b.platform.AddDatabase("idle", "mysql", "main")
	s := testkit.Start(t, planetscaleOf(b.platform), func(o *app.Options) { o.Egress = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	b.sourceBench = &sourceBench{t: t, s: s, rest: restClient{t, s, s.APIKey}, admin: newVisitor(t, s.BaseURL)}
	b.admin.signIn(s.AdminEmail, s.AdminPassword)
	return b
}

// login connects the account.
func (b *planetscaleBench) login() {
	b.t.Helper()
	start := b.session().call("POST", planetscalePath+"/connect", "{}", 200)
	if start["object"] != "planetscale_integration.connect" || !strings.Contains(fmt.Sprint(start["redirect_url"]), "state=") ||
		fmt.Sprint(start["state"]) == "" {
		b.t.Fatalf("connect: %v", start)
	}
	got := b.admin.get(b.atHub(fmt.Sprint(start["redirect_url"])))
	if got.StatusCode != 303 || !strings.HasSuffix(got.Header.Get("Location"),
		"/settings/integrations?integration=planetscale&result=connected") {
		b.t.Fatalf("connect: %d %s\n%s", got.StatusCode, got.Header.Get("Location"), got.text)
	}
}

func (b *planetscaleBench) status() map[string]any {
	b.t.Helper()
	return b.rest.call("GET", planetscalePath, "", 200)
}

// TestPlanetScale connects an account, selects its organization, reads databases, metrics, events and queries, and disconnects it.
func TestPlanetScale(t *testing.T) {
	t.Parallel()
	b := newPlanetscaleBench(t, "acme", "umbrella", "third")
	now := time.Now().UTC().Truncate(time.Second)
	b.platform.AddDeployRequest(41, "add-index", "complete", now.Add(-time.Hour))
	b.platform.AddDeployRequest(42, "drop-table", "queued", now.Add(-time.Minute))
	b.platform.AddDeployRequest(1, "old", "complete", now.Add(-40*24*time.Hour))
	b.platform.AddEntry("branch.created", "add-index", "shop", now.Add(-2*time.Hour))
	b.platform.AddEntry("service_token.created", "ci", "", now.Add(-2*time.Hour))
	if got := b.status(); got["connected"] != false || got["organization"] != nil || got["metrics_auth"] != "missing" ||
		got["scrape_target"] != nil || got["detected_permissions"] != nil {
		t.Errorf("before: %v", got)
	}
	window := fmt.Sprintf(`"start_time":%q,"end_time":%q`, now.Add(-24*time.Hour).Format(time.RFC3339),
		now.Add(time.Hour).Format(time.RFC3339))
	for _, c := range [][3]string{
		{"GET", "/organizations", ""},
		{"GET", "/databases", ""},
		{"POST", "/select_organization", `{"organization":"acme"}`},
		{"POST", "/metrics_token", `{"token_id":"a","token_secret":"b"}`},
		{"POST", "/query_insights", `{"database":"shop",` + window + `}`},
		{"POST", "/events", `{` + window + `}`},
		{"DELETE", "", ""},
	} {
		if got := b.rest.call(c[0], planetscalePath+c[1], c[2], 409); tagOf(got) != "@svc/http/errors/IntegrationsNotConnectedError" {
			t.Errorf("%s before: %v", c[1], got)
		}
	}

	b.login()
	got := b.status()
	granted, _ := got["detected_permissions"].(map[string]any)
	if got["connected"] != true || got["pending_org_selection"] != true || got["organization"] != nil || granted["read_databases"] != true ||
		granted["read_audit_logs"] != false ||
		!strings.HasPrefix(fmt.Sprint(got["connected_by_user_id"]), "user_") || got["expires_at"] == nil {
		t.Errorf("after the login: %v", got)
	}
	list, _ := b.rest.call("GET", planetscalePath+"/organizations", "", 200)["organizations"].([]any)
	if len(list) != 3 {
		t.Errorf("organizations: %v", list)
	}
	for _, body := range []string{`{"organization":"nobody"}`, `{"organization":"acme","include_branches":["[x"]}`} {
		if got := b.rest.call("POST", planetscalePath+"/select_organization", body,
			400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" {
			t.Errorf("%s: %v", body, got)
		}
	}
	got = b.rest.call("POST", planetscalePath+"/select_organization", `{"organization":"acme","exclude_branches":["preview-*"]}`, 200)
	target, _ := got["scrape_target"].(map[string]any)
	if got["organization"] != "acme" || got["pending_org_selection"] != false || got["metrics_auth"] != "missing" ||
		target["enabled"] != false ||
		fmt.Sprint(target["exclude_branches"]) != "[preview-*]" {
		t.Errorf("selected: %v", got)
	}
	b.until("databases are read", func() bool { return b.status()["last_inventory_at"] != nil })

	databases, _ := b.rest.call("GET", planetscalePath+"/databases", "", 200)["databases"].([]any)
	text := fmt.Sprint(databases)
	if len(databases) != 3 || !strings.Contains(text, "name:facts") || !strings.Contains(text, "kind:postgresql") ||
		!strings.Contains(text, "plan:scaler_pro") ||
		!strings.Contains(text, "region:us-east") || strings.Count(text, "production:true") != 3 || strings.Count(text, "ready:true") != 5 {
		t.Errorf("databases: %s", text)
	}

	// A wrong token for metrics, then a good one: the branches that fit are scraped.
	if got := b.rest.call("POST", planetscalePath+"/metrics_token", `{"token_id":"x","token_secret":"wrong-token"}`,
		400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" ||
		strings.Contains(fmt.Sprint(got), "wrong-token") {
		t.Errorf("a wrong token: %v", got)
	}
	got = b.rest.call("POST", planetscalePath+"/metrics_token",
		fmt.Sprintf(`{"token_id":%q,"token_secret":%q}`, planetscaletest.MetricsID, planetscaletest.MetricsSecret), 200)
	target, _ = got["scrape_target"].(map[string]any)
	if got["metrics_auth"] != "service_token" || target["enabled"] != true {
		t.Errorf("a good token: %v", got)
	}
	b.until("metrics are scraped", func() bool {
		target, _ := b.status()["scrape_target"].(map[string]any)
		if target["last_scrape_error"] != nil {
			t.Fatalf("the scrape failed: %v", target["last_scrape_error"])
		}
		return target["last_scrape_at"] != nil
	})
	id := fmt.Sprint(target["id"])
	b.until("points are stored", func() bool { return len(b.branchesWithMetrics()) == 4 })
	if got := fmt.Sprint(b.branchesWithMetrics()); got != "[facts/main idle/main shop/main shop/next]" {
		t.Errorf("branches with metrics: %s", got)
	}
	// The target belongs to the integration.
	for _, c := range [][3]string{{"PATCH", "", `{"enabled":false}`}, {"DELETE", "", ""}, {"POST", "/probe", "{}"}} {
		if got := b.rest.call(c[0], "/v2/scrape_targets/"+id+c[1], c[2], 400); tagOf(got) != "@svc/http/errors/ScrapeTargetValidationError" {
			t.Errorf("%s%s of a managed target: %v", c[0], c[1], got)
		}
	}

	b.planetscaleEvents(window, now)
	b.planetscaleInsights(window)

	// Another organization, and a member.
	other := b.s.NewOrganization(t, "Other")
	stranger := restClient{t, other, other.APIKey}
	if got := fmt.Sprint(stranger.call("GET", planetscalePath, "", 200)); strings.Contains(got, "acme") {
		t.Errorf("another organization sees %s", got)
	}
	stranger.call("GET", planetscalePath+"/databases", "", 409)
	stranger.call("DELETE", planetscalePath, "", 409)
	member := join(t, b.s)
	asMember := restClient{t, b.s, signIn(t, b.s, member.email, member.password, b.s.OrgID)}
	asMember.call("GET", planetscalePath+"/databases", "", 200)
	for _, c := range [][2]string{{"POST", "/connect"}, {"GET", "/organizations"}, {"GET", "/webhook_config"}, {"DELETE", ""}} {
		if got := asMember.call(c[0], planetscalePath+c[1], map[bool]string{true: "{}"}[c[0] == "POST"],
			403); tagOf(got) != "@svc/http/errors/IntegrationsForbiddenError" {
			t.Errorf("a member: %s: %v", c[1], got)
		}
	}

	entries := fmt.Sprint(b.rest.call("GET", "/v2/audit_log?limit=100", "", 200)["data"])
	for _, secret := range b.platform.Secrets() {
		if strings.Contains(entries, secret) {
			t.Errorf("the audit log holds %q", secret)
		}
	}
	hook := fmt.Sprint(b.rest.call("GET", planetscalePath+"/webhook_config", "", 200)["url"])
	if got := b.rest.call("DELETE", planetscalePath, "", 200); got["connected"] != false || got["object"] != "planetscale_integration" {
		t.Errorf("disconnect: %v", got)
	}
	b.rest.call("GET", "/v2/scrape_targets/"+id, "", 404)
	if b.platform.Live() != 0 {
		t.Errorf("%d tokens work after the disconnect", b.platform.Live())
	}
	if got := b.status(); got["connected"] != false || got["scrape_target"] != nil {
		t.Errorf("after: %v", got)
	}
	// A webhook that outlives its account is told so. However often it comes, it does not count as an attack.
	for range 2 * limits.WebhookForgeries {
		res, err := http.Post(hook, "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusGone {
			t.Fatalf("a delivery after the disconnect: %d", res.StatusCode)
		}
	}
}

// branchesWithMetrics lists the branches whose points are stored.
func (b *planetscaleBench) branchesWithMetrics() (out []string) {
	b.t.Helper()
	rows, _ := b.rest.call("POST", "/v2/sql/search", `{"sql":"SELECT DISTINCT Attributes['planetscale_database'] AS d, Attributes['planetscale_branch'] AS b FROM metrics_gauge WHERE MetricName = 'planetscale_connections' ORDER BY d, b"}`, 200)["rows"].([]any)
	for _, r := range rows {
		row, _ := r.([]any)
		out = append(out, fmt.Sprint(row[0], "/", row[1]))
	}
	return out
}

func (b *planetscaleBench) planetscaleEvents(window string, now time.Time) {
	b.t.Helper()
	events := func(more string) (out []map[string]any, cursor any) {
		res := b.rest.call("POST", planetscalePath+"/events", `{`+window+more+`}`, 200)
		data, _ := res["data"].([]any)
		for _, d := range data {
			e, _ := d.(map[string]any)
			out = append(out, e)
		}
		return out, res["next_cursor"]
	}
	all, cursor := events("")
	// The requests are those of both databases of the kind mysql, as the stand-in has one list; each counts once.
	if len(all) != 3 || cursor != nil || all[0]["title"] != "Deploy request 42: drop-table into main" || all[0]["state"] != "queued" ||
		all[0]["source"] != "backfill" ||
		all[0]["category"] != "deploy_request" || all[2]["event_type"] != "branch.created" || all[2]["branch_name"] != "add-index" ||
		all[2]["database_name"] != "shop" {
		b.t.Errorf("events: %v", all)
	}
	first, cursor := events(`,"limit":2`)
	rest, _ := events(fmt.Sprintf(`,"limit":2,"cursor":%q`, cursor))
	if len(first) != 2 || len(rest) != 1 || rest[0]["id"] != all[2]["id"] {
		b.t.Errorf("pages: %v, %v", first, rest)
	}
	if got, _ := events(`,"categories":["branch"]`); len(got) != 1 {
		b.t.Errorf("by category: %v", got)
	}
	if got, _ := events(`,"branch":"drop-table"`); len(got) != 1 {
		b.t.Errorf("by branch: %v", got)
	}

	// A delivery at the secret address makes the account read at once; a wrong token does nothing.
	config := b.rest.call("GET", planetscalePath+"/webhook_config", "", 200)
	address := fmt.Sprint(config["url"])
	if config["configured"] != true || config["secret"] != nil ||
		!strings.HasPrefix(address, b.s.BaseURL+"/integrations/planetscale/webhook/") {
		b.t.Errorf("webhook: %v", config)
	}
	deliver := func(address string) int {
		res, err := http.Post(address, "application/json", strings.NewReader(`{"event":"branch.ready"}`))
		if err != nil {
			b.t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	b.platform.AddEntry("branch.deleted", "add-index", "shop", now)
	if got := deliver(address[:len(address)-4] + "AAAA"); got != 401 {
		b.t.Errorf("a wrong token: %d", got)
	}
	if got := deliver(address); got != 202 {
		b.t.Errorf("a delivery: %d", got)
	}
	b.until("the new event is there", func() bool { got, _ := events(""); return len(got) == 4 })
	if got, _ := events(`,"categories":["branch"]`); got[0]["event_type"] != "branch.deleted" || got[0]["source"] != "webhook" {
		b.t.Errorf("after the delivery: %v", got)
	}
}

func (b *planetscaleBench) planetscaleInsights(window string) {
	b.t.Helper()
	ask := func(body string, status int) map[string]any {
		b.t.Helper()
		return b.rest.call("POST", planetscalePath+"/query_insights", `{`+window+`,`+body+`}`, status)
	}
	for range 2 {
		got := ask(`"database":"shop"`, 200)
		data, _ := got["data"].([]any)
		if got["branch"] != "main" || len(data) != 2 || got["unavailable_reason"] != nil {
			b.t.Fatalf("insights: %v", got)
		}
		first, _ := data[0].(map[string]any)
		if first["fingerprint"] != "b2" || first["total_duration_millis"] != 90.0 || first["rows_read_per_query"] != 3.5 ||
			first["statement_type"] != nil || first["last_run_at"] == nil {
			b.t.Errorf("the slowest query: %v", first)
		}
	}
	const path = "organizations/acme/databases/shop/branches/main/insights"
	if n := b.platform.Calls(path); n != 1 {
		b.t.Errorf("%d requests for two equal questions", n)
	}
	for body, field := range map[string]string{`"database":"nothing"`: "database", `"database":"shop","branch":"nothing"`: "branch"} {
		if got := ask(body, 400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" || !strings.Contains(fmt.Sprint(got), field) {
			b.t.Errorf("%s: %v", body, got)
		}
	}
	for status, want := range map[int]int{403: 200, 422: 200, 500: 502, 429: 502} {
		b.platform.Fault(func(at string) int {
			if strings.HasSuffix(at, "/insights") {
				return status
			}
			return 0
		})
		got := ask(fmt.Sprintf(`"database":"shop","branch":"next","limit":%d`, 1+status%20), want)
		if want == 200 && (got["unavailable_reason"] == nil || fmt.Sprint(got["data"]) != "[]") || want == 502 &&
			tagOf(got) != "@svc/http/errors/IntegrationsUpstreamError" {
			b.t.Errorf("status %d: %v", status, got)
		}
	}
	b.platform.Fault(nil)
}

// TestPlanetScaleAccess: the only organization is selected by itself, tokens are renewed, and withdrawn access is told.
func TestPlanetScaleAccess(t *testing.T) {
	t.Parallel()
	b := newPlanetscaleBench(t, "acme")
	b.platform.Bearer(true)
	b.platform.Life(2 * time.Second)
	b.login()
	if got := b.status(); got["organization"] != "acme" || got["metrics_auth"] != "oauth" || got["pending_org_selection"] != false {
		t.Errorf("one organization: %v", got)
	}
	b.until("the target is made", func() bool { return b.status()["scrape_target"] != nil })
	address := fmt.Sprint(b.rest.call("GET", planetscalePath+"/webhook_config", "", 200)["url"])
	deliver := func(n int) {
		res, err := http.Post(address, "application/json", strings.NewReader(fmt.Sprint(n)))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	time.Sleep(1100 * time.Millisecond)
	before := b.status()["expires_at"] // of a short life: the next renewal changes it
	b.platform.Life(time.Hour)
	deliver(1)
	b.until("the access is renewed", func() bool { return b.status()["expires_at"] != before && b.platform.Live() == 1 })
	b.platform.RevokeAll()
	// The first refusal is tried again after a minute, because providers refuse for moments; a refused renewal ends the access at once.
	if got := b.rest.call("GET", planetscalePath+"/organizations", "", 401); tagOf(got) != "@svc/http/errors/IntegrationsRevokedError" {
		t.Errorf("withdrawn: %v", got)
	}
	b.until("the withdrawal is seen", func() bool { return b.status()["last_inventory_error"] != nil })
	b.login()
	b.until("it works again", func() bool {
		got := b.status()
		return got["last_inventory_error"] == nil && got["organization"] == "acme"
	})
}
