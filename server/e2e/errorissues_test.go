package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/testkit"
)

// failures are failed spans, each with an exception of a type.
func failures(service, version string, types ...string) string {
	now := time.Now().UnixNano()
	var spans []string
	for i, typ := range types {
		spans = append(spans, fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x","name":"POST /pay","kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","status":{"code":2},
			"events":[{"timeUnixNano":"%d","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":%q}},
			{"key":"exception.message","value":{"stringValue":"order 17 failed"}},{"key":"exception.stacktrace","value":{"stringValue":"%s: order 17 failed\n\tat com.acme.shop.Pay.charge(Pay.java:12)\n\tat org.springframework.web.Servlet.run(Servlet.java:3)"}}]}]}`,
			now+int64(i), now+int64(i), now, now+1000, now+500, typ, typ))
	}
	return fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%q}},{"key":"service.version","value":{"stringValue":%q}},
		{"key":"deployment.environment.name","value":{"stringValue":"production"}}]},"scopeSpans":[{"spans":[%s]}]}]}`, service, version, strings.Join(spans, ","))
}

// export sends an OTLP request and reports whether it was acknowledged.
func export(ctx context.Context, url, key, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("ingest answers %s", res.Status)
	}
	return nil
}

// sendFailures sends errors of the service pay.
func sendFailures(t *testing.T, s *testkit.Server, version string, types ...string) {
	t.Helper()
	if err := export(t.Context(), s.IngestURL+"/v1/traces", s.PrivateKey, failures("pay", version, types...)); err != nil {
		t.Fatal(err)
	}
}

// TestErrorSums kills a server again and again while errors arrive, also as log records. In the end, each issue counts the stored errors
// of its group exactly.
func TestErrorSums(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d rounds", seed, *killRounds)
	random := rand.New(rand.NewPCG(seed, 1))
	p := testkit.StartProcess(t, dir, "--batch-max-age=100ms")
	acknowledged := 0
	for range *killRounds {
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var sent atomic.Int64
		for worker := range 3 {
			wg.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					types := []string{"com.acme.Always", fmt.Sprintf("com.acme.Error%c", 'A'+rune((n+worker)%20))}
					if export(ctx, p.IngestURL+"/v1/traces", p.PrivateKey, failures(fmt.Sprintf("pay%d", worker), "1", types...)) == nil {
						sent.Add(2)
					}
					record := fmt.Sprintf(`{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"browser"}}]},"scopeLogs":[{"logRecords":[
						{"timeUnixNano":"%d","severityNumber":17,"attributes":[{"key":"exception.type","value":{"stringValue":"TypeError"}},
						{"key":"exception.message","value":{"stringValue":"x is undefined"}}]}]}]}]}`, time.Now().UnixNano())
					if export(ctx, p.IngestURL+"/v1/logs", p.PrivateKey, record) == nil {
						sent.Add(1)
					}
				}
			})
		}
		// Long enough for a flush now and then.
		time.Sleep(time.Duration(500+random.IntN(4000)) * time.Millisecond)
		p.Kill()
		stop()
		wg.Wait()
		acknowledged += int(sent.Load())
		p = testkit.StartProcess(t, dir, "--batch-max-age=100ms")
	}
	waitFlushed(t, p)
	stored, total := map[string]int{}, 0
	out, err := testkit.Command(t, "admin", "sql", "SELECT toString(FingerprintHash), count() FROM error_events GROUP BY 1", "--data-dir",
		dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		hash, n, _ := strings.Cut(strings.TrimSpace(line), "\t")
		stored[hash], err = strconv.Atoi(n)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		total += stored[hash]
	}
	if total < acknowledged || acknowledged == 0 {
		t.Fatalf("%d errors are stored; %d were acknowledged", total, acknowledged)
	}
	var counted map[string]int
	eventually(t, "the issues to count all stored errors", func() bool {
		counted = map[string]int{}
		for cursor := ""; ; {
			list := readJSON(t, p.BaseURL+"/v2/error_issues?limit=100"+cursor, p.APIKey)
			for _, d := range list["data"].([]any) {
				issue := d.(map[string]any)
				counted[fmt.Sprint(issue["fingerprint_hash"])] = int(issue["occurrence_count"].(float64))
			}
			if list["next_cursor"] == nil {
				break
			}
			cursor = "&cursor=" + fmt.Sprint(list["next_cursor"])
		}
		sum := 0
		for _, n := range counted {
			sum += n
		}
		return sum >= total
	})
	if diff := cmp.Diff(stored, counted); diff != "" {
		t.Errorf("stored and counted errors differ (-stored +counted):\n%s", diff)
	}
	t.Logf("%d errors of %d groups, %d acknowledged", total, len(stored), acknowledged)
}

func readJSON(t *testing.T, url, key string) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	status, body := roundTrip(t, req)
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", url, status, body)
	}
	return out
}

// issuesOf waits until the issues of a service satisfy a condition.
func issuesOf(t *testing.T, c restClient, service string, ok func([]map[string]any) bool) []map[string]any {
	t.Helper()
	var last []map[string]any
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		last = nil
		data, _ := c.call("GET", "/v2/error_issues?service_name="+service, "", 200)["data"].([]any)
		for _, d := range data {
			last = append(last, d.(map[string]any))
		}
		if ok(last) {
			return last
		}
	}
	t.Fatalf("the issues of %s are %v", service, last)
	return nil
}

// TestErrorIssues follows errors from ingest to their end: the issue, a lease, a conflict, a fix, a regression, messages, and the policies.
func TestErrorIssues(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	told := map[string]int{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			EventType string `json:"event_type"`
			Issues    []struct {
				ID string `json:"id"`
			} `json:"issues"`
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil || len(body.Issues) == 0 || r.Header.Get("Webhook-Id") == "" {
			t.Errorf("a message that cannot be read: %v", r.Header)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		told[body.EventType+" "+body.Issues[0].ID]++
	}))
	t.Cleanup(hook.Close)
	s := testkit.Start(t, nil, func(o *app.Options) { o.Egress = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} }).NewOrganization(t,
		"Issues")
	c := restClient{t, s, s.APIKey}
	destination := fmt.Sprint(c.call("POST", "/v2/alerts/destinations",
		fmt.Sprintf(`{"type":"webhook","name":"hook","url":%q}`, hook.URL), 200)["id"])
	c.call("PUT", "/v2/error_issues/notification_policy", fmt.Sprintf(
		`{"destination_ids":[%q],"notify_on_claim":true,"notify_on_transition_done":true}`, destination), 200)
	c.call("PUT", "/v2/error_issues/escalation_policy",
		fmt.Sprintf(`{"rules":[{"severity":"critical","destination_ids":[%q]}]}`, destination), 200)
	c.call("PUT", "/v2/error_issues/notification_policy", `{"destination_ids":["dest_x"]}`, 400)

	sendFailures(t, s, "1.0", "com.acme.Declined", "com.acme.Declined", "com.acme.Timeout")
	list := issuesOf(t, c, "pay", func(l []map[string]any) bool { return len(l) == 2 })
	byType := map[string]map[string]any{}
	for _, i := range list {
		byType[fmt.Sprint(i["exception_type"])] = i
	}
	declined := byType["com.acme.Declined"]
	if declined["occurrence_count"] != 2.0 || declined["workflow_state"] != "triage" || declined["top_frame"] != "com.acme.shop.Pay.charge" ||
		declined["has_open_incident"] != true {
		t.Errorf("the issue is %v", declined)
	}
	id, other := fmt.Sprint(declined["id"]), fmt.Sprint(byType["com.acme.Timeout"]["id"])
	path := "/v2/error_issues/" + id
	detail := c.call("GET", path, "", 200)
	grouping := detail["grouping"].([]any)[0].(map[string]any)
	if grouping["variant"] != "app" || grouping["left_out"] != 1.0 || len(detail["sample_traces"].([]any)) != 2 ||
		len(detail["incidents"].([]any)) != 1 {
		t.Errorf("the details are %v", detail)
	}
	if counts := c.call("GET", "/v2/error_issues/service_counts", "", 200)["data"].([]any); len(counts) != 1 ||
		counts[0].(map[string]any)["open_count"] != 2.0 {
		t.Errorf("counts %v", counts)
	}

	if open := c.call("GET", "/v2/error_issues/incidents", "", 200)["data"].([]any); len(open) != 2 {
		t.Errorf("open incidents %v", open)
	}
	c.call("GET", "/v2/error_issues/incidents?issue_id="+publicid.Encode(publicid.ErrorIssue, uuid.New()), "", 404)
	if first := c.call("GET", "/v2/error_issues?limit=1", "", 200); first["next_cursor"] == nil {
		t.Errorf("the first page is %v", first)
	} else {
		c.call("GET", "/v2/error_issues?limit=1&sort=severity&cursor="+fmt.Sprint(first["next_cursor"]), "", 400)
	}

	c.call("GET", "/v2/error_issues?start_time=2026-01-02T00:00:00Z&end_time=2026-01-01T00:00:00Z", "", 400)

	// Two agents: an API key, and an agent that a person registered.
	admin := restClient{t, s, signIn(t, s, s.AdminEmail, s.AdminPassword, s.OrgID)}
	agent := fmt.Sprint(admin.call("POST", "/v2/error_issues/agents", `{"name":"fixer","model":"m1"}`, 200)["id"])
	c.call("POST", "/v2/error_issues/agents", `{"name":"fixer"}`, 403)
	admin.call("POST", "/v2/error_issues/agents", `{"name":"key:x"}`, 400)
	claimed := c.call("POST", path+"/claim", `{"lease_duration_seconds":60}`, 200)
	if claimed["workflow_state"] != "in_progress" || claimed["lease_holder"].(map[string]any)["agent_name"] == nil {
		t.Errorf("claimed: %v", claimed)
	}
	c.call("POST", path+"/heartbeat", `{}`, 200)
	admin.call("POST", path+"/claim", `{}`, 409)
	admin.call("POST", path+"/heartbeat", `{}`, 409)
	admin.call("POST", path+"/propose_fix", `{"patch_summary":"x"}`, 409)
	admin.call("POST", path+"/release", `{}`, 409)
	c.call("POST", path+"/transition", `{"to_state":"regressed"}`, 409)
	c.call("POST", path+"/transition", `{"to_state":"todo","snooze_until":"2030-01-01T00:00:00Z"}`, 400)
	c.call("PUT", path+"/assignee", `{"actor_id":"actor_x"}`, 404)
	c.call("PUT", path+"/assignee", fmt.Sprintf(`{"actor_id":%q}`, agent), 200)
	c.call("PUT", path+"/severity", `{"severity":"critical"}`, 200)
	if got := admin.call("PUT", path+"/severity", `{"severity":"high"}`, 200); got["applied"] != true {
		t.Errorf("a person's severity: %v", got)
	}
	if got := c.call("PUT", path+"/severity", `{"severity":"low"}`, 200); got["applied"] != false {
		t.Errorf("an agent changed a person's severity: %v", got)
	}
	c.call("POST", path+"/comments", `{"body":"It is the card provider.","kind":"agent_note"}`, 200)
	c.call("POST", path+"/propose_fix", `{"patch_summary":"retry","pr_url":"not a url"}`, 400)
	fixed := c.call("POST", path+"/propose_fix", `{"patch_summary":"retry","pr_url":"https://github.com/acme/shop/pull/12/files"}`, 200)
	if fixed["workflow_state"] != "in_review" || fixed["open_pull_request_count"] != 1.0 {
		t.Errorf("fixed: %v", fixed)
	}
	link := c.call("POST", path+"/pull_requests", `{"url":"https://github.com/acme/shop/pull/12"}`, 200)
	if link["url"] != "https://github.com/acme/shop/pull/12" || len(c.call("GET", path+"/pull_requests", "", 200)["data"].([]any)) != 1 {
		t.Errorf("linked: %v", link)
	}
	c.call("DELETE", path+"/pull_requests/ipr_x", "", 404)
	c.call("DELETE", path+"/pull_requests/"+fmt.Sprint(link["id"]), "", 200)
	var types []string
	for _, e := range c.call("GET", path+"/events?limit=100", "", 200)["data"].([]any) {
		types = append(types, fmt.Sprint(e.(map[string]any)["type"]))
	}
	if got := strings.Join(types, " "); got != "pr_unlinked pr_linked fix_proposed agent_note severity_change severity_change assignment "+
		"claim created" {
		t.Errorf("events: %s", got)
	}

	// A fix that does not hold: a new version fails after the issue was done, an old one does not count.
	if done := c.call("POST", path+"/transition", `{"to_state":"done"}`, 200); done["lease_holder"] != nil || done["resolved_at"] == nil ||
		fmt.Sprint(done["resolved_versions"]) != "[1.0]" {
		t.Errorf("done: %v", done)
	}
	c.call("POST", path+"/claim", `{}`, 409)
	sendFailures(t, s, "1.0", "com.acme.Declined")
	issuesOf(t, c, "pay", func(l []map[string]any) bool {
		return stateOf(l, id, "occurrence_count") == "3" && stateOf(l, id, "workflow_state") == "done"
	})
	sendFailures(t, s, "1.1", "com.acme.Declined")
	issuesOf(t, c, "pay", func(l []map[string]any) bool {
		return stateOf(l, id, "workflow_state") == "regressed" && stateOf(l, id, "regression_count") == "1"
	})

	// Merge and split restore every count.
	merged := c.call("POST", path+"/merge", fmt.Sprintf(`{"issue_ids":[%q]}`, other), 200)
	if merged["occurrence_count"] != 5.0 || c.call("GET", "/v2/error_issues/"+other, "", 200)["id"] != id {
		t.Errorf("merged: %v", merged)
	}
	c.call("POST", path+"/merge", fmt.Sprintf(`{"issue_ids":[%q]}`, id), 400)
	hash := fmt.Sprint(byType["com.acme.Timeout"]["fingerprint_hash"])
	split := c.call("POST", path+"/split", fmt.Sprintf(`{"fingerprint_hashes":[%q]}`, hash), 200)
	if split["occurrence_count"] != 1.0 || split["exception_type"] != "com.acme.Timeout" {
		t.Errorf("split off: %v", split)
	}
	c.call("POST", path+"/split", fmt.Sprintf(`{"fingerprint_hashes":[%q]}`, hash), 400)

	want := []string{
		"error_issue.first_seen " + id, "error_issue.first_seen " + other, "error_issue.claim " + id, "error_issue.escalation " + id,
		"error_issue.done " + id, "error_issue.regression " + id,
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		mu.Lock()
		missing := ""
		for _, w := range want {
			if told[w] != 1 {
				missing += fmt.Sprintf("%s was told %d times. ", w, told[w])
			}
		}
		extra := len(told) - len(want)
		mu.Unlock()
		if missing == "" && extra == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s told: %v", missing, told)
		}
	}
}

func stateOf(list []map[string]any, id, field string) string {
	for _, i := range list {
		if i["id"] == id {
			return fmt.Sprint(i[field])
		}
	}
	return ""
}
