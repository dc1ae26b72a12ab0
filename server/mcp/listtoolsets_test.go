package mcp

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/principal"
)

// TestOnCall: the toolset has the tools of an incident, whatever their own sets are, and always the list of toolsets.
func TestOnCall(t *testing.T) {
	srv := server(t, &backend{}, full(), nil)
	header := map[string]string{"Authorization": "Bearer full", "Content-Type": "application/json"}
	for query, want := range map[string]map[string]bool{
		"?toolsets=oncall": {
			"find_incidents": true, "search_logs": true, "create_marker": true, "list_toolsets": true,
			"run_sql": false, "create_dashboard": false,
		},
		"?toolsets=oncall,dashboards":    {"find_incidents": true, "create_dashboard": true, "run_sql": false},
		"?toolsets=OnCall&readonly=true": {"find_incidents": true, "create_marker": false, "list_toolsets": true},
		"?toolsets=feedback":             {"find_incidents": false, "list_toolsets": true},
	} {
		_, body := send(t, http.MethodPost, srv.URL+Path+query, listTools, header)
		for name, listed := range want {
			if strings.Contains(body, `"name":"`+name+`"`) != listed {
				t.Errorf("%s: %s is listed: %v", query, name, !listed)
			}
		}
	}
}

func TestListToolsets(t *testing.T) {
	callers := full()
	callers["traces"] = principal.Principal{
		Org: "org_a", Kind: principal.KindAPIKey, CredentialID: "key_b", Role: principal.RoleRoot, Scopes: []string{"traces:read", "logs:read"},
	}
	srv := server(t, &backend{}, callers, nil)
	read := func(caller string) (res toolsetsResult) {
		raw, err := json.Marshal(call(t, connect(t, srv, caller), "list_toolsets", nil).StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &res); err != nil {
			t.Fatal(err)
		}
		return res
	}
	all := read("full")
	if len(all.Toolsets) != len(toolsets())+1 || all.Toolsets[0].Name != onCall || len(all.Toolsets[0].Tools) != len(onCallTools()) ||
		all.Toolsets[0].URL != "https://api.example.com/mcp?toolsets=oncall" || all.Toolsets[0].Tokens < 1000 ||
		!slices.Contains(all.Connected, "run_sql") {
		t.Errorf("all toolsets: %+v", all)
	}
	few := read("traces")
	for _, set := range few.Toolsets {
		if set.Name == "dashboards" || slices.Contains(set.Tools, "run_sql") {
			t.Errorf("a key with traces:read and logs:read finds %+v", set)
		}
	}
	if !slices.Contains(few.Connected, "search_logs") || slices.Contains(few.Connected, "find_errors") {
		t.Errorf("its tools are %v", few.Connected)
	}
}

// TestAnswersLinkToAPage: the organization is read once for many answers. Both parts of an answer have the address.
func TestAnswersLinkToAPage(t *testing.T) {
	b := &backend{total: 1}
	session := connect(t, server(t, b, full(), nil), "full")
	const want = `https://api.example.com/o/acme/logs?env=production&from=2026-01-31T11%3A00%3A00Z&q=service.name+%3D+%22web%22&to=2026-01-31T12%3A00%3A00Z`
	for range 3 {
		res := call(t, session, "search_logs", map[string]any{"service": "web", "environment": "production", "start_time": "now-1h"})
		data, _ := res.StructuredContent.(map[string]any)
		if data["url"] != want || !strings.Contains(textOf(res), "\nFor people: "+want+"\n") {
			t.Errorf("url %v in the structured content and in the text\n%s", data["url"], textOf(res))
		}
	}
	if b.sessions != 1 {
		t.Errorf("%d reads of the organization for three answers", b.sessions)
	}
}

// TestDetail: the records of the backend have long bodies, of which the text shows the start.
func TestDetail(t *testing.T) {
	b := &backend{total: 1}
	srv := server(t, b, full(), nil)
	header := map[string]string{"Authorization": "Bearer full", "Content-Type": "application/json"}
	length := func(query, arguments string) int {
		_, body := send(t, http.MethodPost, srv.URL+Path+query,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_logs","arguments":`+arguments+`}}`, header)
		return len(body)
	}
	brief, full := length("", `{}`), length("", `{"detail":"full"}`)
	if full < brief+3000 || length("?detail=full", `{}`) != full || length("?detail=full", `{"detail":"brief"}`) != brief {
		t.Errorf("brief %d bytes, full %d, by the address %d", brief, full, length("?detail=full", `{}`))
	}
	if res, _ := send(t, http.MethodPost, srv.URL+Path+"?detail=all", listTools, header); res.StatusCode != http.StatusBadRequest {
		t.Errorf("?detail=all: status %d", res.StatusCode)
	}
}
