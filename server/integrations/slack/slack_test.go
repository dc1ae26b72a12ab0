package slack_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/slack"
	"github.com/svc-observability/svc/server/integrations/slack/slacktest"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

func app(t *testing.T, at string) *slack.App {
	t.Helper()
	a, err := slack.New(slack.Config{
		URL: at, ClientID: slacktest.ClientID, ClientSecret: slacktest.ClientSecret, SigningSecret: slacktest.SigningSecret, Now: time.Now,
		Trust: func(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// bench is a workspace with one channel, and its connection.
type bench struct {
	t       *testing.T
	slack   *slacktest.Slack
	app     *slack.App
	channel *slacktest.Channel
	of      integrations.Connection
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, slack: slacktest.New(t)}
	b.channel = b.slack.AddTeam("T0ACME", "Acme", "alerts").Channels[0]
	b.app = app(t, b.slack.URL)
	const back = "http://localhost/back"
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(b.app.AuthorizeURL("state", "", back))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	to, err := res.Location()
	if err != nil {
		t.Fatal(err)
	}
	found, err := b.app.Accounts(t.Context(), integrations.Callback{Code: to.Query().Get("code"), RedirectURI: back})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	b.of = integrations.Connection{
		IntegrationConnection: store.IntegrationConnection{ExternalID: found[0].ExternalID},
		Credentials:           found[0].Credentials,
	}
	return b
}

func (b *bench) post(thread string, m chat.Message) string {
	b.t.Helper()
	reference, err := b.app.Post(b.t.Context(), b.of, b.channel.ID, thread, m)
	if err != nil {
		b.t.Fatal(err)
	}
	return reference
}

// once makes a method fail the first time.
func (b *bench) once(method, code string) {
	n := 0
	b.slack.Fault(func(m string) string {
		if m == method {
			if n++; n == 1 {
				return code
			}
		}
		return ""
	})
}

// TestThreads: an answer has the reference of its thread; the answer to a deleted message begins a thread of its own.
func TestThreads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.post("", chat.Message{Title: "one"})
	if !strings.HasPrefix(first, b.channel.ID+":") {
		t.Errorf("the reference %q", first)
	}
	if got := b.post(first, chat.Message{Title: "two"}); got != first {
		t.Errorf("the answer has the reference %q, the thread %q", got, first)
	}
	b.slack.Change(func() { b.channel.Messages = nil })
	anew := b.post(first, chat.Message{Title: "three"})
	if got := b.slack.Messages(b.channel); anew == first || len(got) != 1 || anew != b.channel.ID+":"+got[0].TS {
		t.Errorf("the answer to a deleted message: %q, %v", anew, got)
	}
	if err := b.app.Change(t.Context(), b.of, first, chat.Message{Title: "four"}); !integrations.IsKind(err, integrations.NotFound) {
		t.Errorf("the change of a deleted message: %v", err)
	}
}

// TestForms: what the fields of a message become, and what is left of them where Slack refuses the form.
func TestForms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := chat.Message{
		Title: "Disk *full*\n<!here>", Body: "see https://e.example #general", URL: "https://s.example/i|1", Color: 0xff,
		Links: []chat.Link{{Text: "Trace", URL: "https://s.example/t?a=1&b=2"}},
	}
	reference := b.post("", m)
	got := b.slack.Messages(b.channel)[0]
	if got.Text != "*<https://s.example/i%7C1|Disk \u2217full\u2217 &lt;!here&gt;>*" {
		t.Errorf("the title: %s", got.Text)
	}
	if strings.Count(got.Attachments, `"verbatim":true`) != 2 || !strings.Contains(got.Attachments, "#0000ff") {
		t.Errorf("the rest: %s", got.Attachments)
	}
	b.once("chat.update", "invalid_blocks")
	if err := b.app.Change(t.Context(), b.of, reference, m); err != nil {
		t.Fatal(err)
	}
	const text = "Disk *full*\n&lt;!here&gt;\nsee https://e.example #general\nhttps://s.example/i|1"
	if got := b.slack.Messages(b.channel)[0]; got.Text != text || got.Attachments != "" || got.Edited != 1 {
		t.Errorf("the change as plain text: %+v", got)
	}
	if err := b.app.Change(t.Context(), b.of, reference, m); err != nil || b.slack.Messages(b.channel)[0].Attachments == "" {
		t.Errorf("the form again: %v", err)
	}
	if err := b.app.Change(t.Context(), b.of, reference, chat.Message{Title: "over"}); err != nil ||
		b.slack.Messages(b.channel)[0].Attachments != "" {
		t.Errorf("a message without a body keeps the old one: %v", err)
	}
	b.once("chat.postMessage", "attachment_payload_limit_exceeded")
	b.post("", m)
	if got := b.slack.Messages(b.channel)[1]; got.Text != text || got.Attachments != "" {
		t.Errorf("plain text: %+v", got)
	}
	long := chat.Message{Title: "t", Body: strings.Repeat("x", 9000), URL: "https://s.example/"}
	b.once("chat.postMessage", "invalid_attachments")
	b.post("", long)
	if got := b.slack.Messages(b.channel)[2].Text; len([]rune(got)) != 3000 || !strings.HasSuffix(got, "…\nhttps://s.example/") {
		t.Errorf("long plain text has %d characters: …%s", len([]rune(got)), got[len(got)-60:])
	}
}

// TestScopes: a token that lacks a scope makes the workspace wait for a person.
func TestScopes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if got, err := b.app.Sync(t.Context(), b.of); err != nil || len(got.Channels) != 1 {
		t.Fatal(got, err)
	}
	b.slack.Narrow("T0ACME", "chat:write.public")
	if _, err := b.app.Post(t.Context(), b.of, b.channel.ID, "", chat.Message{Title: "x"}); !integrations.IsKind(err, integrations.NotFound) {
		t.Errorf("a channel without the app: %v", err)
	}
	if _, err := b.app.Sync(t.Context(), b.of); !integrations.IsKind(err, integrations.Suspended) ||
		!strings.Contains(fmt.Sprint(err), "chat:write.public") {
		t.Errorf("a lost scope: %v", err)
	}
}

// TestProblems: the kinds of problems that the errors of Slack become.
func TestProblems(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for kind, codes := range map[integrations.Kind][]string{
		integrations.NotFound: {
			"channel_not_found", "is_archived", "restricted_action", "restricted_action_thread_locked", "restricted_action_non_threadable_channel",
			"cannot_reply_to_message", "thread_not_found", "channel_type_not_supported",
		},
		integrations.Invalid: {
			"msg_too_long", "attachment_payload_limit_exceeded", "invalid_blocks",
			"invalid_team_for_non_distributed_app",
		},
		integrations.Unauthorized: {"invalid_auth", "not_allowed_token_type", "invalid_grant", "401"},
		integrations.Suspended:    {"token_revoked", "account_inactive", "app_not_installed", "team_not_found"},
		integrations.RateLimited:  {"429", "ratelimited"},
		integrations.Upstream:     {"503", "fatal_error", "a_new_one"},
	} {
		for _, code := range codes {
			b.slack.Fault(func(string) string { return code })
			if _, err := b.app.Channel(t.Context(), b.of, b.channel.ID); !integrations.IsKind(err, kind) {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
}

// TestAnswers: answers that the reference of Slack does not describe.
func TestAnswers(t *testing.T) {
	t.Parallel()
	// An aborted request may still be read by the server while the next answer is set.
	var answer atomic.Pointer[http.HandlerFunc]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*answer.Load())(w, r) }))
	t.Cleanup(server.Close)
	a := app(t, server.URL)
	of := integrations.Connection{
		IntegrationConnection: store.IntegrationConnection{ExternalID: "T1"},
		Credentials:           []byte(`{"access":"xoxb-1"}`),
	}
	for name, c := range map[string]struct {
		kind   integrations.Kind
		answer http.HandlerFunc
	}{
		"429 without a pause": {integrations.RateLimited, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }},
		"429 with a word": {integrations.RateLimited, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "soon")
			w.WriteHeader(429)
		}},
		"no message":    {integrations.Upstream, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"ok":true}`) }},
		"no JSON":       {integrations.Upstream, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") }},
		"a lost answer": {integrations.Upstream, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	} {
		answer.Store(&c.answer)
		if _, err := a.Post(t.Context(), of, "C1", "", chat.Message{Title: "x"}); !integrations.IsKind(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var pages atomic.Int32
	listing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/auth.test" {
			_, _ = fmt.Fprint(w, `{"ok":true,"team_id":"T1","team":"A"}`)
			return
		}
		pages.Add(1)
		_, _ = fmt.Fprint(w, `{"ok":true,"channels":[{"id":"C1","name":"a"}],"response_metadata":{"next_cursor":"same"}}`)
	})
	answer.Store(&listing)
	if _, err := a.Sync(t.Context(), of); !integrations.IsKind(err, integrations.Upstream) || pages.Load() != 2 {
		t.Errorf("a cursor that repeats: %d pages, %v", pages.Load(), err)
	}
}

// TestVerify: what deliveries with a good signature become.
func TestVerify(t *testing.T) {
	t.Parallel()
	a := app(t, "https://slack.example")
	for body, want := range map[string]integrations.Delivery{
		`payload=%7B%7D`: {},
		`[]`:             {},
		`{"type":"event_callback","team_id":"T1","event_id":"E","event":"x"}`: {},
		`{"type":"url_verification","challenge":"c"}`:                         {Answer: "c"},
		`{"type":"event_callback","team_id":"T1","event_id":"E","event":{"type":"channel_created"}}`: {
			ID: "E", Kind: "channel_created",
			Account: "T1", Sync: true, Pause: limits.ChatPause,
		},
		`{"type":"event_callback","team_id":"T1","event_id":"E","event":{"type":"tokens_revoked"}}`: {
			ID: "E", Kind: "tokens_revoked",
			Account: "T1", Sync: true,
		},
		`{"type":"event_callback","team_id":"T1","event_id":"E","event":{"type":"app_home_opened"}}`: {
			ID: "E", Kind: "app_home_opened",
			Account: "T1",
		},
	} {
		header := http.Header{}
		slacktest.Sign(header, time.Now(), []byte(body))
		if got, err := a.Verify(header, []byte(body)); err != nil || got != want {
			t.Errorf("%s: %+v %v", body, got, err)
		}
		header.Set("X-Slack-Request-Timestamp", "1")
		if _, err := a.Verify(header, []byte(body)); err == nil {
			t.Errorf("%s is taken with another time", body)
		}
	}
}
