package e2e

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/slack/slacktest"
	"github.com/svc-observability/svc/server/publicid"
)

// chatBench is a server with a stand-in for Slack, and its administrator in a browser.
type chatBench struct {
	*messenger

	slack *slacktest.Slack
	team  *slacktest.Team
}

func slackOf(s *slacktest.Slack) func(*config.Config) {
	return func(c *config.Config) {
		c.Slack = config.Slack{
			URL: s.URL, ClientID: slacktest.ClientID, ClientSecret: slacktest.ClientSecret,
			SigningSecret: slacktest.SigningSecret,
		}
	}
}

func newChatBench(t *testing.T) *chatBench {
	t.Helper()
	b := &chatBench{slack: slacktest.New(t)}
	b.team = b.slack.AddTeam("T0ACME", "Acme", "alerts", "general", "random")
	b.messenger = newMessenger(t, "slack", slackOf(b.slack), slacktest.Sign, func() []string {
		return append(b.slack.Tokens(), slacktest.ClientSecret, slacktest.SigningSecret)
	})
	return b
}

// TestChatWorkspaces connects a workspace, reads its channels, changes and disconnects it, and lets others try.
func TestChatWorkspaces(t *testing.T) {
	t.Parallel()
	b := newChatBench(t)
	if c := b.connector(b.rest); c["id"] != "slack" || c["available"] != true || c["supports_identity"] != true || c["identity"] != nil ||
		fmt.Sprint(c["workspaces"]) != "[]" {
		t.Errorf("the connector before: %v", c)
	}
	// The person refuses; a link of another person; a wrong path; an unknown connector.
	b.slack.Deny(true)
	if got := b.admin.get(b.install(b.session(), `{"return_to":"/x"}`)); got.Header.Get("Location") != "/x?integration=slack&result=cancelled" {
		t.Errorf("refused: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	b.slack.Deny(false)
	member := join(t, b.s)
	colleague := newVisitor(t, b.s.BaseURL)
	colleague.signIn(member.email, member.password)
	if got := colleague.get(b.install(b.session(), "{}")); got.StatusCode != 403 || !strings.Contains(got.text, "started elsewhere") {
		t.Errorf("another person's link: %d %.200s", got.StatusCode, got.text)
	}
	if got := b.rest.call("POST", "/v2/integrations/chat_connectors/slack/install", `{"return_to":"//evil.example"}`,
		400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" {
		t.Errorf("a path of another host: %v", got)
	}
	if got := b.rest.call("POST", "/v2/integrations/chat_connectors/irc/install", `{}`,
		404); tagOf(got) != "@svc/http/errors/IntegrationsNotFoundError" {
		t.Errorf("an unknown connector: %v", got)
	}
	asMember := restClient{t, b.s, colleague.token()}
	if got := asMember.call("POST", "/v2/integrations/chat_connectors/slack/install", `{}`,
		403); tagOf(got) != "@svc/http/errors/IntegrationsForbiddenError" {
		t.Errorf("a member connects: %v", got)
	}
	// An API key starts; the administrator sees the workspace and does not want it: the token ends.
	const callback = "/integrations/slack/callback"
	declined := b.install(b.rest, "{}")
	b.admin.get(declined)
	b.admin.post(declined, callback, "state", loginStateOf(t, declined), "code", mustQuery(t, declined, "code"), "decision", "connect")
	live := b.slack.Live("T0ACME")
	if got := b.admin.post(declined, callback, "state", loginStateOf(t, declined), "decision", "cancel"); got.StatusCode != 303 ||
		live != 1 || b.slack.Live("T0ACME") != 0 {
		t.Errorf("declined: %d, %d tokens, then %d", got.StatusCode, live, b.slack.Live("T0ACME"))
	}
	// An API key starts; the administrator confirms.
	back := b.install(b.rest, "{}")
	if got := b.admin.get(back); got.StatusCode != 200 || !strings.Contains(got.text, "An API key of") {
		t.Errorf("the confirmation: %d %.300s", got.StatusCode, got.text)
	}
	// The code may be that of any workspace, so the page names it before anything is stored.
	if got := b.admin.post(back, callback, "state", loginStateOf(t, back), "code", mustQuery(t, back, "code"), "decision",
		"connect"); got.StatusCode != 200 ||
		!strings.Contains(got.text, "workspace T0ACME") || strings.Contains(got.text, "source code") || len(b.workspace(b.rest)) != 0 {
		t.Errorf("confirmed: %d %v %.3000s", got.StatusCode, b.workspace(b.rest), got.text)
	}
	if got := b.admin.post(back, callback, "state", loginStateOf(t, back), "decision", "install"); got.StatusCode != 502 {
		t.Errorf("an installation that Slack does not have: %d %.300s", got.StatusCode, got.text)
	}
	if got := b.admin.post(back, callback, "state", loginStateOf(t, back), "account", "T0ACME", "decision", "connect"); got.StatusCode != 303 {
		t.Errorf("chosen: %d %.300s", got.StatusCode, got.text)
	}
	b.until("the channels are read", func() bool { return b.workspace(b.rest)["synced_at"] != nil })
	w := b.workspace(b.rest)
	if w["object"] != "chat_workspace" || w["connector"] != "slack" || w["external_workspace_id"] != "T0ACME" || w["name"] != "Acme" ||
		w["status"] != "connected" || !strings.HasPrefix(fmt.Sprint(w["id"]), "chatw_") || fmt.Sprint(w["settings"]) != "map[]" ||
		w["error"] != nil {
		t.Errorf("the workspace: %v", w)
	}
	id := fmt.Sprint(w["id"])
	path := "/v2/integrations/chat_workspaces/" + id
	if got := b.names(b.rest, path+"/destinations"); got != "alerts:false general:false random:false" {
		t.Errorf("channels: %s", got)
	}
	if got := b.names(b.rest, path+"/destinations?q=%23RAN"); got != "random:false" {
		t.Errorf("channels by a part of the name: %s", got)
	}
	if got := fmt.Sprint(b.rest.call("GET", "/v2/integrations", "", 200)["data"]); !strings.Contains(got, "account:Acme") ||
		!strings.Contains(got, id) {
		t.Errorf("the list of integrations: %s", got)
	}

	// A private channel is found by its id once the app is in it; the next reading lists it.
	secret := &slacktest.Channel{ID: "C0SECRET99", Name: "war-room", Private: true}
	b.slack.Change(func() { b.team.Channels = append(b.team.Channels, secret) })
	if got := b.names(b.rest, path+"/destinations?q=C0SECRET99"); got != "" {
		t.Errorf("a private channel without the app: %s", got)
	}
	b.slack.Change(func() { secret.Member = true })
	if got := b.names(b.rest, path+"/destinations?q=C0SECRET99"); got != "war-room:true" {
		t.Errorf("a private channel by its id: %s", got)
	}
	// A delivery makes the list new; a forged or an old one does nothing. Slack asks for the challenge.
	b.slack.Change(func() {
		b.team.Channels[1].Name, b.team.Channels[2].Archived, b.team.Name = "town-square", true, "Acme Corp"
	})
	event := `{"type":"event_callback","team_id":"T0ACME","event_id":"%s","event":{"type":"channel_rename"}}`
	if status, _, _ := b.deliver(fmt.Sprintf(event, "Ev1"), time.Now(), true); status != 401 {
		t.Errorf("a forged delivery: %d", status)
	}
	if status, _, _ := b.deliver(fmt.Sprintf(event, "Ev2"), time.Now().Add(-6*time.Minute), false); status != 401 {
		t.Errorf("an old delivery: %d", status)
	}
	if status, _, text := b.deliver(`{"type":"url_verification","challenge":"3eZbrw1a"}`, time.Now(), false); status != 200 ||
		text != "3eZbrw1a" {
		t.Errorf("the challenge: %d %s", status, text)
	}
	// Many deliveries make one reading, a minute after the last one.
	readings := b.slack.Calls("auth.test")
	for i := range 20 {
		if status, _, _ := b.deliver(fmt.Sprintf(event, fmt.Sprint("Ev", 3+i/2)), time.Now(), false); status != 202 {
			t.Errorf("a delivery: %d", status)
		}
		time.Sleep(100 * time.Millisecond)
	}
	for end := time.Now().Add(90 * time.Second); b.names(b.rest,
		path+"/destinations") != "alerts:false town-square:false war-room:true"; time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatalf("the channels: %s", b.names(b.rest, path+"/destinations"))
		}
	}
	if n := b.slack.Calls("auth.test") - readings; n != 1 {
		t.Errorf("the workspace was read %d times", n)
	}
	b.until("the workspace has its new name", func() bool { return b.workspace(b.rest)["name"] == "Acme Corp" }) // stored after the channels

	// Settings are replaced as a whole.
	channel := b.team.Channels[0].ID
	if got := b.rest.call("PATCH", path, fmt.Sprintf(`{"settings":{"default_channel":%q}}`, channel),
		200); fmt.Sprint(got["settings"]) != "map[default_channel:"+channel+"]" {
		t.Errorf("settings: %v", got)
	}
	for _, body := range []string{`{"settings":{"color":"red"}}`, `{"settings":{"default_channel":"C0NOWHERE"}}`, `{}`} {
		if got := b.rest.call("PATCH", path, body, 400); !strings.Contains(fmt.Sprint(got), "settings") {
			t.Errorf("%s: %v", body, got)
		}
	}
	if got := b.rest.call("PATCH", path, `{"settings":{}}`, 200); fmt.Sprint(got["settings"]) != "map[]" {
		t.Errorf("no settings: %v", got)
	}

	// Another organization, and a member, and an identifier of another kind.
	other := b.s.NewOrganization(t, "Other")
	stranger := restClient{t, other, other.APIKey}
	for _, c := range [][3]string{{"PATCH", path, `{"settings":{}}`}, {"DELETE", path, ""}, {"GET", path + "/destinations", ""}} {
		stranger.call(c[0], c[1], c[2], 404)
		if got := asMember.call(c[0], c[1], c[2], 403); tagOf(got) != "@svc/http/errors/IntegrationsForbiddenError" {
			t.Errorf("a member: %s %s: %v", c[0], c[1], got)
		}
	}
	if got := fmt.Sprint(b.connector(stranger)["workspaces"]); got != "[]" {
		t.Errorf("another organization sees %s", got)
	}

	// Two organizations share a workspace: the first to leave does not end the access of the second.
	theirs := newVisitor(t, b.s.BaseURL)
	theirs.signIn(other.AdminEmail, other.AdminPassword)
	if got := theirs.get(b.install(restClient{t, other, theirs.token()}, "{}")); got.StatusCode != 303 {
		t.Fatalf("the other organization connects: %d %.300s", got.StatusCode, got.text)
	}
	b.rest.call("DELETE", path, "", 200)
	b.rest.call("DELETE", path, "", 404)
	if b.slack.Live("T0ACME") != 2 {
		t.Errorf("%d tokens work after the first organization left", b.slack.Live("T0ACME"))
	}
	all, _ := b.connector(stranger)["workspaces"].([]any)
	w, _ = all[0].(map[string]any)
	stranger.call("DELETE", "/v2/integrations/chat_workspaces/"+fmt.Sprint(w["id"]), "", 200)
	if b.slack.Live("T0ACME") != 1 {
		t.Errorf("%d tokens work after the last organization left", b.slack.Live("T0ACME"))
	}
	b.noSecrets()
}

// TestChatIdentity links the caller with a person of the workspace.
func TestChatIdentity(t *testing.T) {
	t.Parallel()
	b := newChatBench(t)
	const link = "/v2/integrations/chat_connectors/slack/identity"
	if got := b.rest.call("POST", link+"/link", "{}", 403); tagOf(got) != "@svc/http/errors/ApiKeyNotAcceptedError" {
		t.Errorf("a key links: %v", got)
	}
	if got := b.rest.call("DELETE", link, "", 403); tagOf(got) != "@svc/http/errors/ApiKeyNotAcceptedError" {
		t.Errorf("a key unlinks: %v", got)
	}
	for connector, status := range map[string]int{"irc": 404, "slack": 200} {
		b.session().call("DELETE", "/v2/integrations/chat_connectors/"+connector+"/identity", "", status)
		b.session().call("POST", "/v2/integrations/chat_connectors/"+connector+"/identity/link", "{}", status)
	}
	if got := b.session().call("POST", link+"/link", `{"return_to":"//evil.example"}`,
		400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" {
		t.Errorf("a path of another host: %v", got)
	}
	b.connect()
	start := func(by restClient) string {
		return b.atHub(fmt.Sprint(by.call("POST", link+"/link", "{}", 200)["url"]))
	}
	// A workspace that the organization has not connected.
	b.slack.AddTeam("T0OTHER", "Elsewhere")
	if got := b.admin.get(start(b.session())); got.StatusCode != 502 || !strings.Contains(got.text, "has not connected") {
		t.Errorf("another workspace: %d %.300s", got.StatusCode, got.text)
	}
	b.slack.SignIn("T0ACME", "U0ADA")
	member := join(t, b.s)
	colleague := newVisitor(t, b.s.BaseURL)
	colleague.signIn(member.email, member.password)
	back := start(restClient{t, b.s, colleague.token()})
	if got := b.admin.get(back); got.StatusCode != 403 || !strings.Contains(got.text, "started elsewhere") {
		t.Errorf("another person's link: %d %.200s", got.StatusCode, got.text)
	}
	if got := colleague.get(back); got.StatusCode != 303 || !strings.HasSuffix(got.Header.Get("Location"), "result=linked") {
		t.Fatalf("a member links: %d %s %.300s", got.StatusCode, got.Header.Get("Location"), got.text)
	}
	if got := colleague.get(back); got.StatusCode != 404 {
		t.Errorf("the second use: %d", got.StatusCode)
	}
	who, _ := b.connector(restClient{t, b.s, colleague.token()})["identity"].(map[string]any)
	if who["external_user_id"] != "U0ADA" || who["display_name"] != "Ada U0ADA" || who["created_at"] == nil {
		t.Errorf("the identity: %v", who)
	}
	if got := b.connector(b.session())["identity"]; got != nil {
		t.Errorf("the administrator has the identity %v", got)
	}
	again := start(restClient{t, b.s, colleague.token()})
	if got := colleague.post("/account", "/integrations/slack/callback", "state", loginStateOf(t, again), "decision",
		"install"); got.StatusCode != 404 {
		t.Errorf("a member installs by the attempt of an identity: %d %.300s", got.StatusCode, got.text)
	}
	asMember := restClient{t, b.s, colleague.token()}
	for _, deleted := range []bool{true, false} {
		if got := asMember.call("DELETE", link, "", 200); got["object"] != "chat_connector.identity" || got["deleted"] != deleted {
			t.Errorf("unlink: %v, want %v", got, deleted)
		}
	}
	// An identity ends with the workspace.
	if got := colleague.get(start(asMember)); got.StatusCode != 303 {
		t.Fatalf("a member links again: %d", got.StatusCode)
	}
	b.rest.call("DELETE", "/v2/integrations/chat_workspaces/"+fmt.Sprint(b.workspace(b.rest)["id"]), "", 200)
	if got := b.connector(asMember)["identity"]; got != nil {
		t.Errorf("after the end of the workspace: %v", got)
	}
}

// TestChatRefresh: tokens that end are renewed in time, and withdrawn access is told until a person connects the workspace again.
func TestChatRefresh(t *testing.T) {
	t.Parallel()
	b := newChatBench(t)
	b.slack.Rotate(2 * time.Second)
	id := b.connect()
	path := "/v2/integrations/chat_workspaces/" + id
	// The first reading was young; an event later makes the next one, which renews the token that is past half of its life.
	time.Sleep(1100 * time.Millisecond)
	event := `{"type":"event_callback","team_id":"T0ACME","event_id":"%s","event":{"type":"tokens_revoked"}}`
	b.slack.Rotate(0)
	b.deliver(fmt.Sprintf(event, "Ev1"), time.Now(), false)
	b.until("the token is renewed", func() bool { return b.slack.Calls("oauth.v2.access") == 2 && b.slack.Live("T0ACME") == 1 })
	b.slack.RevokeAll("T0ACME")
	b.deliver(fmt.Sprintf(event, "Ev2"), time.Now(), false)
	b.until("the withdrawal is seen", func() bool { return b.workspace(b.rest)["status"] == "reconnect_needed" })
	if got := b.rest.call("GET", path+"/destinations", "", 409); tagOf(got) != "@svc/http/errors/IntegrationsNotConnectedError" {
		t.Errorf("channels of a withdrawn workspace: %v", got)
	}
	if got := fmt.Sprint(b.rest.call("GET", "/v2/integrations", "", 200)["data"]); !strings.Contains(got, "connects Acme again") {
		t.Errorf("the list: %s", got)
	}
	if again := b.connect(); again != id {
		t.Errorf("the workspace has the new id %s", again)
	}
	b.until("it is connected", func() bool { return b.workspace(b.rest)["status"] == "connected" })
	// A scope that Slack took away is asked for again, too.
	b.slack.Narrow("T0ACME", "groups:read")
	b.deliver(fmt.Sprintf(event, "Ev3"), time.Now(), false)
	b.until("the lost scope is seen", func() bool {
		return b.workspace(b.rest)["status"] == "reconnect_needed" && strings.Contains(fmt.Sprint(b.workspace(b.rest)["error"]), "groups:read")
	})
	b.noSecrets()
}

// chartPicture fetches the picture of a message, as Slack did, and checks it. It returns its path.
func (b *chatBench) chartPicture(m slacktest.Message) string {
	b.t.Helper()
	images := slacktest.Images(m.Attachments)
	if len(images) != 1 || !strings.HasPrefix(images[0], b.s.BaseURL+"/share/chart/") || !strings.HasSuffix(images[0], ".png") {
		b.t.Fatalf("the pictures of the message: %q", images)
	}
	path := strings.TrimPrefix(images[0], b.s.BaseURL)
	h, text := sharePicture(b.t, b.s, path, "", 200)
	drawn, err := png.Decode(bytes.NewReader(text))
	if err != nil || drawn.Bounds().Dx() < 600 || len(text) > 60<<10 || h.Get("Content-Type") != "image/png" ||
		h.Get("Cache-Control") != "public, max-age=3600" || h.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		b.t.Errorf("the picture: %d bytes, %v, %v", len(text), h, err)
	}
	sharePicture(b.t, b.s, path, h.Get("ETag"), 304)
	middle := len("/share/chart/") + 40
	other := "A"
	if path[middle] == 'A' {
		other = "B"
	}
	sharePicture(b.t, b.s, path[:middle]+other+path[middle+1:], "", 404)
	return path
}

// alertPicture checks the picture of a message about an alert, and its data. It returns its path.
func (b *chatBench) alertPicture(m slacktest.Message) string {
	b.t.Helper()
	path := b.chartPicture(m)
	nobody := restClient{b.t, b.s, ""}
	id := strings.TrimSuffix(strings.TrimPrefix(path, "/share/chart/"), ".png")
	body := fmt.Sprintf(`{"chart_id":%q}`, id)
	data := nobody.call("POST", "/v2/share/alert-chart", body, 200)
	series, _ := data["series"].([]any)
	if data["kind"] != "area" || data["unit"] != "number" || data["threshold"] != 0.0 || data["breach_side"] != "above" || len(series) != 1 ||
		data["points"] != nil {
		b.t.Fatalf("the data: %v", data)
	}
	one, _ := series[0].(map[string]any)
	points, _ := one["points"].([]any)
	last, _ := points[len(points)-1].([]any)
	value := fmt.Sprintf("Throughput is %s rpm", strconv.FormatFloat(math.Round(100*last[1].(float64))/100, 'f', -1, 64))
	if len(last) != 2 || !strings.Contains(m.Attachments, value) || time.Since(time.UnixMilli(int64(last[0].(float64)))) > 5*time.Minute {
		b.t.Errorf("the last point %v is not the figure of the message: %s is not in %s", last, value, m.Attachments)
	}
	// The id opens nothing else, and neither does a guess.
	for path, body := range map[string]string{
		"/v2/share/chat-chart":  body,
		"/v2/share/alert-chart": `{"chart_id":"nobody-knows-this-chart"}`,
	} {
		if got := nobody.call("POST", path, body, 404); tagOf(got) != "@svc/http/errors/ShareNotFoundError" {
			b.t.Errorf("%s: %v", path, got)
		}
	}
	return path
}

// TestChatAlerts sends an alert to a channel: the first message, its thread, and the end of the incident in both. Then each way in which
// Slack refuses.
func TestChatAlerts(t *testing.T) {
	t.Parallel()
	b := newChatBench(t)
	seedTelemetry(t, b.s)
	workspace := b.connect()
	alerts := b.team.Channels[0]
	const at = "/v2/alerts/destinations"
	refused := func(what, body string, status int, tag, words string) {
		t.Helper()
		if got := b.rest.call("POST", at, body, status); tagOf(got) != "@svc/http/errors/"+tag || !strings.Contains(fmt.Sprint(got), words) {
			t.Errorf("%s: %v", what, got)
		}
	}
	body := `{"type":"chat","name":"%s","workspace_id":%q,"channel_id":%q}`
	refused("no workspace", `{"type":"chat","name":"c","channel_id":"C1"}`, 400, "AlertValidationError", "workspace_id")
	refused("no channel", fmt.Sprintf(`{"type":"chat","name":"c","workspace_id":%q}`, workspace), 400, "AlertValidationError", "channel_id")
	refused("an unknown channel", fmt.Sprintf(body, "c", workspace, "C0NOWHERE"), 400, "IntegrationsValidationError", "/invite")
	refused("an unknown workspace", fmt.Sprintf(body, "c", publicid.Encode(publicid.ChatWorkspace, uuid.New()), alerts.ID), 409,
		"IntegrationsNotConnectedError", "workspace_id")
	refused("the other chat", `{"type":"hazel-oauth","name":"c"}`, 409, "IntegrationsNotConnectedError", "type")
	b.slack.Fault(func(method string) string {
		if method == "conversations.info" {
			return "fatal_error"
		}
		return ""
	})
	refused("a failing provider", fmt.Sprintf(body, "c", workspace, "C0NOWHERE"), 502, "IntegrationsUpstreamError", "Slack failed")
	b.slack.Fault(nil)
	d := b.rest.call("POST", at, fmt.Sprintf(body, "On call", workspace, alerts.ID), 200)
	if d["chat_connector"] != "slack" || d["chat_workspace_id"] != workspace || d["channel_label"] != "#alerts" ||
		d["summary"] != "#alerts in Acme" {
		t.Errorf("the destination: %v", d)
	}
	path := at + "/" + fmt.Sprint(d["id"])
	if got := b.rest.call("PATCH", path, `{"type":"chat","workspace_id":"chatw_2vXqR8Yf3mKc9LpT5sWd7N"}`,
		400); !strings.Contains(fmt.Sprint(got), "cannot change") {
		t.Errorf("another workspace: %v", got)
	}
	if got := b.rest.call("PATCH", path, fmt.Sprintf(`{"type":"chat","channel_id":%q}`, b.team.Channels[1].ID),
		200); got["channel_label"] != "#general" {
		t.Errorf("another channel: %v", got)
	}
	b.rest.call("PATCH", path, fmt.Sprintf(`{"type":"chat","channel_id":%q}`, alerts.ID), 200)

	// Hostile names: nobody is called, and nothing is formatted by them.
	definition := fmt.Sprintf(`"name":"Traffic <!channel> & <https://evil.example|all is well>","severity":"critical","signal_type":"throughput",`+
		`"comparator":"gt","threshold":0,"window_minutes":60,"consecutive_breaches_required":1,"renotify_interval_minutes":1,"destination_ids":[%q]`, d["id"])
	b.rest.call("POST", path+"/test", "{}", 200)
	if got := b.slack.Messages(alerts); len(got) != 1 || !strings.Contains(got[0].Attachments, "This is a test message") {
		t.Fatalf("the test: %v", got)
	}
	// Slack takes the picture of the first message, but not that of the reminder a minute later. It is counted by posts: a test that is slow
	// sees the reminder before it has looked at the first message.
	posts := 0
	b.slack.Fault(func(method string) string {
		if method == "chat.postMessage" {
			if posts++; posts == 2 {
				return "image:downloading image failed"
			}
		}
		return ""
	})
	rule := b.rest.call("POST", "/v2/alerts/rules", "{"+definition+"}", 200)
	told := func(n int) []slacktest.Message {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); len(b.slack.Messages(alerts)) < n; time.Sleep(time.Second) {
			if time.Now().After(end) {
				t.Fatalf("%d messages, want %d; the rule is %v", len(b.slack.Messages(alerts)), n,
					b.rest.call("GET", "/v2/alerts/rules/"+fmt.Sprint(rule["id"]), "", 200))
			}
		}
		return b.slack.Messages(alerts)
	}
	first := told(2)[1]
	if strings.Contains(first.Text, "<!channel>") || !strings.Contains(first.Text, "&lt;!channel&gt; &amp;") ||
		!strings.HasPrefix(first.Text, "*<"+b.s.BaseURL+"/alerts/incidents/") || !strings.Contains(first.Attachments, "#e01e5a") {
		t.Errorf("the first message: %+v", first)
	}
	picture := b.alertPicture(first)
	// The reminder arrives without its picture, and further ones, which there may be meanwhile, have none either.
	for _, got := range told(3)[2:] {
		if got.Thread != first.TS || len(slacktest.Images(got.Attachments)) != 0 || !strings.Contains(got.Attachments, "Throughput is") {
			t.Errorf("a reminder without a picture: %+v", got)
		}
	}
	b.slack.Fault(nil)
	if posts < 3 { // the first message, the refused reminder, and the reminder without its picture
		t.Errorf("%d posts", posts)
	}
	b.rest.call("DELETE", "/v2/alerts/rules/"+fmt.Sprint(rule["id"]), "", 200)
	ended := func() bool {
		list := b.slack.Messages(alerts)
		return list[1].Edited == 1 && strings.Contains(list[len(list)-1].Attachments, "#2eb67d")
	}
	b.until("the end is told in the thread", ended)
	list := b.slack.Messages(alerts)
	if last := list[len(list)-1]; !strings.Contains(list[1].Attachments, "#2eb67d") || last.Thread != list[1].TS {
		t.Errorf("the end: first %+v, answer %+v", list[1], last)
	}
	sharePicture(t, b.s, picture, "", 404) // with its rule

	// Messages that Slack refuses, and their fate.
	for code, want := range map[string]struct {
		status int
		tag    string
	}{
		"channel_not_found": {502, "AlertDeliveryTargetMissingError"},
		"is_archived":       {502, "AlertDeliveryTargetMissingError"},
		"429":               {502, "AlertDeliveryError"},
		"503":               {502, "AlertDeliveryError"},
		"msg_too_long":      {502, "AlertDeliveryRejectedError"},
		"missing_scope":     {502, "AlertDeliveryAuthError"},
	} {
		b.slack.Fault(func(method string) string {
			if method == "chat.postMessage" {
				return code
			}
			return ""
		})
		if got := b.rest.call("POST", path+"/test", "{}", want.status); tagOf(got) != "@svc/http/errors/"+want.tag {
			t.Errorf("%s: %v", code, got)
		}
	}
	// A message that Slack refuses for its form arrives as plain text.
	tries := 0
	b.slack.Fault(func(method string) string {
		if method == "chat.postMessage" {
			if tries++; tries == 1 {
				return "invalid_blocks"
			}
		}
		return ""
	})
	b.rest.call("POST", path+"/test", "{}", 200)
	b.slack.Fault(nil)
	all := b.slack.Messages(alerts)
	if last := all[len(all)-1]; len(all) != len(list)+1 || last.Attachments != "" || !strings.Contains(last.Text, "This is a test message") {
		t.Errorf("plain text: %+v", last)
	}
	// The app is removed: the next message says so, and the workspace waits for a person.
	b.slack.RevokeAll("T0ACME")
	if got := b.rest.call("POST", path+"/test", "{}", 502); tagOf(got) != "@svc/http/errors/AlertDeliveryAuthError" {
		t.Errorf("withdrawn: %v", got)
	}
	b.until("the withdrawal is seen", func() bool { return b.workspace(b.rest)["status"] == "reconnect_needed" })
	if got := b.rest.call("POST", at, fmt.Sprintf(body, "c", workspace, alerts.ID),
		401); tagOf(got) != "@svc/http/errors/IntegrationsRevokedError" {
		t.Errorf("a destination in a withdrawn workspace: %v", got)
	}
	// A destination can be renamed and disabled whatever became of its workspace; its channel cannot change then.
	dead := func() {
		t.Helper()
		b.rest.call("PATCH", path, `{"type":"chat","name":"Renamed"}`, 200)
		if got := b.rest.call("PATCH", path, `{"type":"chat","enabled":false}`, 200); got["enabled"] != false ||
			got["channel_label"] != "#alerts" {
			t.Errorf("disabled: %v", got)
		}
		b.rest.call("PATCH", path, `{"type":"chat","enabled":true}`, 200)
	}
	dead()
	if got := b.rest.call("PATCH", path, fmt.Sprintf(`{"type":"chat","channel_id":%q}`, b.team.Channels[1].ID),
		401); tagOf(got) != "@svc/http/errors/IntegrationsRevokedError" {
		t.Errorf("another channel in a withdrawn workspace: %v", got)
	}
	b.rest.call("DELETE", "/v2/integrations/chat_workspaces/"+workspace, "", 200)
	dead()
	if got := b.rest.call("POST", path+"/test", "{}", 502); tagOf(got) != "@svc/http/errors/AlertDeliveryAuthError" ||
		!strings.Contains(fmt.Sprint(got), "no longer connected") {
		t.Errorf("disconnected: %v", got)
	}
}

// TestIssueChart sends a message about a new error to a channel, with a picture of its occurrences.
func TestIssueChart(t *testing.T) {
	t.Parallel()
	b := newChatBench(t)
	workspace := b.connect()
	general := b.team.Channels[1]
	d := b.rest.call("POST", "/v2/alerts/destinations",
		fmt.Sprintf(`{"type":"chat","name":"Errors","workspace_id":%q,"channel_id":%q}`, workspace, general.ID), 200)
	b.rest.call("PUT", "/v2/error_issues/notification_policy", fmt.Sprintf(`{"destination_ids":[%q]}`, d["id"]), 200)
	sendFailures(t, b.s, "1.0", "com.acme.Declined", "com.acme.Declined")
	b.until("the error is told", func() bool { return len(b.slack.Messages(general)) == 1 })
	told := b.slack.Messages(general)[0]
	id := strings.TrimSuffix(strings.TrimPrefix(b.chartPicture(told), "/share/chart/"), ".png")
	body := fmt.Sprintf(`{"chart_id":%q}`, id)
	data := restClient{t, b.s, ""}.call("POST", "/v2/share/chat-chart", body, 200)
	if data["kind"] != "bar" || data["unit"] != "number" || data["breach_side"] != "none" ||
		!strings.HasSuffix(fmt.Sprint(data["title"]), " in pay") || data["threshold"] != nil {
		t.Errorf("the data: %v", data)
	}
	restClient{t, b.s, ""}.call("POST", "/v2/share/alert-chart", body, 404)
	// Without pictures, by the setting of the workspace.
	path := "/v2/integrations/chat_workspaces/" + workspace
	for _, bad := range []string{`{"settings":{"pictures":"maybe"}}`, `{"settings":{"pictures":""}}`} {
		if got := b.rest.call("PATCH", path, bad, 400); !strings.Contains(fmt.Sprint(got), "pictures") {
			t.Errorf("%s: %v", bad, got)
		}
	}
	b.rest.call("PATCH", path, `{"settings":{"pictures":"off"}}`, 200)
	sendFailures(t, b.s, "1.0", "com.acme.Timeout")
	b.until("the other error is told", func() bool { return len(b.slack.Messages(general)) == 2 })
	if got := b.slack.Messages(general)[1]; len(slacktest.Images(got.Attachments)) != 0 || !strings.Contains(got.Attachments, "Occurrences") {
		t.Errorf("without a picture: %+v", got)
	}
}
