package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/discord/discordtest"
	"github.com/svc-observability/svc/server/integrations/slack/slacktest"
	"github.com/svc-observability/svc/server/testkit"
)

// TestDiscordPage connects Slack and Discord in a browser, makes a destination in a channel of Discord, and disconnects Discord.
func TestDiscordPage(t *testing.T) {
	t.Parallel()
	d, chats := discordtest.New(t), slacktest.New(t)
	guild := d.AddGuild("Guild of Acme", "alerts", "general")
	chats.AddTeam("T0ACME", "Acme", "random")
	s := testkit.Start(t, func(c *config.Config) {
		discordOf(d)(c)
		slackOf(chats)(c)
	})
	const discord, slack = "section.panel:has(h2:text-is('Discord'))", "section.panel:has(h2:text-is('Slack'))"
	page := s.BaseURL + "/o/default/settings/integrations"
	steps := append([]step{open(s.BaseURL + "/login")}, signInSteps(s.AdminEmail, s.AdminPassword)...)
	steps = append(steps, awaitPage(s.BaseURL+"/o/"), open(page), read("before", discord+" :text('No server connected')"),
		click(slack+" button:text-is('Connect a workspace')"), awaitPage(page+"?integration=slack&result=connected"),
		read("slack", slack+" tbody tr td:has-text('read ')"),
		click(discord+" button:text-is('Connect a server')"), awaitPage(page+"?integration=discord&result=connected"),
		read("guild", discord+" tbody tr td:has-text('Guild of Acme')"), read("state", discord+" td:has-text('read ')"),
		read("channels", discord+" select:has(option:text-is('#general'))"), look("chats"),
		open(s.BaseURL+"/o/default/alerts/destinations?new=chat"), fill("dialog input[placeholder='On call']", "Night shift"),
		click("dialog label:has(input[name=workspace]):has-text('Guild of Acme')"),
		fill("dialog input[type=search]", "nowhere"), read("none", "dialog :text('No such channel')"),
		fill("dialog input[type=search]", "gen"), click("dialog label:has(input[name=channel]):has-text('#general')"), look("channels"),
		click("dialog button:text-is('Create')"), read("made", "main :text('Night shift')"),
		open(page), click(discord+" button[aria-label='More about Guild of Acme']"), click("text=Disconnect"),
		click("dialog button:text-is('Disconnect')"), read("after", discord+" :text('No server connected')"))
	got := walk(t, []string{s.BaseURL, d.URL, chats.URL}, steps...)
	for name, want := range map[string]string{
		"slack": "connected", "guild": guild.ID, "state": "connected", "channels": "#alerts", "none": "View Channel",
		"after": "No server connected",
	} {
		if !strings.Contains(fmt.Sprint(got.Seen[name]), want) {
			t.Errorf("%s: %q, want %q", name, got.Seen[name], want)
		}
	}
	made := fmt.Sprint(restClient{t, s, s.APIKey}.call("GET", "/v2/alerts/destinations", "", 200)["data"])
	if !strings.Contains(made, "#general in Guild of Acme") || d.In(guild) || chats.Live("T0ACME") != 1 {
		t.Errorf("destinations %s; the bot is in the guild: %v; %d tokens of Slack", made, d.In(guild), chats.Live("T0ACME"))
	}
}
