package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

// restClient calls /v2 with one key.
type restClient struct {
	t   *testing.T
	s   *testkit.Server
	key string
}

// call sends a request and returns the answer, which must have the status.
func (c restClient) call(method, path, body string, want int) map[string]any {
	c.t.Helper()
	status, text := c.try(method, path, body)
	if status != want {
		c.t.Fatalf("%s %s %s: %d, want %d: %s", method, path, body, status, want, text)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		c.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return out
}

// try returns the status and the text of an answer.
func (c restClient) try(method, path, body string) (status int, answer string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.s.BaseURL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	status, text := roundTrip(c.t, req)
	return status, string(text)
}

func tagOf(answer map[string]any) any {
	e, _ := answer["error"].(map[string]any)
	return e["_tag"]
}

// TestCustomIngestKeyLife checks that every change of a custom key affects the next request that sends with it.
func TestCustomIngestKeyLife(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Custom keys")
	c := restClient{t, s, s.APIKey}
	send := func(key, path string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.IngestURL+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		status, _ := roundTrip(t, req)
		return status
	}
	expect := func(key, path string, want int) {
		t.Helper()
		if got := send(key, path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	made := c.call("POST", "/v2/ingest_keys/custom", `{"name":"edge","description":"of the proxy","allowed_signals":["traces"],"rate_limit_per_second":1000,
		"resource_attributes":[{"key":"team","value":"a","mode":"always_set"}],"expires_at":"2099-01-01T00:00:00Z"}`, 200)
	id, secret := fmt.Sprint(made["id"]), fmt.Sprint(made["secret"])
	path := "/v2/ingest_keys/custom/" + id
	expect(secret, "/v1/traces", 200)
	expect(secret, "/v1/logs", 403)

	read := c.call("GET", path, "", 200)
	if _, has := read["secret"]; has || read["name"] != "edge" || read["enabled"] != true || read["rate_limit_per_second"] != 1000.0 ||
		read["expires_at"] != "2099-01-01T00:00:00Z" {
		t.Errorf("read: %v", read)
	}
	changed := c.call("PATCH", path, `{"allowed_signals":["logs","metrics"],"description":null,"rate_limit_per_second":null,"expires_at":null}`, 200)
	if changed["description"] != nil || changed["rate_limit_per_second"] != nil || changed["expires_at"] != nil || changed["name"] != "edge" ||
		changed["updated_at"] == nil {
		t.Errorf("changed: %v", changed)
	}
	expect(secret, "/v1/traces", 403)
	expect(secret, "/v1/logs", 200)
	if got := tagOf(c.call("PATCH", path, `{"name":null}`, 400)); got != "@svc/http/v2/InvalidRequestError" {
		t.Errorf("a name of null: %v", got)
	}
	if got := tagOf(c.call("PATCH", path, `{"allowed_signals":[]}`, 400)); got != "@svc/http/errors/IngestKeyValidationError" {
		t.Errorf("no signals: %v", got)
	}
	if got := tagOf(c.call("PATCH", path, `{"secret":"svc_ik_mine"}`, 400)); got != "@svc/http/v2/InvalidRequestError" {
		t.Errorf("mass assignment: %v", got)
	}
	c.call("PATCH", path, `{"enabled":false}`, 200)
	expect(secret, "/v1/logs", 401)
	c.call("PATCH", path, `{"enabled":true}`, 200)
	expect(secret, "/v1/logs", 200)

	rolled := c.call("POST", path+"/roll", "", 200)
	if rolled["id"] != id || rolled["secret"] == secret || rolled["rotated_at"] == nil {
		t.Errorf("rolled: %v", rolled)
	}
	expect(secret, "/v1/logs", 401)
	expect(fmt.Sprint(rolled["secret"]), "/v1/logs", 200)

	other := restClient{t, s, testkit.Shared(t).NewOrganization(t, "Somebody else").APIKey}
	unknown := other.call("GET", "/v2/ingest_keys/custom/ingk_YpBvM2x91qDn6yHdGMXjWx", "", 404)
	for _, method := range []string{"GET", "DELETE"} {
		if got := other.call(method, path, "", 404); fmt.Sprint(got) != fmt.Sprint(unknown) {
			t.Errorf("another organization's key: %v, an unknown one: %v", got, unknown)
		}
	}
	if got := c.call("DELETE", path, "", 200); got["deleted"] != true || got["id"] != id || got["object"] != "ingest_key" {
		t.Errorf("deleted: %v", got)
	}
	expect(fmt.Sprint(rolled["secret"]), "/v1/logs", 401)
	c.call("GET", path, "", 404)

	var actions []string
	log := c.call("GET", "/v2/audit_log?resource_id="+id, "", 200)
	entries, _ := log["data"].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		actions = append(actions, fmt.Sprint(entry["action"], " by ", entry["actor_type"], " from ", entry["origin_ip"]))
		if strings.Contains(fmt.Sprint(entry), secret) {
			t.Errorf("the audit log holds a secret: %v", entry)
		}
	}
	if len(actions) != 6 || actions[0] != "ingest_key.deleted by api_key from 127.0.0.1" ||
		actions[5] != "ingest_key.created by api_key from 127.0.0.1" {
		t.Errorf("audit log: %q", actions)
	}
}

// TestDefaultIngestKeys checks that the public key can be read, that the private key is shown only when it is rolled, and that an
// old key stops working at once.
func TestDefaultIngestKeys(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Default keys")
	c := restClient{t, s, s.APIKey}
	pair := c.call("GET", "/v2/ingest_keys", "", 200)
	if pair["public_key"] != s.PublicKey || pair["private_key"] == s.PrivateKey ||
		!strings.HasPrefix(s.PrivateKey, strings.TrimSuffix(fmt.Sprint(pair["private_key"]), "...")) {
		t.Errorf("pair: %v", pair)
	}
	rolled := c.call("POST", "/v2/ingest_keys/private/roll", "", 200)
	key := fmt.Sprint(rolled["private_key"])
	if len(key) != len(s.PrivateKey) || key == s.PrivateKey || rolled["public_key"] != s.PublicKey {
		t.Errorf("rolled: %v", rolled)
	}
	for secret, want := range map[string]int{s.PrivateKey: 401, key: 200, s.PublicKey: 200} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.IngestURL+"/v1/traces", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		req.Header.Set("Content-Type", "application/json")
		if status, body := roundTrip(t, req); status != want {
			t.Errorf("%s…: %d, want %d: %s", secret[:12], status, want, body)
		}
	}
	if after := c.call("POST", "/v2/ingest_keys/public/roll", "", 200); after["public_key"] == s.PublicKey || after["private_key"] == key {
		t.Errorf("after the roll of the public key: %v", after)
	}
}

// TestAttributeMappingAndFeedbackLife goes once through the resources without special rules.
func TestAttributeMappingAndFeedbackLife(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Mappings")
	c := restClient{t, s, s.APIKey}
	m := c.call("POST", "/v2/attribute_mappings", `{"name":" route ","source_context":"span","source_key":" http.url.path ","target_key":"http.route","operation":"move"}`, 200)
	path := "/v2/attribute_mappings/" + fmt.Sprint(m["id"])
	if m["enabled"] != true || m["source_key"] != "http.url.path" || m["object"] != "attribute_mapping" {
		t.Errorf("made: %v", m)
	}
	if got := c.call("PATCH", path, `{"enabled":false,"operation":"copy"}`, 200); got["enabled"] != false || got["operation"] != "copy" ||
		got["source_key"] != "http.url.path" {
		t.Errorf("changed: %v", got)
	}
	if got := tagOf(c.call("PATCH", path, `{"target_key":"http.url.path"}`,
		400)); got != "@svc/http/errors/IngestAttributeMappingValidationError" {
		t.Errorf("onto itself: %v", got)
	}
	c.call("POST", "/v2/attribute_mappings", `{"name":"second","source_context":"resource","source_key":"a","target_key":"b","operation":"copy","enabled":false}`, 200)
	page := c.call("GET", "/v2/attribute_mappings?limit=1", "", 200)
	if page["has_more"] != true || page["next_cursor"] == nil {
		t.Errorf("first page: %v", page)
	}
	if rest := c.call("GET", "/v2/attribute_mappings?cursor="+fmt.Sprint(page["next_cursor"]), "", 200); rest["has_more"] != false ||
		len(rest["data"].([]any)) != 1 {
		t.Errorf("second page: %v", rest)
	}
	if got := c.call("DELETE", path, "", 200); got["deleted"] != true {
		t.Errorf("deleted: %v", got)
	}
	c.call("GET", path, "", 404)

	f := c.call("POST", "/v2/agent_feedback", `{"kind":"bug","impact":"minor","summary":"s","reason":"r","agent":{"type":"ci","name":"tests"}}`, 200)
	if f["source"] != "api" || f["details"] != nil || f["impact"] != "minor" {
		t.Errorf("feedback: %v", f)
	}
	if list := c.call("GET", "/v2/agent_feedback", "", 200); len(list["data"].([]any)) != 1 {
		t.Errorf("feedback: %v", list)
	}
}

// TestSamplingPolicyLife checks the defaults, a change of one field, a field that null clears, and refused values.
func TestSamplingPolicyLife(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Sampling")
	c := restClient{t, s, s.APIKey}
	const path = "/v2/ingest_keys/sampling_policy"
	if p := c.call("GET", path, "", 200); p["trace_sample_ratio"] != 1.0 || p["always_keep_error_spans"] != true ||
		p["always_keep_slow_spans_ms"] != nil || p["created_at"] != nil {
		t.Errorf("default: %v", p)
	}
	if p := c.call("PATCH", path, `{"trace_sample_ratio":0.25,"always_keep_slow_spans_ms":500}`, 200); p["trace_sample_ratio"] != 0.25 ||
		p["always_keep_slow_spans_ms"] != 500.0 || p["always_keep_error_spans"] != true {
		t.Errorf("changed: %v", p)
	}
	if p := c.call("PATCH", path, `{"always_keep_slow_spans_ms":null}`, 200); p["trace_sample_ratio"] != 0.25 ||
		p["always_keep_slow_spans_ms"] != nil {
		t.Errorf("cleared: %v", p)
	}
	for _, body := range []string{
		`{"trace_sample_ratio":0}`, `{"trace_sample_ratio":1.5}`, `{"trace_sample_ratio":null}`,
		`{"always_keep_slow_spans_ms":0}`, `{"ratio":1}`,
	} {
		c.call("PATCH", path, body, 400)
	}
	if log := c.call("GET", "/v2/audit_log?action=sampling_policy.updated&changed=trace_sample_ratio", "",
		200); len(log["data"].([]any)) != 1 {
		t.Errorf("audit log: %v", log)
	}
}
