package notify

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/egress"
)

func local() *egress.Guard { return egress.New(netip.MustParsePrefix("127.0.0.1/32")) }

func sender(t *testing.T, guard *egress.Guard, base string) *Sender {
	t.Helper()
	return NewSender(SenderConfig{
		Guard: guard, Endpoints: Endpoints{PagerDuty: base, Telegram: base, Discord: []string{base}},
		Now: func() time.Time { return time.Unix(1614265330, 0) },
	})
}

// targets are destinations of every type that is called over HTTP, at one address.
func targets(base string) []*Destination {
	return []*Destination{
		{ID: uuid.New(), Type: Webhook, Config: Config{URL: base + "/hook"}},
		{ID: uuid.New(), Type: PagerDuty, Secrets: Secrets{IntegrationKey: strings.Repeat("k", 32)}},
		{ID: uuid.New(), Type: Discord, Secrets: Secrets{WebhookURL: base + "/api/webhooks/1/token-of-discord"}},
		{ID: uuid.New(), Type: Telegram, Config: Config{ChatID: "1"}, Secrets: Secrets{BotToken: "123:" + strings.Repeat("t", 35)}},
	}
}

// TestStandardWebhooks checks the signature with the vector that the Standard Webhooks publish.
func TestStandardWebhooks(t *testing.T) {
	h := http.Header{}
	err := sign(h, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if got := h.Get("Webhook-Signature"); err != nil || got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("%s, %v", got, err)
	}
	// HMAC-SHA256 of RFC 4231, test case 2.
	err = sign(h, "Jefe", "id", 1, []byte("what do ya want for nothing?"))
	if got := h.Get("X-Svc-Signature"); err != nil || got != "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
		t.Errorf("%s, %v", got, err)
	}
	for _, secret := range []string{"whsec_", "whsec_%%%", "whsec_" + base64.RawStdEncoding.EncodeToString([]byte("x"))} {
		if _, err := signingKey(secret); err == nil {
			t.Errorf("%s is accepted", secret)
		}
	}
}

// TestAddresses sends a message of each type to addresses that are not public. None may be reached, also not by a redirect.
func TestAddresses(t *testing.T) {
	reached := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer inside.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(inside.URL, "http://"), ":")
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "169.254.169.254", "100.64.0.1", "192.168.1.1",
		"[fd00::1]",
		"[fe80::1]", "2130706433", "[64:ff9b::7f00:1]",
	} {
		base := "http://" + host + ":" + port
		s := sender(t, egress.New(), base)
		for _, d := range targets(base) {
			p, err := Render(event(Trigger, "critical"), d.Type)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			r := s.Send(ctx, d, "key", p)
			cancel()
			if r.Outcome == Delivered || r.Code != 0 {
				t.Errorf("%s to %s: %+v", d.Type, host, r)
			}
		}
	}
	if reached {
		t.Error("a request reached the inside")
	}
}

// TestRedirects: 307 and 308 are followed within a host, and to another host only without a secret. Each hop is judged.
func TestRedirects(t *testing.T) {
	final := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); r.Method != http.MethodPost || len(body) == 0 {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer final.Close()
	hops := 0
	first := httptest.NewServer(nil)
	defer first.Close()
	first.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops++
		code := http.StatusTemporaryRedirect
		_, _ = fmt.Sscanf(r.URL.Query().Get("code"), "%d", &code)
		switch r.URL.Path {
		case "/loop":
			w.Header().Set("Location", "/loop")
		case "/other":
			w.Header().Set("Location", final.URL)
		case "/inside":
			w.Header().Set("Location", "http://10.0.0.1/")
		case "/same":
			w.Header().Set("Location", "/end")
		case "/end":
			return
		}
		w.WriteHeader(code)
	})
	s := sender(t, local(), first.URL)
	p, err := Render(event(Trigger, "critical"), Webhook)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, secret string
		want         Outcome
		text         string
	}{
		{"/same", "", Delivered, ""},
		{"/same", "s", Delivered, ""},
		{"/same?code=308", "s", Delivered, ""},
		{"/other", "", Delivered, ""},
		{"/other", "s", Rejected, "does not follow it"},
		{"/inside", "", Rejected, "not public"},
		{"/loop", "", Rejected, "more than 5 times"},
		{"/same?code=301", "", Rejected, "moved"},
		{"/same?code=302", "", Rejected, "moved"},
		{"/same?code=303", "", Rejected, "moved"},
	} {
		hops = 0
		r := s.Send(t.Context(), &Destination{Type: Webhook, Config: Config{URL: first.URL + c.path}, Secrets: Secrets{SigningSecret: c.secret}},
			"key", p)
		if r.Outcome != c.want || !strings.Contains(r.Problem, c.text) || hops > 6 {
			t.Errorf("%s, secret %q: %+v after %d hops", c.path, c.secret, r, hops)
		}
	}
}

// TestAnswers judges the answers of each service, and keeps secrets out of the result.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		kind   string
		code   int
		header string
		body   string
		want   Outcome
		retry  time.Duration
	}{
		{Webhook, 204, "", "", Delivered, 0},
		{Webhook, 429, "120", "", Throttled, 2 * time.Minute},
		{Webhook, 503, "Thu, 25 Feb 2021 15:03:10 GMT", "", Failed, time.Minute},
		{Webhook, 408, "", "", Failed, 0},
		{Webhook, 425, "", "", Failed, 0},
		{Webhook, 500, "", "", Failed, 0},
		{Webhook, 400, "", "", Rejected, 0},
		{Webhook, 401, "", "", Unauthorized, 0},
		{Webhook, 404, "", "", Missing, 0},
		{Webhook, 410, "", "", Gone, 0},
		{PagerDuty, 202, "", `{"dedup_key":"d"}`, Delivered, 0},
		{Discord, 429, "", `{"retry_after":1.5}`, Throttled, 1500 * time.Millisecond},
		{Discord, 200, "", `{"id":"77"}`, Delivered, 0},
		{Telegram, 429, "", `{"ok":false,"parameters":{"retry_after":9}}`, Throttled, 9 * time.Second},
		{Telegram, 403, "", `{"ok":false,"description":"Forbidden: bot was kicked"}`, Missing, 0},
		{Telegram, 400, "", `{"ok":false,"description":"Bad Request: chat not found"}`, Missing, 0},
	} {
		secret := ""
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.header != "" {
				w.Header().Set("Retry-After", c.header)
			}
			w.WriteHeader(c.code)
			_, _ = io.WriteString(w, c.body+secret+strings.Repeat("x", 100_000))
		}))
		s := sender(t, local(), srv.URL)
		for _, d := range targets(srv.URL) {
			if d.Type != c.kind {
				continue
			}
			d.Secrets.SigningSecret = "a-signing-secret"
			if c.body == "" {
				secret = strings.Join(d.Secrets.texts(), " ")
			}
			p, err := Render(event(Trigger, "critical"), d.Type)
			if err != nil {
				t.Fatal(err)
			}
			r := s.Send(t.Context(), d, "key", p)
			if c.body != "" { // the body is too long to be JSON: the header alone counts then
				continue
			}
			if r.Outcome != c.want || r.RetryAfter != c.retry || r.Code != c.code {
				t.Errorf("%s %d: %+v", c.kind, c.code, r)
			}
			for _, text := range d.Secrets.texts() {
				if strings.Contains(r.Answer+r.Problem, text) {
					t.Errorf("%s %d: the result holds %s", c.kind, c.code, text)
				}
			}
			if n := len([]rune(r.Answer)); n > 500 {
				t.Errorf("%d characters are kept", n)
			}
		}
		srv.Close()
		if c.body == "" {
			continue
		}
		srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.code)
			_, _ = io.WriteString(w, c.body)
		}))
		for _, d := range targets(srv.URL) {
			if d.Type == c.kind {
				p, _ := Render(event(Trigger, "critical"), d.Type)
				if r := sender(t, local(), srv.URL).Send(t.Context(), d, "key", p); r.Outcome != c.want || r.RetryAfter != c.retry {
					t.Errorf("%s %d %s: %+v", c.kind, c.code, c.body, r)
				}
			}
		}
		srv.Close()
	}
}

// TestMigratedChat: a group that became a supergroup has a new id, which the message and the destination take over.
func TestMigratedChat(t *testing.T) {
	var chats []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		chats = append(chats, string(body))
		if strings.Contains(string(body), `"chat_id":"-1"`) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"ok":false,"parameters":{"migrate_to_chat_id":-1009}}`)
			return
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":5}}`)
	}))
	defer srv.Close()
	d := &Destination{Type: Telegram, Config: Config{ChatID: "-1"}, Secrets: Secrets{BotToken: "123:" + strings.Repeat("t", 35)}}
	p, _ := Render(event(Trigger, "critical"), Telegram)
	r := sender(t, local(), srv.URL).Send(t.Context(), d, "key", p)
	if r.Outcome != Delivered || r.Adopt == nil || r.Adopt.ChatID != "-1009" || r.Reference != "5" || len(chats) != 2 {
		t.Errorf("%+v after %d requests", r, len(chats))
	}
}

func TestCheck(t *testing.T) {
	for field, d := range map[string]Destination{
		"url":             {Type: Webhook, Config: Config{URL: "http://10.0.0.1/"}},
		"integration_key": {Type: PagerDuty, Secrets: Secrets{IntegrationKey: "short"}},
		"webhook_url":     {Type: Discord, Secrets: Secrets{WebhookURL: "https://discord.com.evil.example/api/webhooks/1/x"}},
		"bot_token":       {Type: Telegram, Config: Config{ChatID: "1"}, Secrets: Secrets{BotToken: "1:../x"}},
		"chat_id":         {Type: Telegram, Config: Config{ChatID: "a b"}},
		"member_user_ids": {Type: Email},
		"signing_secret":  {Type: Webhook, Config: Config{URL: "https://example.com"}, Secrets: Secrets{SigningSecret: "whsec_!"}},
	} {
		err := d.Check(egress.New(), PublicEndpoints(), true)
		var f *FieldError
		if !errors.As(err, &f) || f.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	d := Destination{Type: Discord, Secrets: Secrets{WebhookURL: "https://discord.com/api/webhooks/1027/abc-DEF_1"}}
	if err := d.Check(egress.New(), PublicEndpoints(), true); err != nil || d.Summary() != "Discord webhook 1027" {
		t.Errorf("%v, %s", err, d.Summary())
	}
	if _, err := url.Parse(d.Secrets.WebhookURL); err != nil {
		t.Error(err)
	}
}
