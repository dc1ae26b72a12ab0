package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/vercel/verceltest"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/testkit"
)

const (
	vercelPath  = "/v2/integrations/hosting_platforms/platform_b"
	vercelToken = "vercel-token-of-a-test"
)

// hostingBench is a server with a stand-in for Vercel.
type hostingBench struct {
	*sourceBench

	vercel *verceltest.Vercel
	team   *verceltest.Team
}

func vercelOf(v *verceltest.Vercel) func(*config.Config) {
	return func(c *config.Config) { c.VercelURL = v.URL }
}

func newHostingBench(t *testing.T) *hostingBench {
	t.Helper()
	b := &hostingBench{vercel: verceltest.New(t)}
	b.team = b.vercel.AddTeam("team_acme", "acme", "Acme", "shop", "docs", "api")
	b.vercel.Token(vercelToken, "team_acme")
	now := time.Now()
	b.vercel.Deploy(b.team, "shop", "dpl_OLD", "READY", "production", now.Add(-40*24*time.Hour))
	b.vercel.Deploy(b.team, "shop", "dpl_1", "READY", "production", now.Add(-50*time.Hour))
	b.vercel.Deploy(b.team, "shop", "dpl_2", "ERROR", "", now.Add(-2*time.Hour))
	b.vercel.Deploy(b.team, "docs", "dpl_3", "BUILDING", "production", now.Add(-time.Minute))
	b.team.Drains = []map[string]any{
		{"id": "drn_1", "name": "logs", "status": "enabled"},
		{"id": "drn_2", "name": "traces", "status": "errored"},
	}
	s := testkit.Start(t, vercelOf(b.vercel))
	b.sourceBench = &sourceBench{t: t, s: s, rest: restClient{t, s, s.APIKey}, admin: newVisitor(t, s.BaseURL)}
	b.admin.signIn(s.AdminEmail, s.AdminPassword)
	return b
}

func (b *hostingBench) connect(by restClient, token, team string, status int) map[string]any {
	b.t.Helper()
	return by.call("POST", vercelPath+"/connect", fmt.Sprintf(`{"token":%q,"team":%q}`, token, team), status)
}

func (b *hostingBench) platform(by restClient) map[string]any {
	b.t.Helper()
	return by.call("GET", vercelPath, "", 200)
}

// sync asks for a synchronization and returns the platform after it.
func (b *hostingBench) sync() map[string]any {
	b.t.Helper()
	got := b.rest.call("POST", vercelPath+"/sync", "{}", 200)
	if got["running"] != false || got["started_at"] == nil {
		b.t.Fatalf("synchronization: %v", got)
	}
	p, _ := got["platform"].(map[string]any)
	return p
}

// rows writes fields of the rows of a list, which is read in pages of two.
func (b *hostingBench) rows(by restClient, list string, fields ...string) string {
	b.t.Helper()
	var out []string
	for cursor := ""; ; {
		separator := "?"
		if strings.Contains(list, "?") {
			separator = "&"
		}
		got := by.call("GET", vercelPath+list+separator+"limit=2"+cursor, "", 200)
		data, _ := got["data"].([]any)
		for _, d := range data {
			row, _ := d.(map[string]any)
			var cells []string
			for _, f := range fields {
				cells = append(cells, fmt.Sprint(row[f]))
			}
			out = append(out, strings.Join(cells, ","))
		}
		next, more := got["next_cursor"].(string)
		if more != (got["has_more"] == true) {
			b.t.Fatalf("page: %v", got)
		}
		if !more {
			return strings.Join(out, " ")
		}
		cursor = "&cursor=" + next
	}
}

func drainsOf(p map[string]any) string {
	var out []string
	drains, _ := p["drains"].([]any)
	for _, d := range drains {
		row, _ := d.(map[string]any)
		out = append(out, fmt.Sprint(row["id"], "=", row["state"]))
	}
	return strings.Join(out, " ")
}

// TestHostingConnect connects Vercel with good and bad tokens, and lets others try.
func TestHostingConnect(t *testing.T) {
	t.Parallel()
	b := newHostingBench(t)
	if p := b.platform(b.rest); p["id"] != "platform_b" || p["name"] != "Vercel" || p["status"] != "available" || p["available"] != true ||
		p["integration_id"] != nil {
		t.Errorf("before: %v", p)
	}
	if got := b.rest.call("GET", "/v2/integrations/hosting_platforms/platform_z", "",
		404); tagOf(got) != "@svc/http/errors/IntegrationsNotFoundError" {
		t.Errorf("an unknown platform: %v", got)
	}
	for method, path := range map[string]string{"POST": vercelPath + "/sync", "DELETE": vercelPath} {
		if got := b.rest.call(method, path, map[string]string{"POST": "{}"}[method],
			409); tagOf(got) != "@svc/http/errors/IntegrationsNotConnectedError" {
			t.Errorf("%s without an account: %v", method, got)
		}
	}
	wrong := func(token, team, param, says string) {
		t.Helper()
		got := b.connect(b.rest, token, team, 400)
		text := fmt.Sprint(got)
		if tagOf(got) != "@svc/http/errors/IntegrationsValidationError" || !strings.Contains(text, param) || !strings.Contains(text, says) ||
			token != "" && strings.Contains(text, token) || strings.Contains(text, "words of the platform") {
			t.Errorf("token %q, team %q: %s", token, team, text)
		}
	}
	b.vercel.AddTeam("team_other", "other", "Other")
	b.vercel.Token("token-of-two-teams", "team_acme", "team_other")
	wrong("no-such-token", "", "token", "Vercel refuses the token")
	wrong("no-such-token", "team_acme", "token", "Vercel refuses the token")
	wrong("two words", "", "token", "without spaces")
	wrong("token-of-two-teams", "", "team", "sees 2 teams")
	wrong(vercelToken, "other", "team", "no team with this id")
	wrong(vercelToken, "team_other", "token", "is not accepted")
	for _, fault := range []int{429, 500} {
		b.vercel.Fault(func(string) int { return fault })
		if got := b.connect(b.rest, vercelToken, "", 502); tagOf(got) != "@svc/http/errors/IntegrationsUpstreamError" ||
			strings.Contains(fmt.Sprint(got), "words of") {
			t.Errorf("fault %d: %v", fault, got)
		}
	}
	b.vercel.Fault(func(string) int { return 401 })
	wrong(vercelToken, "", "token", "is not accepted")
	b.vercel.Fault(nil)

	member := join(t, b.s)
	colleague := newVisitor(t, b.s.BaseURL)
	colleague.signIn(member.email, member.password)
	asMember := restClient{t, b.s, colleague.token()}
	for _, c := range [][3]string{{"POST", "/connect", `{"token":"x"}`}, {"POST", "/sync", "{}"}, {"DELETE", "", ""}} {
		if got := asMember.call(c[0], vercelPath+c[1], c[2], 403); tagOf(got) != "@svc/http/errors/IntegrationsForbiddenError" {
			t.Errorf("a member: %s%s: %v", c[0], c[1], got)
		}
	}

	p := b.connect(b.session(), vercelToken, "", 200)
	id := fmt.Sprint(p["integration_id"])
	if p["status"] != "connected" || p["account"] != "Acme" || p["external_account_id"] != "team_acme" || !strings.HasPrefix(id, "intg_") ||
		p["connected_at"] == nil {
		t.Errorf("connected: %v", p)
	}
	b.until("the first synchronization", func() bool { return b.platform(asMember)["last_sync_at"] != nil })
	if p := b.platform(asMember); p["projects"] != 3.0 || p["deployments"] != 3.0 {
		t.Errorf("a member sees %v", p)
	}
	listed := fmt.Sprint(b.rest.call("GET", "/v2/integrations", "", 200)["data"])
	for _, want := range []string{"provider:platform_b", "name:Vercel", "class:hosting", "account:Acme", id, "sync_platform_b"} {
		if !strings.Contains(listed, want) {
			t.Errorf("the list of integrations lacks %s: %s", want, listed)
		}
	}
	// The same account with another token keeps its id; another account has to wait.
	if got := b.connect(b.rest, "token-of-two-teams", "acme", 200); got["integration_id"] != id {
		t.Errorf("connected again: %v", got)
	}
	wrong("token-of-two-teams", "other", "token", "Disconnect Acme first")

	other := b.s.NewOrganization(t, "Other")
	stranger := restClient{t, other, other.APIKey}
	if p := b.platform(stranger); p["status"] != "available" || p["projects"] != 0.0 || p["account"] != nil {
		t.Errorf("another organization sees %v", p)
	}
	if got := b.rows(stranger, "/projects", "id") + b.rows(stranger, "/deployments", "id"); got != "" {
		t.Errorf("another organization sees %s", got)
	}
	stranger.call("DELETE", vercelPath, "", 409)
	stranger.call("POST", vercelPath+"/sync", "{}", 409)

	b.rest.call("DELETE", vercelPath, "", 200)
	b.rest.call("DELETE", vercelPath, "", 409)
	if p := b.platform(b.rest); p["status"] != "available" || p["projects"] != 0.0 || p["deployments"] != 0.0 {
		t.Errorf("after the disconnect: %v", p)
	}
	if got := b.rows(b.rest, "/projects", "id") + b.rows(b.rest, "/deployments", "id"); got != "" {
		t.Errorf("after the disconnect: %s", got)
	}
	entries := fmt.Sprint(b.rest.call("GET", "/v2/audit_log?limit=100", "", 200)["data"])
	for _, token := range []string{vercelToken, "token-of-two-teams", "no-such-token"} {
		if strings.Contains(entries, token) {
			t.Errorf("the audit log holds %q", token)
		}
	}
	for _, action := range []string{"integration.connected", "integration.sync_requested", "integration.disconnected"} {
		if strings.Contains(entries, action) == (action == "integration.sync_requested") { // nobody has asked for one here
			t.Errorf("the audit log: %s in %s", action, entries)
		}
	}
}

// TestHostingSync reads projects, deployments and drains again and again.
func TestHostingSync(t *testing.T) {
	t.Parallel()
	b := newHostingBench(t)
	b.connect(b.rest, vercelToken, "acme", 200)
	p := b.sync()
	if p["projects"] != 3.0 || p["deployments"] != 3.0 || p["status"] != "connected" || p["error"] != nil ||
		drainsOf(p) != "drn_1=enabled drn_2=errored" || p["drains_error"] != nil {
		t.Errorf("synchronized: %v", p)
	}
	if got := b.rows(b.rest, "/projects", "id", "name", "framework",
		"repository"); got != "prj_api,api,nextjs,acme/api prj_docs,docs,nextjs,acme/docs prj_shop,shop,nextjs,acme/shop" {
		t.Errorf("projects: %s", got)
	}
	fields := []string{"id", "project_name", "target", "state", "platform_state", "commit_sha", "branch", "url"}
	if got := b.rows(b.rest, "/deployments", fields...); got != "dpl_3,docs,production,building,BUILDING,c0ffeedpl_3,main,https://docs-3.vercel.app "+
		"dpl_2,shop,preview,error,ERROR,c0ffeedpl_2,main,https://shop-2.vercel.app "+
		"dpl_1,shop,production,ready,READY,c0ffeedpl_1,main,https://shop-1.vercel.app" {
		t.Errorf("deployments: %s", got)
	}
	if got := b.rows(b.rest, "/deployments?project_id=prj_docs", "id", "ready_at"); got != "dpl_3,<nil>" {
		t.Errorf("deployments of a project: %s", got)
	}
	// A project and a recent deployment go, a drain goes, another deployment is ready, and one is new. The old one is outside of the second
	// read.
	b.vercel.Change(func() {
		b.team.Projects = b.team.Projects[:2]
		b.team.Projects[1]["name"] = "handbook"
		kept := b.team.Deployments[:0:0]
		for _, d := range b.team.Deployments {
			if d["uid"] != "dpl_2" && d["uid"] != "dpl_1" {
				kept = append(kept, d)
			}
		}
		b.team.Deployments = kept
		b.team.Deployments[0]["state"], b.team.Deployments[0]["ready"] = "READY", time.Now().UnixMilli()
		b.team.Drains = b.team.Drains[1:]
	})
	b.vercel.Deploy(b.team, "shop", "dpl_4", "SOMETHING", "staging", time.Now())
	p = b.sync()
	if p["projects"] != 2.0 || drainsOf(p) != "drn_1=missing drn_2=errored" {
		t.Errorf("synchronized again: %v", p)
	}
	if got := b.rows(b.rest, "/deployments", "id", "state", "target"); got != "dpl_4,unknown,staging dpl_3,ready,production "+
		"dpl_1,ready,production" {
		t.Errorf("deployments: %s", got)
	}
	if got := b.rows(b.rest, "/projects", "name"); got != "handbook shop" {
		t.Errorf("projects: %s", got)
	}
	// A plan without drains is no failure.
	b.vercel.Change(func() { b.team.NoDrains = true })
	if p := b.sync(); p["error"] != nil || !strings.Contains(fmt.Sprint(p["drains_error"]), "no access to drains") {
		t.Errorf("without drains: %v", p)
	}
	// Faults leave what is stored; nothing that the platform wrote is shown.
	for fault, says := range map[int]string{
		429: "asks for a pause. The server goes on at 20", 500: "failed (status 500)",
		403: "does not allow",
	} {
		b.vercel.Fault(func(path string) int {
			if strings.HasPrefix(path, "/v6/") {
				return fault
			}
			return 0
		})
		p := b.sync()
		if text := fmt.Sprint(p["error"]); !strings.Contains(text, says) || strings.Contains(text, "words of") || p["projects"] != 2.0 ||
			p["deployments"] != 3.0 {
			t.Errorf("fault %d: %v", fault, p)
		}
	}
	b.vercel.Fault(nil)
	if p := b.sync(); p["error"] != nil || p["status"] != "connected" {
		t.Errorf("after the faults: %v", p)
	}
	// A token that was deleted is told at once, and a new one mends it.
	b.vercel.Revoke(vercelToken)
	if p := b.sync(); p["status"] != "reconnect_needed" || !strings.Contains(fmt.Sprint(p["error"]), "no longer knows the token") ||
		p["deployments"] != 3.0 {
		t.Errorf("a deleted token: %v", p)
	}
	listed := fmt.Sprint(b.rest.call("GET", "/v2/integrations", "", 200)["data"])
	if !strings.Contains(listed, "status:reconnect_needed") || !strings.Contains(listed, "connects Acme again") {
		t.Errorf("the list of integrations: %s", listed)
	}
	b.vercel.Token("a-new-token", "team_acme")
	b.connect(b.rest, "a-new-token", "", 200)
	if p := b.sync(); p["status"] != "connected" || p["error"] != nil {
		t.Errorf("a new token: %v", p)
	}
	entries := fmt.Sprint(b.rest.call("GET", "/v2/audit_log?limit=100", "", 200)["data"])
	if strings.Contains(entries, vercelToken) || strings.Contains(entries, "a-new-token") ||
		!strings.Contains(entries, "integration.sync_requested") {
		t.Errorf("the audit log: %s", entries)
	}
	// The account of a person has no team and no drains.
	b.rest.call("DELETE", vercelPath, "", 200)
	b.vercel.Token("token-of-a-person")
	if p := b.connect(b.rest, "token-of-a-person", "", 200); p["account"] != "Ada" || p["external_account_id"] != "usr_ada" {
		t.Errorf("a person: %v", p)
	}
	if p := b.sync(); p["error"] != nil || !strings.Contains(fmt.Sprint(p["drains_error"]), "Only teams") {
		t.Errorf("a person: %v", p)
	}
}

// TestHostingSlow: a request to synchronize does not wait forever, and the synchronization goes on.
func TestHostingSlow(t *testing.T) {
	t.Parallel()
	b := newHostingBench(t)
	b.connect(b.rest, vercelToken, "", 200)
	b.sync()
	b.vercel.Change(func() { b.team.Projects = b.team.Projects[:1] })
	b.vercel.Delay(6 * time.Second)
	began := time.Now()
	got := b.rest.call("POST", vercelPath+"/sync", "{}", 200)
	p, _ := got["platform"].(map[string]any)
	if took := time.Since(began); got["running"] != true || p["status"] != "connected" || p["projects"] != 3.0 ||
		took < limits.HostingSyncWait || took > 2*limits.HostingSyncWait {
		t.Errorf("after %s: %v", took, got)
	}
	b.vercel.Delay(0)
	b.until("the synchronization ends", func() bool { return b.platform(b.rest)["projects"] == 1.0 })
}

// TestHostingOff: an operator can switch the platform off.
func TestHostingOff(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, func(c *config.Config) { c.VercelURL = "" })
	rest := restClient{t, s, s.APIKey}
	if p := rest.call("GET", vercelPath, "", 200); p["status"] != "not_configured" || p["available"] != false {
		t.Errorf("switched off: %v", p)
	}
	if got := rest.call("POST", vercelPath+"/connect", `{"token":"x"}`,
		503); tagOf(got) != "@svc/http/errors/IntegrationsConfigurationError" || !strings.Contains(fmt.Sprint(got), "vercel-url") {
		t.Errorf("connect: %v", got)
	}
}
