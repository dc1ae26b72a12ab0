package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/testkit"
)

// receiver stands for the services that destinations lead to.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	answer string
	got    []received
}

type received struct {
	path   string
	header http.Header
	body   string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{status: 200, answer: "{}"}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{req.URL.RequestURI(), req.Header, string(body)})
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.answer)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answers(status int, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.answer = status, text
}

func (r *receiver) last(t *testing.T) received {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) == 0 {
		t.Fatal("nothing was received")
	}
	return r.got[len(r.got)-1]
}

func startWithReceiver(t *testing.T, r *receiver, configure func(*config.Config)) *testkit.Server {
	return testkit.Start(t, configure, func(o *app.Options) {
		o.Egress = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		o.Notify = notify.Endpoints{PagerDuty: r.URL, Telegram: r.URL, Discord: []string{r.URL}}
	})
}

// TestAlertDestinations creates a destination of each type that needs no integration, sends test messages, and checks the errors of
// the destination's answers. No answer and no audit entry may hold a secret.
func TestAlertDestinations(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	s := startWithReceiver(t, r, nil)
	mine, theirs := s.NewOrganization(t, "Destinations"), s.NewOrganization(t, "Other destinations")
	client := restClient{t, mine, mine.APIKey}
	const path = "/v2/alerts/destinations"
	const token = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
	secrets := []string{"0123456789abcdef0123456789abcdef", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "tok-of-discord", token}
	ids := map[string]string{}
	for kind, fields := range map[string]string{
		"webhook":   fmt.Sprintf(`"url":%q,"signing_secret":%q`, r.URL+"/hook", secrets[1]),
		"pagerduty": fmt.Sprintf(`"integration_key":%q`, secrets[0]),
		"discord":   fmt.Sprintf(`"webhook_url":%q`, r.URL+"/api/webhooks/1027/"+secrets[2]),
		"telegram":  fmt.Sprintf(`"bot_token":%q,"chat_id":"-100123"`, token),
	} {
		made := client.call("POST", path, fmt.Sprintf(`{"name":"To %s","type":%q,%s}`, kind, kind, fields), 200)
		ids[kind] = fmt.Sprint(made["id"])
		if made["type"] != kind || made["enabled"] != true || made["txid"] == nil {
			t.Errorf("created %v", made)
		}
		tested := client.call("POST", path+"/"+ids[kind]+"/test", "", 200)
		if tested["success"] != true {
			t.Errorf("%s: %v", kind, tested)
		}
		shown := client.call("GET", path+"/"+ids[kind], "", 200)
		if shown["last_tested_at"] == nil || shown["last_test_error"] != nil {
			t.Errorf("%s after the test: %v", kind, shown)
		}
		got := r.last(t)
		switch kind {
		case "webhook":
			var body map[string]any
			if err := json.Unmarshal([]byte(got.body), &body); err != nil || body["event_type"] != "test" || body["api_version"] != "2" ||
				got.header.Get("Webhook-Signature") == "" || got.header.Get("X-Svc-Signature") == "" || got.path != "/hook" {
				t.Errorf("%+v", got)
			}
		case "pagerduty":
			if got.path != "/v2/enqueue" || !strings.Contains(got.body, secrets[0]) || !strings.Contains(got.body, `"event_action":"trigger"`) {
				t.Errorf("%+v", got)
			}
		case "discord":
			if got.path != "/api/webhooks/1027/tok-of-discord?wait=true" || !strings.Contains(got.body, `"embeds"`) {
				t.Errorf("%+v", got)
			}
		case "telegram":
			if got.path != "/bot"+token+"/sendMessage" || !strings.Contains(got.body, `"chat_id":"-100123"`) {
				t.Errorf("%+v", got)
			}
		}
	}
	// The failures of destinations. Five more tests stay below the bound of an organization.
	hook := path + "/" + ids["webhook"]
	for status, want := range map[int]string{
		503: "AlertDeliveryError", 403: "AlertDeliveryAuthError", 404: "AlertDeliveryTargetMissingError", 422: "AlertDeliveryRejectedError",
	} {
		r.answers(status, "no: "+secrets[1])
		refused := client.call("POST", hook+"/test", "", 502)
		if text := fmt.Sprint(refused["error"]); !strings.Contains(text, want) || strings.Contains(text, secrets[1]) {
			t.Errorf("%d: %s", status, text)
		}
		if got := client.call("GET", hook, "", 200)["last_test_error"]; got == nil || strings.Contains(fmt.Sprint(got), secrets[1]) {
			t.Errorf("%d: last_test_error %v", status, got)
		}
	}
	// The chats of a bot.
	r.answers(200, `{"ok":true,"result":[{"update_id":1,"message":{"chat":{"id":-100,"title":"On call","type":"supergroup"}}},
		{"update_id":2,"message":{"chat":{"id":7,"first_name":"Ada","last_name":"L","type":"private"}}}]}`)
	chats := fmt.Sprint(client.call("POST", path+"/telegram/chats", fmt.Sprintf(`{"bot_token":%q}`, token), 200)["chats"])
	if chats != "[map[id:7 title:Ada L type:private] map[id:-100 title:On call type:supergroup]]" {
		t.Error(chats)
	}
	r.answers(200, "{}")
	client.call("POST", hook+"/test", "", 200)
	if text := fmt.Sprint(client.call("POST", hook+"/test", "", 429)["error"]); !strings.Contains(text, "RateLimitError") {
		t.Errorf("the 11th message of a minute: %s", text)
	}

	// Changes.
	client.call("PATCH", hook, `{"type":"pagerduty","name":"x"}`, 400)
	client.call("PATCH", hook, `{"type":"webhook","bot_token":"x"}`, 400)
	client.call("PATCH", hook, `{"type":"webhook","url":"http://169.254.169.254/"}`, 400)
	client.call("PATCH", hook, `{"type":"webhook","name":"To discord"}`, 400)
	if got := client.call("PATCH", hook, `{"type":"webhook","name":"Renamed","signing_secret":""}`, 200); got["name"] != "Renamed" {
		t.Error(got)
	}
	// The other organization neither sees nor changes it.
	other := restClient{t, theirs, theirs.APIKey}
	for _, call := range []struct{ method, path, body string }{
		{"GET", hook, ""}, {"PATCH", hook, `{"type":"webhook","name":"stolen"}`}, {"DELETE", hook, ""}, {"POST", hook + "/test", ""},
	} {
		other.call(call.method, call.path, call.body, 404)
	}
	if list, _ := other.call("GET", path, "", 200)["data"].([]any); len(list) != 0 {
		t.Errorf("the other organization lists %v", list)
	}
	all, err := json.Marshal([]any{
		client.call("GET", path, "", 200), client.call("GET", "/v2/audit_log?resource_type=alert_destination&limit=100", "", 200),
		client.call("GET", "/v2/alerts/deliveries", "", 200),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range append(secrets, "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw") {
		if strings.Contains(string(all), secret) {
			t.Errorf("an answer holds %s", secret)
		}
	}
	for _, action := range []string{"alert_destination.created", "alert_destination.updated", "alert_destination.tested"} {
		if !strings.Contains(string(all), action) {
			t.Errorf("no audit entry %s", action)
		}
	}
	client.call("DELETE", hook, "", 200)
	client.call("GET", hook, "", 404)
}

// TestEmailDestination sends e-mail to members through a mail server, and refuses other recipients.
func TestEmailDestination(t *testing.T) {
	t.Parallel()
	mail := notifySMTP(t)
	s := startWithReceiver(t, newReceiver(t), func(c *config.Config) {
		c.SMTPURL, c.MailFrom = config.DSN("smtp://"+mail.addr), "svc <alerts@example.com>"
	})
	s = s.NewOrganization(t, "Mail")
	client := restClient{t, s, s.APIKey}
	me := signIn(t, s, s.AdminEmail, s.AdminPassword, s.OrgID)
	_ = me
	members, _ := client.call("GET", "/v2/organization/members", "", 200)["data"].([]any)
	member, _ := members[0].(map[string]any)
	id := fmt.Sprint(member["user_id"])
	if member["user_id"] == nil {
		id = fmt.Sprint(member["id"])
	}
	for _, ids := range []string{`["user_nobody"]`, fmt.Sprintf(`[%q,%q]`, id, id)} {
		if text := fmt.Sprint(client.call("POST", "/v2/alerts/destinations", `{"name":"m","type":"email","member_user_ids":`+ids+`}`,
			400)); !strings.Contains(text, "AlertRecipientSelectionError") {
			t.Errorf("%s: %s", ids, text)
		}
	}
	made := client.call("POST", "/v2/alerts/destinations", fmt.Sprintf(`{"name":"m","type":"email","member_user_ids":[%q]}`, id), 200)
	client.call("POST", "/v2/alerts/destinations/"+fmt.Sprint(made["id"])+"/test", "", 200)
	select {
	case text := <-mail.received:
		for _, want := range []string{
			"To: <" + s.AdminEmail + ">", "From: \"svc\" <alerts@example.com>", "Message-ID: <svc-", "text/plain",
			"text/html",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
	case <-time.After(time.Minute):
		t.Error("no e-mail arrived")
	}
}
