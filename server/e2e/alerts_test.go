package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAlerts creates a rule over telemetry of the present, waits until the worker evaluates it, and follows the incident through the
// outbox to a webhook, the API and the end of the rule. Another organization sees nothing of it.
func TestAlerts(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	s := startWithReceiver(t, r, nil)
	theirs := s.NewOrganization(t, "Other alerts")
	seedTelemetry(t, s)
	c, other := restClient{t, s, s.APIKey}, restClient{t, theirs, theirs.APIKey}
	destination := c.call("POST", "/v2/alerts/destinations",
		fmt.Sprintf(`{"type":"webhook","name":"hook","url":"%s/hook","signing_secret":"s3cret"}`, r.URL), 200)
	definition := fmt.Sprintf(`"name":"Traffic","severity":"critical","signal_type":"throughput","comparator":"gt","threshold":0,`+
		`"window_minutes":60,"consecutive_breaches_required":1,"group_by":["service.name"],"destination_ids":[%q]`, destination["id"])
	tested := c.call("POST", "/v2/alerts/rules/test", `{"rule":{`+definition+`}}`, 200)
	if tested["object"] != "alert_rule.test_result" || tested["comparator"] != "gt" {
		t.Errorf("test: %v", tested)
	}
	for field, body := range map[string]string{
		"threshold_upper":             definition + `,"threshold_upper":3`,
		"window_minutes":              strings.Replace(definition, `"window_minutes":60`, `"window_minutes":1441`, 1),
		"group_by[0]":                 strings.Replace(definition, `"service.name"`, `"duration"`, 1),
		"apdex_threshold_ms":          definition + `,"apdex_threshold_ms":3`,
		"query_builder_draft":         definition + `,"query_builder_draft":{"aggregation":"count"}`,
		"notification_template.title": definition + `,"notification_template":{"title":"{{ rule.nam }}"}`,
	} {
		status, text := c.try("POST", "/v2/alerts/rules", "{"+body+"}")
		if status != 400 || !strings.Contains(text, field) {
			t.Errorf("a wrong %s: %d %s", field, status, text)
		}
	}
	rule := c.call("POST", "/v2/alerts/rules", "{"+definition+"}", 200)
	path := "/v2/alerts/rules/" + fmt.Sprint(rule["id"])
	if status, text := c.try("POST", "/v2/alerts/rules", "{"+definition+"}"); status != 400 || !strings.Contains(text, "name") {
		t.Errorf("the same name again: %d %s", status, text)
	}
	if status, _ := other.try("GET", path, ""); status != 404 {
		t.Errorf("another organization reads the rule: %d", status)
	}
	if status, text := c.try("DELETE", "/v2/alerts/destinations/"+fmt.Sprint(destination["id"]), ""); status != 409 {
		t.Errorf("a destination in use: %d %s", status, text)
	}

	var links []string // of triggers
	events := func() map[string]int {
		r.mu.Lock()
		defer r.mu.Unlock()
		counts := map[string]int{}
		links = nil
		for _, got := range r.got {
			var body struct {
				EventType string `json:"event_type"`
				LinkURL   string `json:"link_url"`
			}
			if json.Unmarshal([]byte(got.body), &body) == nil {
				counts[body.EventType]++
				if body.EventType == "trigger" {
					links = append(links, body.LinkURL)
				}
			}
		}
		return counts
	}
	// The next whole minute, the time until its telemetry is settled, and the outbox.
	for end := time.Now().Add(150 * time.Second); events()["trigger"] == 0; time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatalf("nothing was told; the rule is %v", c.call("GET", path, "", 200))
		}
	}
	incidents, _ := c.call("GET", "/v2/alerts/incidents?status=open", "", 200)["data"].([]any)
	if len(incidents) == 0 {
		t.Fatal("no incident is open")
	}
	first, _ := incidents[0].(map[string]any)
	if first["rule_id"] != rule["id"] || first["status"] != "open" || first["last_delivered_event_type"] != "trigger" ||
		first["group_key"] == nil {
		t.Errorf("incident: %v", first)
	}
	one := "/v2/alerts/incidents/" + fmt.Sprint(first["id"])
	if got := c.call("GET", one, "", 200); got["dedupe_key"] != first["dedupe_key"] {
		t.Errorf("one incident: %v", got)
	}
	if status, _ := other.try("GET", one, ""); status != 404 {
		t.Errorf("another organization reads the incident: %d", status)
	}
	if got := other.call("GET", "/v2/alerts/incidents", "", 200); len(got["data"].([]any)) != 0 {
		t.Errorf("another organization lists %v", got)
	}
	issue := alertIssue(t, c, other, first)
	told := events()["trigger"]
	// A message leads to the page of its incident in the web application.
	page := fmt.Sprintf("%s/alerts/incidents/%s?org=%s", s.BaseURL, first["id"], s.OrgID)
	if !slices.Contains(links, page) {
		t.Errorf("links %q, none is %s", links, page)
	}
	shown := c.call("GET", path, "", 200)
	if shown["last_evaluated_at"] == nil || shown["last_evaluation_error"] != nil {
		t.Errorf("the rule after its evaluation: %v", shown)
	}

	alertChecks(t, c, other, path, first)
	muted := c.call("POST", path+"/mute", `{"minutes":30}`, 200)
	if muted["muted_until"] == nil || muted["object"] != "alert_rule" {
		t.Errorf("the muted rule: %v", muted)
	}
	if got := c.call("POST", path+"/mute", `{"minutes":0}`, 200); got["muted_until"] != nil {
		t.Errorf("the rule after its mute: %v", got)
	}
	for _, body := range []string{`{}`, `{"minutes":-1}`, `{"minutes":43201}`} {
		if status, text := c.try("POST", path+"/mute", body); status != 400 || !strings.Contains(text, "minutes") {
			t.Errorf("mute %s: %d %s", body, status, text)
		}
	}
	if status, _ := other.try("POST", path+"/mute", `{"minutes":1}`); status != 404 {
		t.Errorf("another organization mutes the rule: %d", status)
	}

	// The end of the rule takes back what was told.
	c.call("DELETE", path, "", 200)
	for end := time.Now().Add(2 * time.Minute); events()["resolve"] < told; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("told %v after the end of the rule", events())
		}
	}
	if got := c.call("GET", "/v2/alerts/incidents", "", 200); len(got["data"].([]any)) != 0 {
		t.Errorf("incidents stay after the end of their rule: %v", got)
	}
	eventually(t, "the incident of the issue to end with the rule", func() bool {
		return c.call("GET", "/v2/error_issues/"+issue, "", 200)["has_open_incident"] == false
	})
}

// alertIssue finds the error issue of an incident.
func alertIssue(t *testing.T, c, other restClient, incident map[string]any) (id string) {
	t.Helper()
	var issue map[string]any
	eventually(t, "the issue of the incident", func() bool {
		shown := c.call("GET", "/v2/alerts/incidents/"+fmt.Sprint(incident["id"]), "", 200)
		if shown["error_issue_id"] == nil {
			return false
		}
		id = fmt.Sprint(shown["error_issue_id"])
		issue = c.call("GET", "/v2/error_issues/"+id, "", 200)
		return true
	})
	ref, _ := issue["source_ref"].(map[string]any)
	if issue["kind"] != "alert" || issue["service_name"] != incident["group_key"] || issue["exception_type"] != "Traffic" ||
		issue["severity"] != "critical" ||
		issue["severity_source"] != "detector" || issue["has_open_incident"] != true || ref["alert_rule_id"] != incident["rule_id"] ||
		issue["fingerprint_hash"] != fmt.Sprintf("alert:%s:%s", incident["rule_id"], incident["group_key"]) ||
		!strings.HasPrefix(fmt.Sprint(issue["exception_message"]), "Throughput is ") {
		t.Errorf("the issue of an alert: %v", issue)
	}
	if n := len(c.call("GET", "/v2/error_issues?kind=alert&service_name="+fmt.Sprint(incident["group_key"]), "",
		200)["data"].([]any)); n != 1 {
		t.Errorf("%d issues of alerts of the service", n)
	}
	if status, _ := other.try("GET", "/v2/error_issues/"+id, ""); status != 404 {
		t.Errorf("another organization reads the issue: %d", status)
	}
	return id
}

// alertChecks reads the checks of a rule and their summary, and compares both with the incident that one of them opened.
func alertChecks(t *testing.T, c, other restClient, path string, incident map[string]any) {
	t.Helper()
	group := fmt.Sprint(incident["group_key"])
	var checks []any
	for end := time.Now().Add(30 * time.Second); len(checks) == 0; time.Sleep(200 * time.Millisecond) {
		checks, _ = c.call("GET", path+"/checks?limit=100&status=breached&group_key="+url.QueryEscape(group), "", 200)["data"].([]any)
		if time.Now().After(end) {
			t.Fatal("no check arrives")
		}
	}
	opened, _ := checks[len(checks)-1].(map[string]any)
	if opened["incident_id"] != incident["id"] || opened["incident_transition"] != "opened" || opened["group_key"] != group ||
		opened["timestamp"] != incident["first_triggered_at"] || opened["window_end"] != opened["timestamp"] || opened["window_minutes"] != 60.0 {
		t.Errorf("the check that opened %v: %v", incident, opened)
	}
	at, err := time.Parse(time.RFC3339, fmt.Sprint(opened["timestamp"]))
	if err != nil {
		t.Fatal(err)
	}
	window := fmt.Sprintf("since=%s&until=%s", at.Add(-time.Minute).Format(time.RFC3339), at.Format(time.RFC3339))
	sum := c.call("GET", path+"/checks/summary?"+window+"&group_key="+url.QueryEscape(group), "", 200)
	totals, _ := sum["totals"].(map[string]any)
	points, _ := sum["points"].([]any)
	if totals["total"] != 1.0 || totals["breached"] != 1.0 || totals["transitions"] != 1.0 || len(points) != 1 ||
		sum["bucket_seconds"] != 60.0 {
		t.Errorf("summary %v", sum)
	} else if p, _ := points[0].(map[string]any); p["observed_value"] != opened["observed_value"] || p["threshold"] != opened["threshold"] {
		t.Errorf("point %v of %v", p, opened)
	}
	for query, field := range map[string]string{
		"/summary?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z": "until",
		"/summary?since=2025-01-01T00:00:00Z&until=2026-01-02T00:00:00Z": "until",
		"/summary?since=2026-01-02T00:00:00Z":                            "until",
		"?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z":         "until",
		"?status=good": "status",
	} {
		if status, text := c.try("GET", path+"/checks"+query, ""); status != 400 || !strings.Contains(text, field) {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	for _, query := range []string{"", "/summary?" + window} {
		if status, text := other.try("GET", path+"/checks"+query, ""); status != 404 {
			t.Errorf("another organization reads the checks: %d %s", status, text)
		}
	}
}
