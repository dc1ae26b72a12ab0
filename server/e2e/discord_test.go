package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/discord/discordtest"
)

// discordBench is a server with a stand-in for Discord, and its administrator in a browser.
type discordBench struct {
	*messenger

	discord *discordtest.Discord
	guild   *discordtest.Guild
}

func discordOf(d *discordtest.Discord) func(*config.Config) {
	return func(c *config.Config) {
		c.Discord = config.Discord{
			URL: d.URL, ApplicationID: discordtest.ApplicationID, ClientSecret: discordtest.ClientSecret, PublicKey: discordtest.PublicKey(),
			BotToken: discordtest.BotToken,
		}
	}
}

func newDiscordBench(t *testing.T) *discordBench {
	t.Helper()
	b := &discordBench{discord: discordtest.New(t)}
	b.guild = b.discord.AddGuild("Acme", "alerts", "general")
	b.messenger = newMessenger(t, "discord", discordOf(b.discord), discordtest.Sign, func() []string {
		return append(b.discord.Tokens(), discordtest.ClientSecret, discordtest.BotToken)
	})
	return b
}

// interaction sends an interaction of Discord and returns the status, the type and the answer.
func (b *discordBench) interaction(body string, at time.Time, forge bool) string {
	b.t.Helper()
	status, of, text := b.deliver(body, at, forge)
	return fmt.Sprintf("%d %s %s", status, of, text)
}

// TestDiscordServers connects a guild, reads its channels, answers interactions, and lets another organization try.
func TestDiscordServers(t *testing.T) {
	t.Parallel()
	b := newDiscordBench(t)
	if c := b.connector(b.rest); c["name"] != "Discord" || c["available"] != true || c["supports_identity"] != false ||
		fmt.Sprint(c["workspaces"]) != "[]" {
		t.Errorf("the connector before: %v", c)
	}
	if c := connectorOf(t, b.rest, "slack"); c["available"] != false {
		t.Errorf("Slack, which is not set up: %v", c)
	}
	if got := b.session().call("POST", "/v2/integrations/chat_connectors/discord/identity/link", "{}",
		400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" {
		t.Errorf("an identity: %v", got)
	}
	b.discord.Deny(true)
	if got := b.admin.get(b.install(b.session(), `{"return_to":"/x"}`)); got.Header.Get("Location") != "/x?integration=discord&result=cancelled" {
		t.Errorf("refused: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	b.discord.Deny(false)
	// An API key begins. The administrator sees which guild it is, and does not want it: the bot leaves.
	const callback = "/integrations/discord/callback"
	decline := func() {
		t.Helper()
		back := b.install(b.rest, "{}")
		b.admin.get(back)
		if got := b.admin.post(back, callback, "state", loginStateOf(t, back), "code", mustQuery(t, back, "code"), "decision",
			"connect"); got.StatusCode != 200 ||
			!strings.Contains(got.text, "server "+b.guild.ID) {
			t.Errorf("confirmed: %d %.3000s", got.StatusCode, got.text)
		}
		if got := b.admin.post(back, callback, "state", loginStateOf(t, back), "decision", "cancel"); got.StatusCode != 303 {
			t.Errorf("declined: %d %.300s", got.StatusCode, got.text)
		}
	}
	decline()
	if b.discord.In(b.guild) || len(b.workspace(b.rest)) != 0 {
		t.Errorf("the bot is in a guild that was declined; workspace %v", b.workspace(b.rest))
	}
	// The guild in the redirect is ignored.
	theirs := b.discord.AddGuild("Theirs", "secrets")
	b.discord.Choose(b.guild)
	back := b.install(b.session(), "{}")
	if got := b.admin.get(strings.Replace(back, "guild_id="+b.guild.ID, "guild_id="+theirs.ID, 1)); got.StatusCode != 303 {
		t.Fatalf("connect: %d %.300s", got.StatusCode, got.text)
	}
	b.until("the channels are read", func() bool { return b.workspace(b.rest)["synced_at"] != nil })
	w := b.workspace(b.rest)
	if w["external_workspace_id"] != b.guild.ID || w["name"] != "Acme" || w["connector"] != "discord" || w["status"] != "connected" ||
		!strings.HasPrefix(fmt.Sprint(w["id"]), "chatw_") {
		t.Errorf("the workspace: %v", w)
	}
	id := fmt.Sprint(w["id"])
	path := "/v2/integrations/chat_workspaces/" + id
	if got := fmt.Sprint(b.rest.call("GET", "/v2/integrations", "", 200)["data"]); !strings.Contains(got, "provider:discord") ||
		!strings.Contains(got, id) {
		t.Errorf("the list of integrations: %s", got)
	}
	decline()
	if !b.discord.In(b.guild) {
		t.Error("the bot left a guild that is connected")
	}

	// Channels: by name, by id, private ones once the bot may write there.
	if got := b.names(b.rest, path+"/destinations"); got != "alerts:false general:false" {
		t.Errorf("channels: %s", got)
	}
	secret := b.discord.AddChannel(b.guild, discordtest.Channel{
		Name: "war-room", Overwrites: []discordtest.Overwrite{{Of: "everyone", Deny: discordtest.View}},
	})
	if got := b.names(b.rest, path+"/destinations?q="+secret.ID); got != "" {
		t.Errorf("a private channel without the bot: %s", got)
	}
	b.discord.Change(func() {
		secret.Overwrites = append(secret.Overwrites, discordtest.Overwrite{Of: "member", Allow: discordtest.View})
	})
	if got := b.names(b.rest, path+"/destinations?q="+secret.ID); got != "war-room:true" {
		t.Errorf("a private channel by its id: %s", got)
	}
	if got := b.rest.call("PATCH", path, fmt.Sprintf(`{"settings":{"default_channel":%q}}`, secret.ID),
		200); fmt.Sprint(got["settings"]) != "map[default_channel:"+secret.ID+"]" {
		t.Errorf("settings: %v", got)
	}

	// The door.
	if got := b.interaction(`{"id":"1","type":1}`, time.Now(), false); got != `200 application/json {"type":1}` {
		t.Errorf("a ping: %s", got)
	}
	if got := b.interaction(`{"id":"1","type":2,"data":{"name":"x"}}`, time.Now(), false); !strings.HasPrefix(got,
		`200 application/json {"type":4,`) {
		t.Errorf("a command: %s", got)
	}
	if got := b.interaction(`{"id":"1","type":1}`, time.Now(), true); !strings.HasPrefix(got, "401 ") {
		t.Errorf("a forged ping: %s", got)
	}
	if got := b.interaction(`{"id":"1","type":1}`, time.Now().Add(-6*time.Minute), false); !strings.HasPrefix(got, "401 ") {
		t.Errorf("an old ping: %s", got)
	}

	// Another organization has another guild. The bot is in both, and still neither reaches the channels of the other.
	other := b.s.NewOrganization(t, "Other")
	visitor := newVisitor(t, b.s.BaseURL)
	visitor.signIn(other.AdminEmail, other.AdminPassword)
	stranger := restClient{t, other, other.APIKey}
	b.discord.Choose(theirs)
	if got := visitor.get(b.install(restClient{t, other, visitor.token()}, "{}")); got.StatusCode != 303 {
		t.Fatalf("the other organization connects: %d %.300s", got.StatusCode, got.text)
	}
	b.until("their channels are read", func() bool { return b.workspace(stranger)["synced_at"] != nil })
	theirPath := "/v2/integrations/chat_workspaces/" + fmt.Sprint(b.workspace(stranger)["id"])
	for _, c := range [][3]string{{"PATCH", path, `{"settings":{}}`}, {"DELETE", path, ""}, {"GET", path + "/destinations", ""}} {
		stranger.call(c[0], c[1], c[2], 404)
	}
	if got := b.names(stranger, theirPath+"/destinations"); got != "secrets:false" {
		t.Errorf("their channels: %s", got)
	}
	if got := b.names(stranger, theirPath+"/destinations?q="+b.guild.Channels[0].ID); got != "" {
		t.Errorf("a channel of another guild by its id: %s", got)
	}
	body := fmt.Sprintf(`{"type":"chat","name":"c","workspace_id":%q,"channel_id":%q}`,
		fmt.Sprint(b.workspace(stranger)["id"]), b.guild.Channels[0].ID)
	if got := stranger.call("POST", "/v2/alerts/destinations", body, 400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" {
		t.Errorf("a destination in a channel of another guild: %v", got)
	}

	// Two organizations share a guild: the bot leaves with the last one.
	b.discord.Choose(b.guild)
	if got := visitor.get(b.install(restClient{t, other, visitor.token()}, "{}")); got.StatusCode != 303 {
		t.Fatalf("the other organization connects the first guild: %d %.300s", got.StatusCode, got.text)
	}
	b.rest.call("DELETE", path, "", 200)
	if !b.discord.In(b.guild) {
		t.Error("the bot left with the first organization")
	}
	stranger.call("DELETE", "/v2/integrations/chat_workspaces/"+fmt.Sprint(b.workspace(stranger)["id"]), "", 200)
	if b.discord.In(b.guild) || !b.discord.In(theirs) {
		t.Error("the bot stayed after the last organization, or left another guild")
	}
	b.noSecrets()
}

// TestDiscordAlerts sends an alert to a channel: the first message, and the end of the incident there and in an answer to it. Then each way
// in which Discord refuses.
func TestDiscordAlerts(t *testing.T) {
	t.Parallel()
	b := newDiscordBench(t)
	seedTelemetry(t, b.s)
	workspace := b.connect()
	alerts := b.guild.Channels[0]
	const at = "/v2/alerts/destinations"
	body := `{"type":"chat","name":"On call","workspace_id":%q,"channel_id":%q}`
	for _, channel := range []string{"999999999999999999", "C0NOWHERE"} {
		if got := b.rest.call("POST", at, fmt.Sprintf(body, workspace, channel),
			400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" ||
			!strings.Contains(fmt.Sprint(got), "Send Messages") {
			t.Errorf("an unknown channel: %v", got)
		}
	}
	d := b.rest.call("POST", at, fmt.Sprintf(body, workspace, alerts.ID), 200)
	if d["chat_connector"] != "discord" || d["chat_workspace_id"] != workspace || d["channel_label"] != "#alerts" ||
		d["summary"] != "#alerts in Acme" {
		t.Errorf("the destination: %v", d)
	}
	path := at + "/" + fmt.Sprint(d["id"])
	b.rest.call("POST", path+"/test", "{}", 200)
	if got := b.discord.Messages(alerts); len(got) != 1 || len(got[0].Embeds) != 1 ||
		!strings.Contains(got[0].Embeds[0].Description, "This is a test message") {
		t.Fatalf("the test: %v", got)
	}
	// Hostile names: nobody is called, and nothing is formatted by them.
	definition := fmt.Sprintf(`"name":"Traffic @everyone [all is well](https://evil.example)","severity":"critical","signal_type":"throughput",`+
		`"comparator":"gt","threshold":0,"window_minutes":60,"consecutive_breaches_required":1,"destination_ids":[%q]`, d["id"])
	rule := b.rest.call("POST", "/v2/alerts/rules", "{"+definition+"}", 200)
	for end := time.Now().Add(150 * time.Second); len(b.discord.Messages(alerts)) < 2; time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatalf("nothing was told; the rule is %v", b.rest.call("GET", "/v2/alerts/rules/"+fmt.Sprint(rule["id"]), "", 200))
		}
	}
	first := b.discord.Messages(alerts)[1].Embeds[0]
	if strings.Contains(first.Title+first.Description, "@everyone") || !strings.Contains(first.Title, `\[all is well\]`) ||
		!strings.HasPrefix(first.URL, b.s.BaseURL+"/alerts/incidents/") || first.Color != 0xe01e5a {
		t.Errorf("the first message: %+v", first)
	}
	b.rest.call("DELETE", "/v2/alerts/rules/"+fmt.Sprint(rule["id"]), "", 200)
	b.until("the end is told in an answer", func() bool { return len(b.discord.Messages(alerts)) == 3 })
	told := b.discord.Messages(alerts)
	if told[1].Edited != 1 || told[1].Embeds[0].Color != 0x2eb67d || told[2].Answers != told[1].ID {
		t.Errorf("the end: first %+v, answer %+v", told[1], told[2])
	}

	// Messages that Discord refuses, and their fate.
	for code, tag := range map[string]string{
		"10003": "AlertDeliveryTargetMissingError", "50001": "AlertDeliveryTargetMissingError", "50013": "AlertDeliveryTargetMissingError",
		"429": "AlertDeliveryError", "503": "AlertDeliveryError", "50035": "AlertDeliveryRejectedError", "401": "AlertDeliveryAuthError",
	} {
		b.discord.Fault(func(route string) string {
			if route == "post" {
				return code
			}
			return ""
		})
		if got := b.rest.call("POST", path+"/test", "{}", 502); tagOf(got) != "@svc/http/errors/"+tag {
			t.Errorf("%s: %v", code, got)
		}
	}
	b.discord.Fault(nil)
	// The bot is removed: the next message says so, and the workspace waits for a person, who brings it back with its id.
	b.discord.Kick(b.guild)
	if got := b.rest.call("POST", path+"/test", "{}", 502); tagOf(got) != "@svc/http/errors/AlertDeliveryAuthError" {
		t.Errorf("removed: %v", got)
	}
	b.until("the removal is seen", func() bool { return b.workspace(b.rest)["status"] == "reconnect_needed" })
	if got := b.rest.call("POST", at, fmt.Sprintf(body, workspace, alerts.ID),
		401); tagOf(got) != "@svc/http/errors/IntegrationsRevokedError" {
		t.Errorf("a destination in a guild without the bot: %v", got)
	}
	if again := b.connect(); again != workspace {
		t.Errorf("the guild has the new id %s", again)
	}
	b.until("it is connected", func() bool { return b.workspace(b.rest)["status"] == "connected" })
	b.rest.call("POST", path+"/test", "{}", 200)
	b.noSecrets()
}
