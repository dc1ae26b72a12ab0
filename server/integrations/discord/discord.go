// Package discord connects servers of Discord as an application with a bot: it adds the bot, lists channels, sends messages, and answers
// interactions. Discord calls a server a guild.
package discord

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/jsoncall"
	"github.com/svc-observability/svc/server/limits"
)

// ID is the short name of the provider, Name that for people.
const (
	ID   = "discord"
	Name = "Discord"
)

// Config is the registration of our application.
type Config struct {
	// URL is the server of the pages and of the API, https://discord.com.
	URL                         string
	ApplicationID, ClientSecret string
	// PublicKey is the Ed25519 key of the application, in hexadecimal digits.
	PublicKey, BotToken string
	// Trust makes the client for the addresses of the server.
	Trust func(origins ...*url.URL) *egress.Trusted
	Now   func() time.Time
}

// App implements integrations.ChatProvider, integrations.LoginProvider, integrations.Verifier and integrations.Revoker. It is safe for
// concurrent use.
//
// The bot has one token for all guilds. So a guild has no credentials of its own here, and each request is held to the guild of its
// connection.
type App struct {
	integrations.Server

	cfg    Config
	key    ed25519.PublicKey
	caller *jsoncall.Caller
}

// agent is the form of a User-Agent that Discord demands.
const agent = "DiscordBot (https://github.com/svc-observability/svc, 1)"

// New returns the application.
func New(cfg Config) (*App, error) {
	server, err := integrations.NewServer(ID, Name, integrations.ClassChat, nil, cfg.URL)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(cfg.PublicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("discord: the public key is not one of Ed25519")
	}
	return &App{Server: server, cfg: cfg, key: key, caller: &jsoncall.Caller{
		Name: Name, Client: cfg.Trust(server.Base).Client(limits.ProviderTime), Agent: agent, Sort: problem,
	}}, nil
}

// SameAccount implements integrations.Provider. A guild keeps its id.
func (a *App) SameAccount(_, _ json.RawMessage) bool { return false }

// Reconnected implements integrations.Provider. The settings that an administrator has made stay.
func (a *App) Reconnected(before, _ json.RawMessage) (json.RawMessage, error) { return before, nil }

// Types of interactions.
const (
	ping         = 1
	autocomplete = 4
)

// Answers to interactions. The bot has no commands and no buttons. A person who finds one anyway gets a private message.
const (
	pong      = `{"type":1}`
	noChoices = `{"type":8,"data":{"choices":[]}}`
	noCommand = `{"type":4,"data":{"content":"This app only sends alerts. It has no commands.","flags":64,"allowed_mentions":{"parse":[]}}}`
)

// Verify implements integrations.Verifier: `X-Signature-Ed25519` is the signature of time and body. An interaction is answered at once and
// changes nothing.
func (a *App) Verify(header http.Header, body []byte) (integrations.Delivery, error) {
	stamp := header.Get("X-Signature-Timestamp")
	signature, err := hex.DecodeString(header.Get("X-Signature-Ed25519"))
	if err != nil || len(signature) != ed25519.SignatureSize || !ed25519.Verify(a.key, append([]byte(stamp), body...), signature) {
		return integrations.Delivery{}, integrations.ErrForged
	}
	if !a.recent(stamp) {
		return integrations.Delivery{}, integrations.ErrForged // a repeat of an old delivery
	}
	var said struct{ Type int }
	d := integrations.Delivery{AnswerType: "application/json", Answer: noCommand}
	switch unreadable := json.Unmarshal(body, &said) != nil; {
	case unreadable:
		d = integrations.Delivery{Kind: "unreadable"}
	case said.Type == ping:
		d.Answer = pong
	case said.Type == autocomplete:
		d.Answer = noChoices
	}
	return d, nil
}

// recent reports whether a signed time is near the present one.
func (a *App) recent(stamp string) bool {
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	age := a.cfg.Now().Sub(time.Unix(seconds, 0))
	return err == nil && age <= limits.WebhookSigned && age >= -limits.WebhookSigned
}
