package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of a message of Telegram, in UTF-16 code units.
const (
	telegramText  = 4096
	telegramTitle = 1024
)

type telegramMessage struct {
	Text      string          `json:"text"`
	ParseMode string          `json:"parse_mode"`
	Preview   telegramPreview `json:"link_preview_options"`
}

type telegramPreview struct {
	Disabled bool `json:"is_disabled"`
}

func (e *Event) telegram() telegramMessage {
	title := "<b>" + cut(e.title(Telegram, html.EscapeString, html.EscapeString), telegramTitle) + "</b>\n"
	var links []string
	link := func(address, text string) {
		if address != "" {
			links = append(links, `<a href="`+html.EscapeString(address)+`">`+html.EscapeString(text)+`</a>`)
		}
	}
	link(e.LinkURL, "Open in svc")
	link(e.ChatURL, "Ask about it")
	for _, s := range e.Samples {
		link(s.URL, "Trace "+s.TraceID)
	}
	tail := ""
	if len(links) > 0 {
		tail = "\n" + strings.Join(links, " · ")
	}
	if units(tail) > telegramText/2 {
		tail = ""
	}
	body := cut(e.body(Telegram, html.EscapeString, html.EscapeString), telegramText-units(title)-units(tail))
	return telegramMessage{Text: title + body + tail, ParseMode: "HTML", Preview: telegramPreview{Disabled: true}}
}

// telegramAnswer is the answer of every method of the Bot API.
type telegramAnswer struct {
	OK          bool            `json:"ok"`
	Description string          `json:"description"`
	Result      json.RawMessage `json:"result"`
	Parameters  struct {
		RetryAfter      int64 `json:"retry_after"`
		MigrateToChatID int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func (s *Sender) sendTelegram(ctx context.Context, d *Destination, p Payload) Result {
	r, moved := s.telegramTo(ctx, d, d.Config.ChatID, p)
	if moved == 0 {
		return r
	}
	// The group became a supergroup, and has another id from now on.
	config := d.Config
	config.ChatID = strconv.FormatInt(moved, 10)
	r, _ = s.telegramTo(ctx, d, config.ChatID, p)
	r.Adopt = &config
	return r
}

func (s *Sender) telegramTo(ctx context.Context, d *Destination, chat string, p Payload) (r Result, moved int64) {
	body, err := merge(p.Body, map[string]any{"chat_id": chat})
	if err != nil {
		return Result{Outcome: Rejected, Problem: "The stored message cannot be read."}, 0
	}
	a, err := s.post(ctx, s.cfg.Endpoints.Telegram+"/bot"+d.Secrets.BotToken+"/sendMessage", nil, body, true)
	if err != nil {
		return failed(err, d.Secrets), 0
	}
	r = a.result(d.Secrets, s.cfg.Now())
	var said telegramAnswer
	if json.Unmarshal(a.body, &said) != nil {
		return r, 0
	}
	if said.Parameters.RetryAfter > 0 {
		r.RetryAfter = max(r.RetryAfter, time.Duration(min(said.Parameters.RetryAfter, 86_400))*time.Second)
	}
	var message struct {
		ID int64 `json:"message_id"`
	}
	if json.Unmarshal(said.Result, &message) == nil && message.ID != 0 {
		r.Reference = strconv.FormatInt(message.ID, 10)
	}
	switch {
	case a.code == http.StatusForbidden: // the bot was removed, or the person blocked it
		r.Outcome = Missing
	case a.code == http.StatusNotFound: // the address holds the token: Telegram does not know the bot
		r.Outcome = Unauthorized
	case a.code == http.StatusBadRequest && strings.Contains(said.Description, "chat not found"):
		r.Outcome = Missing
	}
	return r, said.Parameters.MigrateToChatID
}

// TelegramChat is a chat that a bot can write to.
type TelegramChat struct{ ID, Title, Type string }

// TelegramChats lists the chats in which a bot received a message lately, the most recent first. The error is a *FieldError: it names
// the token, because nothing else is to blame for an answer that is not a list.
func (s *Sender) TelegramChats(ctx context.Context, token string) ([]TelegramChat, error) {
	secrets := Secrets{BotToken: token}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	a, err := s.post(ctx, s.cfg.Endpoints.Telegram+"/bot"+token+"/getUpdates", nil, []byte(`{"limit":100}`), true)
	if err != nil {
		return nil, &FieldError{"bot_token", "could not be used: " + failed(err, secrets).Problem}
	}
	var said telegramAnswer
	if err := json.Unmarshal(a.body, &said); err != nil || !said.OK {
		switch a.code {
		case http.StatusUnauthorized, http.StatusNotFound:
			return nil, &FieldError{"bot_token", "is refused by Telegram"}
		case http.StatusConflict:
			return nil, &FieldError{
				"bot_token", "belongs to a bot whose updates go to a webhook, so Telegram does not list them. Remove the webhook of the bot, or find " +
					"the chat_id there",
			}
		}
		return nil, &FieldError{"bot_token", fmt.Sprintf("could not be used: Telegram answered %d: %s", a.code, secrets.strike(said.Description))}
	}
	return chatsOf(said.Result), nil
}

// chatsOf collects the chats of updates. An update of any kind holds its chat in a message or beside it.
func chatsOf(result json.RawMessage) []TelegramChat {
	type chat struct {
		ID        int64  `json:"id"`
		Type      string `json:"type"`
		Title     string `json:"title"`
		Username  string `json:"username"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
	}
	var updates []map[string]json.RawMessage
	if json.Unmarshal(result, &updates) != nil {
		return nil
	}
	var out []TelegramChat
	for _, update := range slices.Backward(updates) {
		for _, kind := range []string{"message", "edited_message", "channel_post", "edited_channel_post", "my_chat_member", "chat_member"} {
			var about struct {
				Chat chat `json:"chat"`
			}
			if json.Unmarshal(update[kind], &about) != nil || about.Chat.ID == 0 {
				continue
			}
			c := about.Chat
			found := TelegramChat{ID: strconv.FormatInt(c.ID, 10), Title: c.Title, Type: c.Type}
			if found.Title == "" {
				found.Title = strings.TrimSpace(c.FirstName + " " + c.LastName)
			}
			if found.Title == "" {
				found.Title = c.Username
			}
			if !slices.ContainsFunc(out, func(o TelegramChat) bool { return o.ID == found.ID }) {
				out = append(out, found)
			}
		}
	}
	return out
}
