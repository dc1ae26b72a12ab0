package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-observability/svc/server/testkit"
)

// bridged is `svc mcp` of the built program with a key.
func bridged(t *testing.T, url, key string, list ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	cmd = testkit.Command(t, append([]string{"mcp"}, list...)...)
	cmd.Env = append(cmd.Env, "SVC_API_URL="+url, "SVC_API_TOKEN="+key, "XDG_CONFIG_HOME="+t.TempDir())
	stderr = &bytes.Buffer{}
	cmd.Stderr = stderr
	return cmd, stderr
}

// TestCLIMCP: the official client starts `svc mcp` as a process, and reaches the tools of a real server with each version of the protocol.
func TestCLIMCP(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "CLI MCP")
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			cmd, stderr := bridged(t, s.BaseURL, s.APIKey, "--readonly")
			session, err := sdk.NewClient(&sdk.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(),
				&sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err, stderr)
			}
			if got := session.InitializeResult(); got.ProtocolVersion != version || got.ServerInfo.Name != "svc-observability" {
				t.Errorf("%+v", got)
			}
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) < 20 {
				t.Fatalf("%+v %v", list, err)
			}
			for _, tool := range list.Tools {
				if !tool.Annotations.ReadOnlyHint {
					t.Errorf("--readonly offers %s", tool.Name)
				}
			}
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{
				Name:      "list_services",
				Arguments: map[string]any{"start_time": "now-1h"},
			})
			if err != nil || result.IsError || result.StructuredContent == nil {
				t.Errorf("%+v %v", result, err)
			}
			result, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "inspect_trace", Arguments: map[string]any{"trace_id": "no hex"}})
			if err != nil || !result.IsError {
				t.Errorf("%+v %v", result, err)
			}
			if read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "svc://instructions"}); err != nil ||
				len(read.Contents) != 1 {
				t.Errorf("%+v %v", read, err)
			}
			if err := session.Close(); err != nil || stderr.Len() != 0 {
				t.Errorf("%v %s", err, stderr)
			}
		})
	}
	cmd, stderr := bridged(t, s.BaseURL, "svc_ak_wrong")
	_, err := sdk.NewClient(&sdk.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("Set SVC_API_TOKEN to a valid key.")) {
		t.Errorf("%v, stderr %s", err, stderr)
	}
}

// TestCLIMCPTypeScript: the official TypeScript SDKs start `svc mcp`, with an MCP key and the flags that narrow the tools. The reason for a
// refusal reaches the agent and the person.
func TestCLIMCPTypeScript(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "CLI MCP, TypeScript")
	key, _ := restClient{t, s, s.APIKey}.call("POST", "/v2/api_keys", `{"name":"agent","kind":"mcp"}`, 200)["secret"].(string)
	t.Setenv("SVC_API_URL", s.BaseURL)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	see := func(key string, flags ...string) (seen map[string]map[string]any) {
		t.Helper()
		t.Setenv("SVC_API_TOKEN", key)
		out := node(t, ".", append([]string{"stdio.mjs", testkit.Binary(t)}, flags...)...)
		if err := json.Unmarshal(out, &seen); err != nil || len(seen) != 4 {
			t.Fatalf("%v %s", err, out)
		}
		return seen
	}
	versions := map[string]string{"client 2, as before": "2025-11-25", "client 2, any": "2026-07-28", "client 2, newest only": "2026-07-28"}
	for name, got := range see(key, "--readonly", "--toolset", "oncall") {
		for field, want := range map[string]any{
			"readonly": true, "total": "number", "wrong": true, "resource": 1.0, "completion": true, "stderr": "", "error": nil,
		} {
			if got[field] != want {
				t.Errorf("%s: %s is %v, want %v", name, field, got[field], want)
			}
		}
		if n, _ := got["tools"].(float64); n < 10 || n > 40 || versions[name] != "" && got["version"] != versions[name] {
			t.Errorf("%s: %v", name, got)
		}
	}
	// This client shows neither the error of its first request nor the stderr of the process that got it.
	const silent = "client 2, newest only"
	for name, got := range see("svc_ak_wrong") {
		if text := fmt.Sprint(got["error"], got["stderr"]); got["error"] == nil || name != silent &&
			!strings.Contains(text, "Set SVC_API_TOKEN to a valid key.") {
			t.Errorf("%s with a wrong key: %v", name, got)
		}
	}
	for name, got := range see(key, "--toolset", "nothing") {
		if text := fmt.Sprint(got["error"], got["stderr"]); got["error"] == nil || name != silent &&
			!strings.Contains(text, "--toolset must be a list of") {
			t.Errorf("%s with a wrong set: %v", name, got)
		}
	}
}
