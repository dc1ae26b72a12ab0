package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/testkit"
)

// checkSDKPages checks that the pages behaved as without the SDK, and that the SDK did on each what its page wants.
func checkSDKPages(t *testing.T, r *sdkReport) {
	t.Helper()
	// The page hears of its own failures, whatever the SDK does.
	errs, rejections := []string{"Uncaught Error: voucher refused"}, []string{"TypeError: payment refused", "TypeError: Failed to fetch"}
	for name, page := range map[string]sdkState{"visit": r.Visit, "blocked": r.Blocked, "revoked": r.Revoked} {
		if diff := cmp.Diff([][]string{errs, rejections}, [][]string{page.Errors, page.Rejections}); diff != "" {
			t.Errorf("%s: failures that the page heard of (-want +got):\n%s", name, diff)
		}
		if name != "visit" && page.Cart != "Kettle" {
			t.Errorf("%s: the cart has %q", name, page.Cart)
		}
	}
	if r.Visit.Session == "" || r.Second.Session != r.Visit.Session {
		t.Errorf("the session %q goes on as %q on the next page", r.Visit.Session, r.Second.Session)
	}
	if len(r.Problems) > 0 {
		t.Errorf("the SDK says on healthy pages: %q", r.Problems)
	}
	if r.Strict.Session == "" || len(r.Strict.Refused) > 0 {
		t.Errorf("under a strict policy: session %q, refused %q", r.Strict.Session, r.Strict.Refused)
	}
	const nothing = `[[],[],""]`
	c := r.Consent
	if c.Before != nothing || c.Session != nil || c.During == nil || c.After != nothing || !strings.Contains(c.Held, "svc.session") ||
		!strings.Contains(c.Held, "svc.visitor") {
		t.Errorf("consent: %+v", c)
	}
	if r.Revoked.Session != "" || len(r.Revoked.Warnings) != 1 || !strings.Contains(r.Revoked.Warnings[0], "401") {
		t.Errorf("with a revoked key: %+v", r.Revoked)
	}
}

// checkSDKWire checks what went over the wire: no secret, nothing without consent, and one request with the revoked key.
func checkSDKWire(t *testing.T, s *sdkSite, p *testkit.Process) {
	t.Helper()
	revoked := 0
	var names []string
	for name, bodies := range s.sent {
		key, path, _ := strings.Cut(name, " ")
		switch key {
		case sdkRevokedKey:
			revoked += len(bodies)
		case p.PublicKey:
			names = append(names, path)
		default:
			t.Errorf("%s was sent with another key", path)
		}
		for _, body := range bodies {
			if i := strings.Index(body, "SECRET"); i >= 0 {
				t.Errorf("%s: a secret is on the wire: …%s…", path, body[max(0, i-200):min(len(body), i+60)])
			}
			if strings.Contains(body, "ada@example.com") {
				t.Errorf("%s: the e-mail address is on the wire", path)
			}
		}
	}
	if revoked != 1 {
		t.Errorf("%d requests went out with the revoked key, want 1", revoked)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"/v1/sessionEvents", "/v1/sessionReplays/blob", "/v1/sessionReplays/meta", "/v1/traces"}, names); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	timeline := strings.Join(s.sent[p.PublicKey+" /v1/sessionEvents"], "")
	if !strings.Contains(timeline, `"agreed"`) || strings.Contains(timeline, "taken back") || strings.Contains(timeline, "after no") {
		t.Errorf("what was tracked around the consent: %s", timeline)
	}
	for _, status := range s.answers[http.MethodPost] {
		if status != http.StatusOK && status != http.StatusUnauthorized {
			t.Errorf("a request of the SDK was answered with %d", status)
		}
	}
}

// sdkRead reads a path of the API.
func sdkRead(t *testing.T, p *testkit.Process, path string, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.APIKey)
	status, body := roundTrip(t, req)
	if err := json.Unmarshal(body, out); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %v %s", path, status, err, body)
	}
}

// checkSDKSession reads the session over REST.
func checkSDKSession(t *testing.T, s *sdkSite, p *testkit.Process, id string) {
	t.Helper()
	var got struct {
		Status      string `json:"status"`
		UserID      string `json:"user_id"`
		UserName    string `json:"user_name"`
		UserEmail   string `json:"user_email"`
		GroupID     string `json:"group_id"`
		Traits      string `json:"user_traits"`
		VisitorID   string `json:"visitor_id"`
		UtmSource   string `json:"utm_source"`
		URL         string `json:"url_initial"`
		EntryPath   string `json:"entry_path"`
		ExitPath    string `json:"exit_path"`
		Browser     string `json:"browser_name"`
		Device      string `json:"device_type"`
		ServiceName string `json:"service_name"`
		Pages       int    `json:"page_views"`
		Clicks      int    `json:"click_count"`
		Errors      int    `json:"error_count"`
	}
	sdkRead(t, p, "/v2/session_replays/"+id, &got)
	want := got
	want.Status, want.UserID, want.UserName, want.UserEmail, want.GroupID, want.Traits = "ended", "u-1042", "Ada", "", "g-7", `{"plan":"pro"}`
	want.VisitorID, want.UtmSource, want.URL = "", "letter", s.site.URL+"/visit?utm_source=letter&session_token=redacted"
	want.EntryPath, want.ExitPath, want.Browser, want.Device, want.ServiceName = "/visit", "/visit/second", "Chrome", "desktop", "sdk-shop"
	want.Pages, want.Clicks, want.Errors = 3, 6, 4
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
}

// checkSDKTimeline reads the timeline over REST and over MCP, and the product events that it makes.
func checkSDKTimeline(t *testing.T, s *sdkSite, p *testkit.Process, id, session string) {
	t.Helper()
	var transcript struct {
		Data []struct {
			Seq      int     `json:"seq"`
			Type     string  `json:"type"`
			URL      string  `json:"url"`
			Level    *string `json:"level"`
			Message  *string `json:"message"`
			Selector *string `json:"target_selector"`
			Text     *string `json:"target_text"`
			Method   *string `json:"net_method"`
			NetURL   *string `json:"net_url"`
			Status   *int    `json:"net_status"`
			Attrs    string  `json:"attributes"`
			Stack    *string `json:"error_stack"`
			TraceID  *string `json:"trace_id"`
		} `json:"data"`
	}
	sdkRead(t, p, "/v2/session_replays/"+id+"/transcript?limit=100", &transcript)
	var got []string
	for i, e := range transcript.Data {
		if e.Seq != i {
			t.Errorf("event %d has the number %d", i, e.Seq)
		}
		words := []string{e.Type, strings.TrimPrefix(e.URL, s.site.URL)}
		for _, text := range []*string{e.Level, e.Message, e.Selector, e.Text, e.Method, e.NetURL} {
			if text != nil && *text != "" {
				words = append(words, strings.TrimPrefix(*text, s.site.URL))
			}
		}
		if e.Status != nil {
			words = append(words, fmt.Sprint(*e.Status))
		}
		if e.Attrs != "{}" {
			words = append(words, e.Attrs)
		}
		got = append(got, strings.Join(words, " | "))
		if (e.Type == "network" || e.Type == "error") && (e.TraceID == nil || len(*e.TraceID) != 32) {
			t.Errorf("%s has no trace", got[i])
		}
		if e.Type == "error" && (e.Stack == nil || !strings.Contains(*e.Stack, *e.Message) || strings.Contains(*e.Stack, "/sdk/browser/")) {
			t.Errorf("%s has the stack %v", got[i], e.Stack)
		}
	}
	const first, cart, second = "/visit?utm_source=letter&session_token=redacted", "/cart?token=redacted&page=2", "/visit/second"
	want := []string{
		"navigation | " + first + " | Shop",
		"click | " + first + " | button#add | Add to cart",
		"network | " + first + " | POST | /api/cart | 200",
		"navigation | " + cart + " | Shop",
		"custom | " + cart + ` | item added | {"count":"2","gift":"true","item":"Kettle"}`,
		"input | " + cart + " | input#voucher",
		"input | " + cart + " | input#password",
		"click | " + cart + " | button#show | Show password",
		"input | " + cart + " | input#password",
		"input | " + cart + " | input#card",
		"click | " + cart + " | button#break | Redeem voucher",
		"console | " + cart + " | error | the voucher service does not answer {code:7,password:redacted}",
		"error | " + cart + " | voucher refused",
		"click | " + cart + " | button#reject | Pay",
		"error | " + cart + " | payment refused",
		"click | " + cart + " | button#far | Ask a partner",
		"network | " + cart + " | GET | http://127.0.0.1:1/price",
		"error | " + cart + " | Failed to fetch",
		"click | " + cart + " | button#old | Old request",
		"network | " + cart + " | GET | /api/missing | 404",
		"navigation | " + second + " | Shop",
		"error | " + second + ` | handled by the page | {"step":"checkout"}`,
	}
	// A field counts as changed when a person leaves it, which the mouse and the keyboard do in different orders.
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
	answer := callTool(t.Context(), t, &p.Server, p.APIKey, "get_session_transcript", map[string]any{"session_id": id})
	if answer.err != nil || !strings.Contains(string(answer.body), "voucher refused") || strings.Contains(string(answer.body), "SECRET") {
		t.Errorf("get_session_transcript: %v %s", answer.err, answer.body)
	}
	events := query(t, p, fmt.Sprintf(`SELECT Name, Kind, UserId, GroupId, toJSONString(Attributes) FROM product_events
		WHERE SessionId = '%s' AND Kind = 'custom'`, session))
	if diff := cmp.Diff([][]string{{"item added", "custom", "u-1042", "g-7", `{"count":"2","gift":"true","item":"Kettle"}`}},
		events); diff != "" {
		t.Errorf("product events (-want +got):\n%s", diff)
	}
	from, to := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	var names json.RawMessage
	sdkRead(t, p, "/v2/product_events?start_time="+from+"&end_time="+to, &names)
	if !bytes.Contains(names, []byte("item added")) {
		t.Errorf("product events over REST: %s", names)
	}
}
