package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/testkit"
	"github.com/svc-observability/svc/server/warehouse"
)

// toolRequest makes a request for a tool with a credential.
func toolRequest(ctx context.Context, t *testing.T, s *testkit.Server, credential, tool string, arguments map[string]any) *http.Request {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+"/mcp", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+credential)
	return req
}

// TestMCPWhoCalled checks that the audit log records a change by an agent under the caller of the tool, and that our metrics
// count every call by kind of credential.
func TestMCPWhoCalled(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "MCP callers")
	rest := restClient{t, s, s.APIKey}
	created := rest.call("POST", "/v2/api_keys", `{"name":"an agent's key","kind":"mcp"}`, 200)
	token := connect(t, s, "An agent")
	me, err := openStore(t, s).UserByEmail(t.Context(), s.AdminEmail)
	if err != nil {
		t.Fatal(err)
	}
	own := rest.call("GET", "/v2/api_keys", "", 200)["data"].([]any)
	var ownID any
	for _, k := range own {
		if k := k.(map[string]any); k["id"] != created["id"] {
			ownID = k["id"]
		}
	}
	for kind, tc := range map[string]struct {
		credential       string
		actor, id, named any
	}{
		"api_key": {s.APIKey, "api_key", ownID, nil},
		"mcp_key": {created["secret"].(string), "api_key", created["id"], "an agent's key"},
		"oauth":   {token.AccessToken, "agent", nil, "An agent"},
	} {
		t.Run(kind, func(t *testing.T) {
			name := "made by " + kind
			counts := func() (made, failed string) {
				const count = `svc_mcp_tool_duration_seconds_count{credential=%q,outcome=%q,tool=%q} `
				text := metricsText(t, s)
				return number(text, fmt.Sprintf(count, kind, "ok", "create_dashboard")),
					number(text, fmt.Sprintf(count, kind, "error", "inspect_trace"))
			}
			madeBefore, failedBefore := counts()
			create := func(agent string) (int, []byte) {
				req := toolRequest(t.Context(), t, s, tc.credential, "create_dashboard", map[string]any{"name": name})
				req.Header.Set("X-Svc-Agent-Id", agent)
				return roundTrip(t, req)
			}
			if _, body := create("no id"); !strings.Contains(string(body), `"isError":true`) || !strings.Contains(string(body), "x-svc-agent-id") {
				t.Errorf("an agent id that is none: %s", body)
			}
			agent := publicid.Encode(publicid.Actor, uuid.New())
			status, body := create(agent)
			if status != 200 || strings.Contains(string(body), `"isError":true`) {
				t.Fatalf("%d %s", status, body)
			}
			var dashboard string
			for _, d := range rest.call("GET", "/v2/dashboards?limit=100", "", 200)["data"].([]any) {
				if d := d.(map[string]any); d["name"] == name {
					dashboard = fmt.Sprint(d["id"])
				}
			}
			list := rest.call("GET", "/v2/audit_log?resource_id="+dashboard, "", 200)["data"].([]any)
			if dashboard == "" || len(list) != 1 {
				t.Fatalf("%q: %v", dashboard, list)
			}
			e := list[0].(map[string]any)
			metadata, _ := e["metadata"].(map[string]any)
			if metadata["agent_id"] != agent {
				t.Errorf("the agent: %v", metadata)
			}
			if tc.actor == "agent" {
				id, _ := e["actor_id"].(string)
				if _, err := publicid.Decode(publicid.Actor, id); err != nil || metadata["on_behalf_of"] != string(me.ID) {
					t.Errorf("a program that acts for a user: %v, %v", e, err)
				}
				tc.id = id
			}
			if e["action"] != "dashboard.created" || e["source"] != "mcp" || e["actor_type"] != tc.actor || e["actor_id"] != tc.id ||
				tc.named != nil && e["actor_name"] != tc.named ||
				e["origin_ip"] != "127.0.0.1" || e["request_id"] == nil {
				t.Errorf("%v", e)
			}
			if _, body := roundTrip(t, toolRequest(t.Context(), t, s, tc.credential, "inspect_trace",
				map[string]any{"trace_id": "no hex"})); !strings.Contains(string(body), `"isError":true`) {
				t.Errorf("%s", body)
			}
			if made, failed := counts(); made != more(madeBefore) || failed != more(failedBefore) {
				t.Errorf("made: %s, then %s; failed: %s, then %s", madeBefore, made, failedBefore, failed)
			}
		})
	}
}

// number returns the value of a series, or 0 if the series does not exist yet.
func number(text, series string) string {
	_, rest, ok := strings.Cut(text, series)
	if !ok {
		return "0"
	}
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

func more(count string) string {
	n, _ := strconv.Atoi(count)
	return strconv.Itoa(n + 1)
}

func metricsText(t *testing.T, s *testkit.Server) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	status, body := roundTrip(t, req)
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	return string(body)
}

// TestMCPCallerLeaves checks that the engine stops the statement of a call when the calling program disconnects.
func TestMCPCallerLeaves(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "MCP leavers")
	cfg := config.Default()
	cfg.DataDir = s.DataDir
	w, err := app.OpenWarehouse(t.Context(), cfg, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	running := func() (n uint64) {
		t.Helper()
		err := w.QueryRow(t.Context(), "org_watch", "SELECT count() FROM system.processes WHERE query LIKE '%leaves_mark%' AND query NOT LIKE "+
			"'%system.processes%' AND {org:String} != ''", []warehouse.Arg{}, &n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	until := func(what string, within time.Duration, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(within); !done(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	answered := make(chan string, 1)
	go func() {
		res, err := http.DefaultClient.Do(toolRequest(ctx, t, s, s.APIKey, "run_sql", map[string]any{"sql": slowSQL}))
		if err != nil {
			answered <- ""
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		answered <- string(body)
	}()
	until("the statement does not begin", 30*time.Second, func() bool {
		select {
		case body := <-answered:
			t.Fatalf("answered: %s", body)
		default:
		}
		return running() > 0
	})
	leave()
	until("the statement goes on", 9*time.Second, func() bool { return running() == 0 }) // its own limit is 10 s
	if body := <-answered; body != "" {
		t.Errorf("answered: %s", body)
	}
}

// slowSQL counts for longer than a statement may take.
const slowSQL = `SELECT 'leaves_mark', sum(cityHash64(a.n, b.n)) FROM (SELECT arrayJoin(range(1000000)) AS n FROM (SELECT count() FROM spans WHERE $__orgFilter)) AS a
	CROSS JOIN (SELECT arrayJoin(range(1000000)) AS n FROM (SELECT count() FROM spans WHERE $__orgFilter)) AS b`
