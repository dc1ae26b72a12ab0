package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// release is a version of a service that sends a span each minute, and may fail in each.
type release struct {
	service, version, commit string
	// from and to are minutes before now.
	from, to int
	fails    bool
}

func (r release) send(t *testing.T, s *testkit.Server, now time.Time) {
	t.Helper()
	var spans []string
	for at := r.from; at > r.to; at-- {
		begin := now.Add(-time.Duration(at) * time.Minute).UnixNano()
		failure := ""
		if r.fails {
			failure = fmt.Sprintf(`,"status":{"code":2},"events":[{"timeUnixNano":"%d","name":"exception","attributes":[
				{"key":"exception.type","value":{"stringValue":"com.acme.Declined"}},{"key":"exception.message","value":{"stringValue":"no"}}]}]`, begin+500)
		}
		spans = append(spans, fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x","name":"POST /pay","kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"%s}`,
			begin, begin, begin, begin+1000, failure))
	}
	body := fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%q}},{"key":"service.version","value":{"stringValue":%q}},
		{"key":"deployment.environment.name","value":{"stringValue":"production"}},{"key":"vcs.ref.head.revision","value":{"stringValue":%q}}]},"scopeSpans":[{"spans":[%s]}]}]}`,
		r.service, r.version, r.commit, strings.Join(spans, ","))
	if err := export(t.Context(), s.IngestURL+"/v1/traces", s.PrivateKey, body); err != nil {
		t.Fatal(err)
	}
}

// TestFixVerdicts reports two merged fixes. The first one holds, and its issue closes. The second one does not hold, and its issue returns
// to todo. The server finds the releases of both in stored telemetry.
func TestFixVerdicts(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil).NewOrganization(t, "Fixes")
	c := restClient{t, s, s.APIKey}
	now := time.Now().UTC()
	const good, bad = "4fc1a0b2c3d4e5f60718293a4b5c6d7e8f901234", "99c1a0b2c3d4e5f60718293a4b5c6d7e8f901234"
	for _, r := range []release{
		{"pay", "1.0", "", 300, 200, true},
		{"pay", "1.1", good, 200, 0, false},
		{"cart", "2.0", "", 300, 120, true},
		{"cart", "2.1", bad[:8], 120, 0, true},
	} {
		r.send(t, s, now)
	}
	merged := now.Add(-210 * time.Minute).Format(time.RFC3339)
	paths := map[string]string{}
	for _, service := range []string{"pay", "cart"} {
		list := issuesOf(t, c, service, func(l []map[string]any) bool { return len(l) == 1 && l[0]["occurrence_count"] != 0.0 })
		path := "/v2/error_issues/" + fmt.Sprint(list[0]["id"])
		paths[service] = path
		url := "https://github.com/acme/" + service + "/pull/7"
		c.call("POST", path+"/pull_requests", fmt.Sprintf(`{"url":%q,"state":"open","merge_commit_sha":%q}`, url, good), 400)
		c.call("POST", path+"/pull_requests", fmt.Sprintf(`{"url":%q,"state":"merged","merge_commit_sha":"not hexadecimal"}`, url), 400)
		c.call("POST", path+"/pull_requests", fmt.Sprintf(`{"url":%q,"state":"merged","merged_at":"2999-01-01T00:00:00Z"}`, url), 400)
		if link := c.call("POST", path+"/pull_requests", fmt.Sprintf(`{"url":%q}`, url), 200); link["state"] != "open" {
			t.Errorf("linked: %v", link)
		}
		commit := map[string]string{"pay": good, "cart": bad}[service]
		link := c.call("POST", path+"/pull_requests",
			fmt.Sprintf(`{"url":%q,"state":"merged","merged_at":%q,"merge_commit_sha":%q}`, url, merged, commit), 200)
		if link["state"] != "merged" || link["merge_commit_sha"] != commit {
			t.Errorf("reported: %v", link)
		}
		c.call("POST", path+"/pull_requests", fmt.Sprintf(`{"url":%q,"state":"open"}`, url), 400)
		c.call("POST", path+"/transition", `{"to_state":"todo","fixed_in_version":"1"}`, 400)
	}
	for service, state := range map[string]string{"pay": "done", "cart": "todo"} {
		var issue map[string]any
		eventually(t, "the verdict about "+service, func() bool {
			issue = c.call("GET", paths[service], "", 200)
			return issue["workflow_state"] == state
		})
		v := issue["verifications"].([]any)[0].(map[string]any)
		held := service == "pay"
		want := map[string]any{"status": "not_fixed", "deployed_by": "commit", "attempt": 1.0}
		if held {
			want["status"], want["occurrence_count"] = "verified", 0.0
		}
		for name, value := range want {
			if v[name] != value {
				t.Errorf("%s: %s is %v of %v", service, name, v[name], v)
			}
		}
		if expected := v["expected_occurrence_count"].(float64); held && (expected < 150 || expected > 250) {
			t.Errorf("%v errors would be expected; it was one a minute, and all traffic is of the new version", expected)
		}
		if !held && v["occurrence_count"].(float64) < 119 {
			t.Errorf("%v errors of the release with the fix; it failed each minute of two hours", v["occurrence_count"])
		}
		var types []string
		for _, e := range c.call("GET", paths[service]+"/events?limit=100", "", 200)["data"].([]any) {
			types = append(types, fmt.Sprint(e.(map[string]any)["type"]))
		}
		if got := strings.Join(types, " "); got != "verification_verdict verification_started pr_merged pr_linked created" {
			t.Errorf("%s: events %s", service, got)
		}
	}
	stranger := restClient{t, s, s.NewOrganization(t, "Others").APIKey}
	stranger.call("POST", paths["pay"]+"/pull_requests", `{"url":"https://github.com/acme/pay/pull/7","state":"merged"}`, 404)
}
