package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// TestOrganizationEdit reads and renames an organization. A member who is not an administrator can change nothing.
func TestOrganizationEdit(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Before")
	c := restClient{t, s, s.APIKey}
	got := c.call("GET", "/v2/organization", "", 200)
	if got["id"] != s.OrgID || got["object"] != "organization" || got["name"] != "Before" || got["slug"] == nil || got["created_at"] == nil {
		t.Errorf("read: %v", got)
	}
	slug := fmt.Sprintf("after-%d", time.Now().UnixNano())
	if got := c.call("PATCH", "/v2/organization", `{"name":" After ","slug":"`+slug+`"}`, 200); got["name"] != "After" || got["slug"] != slug {
		t.Errorf("changed: %v", got)
	}
	other := restClient{t, s, testkit.Shared(t).NewOrganization(t, "Other").APIKey}
	if got := other.call("PATCH", "/v2/organization", `{"slug":"`+slug+`"}`, 400); at(got, "error", "param") != "slug" {
		t.Errorf("a slug that is taken: %v", got)
	}
	for _, body := range []string{
		`{"name":null}`, `{"name":" "}`, `{"slug":"No Good"}`, `{"id":"org_x"}`,
		`{"created_at":"2020-01-01T00:00:00Z"}`,
	} {
		if got := c.call("PATCH", "/v2/organization", body, 400); tagOf(got) != "@svc/http/v2/InvalidRequestError" {
			t.Errorf("%s: %v", body, got)
		}
	}
	log := c.call("GET", "/v2/audit_log?action=organization.updated", "", 200)
	if entries, _ := log["data"].([]any); len(entries) != 1 || at(entries[0], "changes", "after", "name") != "After" {
		t.Errorf("audit log: %v", log)
	}
}

// TestInvitationsAndMembers checks that an invitation makes a member once, that roles and removals take effect at once, and that
// one administrator must stay.
func TestInvitationsAndMembers(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Members")
	admin := restClient{t, s, signIn(t, s, s.AdminEmail, s.AdminPassword, "")}
	me := fmt.Sprint(at(admin.call("GET", "/v2/session", "", 200), "user", "id"))
	email := fmt.Sprintf("ada%d@example.com", time.Now().UnixNano())

	made := admin.call("POST", "/v2/organization/invitations", `{"email":"`+email+`"}`, 200)
	link, err := url.Parse(fmt.Sprint(made["link"]))
	if err != nil || !strings.HasPrefix(link.String(), s.BaseURL+"/invite/svc_iv_") || made["role"] != "org:member" ||
		made["status"] != "pending" {
		t.Fatalf("invitation: %v", made)
	}
	token := strings.TrimPrefix(link.Path, "/invite/")
	accept := func(bearer, body string, want int) map[string]any {
		t.Helper()
		status, got := as(t, s, bearer, "", "POST", "/v2/organization/invitations/accept", body)
		if status != want {
			t.Fatalf("accept %s: %d %v", body, status, got)
		}
		return got
	}
	password := "a long enough one"
	good := fmt.Sprintf(`{"token":%q,"email":%q,"password":%q,"name":"Ada"}`, token, email, password)
	accept("", fmt.Sprintf(`{"token":%q}`, token), 400)
	accept("", fmt.Sprintf(`{"token":%q,"email":"eve@example.com","password":%q}`, token, password), 403)
	accept("", fmt.Sprintf(`{"token":%q,"email":%q,"password":"short"}`, token, email), 400)
	accept(admin.key, fmt.Sprintf(`{"token":%q}`, token), 403) // for another address
	accept("", fmt.Sprintf(`{"token":"svc_iv_none","email":%q,"password":%q}`, email, password), 404)
	joined := accept("", good, 200)
	if at(joined, "organization", "id") != s.OrgID || at(joined, "organization", "role") != "org:member" ||
		at(joined, "user", "name") != "Ada" {
		t.Errorf("joined: %v", joined)
	}
	if got := accept("", good, 404); tagOf(got) != "@svc/http/errors/InvitationNotFoundError" {
		t.Errorf("used twice: %v", got)
	}
	ada := fmt.Sprint(at(joined, "user", "id"))
	member := restClient{t, s, signIn(t, s, email, password, s.OrgID)}

	list := admin.call("GET", "/v2/organization/members", "", 200)
	if rows, _ := list["data"].([]any); len(rows) != 2 || at(rows[0], "id") != me || at(rows[1], "id") != ada ||
		at(rows[1], "role") != "org:member" {
		t.Errorf("members: %v", list)
	}
	for method, path := range map[string]string{
		"POST": "/v2/organization/invitations", "GET": "/v2/organization/invitations", "DELETE": "/v2/organization?confirm=" + s.OrgID,
		"PATCH": "/v2/organization/members/" + ada,
	} {
		body := ""
		if method == "POST" || method == "PATCH" {
			body = `{"role":"org:admin"}`
		}
		if got := member.call(method, path, body, 403); tagOf(got) != "@svc/http/errors/OrganizationForbiddenError" {
			t.Errorf("a member: %s %s: %v", method, path, got)
		}
	}
	for method, body := range map[string]string{"PATCH": `{"role":"org:member"}`, "DELETE": ""} {
		if got := admin.call(method, "/v2/organization/members/"+me, body, 409); tagOf(got) != "@svc/http/errors/LastAdministratorError" {
			t.Errorf("the last administrator, %s: %v", method, got)
		}
	}
	if got := admin.call("PATCH", "/v2/organization/members/"+ada, `{"role":"org:admin"}`, 200); got["role"] != "org:admin" {
		t.Errorf("promoted: %v", got)
	}
	member.call("GET", "/v2/organization/invitations", "", 200) // the new role counts at once
	member.call("DELETE", "/v2/organization/members/"+me, "", 200)
	if got := admin.call("GET", "/v2/organization", "", 403); tagOf(got) != "@svc/http/v2/OrganizationAccessDeniedError" {
		t.Errorf("after the removal: %v", got)
	}

	// A member cannot be invited again.
	taken := member.call("POST", "/v2/organization/invitations", `{"email":" `+strings.ToUpper(email)+`"}`, 400)
	if tagOf(taken) != "@svc/http/v2/InvalidRequestError" || at(taken, "error", "param") != "email" {
		t.Errorf("an invitation for a member: %v", taken)
	}

	// An existing user joins with the session, or with the user's password.
	again := member.call("POST", "/v2/organization/invitations", `{"role":"org:admin"}`, 200)
	back := strings.TrimPrefix(fmt.Sprint(again["link"]), s.BaseURL+"/invite/")
	accept("", fmt.Sprintf(`{"token":%q,"email":%q,"password":"wrong password"}`, back, s.AdminEmail), 401)
	accept("", fmt.Sprintf(`{"token":%q,"email":%q,"password":%q}`, back, s.AdminEmail, s.AdminPassword), 200)
	admin.call("GET", "/v2/organization", "", 200)

	third := member.call("POST", "/v2/organization/invitations", `{}`, 200)
	path := "/v2/organization/invitations/" + fmt.Sprint(third["id"])
	foreign := restClient{t, s, testkit.Shared(t).NewOrganization(t, "Foreign").APIKey}
	if got := foreign.call("DELETE", path, "", 404); tagOf(got) != "@svc/http/errors/InvitationNotFoundError" {
		t.Errorf("another organization's invitation: %v", got)
	}
	if got := foreign.call("DELETE", "/v2/organization/members/"+ada, "", 404); tagOf(got) != "@svc/http/errors/MemberNotFoundError" {
		t.Errorf("another organization's member: %v", got)
	}
	for range 2 {
		if got := member.call("DELETE", path, "", 200); got["status"] != "revoked" {
			t.Errorf("revoked: %v", got)
		}
	}
	accept(member.key, fmt.Sprintf(`{"token":%q}`, strings.TrimPrefix(fmt.Sprint(third["link"]), s.BaseURL+"/invite/")), 404)
	restricted := restClient{t, s, createKey(t, s, "organization:write")}
	if got := restricted.call("POST", "/v2/organization/invitations", `{}`, 403); tagOf(got) != "@svc/http/v2/InsufficientScopeError" {
		t.Errorf("a restricted key invites: %v", got)
	}
	for action, want := range map[string]int{
		"invitation.created": 3, "invitation.accepted": 2, "invitation.revoked": 1,
		"member.role_changed": 1, "member.removed": 1,
	} {
		log := member.call("GET", "/v2/audit_log?action="+action, "", 200)
		if entries, _ := log["data"].([]any); len(entries) != want {
			t.Errorf("%s: %d entries, want %d", action, len(entries), want)
		}
	}
}

// TestOrganizationDelete checks that all data of the organization is removed, including telemetry that is stored or still queued.
// The other organization keeps every row, and a restart brings nothing back.
func TestOrganizationDelete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/data"
	p := testkit.StartProcess(t, dir)
	s := &p.Server
	doomed, other := s.NewOrganization(t, "Doomed"), s.NewOrganization(t, "Stays")
	seedTelemetry(t, doomed)
	seedTelemetry(t, other)
	sql := func(text string) string {
		t.Helper()
		out, err := testkit.Command(t, "admin", "sql", "--data-dir", dir, text).Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				t.Fatalf("%v: %s", err, exit.Stderr)
			}
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	// Every table that holds rows of organizations, including tables that are added later. FINAL is needed because rows that the
	// engine has yet to merge must not count twice.
	var parts []string
	for _, table := range strings.Split(sql(`SELECT arrayStringConcat(groupArray(concat(name, if(engine LIKE '%MergeTree' AND engine NOT IN ('MergeTree', 'ReplicatedMergeTree'), ' FINAL', ''))), ';')
		FROM system.tables WHERE database = 'svc' AND engine LIKE '%MergeTree' AND name IN (SELECT table FROM system.columns WHERE database = 'svc' AND name = 'OrgId')`), ";") {
		name, _, _ := strings.Cut(table, " ")
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS t, count() AS n FROM `%s`%s WHERE OrgId = 'ORG'", name, name,
			strings.TrimPrefix(table, name)))
	}
	if len(parts) < 10 {
		t.Fatalf("only %d tables were found: %s", len(parts), parts)
	}
	count := func(org string) string {
		t.Helper()
		return sql("SELECT arrayStringConcat(arraySort(groupArray(concat(t, '=', toString(n)))), ' ') FROM (" +
			strings.ReplaceAll(strings.Join(parts, " UNION ALL "), "ORG", org) + ") WHERE n > 0")
	}
	if stored := strings.Fields(count(doomed.OrgID)); len(stored) < 8 {
		t.Fatalf("too little was stored to delete: %s", stored)
	}
	before := count(other.OrgID)
	token := signIn(t, doomed, doomed.AdminEmail, doomed.AdminPassword, "")
	c := restClient{t, doomed, doomed.APIKey}
	c.call("DELETE", "/v2/organization", "", 400)
	if got := c.call("DELETE", "/v2/organization?confirm="+other.OrgID, "", 400); tagOf(got) != "@svc/http/v2/ParameterInvalidError" {
		t.Errorf("another organization confirmed: %v", got)
	}
	// The last of these are still in the queue when the organization is deleted.
	send := func(key string) int {
		t.Helper()
		body := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"` + fmt.Sprint(time.Now().UnixNano()) +
			`","body":{"stringValue":"late"}}]}]}]}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.IngestURL+"/v1/logs", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		status, _ := roundTrip(t, req)
		return status
	}
	for range 20 {
		if status := send(doomed.PrivateKey); status != 200 {
			t.Fatalf("ingest before the deletion: %d", status)
		}
	}
	if got := c.call("DELETE", "/v2/organization?confirm="+doomed.OrgID, "", 200); got["deleted"] != true || got["id"] != doomed.OrgID {
		t.Errorf("deleted: %v", got)
	}
	for name, credential := range map[string]string{"key": doomed.APIKey, "session": token} {
		if status, got := as(t, s, credential, "", "GET", "/v2/organization", ""); status != 401 {
			t.Errorf("the %s after the deletion: %d %v", name, status, got)
		}
	}
	for name, key := range map[string]string{"private": doomed.PrivateKey, "public": doomed.PublicKey} {
		if status := send(key); status != 401 {
			t.Errorf("the %s ingest key after the deletion: %d", name, status)
		}
	}
	if status, got := as(t, s, "", "", "POST", "/v2/session", signInBody(doomed.AdminEmail, doomed.AdminPassword, "")); status != 401 {
		t.Errorf("sign-in after the deletion: %d %v", status, got)
	}
	eventually(t, "the rows to go", func() bool { return count(doomed.OrgID) == "" })
	time.Sleep(3 * time.Second) // the queue's last batch
	eventually(t, "the rows of the queue to go", func() bool { return count(doomed.OrgID) == "" })
	if after := count(other.OrgID); after != before {
		t.Errorf("the other organization has %s, had %s", after, before)
	}
	p.Stop(t)
	p = testkit.StartProcess(t, dir)
	s = &p.Server
	if after := count(doomed.OrgID); after != "" {
		t.Errorf("after a restart: %s", after)
	}
	if status, got := as(t, s, other.APIKey, "", "GET", "/v2/organization", ""); status != 200 || got["id"] != other.OrgID {
		t.Errorf("the other organization: %d %v", status, got)
	}
}
