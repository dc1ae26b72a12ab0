package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/testkit"
)

// person signs in to one organization of the matrix.
type person struct {
	email, password string
	token           string
	uses            int
}

// usesOfSession keeps a session within its budget of requests.
const usesOfSession = 40

// join creates a new member by the link of an invitation.
func join(t *testing.T, s *testkit.Server) *person {
	t.Helper()
	p := &person{email: fmt.Sprintf("member%d@example.com", time.Now().UnixNano()), password: "the password of a member"}
	made := restClient{t, s, s.APIKey}.call("POST", "/v2/organization/invitations", "{}", 200)
	token := strings.TrimPrefix(fmt.Sprint(made["link"]), s.BaseURL+"/invite/")
	body := fmt.Sprintf(`{"token":%q,"email":%q,"password":%q}`, token, p.email, p.password)
	if status, got := as(t, s, "", "", "POST", "/v2/organization/invitations/accept", body); status != 200 {
		t.Fatalf("accept an invitation: %d %v", status, got)
	}
	return p
}

// session is the token of the administrator, or of a member, of an organization of the matrix.
func (x *matrix) session(t *testing.T, s *testkit.Server, admin bool) string {
	t.Helper()
	p := x.members[s]
	if admin {
		p = x.admins[s]
	}
	if p.uses%usesOfSession == 0 {
		p.token = signIn(t, s, p.email, p.password, s.OrgID)
	}
	p.uses++
	return p.token
}

// sessions checks that people who sign in may do what their role allows, independent of scopes: an administrator everything, a
// member everything that needs no administrator.
func (o *operated) sessions(t *testing.T) {
	if tag, theirs := ofOwner[o.m.OperationID]; theirs {
		o.refuses(t, "a member", o.session(t, o.mine, false), o.request, "", tag)
	} else if o.m.Admin {
		o.refuses(t, "a member", o.session(t, o.mine, false), o.request, "", o.m.RoleError)
	} else if noSuccess[o.m.OperationID] == "" {
		t.Run("member", func(t *testing.T) {
			o.succeeds(t, func(s *testkit.Server) string { return o.session(t, s, false) })
		})
	}
	if noSuccess[o.m.OperationID] == "" {
		t.Run("administrator", func(t *testing.T) {
			o.succeeds(t, func(s *testkit.Server) string { return o.session(t, s, true) })
		})
	}
}

// ofOwner lists operations that a member may do on the member's own resources, with the answer for one of another owner.
var ofOwner = map[string]apierr.Tag{"updateSavedView": apierr.SavedViewForbidden, "deleteSavedView": apierr.SavedViewForbidden}

// notAudited lists writes that leave no entry in the audit log when the matrix tries them, with the reason.
var notAudited = map[string]string{
	"transitionErrorIssue":      "the same state again changes nothing; TestErrorIssues has it",
	"assignErrorIssue":          "as transitionErrorIssue",
	"setErrorIssueSeverity":     "as transitionErrorIssue",
	"linkErrorIssuePullRequest": "the same link again changes nothing; TestErrorIssues has it",
	"testAlertRule":             "the rule of a test is not stored; TestAlerts tries it",
	"updateMember":              "the example keeps the role; TestInvitationsAndMembers has it",
	"startCliLogin":             "a login that nobody has decided about belongs to no organization; TestCliLogin has what follows",
}

// differing replaces values of updates whose example could equal the stored values. Each n gives other values.
var differing = map[string]func(request map[string]any, n int){
	"createAlertDestination": newName, // a name is unique
	"updateAlertDestination": newName,
	"updateAttributeMapping": newName,
	"updateCustomIngestKey":  newName,
	"updateDashboard":        newName,
	"updateLogpushConnector": newName,
	"createAlertRule":        newName,
	"updateAlertRule":        newName,
	"createSavedView":        sharedView,
	"updateSavedView":        sharedView,
	"createScrapeTarget":     newName,
	"muteAlertRule":          func(request map[string]any, n int) { request["minutes"] = n + 1 },
	"updateScrapeTarget":     newName,
	"updateInvestigation":    func(request map[string]any, n int) { request["title"] = fmt.Sprint("Matrix ", n) },
	"updateMarker":           func(request map[string]any, n int) { request["title"] = fmt.Sprint("Matrix ", n) },
	"updateOrganization": func(request map[string]any, n int) {
		newName(request, n)
		request["slug"] = fmt.Sprint("matrix-", time.Now().UnixNano()) // a slug is unique on the server, which other tests use too
	},
	"claimErrorIssue": func(request map[string]any, n int) { request["lease_duration_seconds"] = 60 + n },
	"linkErrorIssuePullRequest": func(request map[string]any, n int) {
		request["url"] = fmt.Sprintf("https://github.com/acme/shop/pull/%d", n+1)
	},
	"proposeErrorIssueFix": func(request map[string]any, _ int) { delete(request, "pr_url") },
	"assignErrorIssue":     func(request map[string]any, _ int) { request["actor_id"] = nil },
	"transitionErrorIssue": func(request map[string]any, _ int) {
		request["to_state"] = "todo"
		delete(request, "snooze_until")
	},
	"releaseErrorIssue": func(request map[string]any, _ int) { delete(request, "transition_to") },
	"replaceErrorNotificationPolicy": func(request map[string]any, n int) {
		request["destination_ids"], request["min_occurrence_count"] = []any{}, n+1
	},
	"replaceErrorEscalationPolicy": func(request map[string]any, n int) { request["enabled"], request["rules"] = n%2 == 0, []any{} },
	"setTrackedBranch":             func(request map[string]any, _ int) { request["tracked_branch"] = "next" },
	"updateSourceConnection":       func(request map[string]any, n int) { request["code_access"] = []string{"admins", "off"}[n%2] },
	"installSourceHost":            func(request map[string]any, _ int) { delete(request, "return_to") },
	"updateChatWorkspace": func(request map[string]any, n int) {
		request["settings"] = map[string]any{"default_channel": matrixChannels()[n%2]}
	},
	"connectPlanetScaleIntegration": func(request map[string]any, _ int) { delete(request, "return_to") },
	"installChatConnector":          func(request map[string]any, _ int) { delete(request, "return_to") },
	"updateSamplingPolicy":          func(request map[string]any, n int) { request["trace_sample_ratio"] = 1 / float64(n+1) },
}

// sharedView is for a key, which has no private views. Its name is unique on a page.
func sharedView(request map[string]any, _ int) {
	request["name"], request["visibility"] = fmt.Sprint("Matrix ", time.Now().UnixNano()), "shared"
}

func newName(request map[string]any, n int) { request["name"] = fmt.Sprint("Matrix ", n) }

// audits runs a request and checks that a change left its entry in the audit log of the organization.
func (o *operated) audits(t *testing.T, door string, s *testkit.Server, run func() answer) {
	t.Helper()
	since := time.Now().UTC()
	a := run()
	if a.err != nil || !o.m.Write || notAudited[o.m.OperationID] != "" {
		return
	}
	log := o.client(t, s).call("GET", "/v2/audit_log?outcome=allowed&since="+since.Format(time.RFC3339Nano), "", 200)
	if entries, _ := log["data"].([]any); len(entries) == 0 {
		t.Errorf("%s: the change left no entry in the audit log", door)
	}
}

// client makes resources for the tests, with a key that is replaced before its budget of requests is used up.
func (x *matrix) client(t *testing.T, s *testkit.Server) restClient {
	t.Helper()
	m := x.makers[s]
	if m.uses%200 == 0 {
		m.token = x.key(s)
	}
	m.uses++
	return restClient{t, s, m.token}
}
