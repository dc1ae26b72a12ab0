package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/railway/railwaytest"
	"github.com/svc-observability/svc/server/testkit"
)

const (
	railwayPath  = "/v2/integrations/hosting_platforms/platform_a"
	railwayToken = "railway-token-of-a-test"
)

func railwayOf(r *railwaytest.Railway) func(*config.Config) {
	return func(c *config.Config) { c.RailwayURL = r.URL }
}

// TestRailway connects Railway with tokens of each kind, and reads projects and deployments again and again.
func TestRailway(t *testing.T) {
	t.Parallel()
	hub := railwaytest.New(t)
	workspace := hub.AddWorkspace("ws_acme", "Acme", "shop", "docs", "api")
	hub.AddWorkspace("ws_other", "Other", "secret")
	hub.Token(railwayToken, "ws_acme")
	hub.Token("token-of-an-account", "ws_acme", "ws_other")
	hub.ProjectToken("token-of-a-project", "prj_docs", "env_staging")
	shop, docs, now := workspace.Projects[0], workspace.Projects[1], time.Now()
	hub.Deploy(shop, "production", "web", "dep_OLD", "REMOVED", now.Add(-40*24*time.Hour))
	hub.Deploy(shop, "production", "web", "dep_1", "SUCCESS", now.Add(-50*time.Hour))
	hub.Deploy(shop, "staging", "worker", "dep_2", "CRASHED", now.Add(-2*time.Hour))
	hub.Deploy(docs, "staging", "web", "dep_3", "DEPLOYING", now.Add(-time.Minute))
	s := testkit.Start(t, railwayOf(hub))
	rest := restClient{t, s, s.APIKey}

	connect := func(token, team string, status int) map[string]any {
		t.Helper()
		return rest.call("POST", railwayPath+"/connect", fmt.Sprintf(`{"token":%q,"team":%q}`, token, team), status)
	}
	sync := func() map[string]any {
		t.Helper()
		got := rest.call("POST", railwayPath+"/sync", "{}", 200)
		p, _ := got["platform"].(map[string]any)
		if got["running"] != false {
			t.Fatalf("synchronization: %v", got)
		}
		return p
	}
	deployments := func(by restClient) string {
		t.Helper()
		var out []string
		data, _ := by.call("GET", railwayPath+"/deployments", "", 200)["data"].([]any)
		for _, d := range data {
			row, _ := d.(map[string]any)
			out = append(out, fmt.Sprint(row["id"], ",", row["project_name"], ",", row["service"], ",", row["target"], ",", row["state"]))
		}
		return strings.Join(out, " ")
	}
	for _, c := range [][4]string{
		{"no-such-token", "", "token", "Railway refuses the token"},
		{"token-of-an-account", "", "team", "sees 2 workspaces"},
		{railwayToken, "Other", "team", "no workspace with this id"},
	} {
		got := fmt.Sprint(connect(c[0], c[1], 400))
		if !strings.Contains(got, c[2]) || !strings.Contains(got, c[3]) || strings.Contains(got, c[0]) {
			t.Errorf("%v: %s", c, got)
		}
	}
	hub.Fault(func(string, map[string]any) int { return 500 })
	if got := connect(railwayToken, "", 502); tagOf(got) != "@svc/http/errors/IntegrationsUpstreamError" ||
		strings.Contains(fmt.Sprint(got), "words of") {
		t.Errorf("a fault: %v", got)
	}
	hub.Fault(nil)

	// The token of an account with a workspace, then that of the workspace itself: the same account.
	id := connect("token-of-an-account", "acme", 200)["integration_id"]
	if p := connect(railwayToken, "", 200); p["integration_id"] != id || p["account"] != "Acme" || p["external_account_id"] != "ws_acme" ||
		p["name"] != "Railway" {
		t.Errorf("connected: %v", p)
	}
	p := sync()
	if p["projects"] != 3.0 || p["deployments"] != 3.0 || p["resources_seen"] != 19.0 || p["error"] != nil ||
		fmt.Sprint(p["environment_errors"]) != "[]" {
		t.Errorf("synchronized: %v", p)
	}
	const all = "dep_3,docs,web,staging,building dep_2,shop,worker,staging,error dep_1,shop,web,production,ready"
	if got := deployments(rest); got != all {
		t.Errorf("deployments: %s", got)
	}
	first, _ := rest.call("GET", railwayPath+"/deployments?project_id=prj_docs", "", 200)["data"].([]any)
	if got := fmt.Sprint(first); !strings.Contains(got, "commit_sha:beefdep_3") || !strings.Contains(got, "branch:main") ||
		!strings.Contains(got, "url:https://dep-3.up.railway.app") {
		t.Errorf("a deployment: %s", got)
	}
	projects := fmt.Sprint(rest.call("GET", railwayPath+"/projects", "", 200)["data"])
	if strings.Count(projects, "environments:[production staging]") != 3 || strings.Count(projects, "services:[web worker]") != 3 {
		t.Errorf("projects: %s", projects)
	}
	// One environment fails: the others are read, nothing is removed, and the answer says which one.
	hub.Change(func() { docs.Deployments["env_staging"][0]["status"] = "SUCCESS" })
	for fault, says := range map[int]string{500: "failed (status 500)", 200: "could not answer the query"} {
		hub.Fault(func(query string, variables map[string]any) int {
			if in, _ := variables["input"].(map[string]any); in["projectId"] == "prj_shop" && in["environmentId"] == "env_staging" {
				return fault
			}
			return 0
		})
		p := sync()
		if got := fmt.Sprint(p["environment_errors"]); p["error"] != nil || !strings.Contains(got, "shop, staging") ||
			!strings.Contains(got, says) || strings.Contains(got, "words of") {
			t.Errorf("fault %d in one environment: %v", fault, p)
		}
	}
	if got := deployments(rest); got != strings.Replace(all, "building", "ready", 1) {
		t.Errorf("deployments after a fault: %s", got)
	}
	for fault, says := range map[int]string{429: "asks for a pause. The server goes on at 20", 500: "failed (status 500)"} {
		hub.Fault(func(query string, _ map[string]any) int {
			if strings.Contains(query, "deployments(") {
				return fault
			}
			return 0
		})
		if p := sync(); !strings.Contains(fmt.Sprint(p["error"]), says) || p["deployments"] != 3.0 {
			t.Errorf("fault %d: %v", fault, p)
		}
	}
	hub.Fault(nil)
	// A project and a deployment go.
	hub.Change(func() {
		workspace.Projects = workspace.Projects[:2]
		shop.Deployments["env_staging"] = nil
	})
	if p := sync(); p["projects"] != 2.0 || p["deployments"] != 2.0 || p["error"] != nil {
		t.Errorf("synchronized again: %v", p)
	}

	other := s.NewOrganization(t, "Other")
	stranger := restClient{t, other, other.APIKey}
	if got := deployments(stranger); got != "" {
		t.Errorf("another organization sees %s", got)
	}
	stranger.call("POST", railwayPath+"/sync", "{}", 409)
	stranger.call("DELETE", railwayPath, "", 409)

	hub.Revoke(railwayToken)
	if p := sync(); p["status"] != "reconnect_needed" || !strings.Contains(fmt.Sprint(p["error"]), "no longer knows the token") {
		t.Errorf("a deleted token: %v", p)
	}
	if got := fmt.Sprint(connect("token-of-a-project", "", 400)); !strings.Contains(got, "Disconnect Acme first") {
		t.Errorf("another account: %s", got)
	}
	rest.call("DELETE", railwayPath, "", 200)
	if got := deployments(rest); got != "" {
		t.Errorf("after the disconnect: %s", got)
	}
	// The token of a project sees one environment.
	if p := connect("token-of-a-project", "", 200); p["account"] != "docs, staging" {
		t.Errorf("a project: %v", p)
	}
	if p := sync(); p["projects"] != 1.0 || p["deployments"] != 1.0 || p["error"] != nil || p["resources_seen"] != 5.0 {
		t.Errorf("a project: %v", p)
	}
	entries := fmt.Sprint(rest.call("GET", "/v2/audit_log?limit=100", "", 200)["data"])
	for _, token := range []string{railwayToken, "token-of-an-account", "token-of-a-project"} {
		if strings.Contains(entries, token) {
			t.Errorf("the audit log holds %q", token)
		}
	}
}
