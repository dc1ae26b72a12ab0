package discord_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/discord"
	"github.com/svc-observability/svc/server/integrations/discord/discordtest"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

func app(t *testing.T, at, token string) *discord.App {
	t.Helper()
	a, err := discord.New(discord.Config{
		URL: at, ApplicationID: discordtest.ApplicationID, ClientSecret: discordtest.ClientSecret, PublicKey: discordtest.PublicKey(),
		BotToken: token, Now: time.Now, Trust: func(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// bench is a guild with one channel, and its connection.
type bench struct {
	t       *testing.T
	discord *discordtest.Discord
	app     *discord.App
	guild   *discordtest.Guild
	channel *discordtest.Channel
	of      integrations.Connection
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, discord: discordtest.New(t)}
	b.guild = b.discord.AddGuild("Acme", "alerts")
	b.channel = b.guild.Channels[0]
	b.app = app(t, b.discord.URL, discordtest.BotToken)
	b.of = b.connect(b.guild)
	return b
}

const back = "http://localhost/back"

// authorize lets a person add the bot, and returns the query with which the browser comes back.
func (b *bench) authorize() url.Values {
	b.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(b.app.AuthorizeURL("state", "", back))
	if err != nil {
		b.t.Fatal(err)
	}
	_ = res.Body.Close()
	to, err := res.Location()
	if err != nil {
		b.t.Fatal(err)
	}
	return to.Query()
}

func (b *bench) connect(g *discordtest.Guild) integrations.Connection {
	b.t.Helper()
	b.discord.Choose(g)
	found, err := b.app.Accounts(b.t.Context(), integrations.Callback{Code: b.authorize().Get("code"), RedirectURI: back})
	if err != nil || len(found) != 1 || found[0].ExternalID != g.ID || found[0].Name != g.Name || !found[0].Chosen ||
		found[0].Credentials != nil {
		b.t.Fatal(found, err)
	}
	return integrations.Connection{IntegrationConnection: store.IntegrationConnection{ID: uuid.New(), ExternalID: g.ID}}
}

func (b *bench) post(thread string, m chat.Message) string {
	b.t.Helper()
	reference, err := b.app.Post(b.t.Context(), b.of, b.channel.ID, thread, m)
	if err != nil {
		b.t.Fatal(err)
	}
	return reference
}

// once makes a route fail the first time.
func (b *bench) once(route, code string) {
	n := 0
	b.discord.Fault(func(r string) string {
		if r == route {
			if n++; n == 1 {
				return code
			}
		}
		return ""
	})
}

// TestAccounts: what the page of Discord is asked for, and codes that are not taken.
func TestAccounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	q := b.authorize()
	if q.Get("permissions") != fmt.Sprint(discordtest.View|discordtest.Send|discordtest.EmbedLinks|discordtest.ReadHistory) ||
		q.Get("state") != "state" {
		t.Errorf("the callback: %v", q)
	}
	for name, c := range map[string]integrations.Callback{
		"an unknown code": {Code: "code-1", RedirectURI: back},
		"another address": {Code: q.Get("code"), RedirectURI: back + "2"},
	} {
		if found, err := b.app.Accounts(t.Context(), c); !integrations.IsKind(err, integrations.Invalid) {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
	// The bot has left before the code came back: the answer names no guild.
	b.discord.Kick(b.guild)
	if found, err := b.app.Accounts(t.Context(), integrations.Callback{Code: q.Get("code"), RedirectURI: back}); !integrations.IsKind(err,
		integrations.Invalid) {
		t.Errorf("no guild: %v %v", found, err)
	}
	b.discord.Fault(func(string) string { return "503" })
	if _, err := b.app.Accounts(t.Context(), integrations.Callback{Code: "c", RedirectURI: back}); !integrations.IsKind(err,
		integrations.Upstream) {
		t.Errorf("a failing provider: %v", err)
	}
}

// TestChannels: a channel is offered if the permissions of the bot, with the overwrites in Discord's order, allow it to write.
func TestChannels(t *testing.T) {
	t.Parallel()
	type over = discordtest.Overwrite
	const needed = discordtest.View | discordtest.Send | discordtest.EmbedLinks
	everyone := func(allow, deny uint64) over { return over{Of: "everyone", Allow: allow, Deny: deny} }
	role := func(allow, deny uint64) over { return over{Of: "role", Allow: allow, Deny: deny} }
	member := func(allow, deny uint64) over { return over{Of: "member", Allow: allow, Deny: deny} }
	for name, c := range map[string]struct {
		kind            int
		overwrites      []over
		offered, hidden bool
	}{
		"public":                           {0, nil, true, false},
		"announcements":                    {5, nil, true, false},
		"voice":                            {2, nil, false, false},
		"a category":                       {4, nil, false, false},
		"a forum":                          {15, nil, false, false},
		"private":                          {0, []over{everyone(0, discordtest.View)}, false, true},
		"private, with the bot's role":     {0, []over{everyone(0, discordtest.View), role(discordtest.View, 0)}, true, true},
		"private, with the bot":            {0, []over{member(discordtest.View, 0), everyone(0, discordtest.View)}, true, true},
		"the bot is shut out":              {0, []over{member(0, discordtest.View), role(needed, 0)}, false, false},
		"the role is shut out":             {0, []over{role(0, discordtest.Send)}, false, false},
		"the role is, the bot is not":      {0, []over{role(0, discordtest.Send), member(discordtest.Send, 0)}, true, false},
		"everyone is shut out from writes": {0, []over{everyone(0, discordtest.Send)}, false, false},
		"no embeds":                        {0, []over{everyone(0, discordtest.EmbedLinks)}, false, false},
		"no history":                       {0, []over{everyone(0, discordtest.ReadHistory)}, true, false},
	} {
		b := newBench(t)
		one := b.discord.AddChannel(b.guild, discordtest.Channel{Name: "war-room", Type: c.kind, Overwrites: c.overwrites})
		got, err := b.app.Sync(t.Context(), b.of)
		if err != nil || got.Name != "Acme" || got.Every != limits.ChatPoll || len(got.Channels) == 0 || got.Channels[0].Name != "alerts" {
			t.Fatalf("%s: %+v %v", name, got, err)
		}
		if (len(got.Channels) == 2) != c.offered {
			t.Errorf("%s: %+v", name, got.Channels)
		}
		found, err := b.app.Channel(t.Context(), b.of, one.ID)
		if c.offered {
			want := store.ChatChannel{ExternalID: one.ID, Name: "war-room", IsPrivate: c.hidden, IsMember: true}
			if err != nil || found != want || len(got.Channels) == 2 && got.Channels[1] != want {
				t.Errorf("%s: %+v %+v %v", name, got.Channels, found, err)
			}
		} else if !integrations.IsKind(err, integrations.NotFound) {
			t.Errorf("%s by its id: %+v %v", name, found, err)
		}
		// Discord takes the permissions that we offer, and nothing else.
		_, err = b.app.Post(t.Context(), b.of, one.ID, "", chat.Message{Title: "x"})
		if c.offered != (err == nil) || err != nil && !integrations.IsKind(err, integrations.NotFound) {
			t.Errorf("%s: a message: %v", name, err)
		}
	}
	// An administrator may everything.
	b := newBench(t)
	b.discord.Change(func() { b.guild.Bot = discordtest.Administrator })
	b.discord.AddChannel(b.guild, discordtest.Channel{Name: "x", Overwrites: []over{everyone(0, needed), role(0, needed), member(0, needed)}})
	if got, err := b.app.Sync(t.Context(), b.of); err != nil || len(got.Channels) != 2 {
		t.Errorf("an administrator: %+v %v", got, err)
	}
	// Without a permission in the guild, no channel is offered unless it gives the permission.
	b.discord.Change(func() { b.guild.Bot = discordtest.View })
	if got, err := b.app.Sync(t.Context(), b.of); err != nil || got.Channels == nil || len(got.Channels) != 0 {
		t.Errorf("a bot that may nothing: %+v %v", got, err)
	}
}

// TestOtherGuild: the bot sees all its guilds; a connection reaches the channels of its own only.
func TestOtherGuild(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	theirs := b.discord.AddGuild("Theirs", "secrets")
	b.connect(theirs)
	for _, id := range []string{theirs.Channels[0].ID, "C0NOWHERE", "../users/@me", "999999999999999999", ""} {
		if found, err := b.app.Channel(t.Context(), b.of, id); !integrations.IsKind(err, integrations.NotFound) {
			t.Errorf("%q: %+v %v", id, found, err)
		}
	}
	if got, err := b.app.Sync(t.Context(), b.of); err != nil || len(got.Channels) != 1 || got.Channels[0].Name != "alerts" {
		t.Errorf("%+v %v", got, err)
	}
	for _, id := range []string{"", "general", "../../users/@me"} {
		if _, err := b.app.Post(t.Context(), b.of, id, "", chat.Message{Title: "x"}); !integrations.IsKind(err, integrations.NotFound) {
			t.Errorf("a message to %q: %v", id, err)
		}
		if err := b.app.Change(t.Context(), b.of, id+":"+id, chat.Message{Title: "x"}); !integrations.IsKind(err, integrations.NotFound) {
			t.Errorf("a change of %q: %v", id, err)
		}
	}
}

// TestRemoved: a bot that was removed from the guild waits for a person; the destination is not to blame.
func TestRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.app.Revoke(t.Context(), b.of); err != nil || b.discord.In(b.guild) {
		t.Errorf("the bot leaves: %v", err)
	}
	_, read := b.app.Sync(t.Context(), b.of)
	_, sent := b.app.Post(t.Context(), b.of, b.channel.ID, "", chat.Message{Title: "x"})
	for what, err := range map[string]error{"a reading": read, "a message": sent} {
		if !integrations.IsKind(err, integrations.Suspended) || !strings.Contains(err.Error(), "removed from the server") {
			t.Errorf("%s: %v", what, err)
		}
	}
	b.discord.Change(func() { b.guild.In = true })
	if _, err := b.app.Sync(t.Context(), b.of); err != nil {
		t.Errorf("the bot is back: %v", err)
	}
	for _, code := range []string{"10004", "50001", "10007"} {
		b.discord.Fault(func(string) string { return code })
		if _, err := b.app.Sync(t.Context(), b.of); !integrations.IsKind(err, integrations.Suspended) {
			t.Errorf("%s: %v", code, err)
		}
	}
	// Answers that say nothing about this guild: of the network, of a blocked address, and a page in front of the API.
	for _, code := range []string{"40333", "40001", "404", "403"} {
		b.discord.Fault(func(string) string { return code })
		if _, err := b.app.Sync(t.Context(), b.of); err == nil || integrations.IsKind(err, integrations.Suspended) {
			t.Errorf("%s: %v", code, err)
		}
	}
	b.discord.Fault(nil)
	other := app(t, b.discord.URL, "another-token")
	if _, err := other.Sync(t.Context(), b.of); !integrations.IsKind(err, integrations.Unauthorized) ||
		!strings.Contains(err.Error(), "discord-bot-token") {
		t.Errorf("a wrong token: %v", err)
	}
}

// TestProblems: the kinds of problems that the answers of Discord become.
func TestProblems(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for kind, codes := range map[integrations.Kind][]string{
		integrations.NotFound:     {"10003", "50001", "50013", "50008", "50024", "10008"},
		integrations.Invalid:      {"50035", "50006", "200000", "400", "30046"},
		integrations.Unauthorized: {"401"},
		integrations.Forbidden:    {"403", "40002"},
		integrations.RateLimited:  {"429"},
		integrations.Upstream:     {"500", "502", "503"},
	} {
		for _, code := range codes {
			b.discord.Fault(func(route string) string {
				if route == "post" {
					return code
				}
				return ""
			})
			if _, err := b.app.Post(t.Context(), b.of, b.channel.ID, "", chat.Message{Title: "x"}); !integrations.IsKind(err, kind) {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
}

// TestAnswers: answers that are not those of the API.
func TestAnswers(t *testing.T) {
	t.Parallel()
	// An aborted request may still be read by the server while the next answer is set.
	var answer atomic.Pointer[http.HandlerFunc]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*answer.Load())(w, r) }))
	t.Cleanup(server.Close)
	a := app(t, server.URL, discordtest.BotToken)
	of := integrations.Connection{IntegrationConnection: store.IntegrationConnection{ExternalID: "220000000001001000"}}
	for name, c := range map[string]struct {
		kind   integrations.Kind
		pause  time.Duration
		answer http.HandlerFunc
	}{
		"429 of the API": {integrations.RateLimited, 1337 * time.Millisecond, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(429)
			_, _ = fmt.Fprint(w, `{"message":"x","retry_after":1.3365,"global":true}`)
		}},
		"429 for long": {integrations.RateLimited, time.Hour, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(429)
			_, _ = fmt.Fprint(w, `{"message":"x","retry_after":1e300}`)
		}},
		"429 of the network": {integrations.RateLimited, 7 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(429)
			_, _ = fmt.Fprint(w, "error code: 1015")
		}},
		"403 of the network": {integrations.Upstream, 0, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(403)
			_, _ = fmt.Fprint(w, "<html>")
		}},
		"no message":    {integrations.Upstream, 0, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{}`) }},
		"no JSON":       {integrations.Upstream, 0, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") }},
		"a lost answer": {integrations.Upstream, 0, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"a redirect": {integrations.Upstream, 0, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/", http.StatusTemporaryRedirect)
		}},
	} {
		answer.Store(&c.answer)
		_, err := a.Post(t.Context(), of, "220000000001002000", "", chat.Message{Title: "x"})
		var p *integrations.Problem
		if !errors.As(err, &p) || p.Kind != c.kind || p.RetryAfter != c.pause || strings.Contains(p.Error(), discordtest.BotToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Another guild than the one that was asked for.
	other := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"id":"220000000009999000","guild_id":"220000000009999000","name":"Other","roles":[]}`)
	})
	answer.Store(&other)
	if got, err := a.Sync(t.Context(), of); !integrations.IsKind(err, integrations.Upstream) {
		t.Errorf("another guild: %+v %v", got, err)
	}
}

// TestVerify: what deliveries with a good signature become.
func TestVerify(t *testing.T) {
	t.Parallel()
	a := app(t, "https://discord.example", discordtest.BotToken)
	const words = `{"type":4,"data":{"content":"This app only sends alerts. It has no commands.","flags":64,"allowed_mentions":{"parse":[]}}}`
	for body, want := range map[string]integrations.Delivery{
		`{"id":"1","application_id":"2","type":1,"version":1}`:               {Answer: `{"type":1}`, AnswerType: "application/json"},
		`{"id":"1","type":2,"guild_id":"3","data":{"name":"x"},"token":"t"}`: {Answer: words, AnswerType: "application/json"},
		`{"id":"1","type":3,"guild_id":"3","token":"t"}`:                     {Answer: words, AnswerType: "application/json"},
		`{"id":"1","type":4,"token":"t"}`: {
			Answer:     `{"type":8,"data":{"choices":[]}}`,
			AnswerType: "application/json",
		},
		`[]`: {Kind: "unreadable"},
	} {
		header := http.Header{}
		discordtest.Sign(header, time.Now(), []byte(body))
		if got, err := a.Verify(header, []byte(body)); err != nil || got != want {
			t.Errorf("%s: %+v %v", body, got, err)
		}
		if _, err := a.Verify(header, []byte(body+" ")); err == nil {
			t.Errorf("%s is taken with another body", body)
		}
		for _, age := range []time.Duration{-6 * time.Minute, 6 * time.Minute} {
			discordtest.Sign(header, time.Now().Add(age), []byte(body))
			if _, err := a.Verify(header, []byte(body)); err == nil {
				t.Errorf("%s is taken with the age %s", body, age)
			}
		}
		for name, text := range map[string]string{"X-Signature-Timestamp": "soon", "X-Signature-Ed25519": strings.Repeat("0", 128)} {
			discordtest.Sign(header, time.Now(), []byte(body))
			for _, bad := range []string{text, "", "xyz"} {
				header.Set(name, bad)
				if _, err := a.Verify(header, []byte(body)); err == nil {
					t.Errorf("%s is taken with the header %s: %q", body, name, bad)
				}
			}
		}
	}
}

// TestKey checks that the server does not start with a malformed key.
func TestKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "zz", discordtest.PublicKey()[2:]} {
		if _, err := discord.New(discord.Config{URL: "https://discord.example", PublicKey: key}); err == nil {
			t.Errorf("%q is taken", key)
		}
	}
}
