package slacktest

import (
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type object = map[string]any

// mux are the pages and methods of Slack.
func (s *Slack) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/v2/authorize", s.consent("bot"))
	mux.HandleFunc("GET /openid/connect/authorize", s.consent("person"))
	for method, answer := range map[string]func(*token, url.Values) object{
		"oauth.v2.access": s.access, "openid.connect.token": s.openID, "openid.connect.userInfo": s.userInfo, "auth.test": s.authTest,
		"auth.revoke": s.revoke, "conversations.list": s.list, "conversations.info": s.info, "chat.postMessage": s.post, "chat.update": s.update,
	} {
		mux.HandleFunc("POST /api/"+method, s.method(method, answer))
	}
	return mux
}

// consent is the page on which a person agrees: it sends the browser back at once.
func (s *Slack) consent(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		q := r.URL.Query()
		back, err := url.Parse(q.Get("redirect_uri"))
		if err != nil || q.Get("client_id") != ClientID || kind == "bot" && !strings.Contains(q.Get("scope"), "chat:write") {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		answer := url.Values{"state": {q.Get("state")}}
		if s.deny {
			answer.Set("error", "access_denied")
		} else {
			s.next++
			text := fmt.Sprintf("code-%d", s.next)
			s.codes[text] = code{kind, s.team, s.person, q.Get("redirect_uri"), q.Get("scope")}
			answer.Set("code", text)
		}
		back.RawQuery = answer.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	}
}

// method answers a method of the Web API: status 200 for everything but the limit of the rate and faults.
func (s *Slack) method(name string, answer func(*token, url.Values) object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls[name]++
		_ = r.ParseForm()
		out := object{"ok": false, "error": "not_authed"}
		text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if text == "" {
			text = r.PostForm.Get("token")
		}
		t := s.tokens[text]
		fault := ""
		if s.fault != nil {
			fault = s.fault(name)
		}
		status, err := strconv.Atoi(fault)
		switch {
		case strings.HasPrefix(fault, "image:"):
			out = imageFault(strings.TrimPrefix(fault, "image:"))
		case err == nil:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(status)
			return
		case fault != "":
			out = object{"ok": false, "error": fault}
		case strings.HasPrefix(name, "o") && strings.HasSuffix(name, "access"), strings.HasSuffix(name, "connect.token"):
			out = answer(nil, r.PostForm)
		case t == nil && text != "":
			out["error"] = "invalid_auth"
		case t == nil:
		case t.revoked:
			out["error"] = "token_revoked"
		case t.kind == "bot" && !t.may(scopeOf(name)):
			out["error"] = "missing_scope"
		default:
			w.Header().Set("X-Oauth-Scopes", t.scopes)
			out = answer(t, r.PostForm)
		}
		if out["error"] == nil {
			out["ok"] = true
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(out)
	}
}

// scopeOf is the scope that a method needs; empty if it needs none.
func scopeOf(method string) string {
	switch method {
	case "chat.postMessage", "chat.update":
		return "chat:write"
	case "conversations.list", "conversations.info":
		return "channels:read"
	}
	return ""
}

func (t *token) may(scope string) bool {
	return scope == "" || slices.Contains(strings.Split(t.scopes, ","), scope)
}

func fault(code string) object { return object{"ok": false, "error": code} }

// code uses a code once.
func (s *Slack) code(kind string, form url.Values) (code, object) {
	c, ok := s.codes[form.Get("code")]
	switch {
	case form.Get("client_id") != ClientID:
		return c, fault("invalid_client_id")
	case form.Get("client_secret") != ClientSecret:
		return c, fault("bad_client_secret")
	case !ok || c.kind != kind:
		return c, fault("invalid_code")
	case c.redirectURI != form.Get("redirect_uri"):
		return c, fault("bad_redirect_uri")
	}
	delete(s.codes, form.Get("code"))
	return c, nil
}

func (s *Slack) give(t token) (text string, given *token) {
	s.next++
	text = fmt.Sprintf("xox-%s-%s-%d", t.kind, t.team, s.next)
	if s.rotate > 0 && t.kind == "bot" {
		t.refresh = fmt.Sprintf("xoxe-1-%d", s.next)
	}
	s.tokens[text] = &t
	return text, &t
}

func (s *Slack) access(_ *token, form url.Values) object {
	team, scopes := "", ""
	if form.Get("grant_type") == "refresh_token" {
		for _, t := range s.tokens {
			if t.refresh == form.Get("refresh_token") && t.refresh != "" && !t.revoked {
				team, scopes, t.revoked = t.team, t.scopes, true // a refresh token is used once, and ends the old token
			}
		}
		if team == "" || form.Get("client_secret") != ClientSecret {
			return fault("invalid_refresh_token")
		}
	} else {
		c, refused := s.code("bot", form)
		if refused != nil {
			return refused
		}
		team, scopes = c.team, c.scopes
	}
	text, t := s.give(token{kind: "bot", team: team, scopes: scopes})
	out := object{
		"access_token": text, "token_type": "bot", "scope": scopes, "bot_user_id": "U0BOT",
		"app_id": "A0SVC", "team": object{"id": team, "name": s.teams[team].Name}, "enterprise": nil, "is_enterprise_install": false,
	}
	if t.refresh != "" {
		out["refresh_token"], out["expires_in"] = t.refresh, int(s.rotate.Seconds())
	}
	return out
}

func (s *Slack) openID(_ *token, form url.Values) object {
	c, refused := s.code("person", form)
	if refused != nil {
		return refused
	}
	text, _ := s.give(token{kind: "person", team: c.team, person: c.person})
	return object{"access_token": text, "token_type": "Bearer", "id_token": "e30.e30."}
}

func (s *Slack) userInfo(t *token, _ url.Values) object {
	return object{"sub": t.person, "https://slack.com/user_id": t.person, "https://slack.com/team_id": t.team, "name": "Ada " + t.person}
}

func (s *Slack) authTest(t *token, _ url.Values) object {
	return object{"url": s.URL, "team": s.teams[t.team].Name, "team_id": t.team, "user": "svc", "user_id": "U0BOT", "bot_id": "B0SVC"}
}

func (s *Slack) revoke(t *token, _ url.Values) object {
	t.revoked = true
	return object{"revoked": true}
}

func (c *Channel) json() object {
	return object{
		"id": c.ID, "name": c.Name, "name_normalized": c.Name, "is_channel": !c.Private, "is_group": c.Private, "is_private": c.Private,
		"is_member": c.Member, "is_archived": c.Archived,
	}
}

// list gives at most two channels a page, so that every reader has to read on.
func (s *Slack) list(t *token, form url.Values) object {
	from, _ := strconv.Atoi(form.Get("cursor"))
	var visible []*Channel
	for _, c := range s.teams[t.team].Channels {
		if (!c.Private || c.Member) && (!c.Archived || form.Get("exclude_archived") != "true") {
			visible = append(visible, c)
		}
	}
	to, next := min(from+2, len(visible)), ""
	if to < len(visible) {
		next = strconv.Itoa(to)
	}
	channels := []object{}
	for _, c := range visible[from:to] {
		channels = append(channels, c.json())
	}
	return object{"channels": channels, "response_metadata": object{"next_cursor": next}}
}

func (s *Slack) find(t *token, id string) *Channel {
	for _, c := range s.teams[t.team].Channels {
		if c.ID == id && (!c.Private || c.Member) {
			return c
		}
	}
	return nil
}

func (s *Slack) info(t *token, form url.Values) object {
	if c := s.find(t, form.Get("channel")); c != nil {
		return object{"channel": c.json()}
	}
	return fault("channel_not_found")
}

func (s *Slack) post(t *token, form url.Values) object {
	c := s.find(t, form.Get("channel"))
	switch {
	case c == nil:
		return fault("channel_not_found")
	case c.Archived:
		return fault("is_archived")
	case !c.Member && !t.may("chat:write.public"):
		return fault("not_in_channel")
	}
	thread := form.Get("thread_ts")
	if !slices.ContainsFunc(c.Messages, func(m *Message) bool { return m.TS == thread }) {
		thread = "" // the answer to a message that a person has deleted goes to the channel
	}
	if code := check(form); code != "" {
		return fault(code)
	}
	if problem := s.download(form); problem != "" {
		return imageFault(problem)
	}
	s.next++
	m := &Message{TS: fmt.Sprintf("17000%d.000100", s.next), Thread: thread, Text: form.Get("text"), Attachments: attached(form)}
	c.Messages = append(c.Messages, m)
	sent := object{"text": m.Text, "ts": m.TS, "type": "message"}
	if thread != "" {
		sent["thread_ts"] = thread
	}
	return object{"channel": c.ID, "ts": m.TS, "message": sent}
}

func (s *Slack) update(t *token, form url.Values) object {
	c := s.find(t, form.Get("channel"))
	if c == nil {
		return fault("channel_not_found")
	}
	for _, m := range c.Messages {
		if m.TS == form.Get("ts") {
			if code := check(form); code != "" {
				return fault(code)
			}
			if problem := s.download(form); problem != "" {
				return imageFault(problem)
			}
			m.Text = form.Get("text")
			if form.Has("attachments") { // without them, the old ones stay
				m.Attachments = attached(form)
			}
			m.Edited++
			return object{"channel": c.ID, "ts": m.TS, "text": m.Text}
		}
	}
	return fault("message_not_found")
}

// attached are the attachments of a message; empty for an empty list.
func attached(form url.Values) string {
	if text := form.Get("attachments"); text != "[]" {
		return text
	}
	return ""
}

// imageFault is the refusal of a picture: Slack describes the fault beside the error.
func imageFault(problem string) object {
	text := problem + " [json-pointer:/attachments/0/blocks/1/image_url]"
	return object{
		"ok": false, "error": "invalid_blocks", "errors": []string{text},
		"response_metadata": object{"messages": []string{"[ERROR] " + text}},
	}
}

// Images lists the addresses of the pictures in attachments.
func Images(attachments string) (out []string) {
	var list []struct {
		Blocks []struct {
			Type     string
			ImageURL string `json:"image_url"`
		}
	}
	_ = json.Unmarshal([]byte(attachments), &list)
	for _, a := range list {
		for _, b := range a.Blocks {
			if b.Type == "image" {
				out = append(out, b.ImageURL)
			}
		}
	}
	return out
}

// download fetches the pictures of a message, as Slack does before it takes the message. It returns what is wrong.
func (s *Slack) download(form url.Values) string {
	for _, address := range Images(form.Get("attachments")) {
		res, err := http.Get(address) //nolint:noctx // it is the address that the message names
		if err != nil {
			return "downloading image failed"
		}
		picture, err := png.DecodeConfig(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/png" || picture.Width == 0 {
			return "downloading image failed"
		}
	}
	return ""
}

// check holds a message against the limits of Slack's reference of messages, attachments and blocks.
func check(form url.Values) string {
	if form.Get("text") == "" && form.Get("attachments") == "" {
		return "no_text"
	}
	if utf8.RuneCountInString(form.Get("text")) > 40_000 {
		return "msg_too_long"
	}
	var attachments []struct {
		Blocks []struct {
			Type     string
			Text     *struct{ Type, Text string }
			Elements []struct{ Type, Text string }
			ImageURL string `json:"image_url"`
			AltText  string `json:"alt_text"`
		}
	}
	if text := form.Get("attachments"); text != "" && json.Unmarshal([]byte(text), &attachments) != nil {
		return "invalid_attachments"
	}
	for _, a := range attachments {
		if len(a.Blocks) > 50 {
			return "invalid_blocks"
		}
		for _, b := range a.Blocks {
			switch {
			case b.Type == "section" && (b.Text == nil || b.Text.Text == "" || utf8.RuneCountInString(b.Text.Text) > 3000):
				return "invalid_blocks"
			case b.Type == "image" && (b.ImageURL == "" || len(b.ImageURL) > 3000 || b.AltText == "" || utf8.RuneCountInString(b.AltText) > 2000):
				return "invalid_blocks"
			case b.Type == "context" && (len(b.Elements) == 0 || len(b.Elements) > 10):
				return "invalid_blocks"
			}
		}
	}
	return ""
}
