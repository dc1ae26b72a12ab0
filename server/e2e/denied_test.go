package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// TestDeniedRequestsAreAudited checks that a valid credential that asks for too much leaves one entry in the log of its own
// organization.
func TestDeniedRequestsAreAudited(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Denied")
	other := testkit.Shared(t).NewOrganization(t, "Denied, other")
	admin := restClient{t, s, s.APIKey}
	made := admin.call("POST", "/v2/api_keys", `{"name":"narrow","scopes":["traces:read"]}`, 200)
	narrow := restClient{t, s, fmt.Sprint(made["secret"])}
	for range 3 {
		narrow.call("GET", "/v2/api_keys", "", 403)
	}
	narrow.call("POST", "/v2/api_keys", `{"name":"x"}`, 403)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/v2/audit_log", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+narrow.key)
	req.Header.Set("X-Svc-Org-Id", other.OrgID)
	if status, body := roundTrip(t, req); status != 403 || !strings.Contains(string(body), "OrganizationAccessDenied") {
		t.Fatalf("another organization: %d %s", status, body)
	}

	want := "listAuditLogEntries organization_access_denied, createApiKey insufficient_scope, listApiKeys insufficient_scope"
	var got string
	// Entries are written outside of the requests.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var entries []string
		data, _ := admin.call("GET", "/v2/audit_log?outcome=denied&action=api.request", "", 200)["data"].([]any)
		for _, d := range data {
			e, _ := d.(map[string]any)
			metadata, _ := e["metadata"].(map[string]any)
			entries = append(entries, fmt.Sprint(metadata["operation_id"], " ", e["denial_reason"]))
			if e["actor_id"] != made["id"] || e["actor_type"] != "api_key" || e["origin_ip"] != "127.0.0.1" || e["request_id"] == nil ||
				e["source"] != "api" {
				t.Fatalf("entry %v", e)
			}
		}
		if got = strings.Join(entries, ", "); len(entries) >= 3 {
			break
		}
	}
	if got != want {
		t.Errorf("entries: %s, want %s", got, want)
	}
	theirs := restClient{t, other, other.APIKey}
	if data, _ := theirs.call("GET", "/v2/audit_log?outcome=denied", "", 200)["data"].([]any); len(data) != 0 {
		t.Errorf("the other organization's log: %v", data)
	}
}
