package integrations_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/slack"
	"github.com/svc-observability/svc/server/integrations/slack/slacktest"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// oneWorkspace is the store of an organization with one workspace.
type oneWorkspace struct {
	integrations.Store

	row store.IntegrationConnection
	due int
}

func (s *oneWorkspace) RecordPictureFailure(_ context.Context, _ principal.OrgID, _ uuid.UUID, at time.Time) error {
	s.row.PictureFailedAt = &at
	return nil
}

func (s *oneWorkspace) GetIntegrationConnection(_ context.Context, org principal.OrgID, id uuid.UUID) (store.IntegrationConnection, error) {
	if org != s.row.Org || id != s.row.ID {
		return store.IntegrationConnection{}, store.ErrNotFound
	}
	return s.row, nil
}

func (s *oneWorkspace) MakeIntegrationDue(context.Context, principal.OrgID, uuid.UUID) error {
	s.due++
	return nil
}

type open struct{}

func (open) Seal(plain []byte, _ string) []byte           { return plain }
func (open) Open(sealed []byte, _ string) ([]byte, error) { return sealed, nil }

// posts is an engine with a workspace of the stand-in.
type posts struct {
	t      *testing.T
	slack  *slacktest.Slack
	team   *slacktest.Team
	rows   *oneWorkspace
	setup  integrations.Setup
	engine *integrations.Engine
}

func newPosts(t *testing.T) *posts {
	t.Helper()
	p := &posts{t: t, slack: slacktest.New(t)}
	p.team = p.slack.AddTeam("T0ACME", "Acme", "alerts", "general")
	app, err := slack.New(slack.Config{
		URL: p.slack.URL, ClientID: slacktest.ClientID, ClientSecret: slacktest.ClientSecret, SigningSecret: slacktest.SigningSecret,
		Now: time.Now, Trust: func(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	const back = "http://localhost/back"
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(app.AuthorizeURL("state", "", back))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	to, err := res.Location()
	if err != nil {
		t.Fatal(err)
	}
	found, err := app.Accounts(t.Context(), integrations.Callback{Code: to.Query().Get("code"), RedirectURI: back})
	if err != nil {
		t.Fatal(err)
	}
	p.rows = &oneWorkspace{row: store.IntegrationConnection{
		ID: uuid.New(), Org: "org_a", Provider: slack.ID, BaseURL: p.slack.URL, ExternalID: "T0ACME", State: store.IntegrationConnected,
		Settings: json.RawMessage("{}"), Credentials: found[0].Credentials,
	}}
	p.setup = integrations.Setup{ID: slack.ID, Name: slack.Name, Class: integrations.ClassChat, Provider: app}
	p.start()
	return p
}

func (p *posts) start() {
	p.engine = integrations.New(integrations.Config{
		Store: p.rows, Setups: []integrations.Setup{p.setup}, Sealer: open{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
}

func (p *posts) try(channel int, thread, title string, ends bool) (string, error) {
	return p.engine.Post(p.t.Context(), chat.Post{
		Org: "org_a", Workspace: p.rows.row.ID, Channel: p.team.Channels[channel].ID, Message: chat.Message{Title: title, Body: "b"},
		Thread: thread, Ends: ends,
	})
}

func (p *posts) post(channel int, thread, title string, ends bool) string {
	p.t.Helper()
	reference, err := p.try(channel, thread, title, ends)
	if err != nil {
		p.t.Fatal(err)
	}
	return reference
}

// sent are the messages of a channel: title, e for a changed one, + for an answer.
func (p *posts) sent(channel int) string {
	var out []string
	for _, m := range p.slack.Messages(p.team.Channels[channel]) {
		text := strings.Trim(m.Text, "*")
		if m.Thread != "" {
			text = "+" + text
		}
		if m.Edited > 0 {
			text += "e"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func (p *posts) want(alerts, general string) {
	p.t.Helper()
	if got := [2]string{p.sent(0), p.sent(1)}; got != [2]string{alerts, general} {
		p.t.Errorf("the channels have %q", got)
	}
}

// TestPostThreads: the messages about a thing, wherever its thread went meanwhile.
func TestPostThreads(t *testing.T) {
	t.Parallel()
	p := newPosts(t)
	first := p.post(0, "", "open", false)
	if again := p.post(0, first, "again", false); again != first {
		t.Errorf("a reminder has the reference %q", again)
	}
	p.want("open +again", "")
	// The destination has another channel now: a new thread there, and the end in both.
	moved := p.post(1, first, "moved", false)
	if moved == first {
		t.Errorf("the thread of another channel: %q", moved)
	}
	p.post(1, moved, "more", false)
	p.want("open +again", "moved +more")
	p.post(1, first, "end", true)
	p.want("ende +again", "moved +more end")

	// A thread that takes no answer, or is gone: a new one follows, for a reminder and for the end.
	for _, code := range []string{"thread_not_found", "cannot_reply_to_message", "restricted_action_thread_locked"} {
		p.slack.Change(func() { p.team.Channels[0].Messages, p.team.Channels[1].Messages = nil, nil })
		first = p.post(0, "", "open", false)
		n := 0
		p.slack.Fault(func(method string) string {
			if method == "chat.postMessage" {
				if n++; n == 1 {
					return code
				}
			}
			return ""
		})
		anew := p.post(0, first, "again", false)
		p.slack.Fault(nil)
		if anew == first {
			t.Errorf("%s: the reference stays", code)
		}
		p.post(0, anew, "more", false)
		p.want("open again +more", "")
	}
	p.slack.Change(func() { p.team.Channels[0].Messages = nil })
	p.post(0, first, "end", true)
	p.want("end", "")

	// Slack refuses each form of the change: the answer says the end all the same.
	first = p.post(0, "", "open", false)
	p.slack.Fault(func(method string) string {
		if method == "chat.update" {
			return "invalid_blocks"
		}
		return ""
	})
	p.post(0, first, "over", true)
	p.want("end open +over", "")
}

// TestPostWaits: a workspace that waits for a person does not count against the destination; one that is gone does.
func TestPostWaits(t *testing.T) {
	t.Parallel()
	p := newPosts(t)
	want := func(what string, kind chat.Kind) {
		t.Helper()
		_, err := p.try(0, "", "x", false)
		var f *chat.Failure
		if !errors.As(err, &f) || f.Kind != kind || (kind == chat.Waiting) != (f.RetryAfter == limits.ChatWait) || f.Text == "" {
			t.Errorf("%s: %+v", what, f)
		}
	}
	for _, code := range []string{"token_revoked", "account_inactive", "missing_scope", "invalid_auth"} {
		p.slack.Fault(func(string) string { return code })
		want(code, chat.Waiting)
	}
	if p.rows.due != 4 {
		t.Errorf("%d refusals made the synchronization due", p.rows.due)
	}
	p.slack.Fault(func(string) string { return "channel_not_found" })
	want("no channel", chat.Missing)
	p.slack.Fault(nil)
	for _, state := range []string{store.IntegrationReconnectNeeded, store.IntegrationDisconnected} {
		p.rows.row.State = state
		want(state, chat.Waiting)
	}
	p.rows.row.State = store.IntegrationConnected
	p.setup.Provider = nil
	p.start()
	want("not set up", chat.Waiting)
	p.rows.row.Org = "org_b"
	want("the workspace of another organization", chat.Unauthorized)
}
