package e2e

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/svc-observability/svc/server/testkit"
)

// doorCase is one request that every door must answer alike. Request and answer are in the JSON of /v2.
type doorCase struct {
	Name      string         `yaml:"name"`
	Operation string         `yaml:"operation"` // operation id
	Key       string         `yaml:"key"`       // full (default), none, unknown, metrics_only, member
	Request   map[string]any `yaml:"request"`
	// Want holds paths of the answer and their values.
	Want map[string]any `yaml:"want"`
	// Error is the tag that every door must give.
	Error string `yaml:"error"`
	Param string `yaml:"param"`
	// Only names the doors of a case that the other doors cannot express, with the reason.
	Only   []string `yaml:"only"`
	Reason string   `yaml:"reason"`
	MCP    *struct {
		Tool      string         `yaml:"tool"`
		Arguments map[string]any `yaml:"arguments"`
		// Equal maps a path of the structured content to the path of the REST answer that it must equal.
		Equal map[string]string `yaml:"equal"`
		// Error is the tag of the tool, if it differs from the tag of the other doors.
		Error string `yaml:"error"`
	} `yaml:"mcp"`
}

func TestDoorsAgree(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Doors")
	seed := seedTelemetry(t, s)
	keys := map[string]string{
		"none": "", "unknown": "svc_ak_" + strings.Repeat("A", 43),
		"metrics_only": createKey(t, s, "metrics:read"),
	}
	files, err := filepath.Glob("testdata/doors/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		keys[""] = createKey(t, s) // of its own for each file, because the cases of all files make more requests than one key may
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []doorCase
		dec := yaml.NewDecoder(strings.NewReader(seed.expand(string(raw))))
		dec.KnownFields(true)
		if err := dec.Decode(&cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, tc := range cases {
			t.Run(filepath.Base(file)+"/"+tc.Name, func(t *testing.T) { runDoorCase(t, s, tc, keys[tc.Key]) })
		}
	}
}

func runDoorCase(t *testing.T, s *testkit.Server, tc doorCase, key string) {
	m := operation(t, tc.Operation)
	request, err := json.Marshal(tc.Request)
	if err != nil {
		t.Fatal(err)
	}
	if tc.Request == nil {
		request = []byte("{}")
	}
	names := tc.Only
	if len(names) == 0 {
		names = []string{"connect", "grpc", "rest"}
	} else if tc.Reason == "" {
		t.Fatal("a case for some doors only must say why")
	}
	answers := map[string]answer{}
	for _, door := range names {
		answers[door] = doors[door](t, s, key, m, request)
	}
	first := answers[names[0]]
	for _, door := range names {
		a := answers[door]
		if diff := cmp.Diff(generic(t, first.body), generic(t, a.body)); diff != "" {
			t.Errorf("%s and %s answer differently (-%s +%s):\n%s", names[0], door, names[0], door, diff)
		}
		if diff := cmp.Diff(first.err, a.err); diff != "" {
			t.Errorf("%s and %s fail differently:\n%s", names[0], door, diff)
		}
		checkAnswer(t, door, tc, a)
	}
	if tc.MCP == nil || t.Failed() {
		return
	}
	tool := callTool(t.Context(), t, s, key, tc.MCP.Tool, tc.MCP.Arguments)
	if tc.Error != "" {
		want := tc.Error
		if tc.MCP.Error != "" {
			want = tc.MCP.Error
		}
		if tool.err == nil || tool.err.Tag != want {
			t.Errorf("mcp: got error %+v, want %s", tool.err, want)
		}
		return
	}
	if tool.err != nil {
		t.Fatalf("mcp: %+v", tool.err)
	}
	for path, rest := range tc.MCP.Equal {
		got, err := pick(generic(t, tool.body), path)
		if err != nil {
			t.Errorf("mcp %s: %v in %s", path, err, tool.body)
			continue
		}
		want, err := pick(generic(t, first.body), rest)
		if err != nil {
			t.Errorf("rest %s: %v", rest, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("mcp %s differs from rest %s (-rest +mcp):\n%s", path, rest, diff)
		}
	}
}

func checkAnswer(t *testing.T, door string, tc doorCase, a answer) {
	t.Helper()
	if tc.Error != "" {
		if a.err == nil {
			t.Errorf("%s: answered %s, want error %s", door, a.body, tc.Error)
		} else if a.err.Tag != tc.Error || a.err.Param != tc.Param {
			t.Errorf("%s: got error %s param %q (%s), want %s param %q", door, a.err.Tag, a.err.Param, a.err.Message, tc.Error, tc.Param)
		}
		return
	}
	if a.err != nil {
		t.Errorf("%s: %+v", door, a.err)
		return
	}
	for path, want := range tc.Want {
		got, err := pick(generic(t, a.body), path)
		if err != nil {
			t.Errorf("%s: %s: %v in %s", door, path, err, a.body)
			continue
		}
		wantJSON, _ := json.Marshal(want)
		if diff := cmp.Diff(generic(t, wantJSON), got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", door, path, diff)
		}
	}
}

func generic(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	if len(raw) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

func decodeBase64(s string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
}

// createKey makes an API key with the given scopes and returns its secret.
func createKey(t *testing.T, s *testkit.Server, scopes ...string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"name": "e2e " + strings.Join(scopes, " "), "scopes": scopes})
	a := callREST(t, s, s.APIKey, operation(t, "createApiKey"), body)
	if a.err != nil {
		t.Fatalf("%+v", a.err)
	}
	var k struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal(a.body, &k); err != nil || k.Secret == "" {
		t.Fatalf("no secret: %v", err)
	}
	return k.Secret
}

// eventually repeats a check until it passes. Acknowledged data must be readable within two seconds; slow machines get more time.
func eventually(t testing.TB, what string, check func() bool) {
	t.Helper()
	start := time.Now()
	for time.Since(start) < 2*time.Minute {
		if check() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("gave up waiting for %s", what)
}
