// Package notify sends messages to the destinations of an organization: webhooks, PagerDuty, Discord, Telegram, e-mail and
// connected chats.
//
// Render makes the message of an event for one type of destination. The message is stored in the outbox as it was at the time of the
// event. Sender sends it to a destination, and Outbox sends what waits: in order, with retries, and without repeats that it can avoid.
package notify

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Types of destinations.
const (
	PagerDuty  = "pagerduty"
	Webhook    = "webhook"
	HazelOAuth = "hazel-oauth"
	Discord    = "discord"
	Telegram   = "telegram"
	Email      = "email"
	Chat       = "chat"
)

// Types lists the types of destinations.
func Types() []string {
	return []string{PagerDuty, Webhook, HazelOAuth, Discord, Telegram, Email, Chat}
}

// Config holds the settings of a destination that are not secret. Which ones a destination has depends on its type.
type Config struct {
	URL           string   `json:"url,omitempty"`
	ChatID        string   `json:"chat_id,omitempty"`
	MemberUserIDs []string `json:"member_user_ids,omitempty"`
	// Connector is the short name of a chat service. Workspace is the id of the connected workspace. The names are those of the time of the
	// last change.
	Connector     string `json:"connector,omitempty"`
	Workspace     string `json:"workspace,omitempty"`
	WorkspaceName string `json:"workspace_name,omitempty"`
	ChannelID     string `json:"channel_id,omitempty"`
	ChannelName   string `json:"channel_name,omitempty"`
	// Hint tells a person which secret is stored: the end of a key, or the id that a token begins with.
	Hint string `json:"hint,omitempty"`
}

// Secrets holds the secret settings of a destination.
type Secrets struct {
	IntegrationKey string `json:"integration_key,omitempty"`
	SigningSecret  string `json:"signing_secret,omitempty"`
	WebhookURL     string `json:"webhook_url,omitempty"`
	BotToken       string `json:"bot_token,omitempty"`
}

// Destination is a destination with its secrets.
type Destination struct {
	Org     principal.OrgID
	ID      uuid.UUID
	Name    string
	Type    string
	Config  Config
	Secrets Secrets
}

// FieldError reports a setting that is missing or invalid.
type FieldError struct{ Field, Reason string }

func (e *FieldError) Error() string { return "`" + e.Field + "` " + e.Reason }

var (
	integrationKey = regexp.MustCompile(`^[A-Za-z0-9]{32}$`)
	botToken       = regexp.MustCompile(`^[0-9]{3,20}:[A-Za-z0-9_-]{30,100}$`)
	chatID         = regexp.MustCompile(`^(-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{3,60})$`)
	discordPath    = regexp.MustCompile(`^/api/(?:v[0-9]+/)?webhooks/([0-9]+)/[A-Za-z0-9_-]+/?$`)
)

// Check checks the settings and sets the hint. secret is false when the stored secret stays and is not known. The error is a
// *FieldError.
func (d *Destination) Check(guard *egress.Guard, ends Endpoints, secret bool) error {
	switch d.Type {
	case PagerDuty:
		if !secret {
			return nil
		}
		if !integrationKey.MatchString(d.Secrets.IntegrationKey) {
			return &FieldError{"integration_key", "must be the 32 letters and digits of an integration with Events API v2"}
		}
		d.Config.Hint = "…" + d.Secrets.IntegrationKey[28:]
	case Webhook:
		if err := checkURL(guard, "url", d.Config.URL); err != nil {
			return err
		}
		if _, err := signingKey(d.Secrets.SigningSecret); secret && err != nil {
			return &FieldError{"signing_secret", "begins with whsec_, and the rest is not base64"}
		}
	case Discord:
		if !secret {
			return nil
		}
		id := ends.discordWebhook(d.Secrets.WebhookURL)
		if id == "" {
			return &FieldError{"webhook_url", "must be the URL of a Discord webhook, https://discord.com/api/webhooks/ID/TOKEN"}
		}
		d.Config.Hint = id
	case Telegram:
		if !chatID.MatchString(d.Config.ChatID) {
			return &FieldError{"chat_id", "must be a number, or @name of a public channel; listTelegramChats shows the ids"}
		}
		if !secret {
			return nil
		}
		if err := CheckBotToken(d.Secrets.BotToken); err != nil {
			return err
		}
		d.Config.Hint, _, _ = strings.Cut(d.Secrets.BotToken, ":")
	case Email:
		if n := len(d.Config.MemberUserIDs); n < 1 || n > limits.DestinationMembers {
			return &FieldError{"member_user_ids", fmt.Sprintf("must name 1 to %d members", limits.DestinationMembers)}
		}
	case Chat:
		if d.Config.Workspace == "" {
			return &FieldError{"workspace_id", "must name a connected workspace"}
		}
		if d.Config.ChannelID == "" {
			return &FieldError{"channel_id", "must name a channel of the workspace; listChatWorkspaceDestinations shows the ids"}
		}
	default:
		return &FieldError{"type", "is not supported"}
	}
	return nil
}

// CheckBotToken checks the form of the token of a Telegram bot. The error is a *FieldError.
func CheckBotToken(token string) error {
	if !botToken.MatchString(token) {
		return &FieldError{"bot_token", "is not the token of a Telegram bot, digits:letters"}
	}
	return nil
}

func checkURL(guard *egress.Guard, field, text string) error {
	if text == "" {
		return &FieldError{field, "must not be empty"}
	}
	if _, err := guard.CheckURL(text, true); err != nil {
		return &FieldError{field, "cannot be used: " + err.Error()}
	}
	return nil
}

// discordWebhook returns the id of a webhook of Discord, or an empty text for another URL.
func (e Endpoints) discordWebhook(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	m := discordPath.FindStringSubmatch(u.EscapedPath())
	if m == nil {
		return ""
	}
	for _, origin := range e.Discord {
		if u.Scheme+"://"+u.Host == origin {
			return m[1]
		}
	}
	return ""
}

// Summary is the target in one line, without secrets.
func (d *Destination) Summary() string {
	switch d.Type {
	case PagerDuty:
		return "PagerDuty Events API v2, key " + d.Config.Hint
	case Webhook:
		u, err := url.Parse(d.Config.URL)
		if err != nil {
			return "POST"
		}
		return "POST " + u.Host
	case Discord:
		return "Discord webhook " + d.Config.Hint
	case Telegram:
		return "Telegram chat " + d.Config.ChatID + " by bot " + d.Config.Hint
	case Email:
		if len(d.Config.MemberUserIDs) == 1 {
			return "E-mail to 1 member"
		}
		return "E-mail to " + limits.Number(int64(len(d.Config.MemberUserIDs))) + " members"
	case Chat:
		return "#" + d.Config.ChannelName + " in " + d.Config.WorkspaceName
	default:
		return d.Type
	}
}

// ChannelLabel names the chat; it is empty for destinations without one.
func (d *Destination) ChannelLabel() string {
	switch d.Type {
	case Telegram:
		return d.Config.ChatID
	case Chat:
		return "#" + d.Config.ChannelName
	}
	return ""
}

// texts are the secrets that no answer may repeat.
func (s Secrets) texts() []string {
	var out []string
	for _, text := range []string{s.IntegrationKey, s.SigningSecret, s.WebhookURL, s.BotToken} {
		if text != "" {
			out = append(out, text)
		}
	}
	if u, err := url.Parse(s.WebhookURL); err == nil && u.Path != "" {
		out = append(out, u.Path[strings.LastIndexByte(strings.TrimRight(u.Path, "/"), '/')+1:])
	}
	if _, rest, ok := strings.Cut(s.SigningSecret, "whsec_"); ok {
		out = append(out, rest)
	}
	if _, rest, ok := strings.Cut(s.BotToken, ":"); ok {
		out = append(out, rest)
	}
	return out
}

// strike removes the secrets from a text of a destination, and makes it short and printable.
func (s Secrets) strike(text string) string {
	for _, secret := range s.texts() {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) <= limits.DeliveryAnswer {
		return text
	}
	return string([]rune(text)[:limits.DeliveryAnswer-1]) + "…"
}
