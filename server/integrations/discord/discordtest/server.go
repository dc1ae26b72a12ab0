// Package discordtest is a stand-in for Discord: the endpoints that package discord uses. It checks secrets, codes, the bot token, the
// agent, permissions in channels and the limits of messages as Discord's documentation describes them, and it is stricter with mentions.
package discordtest

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The registration of the application.
const (
	ApplicationID = "110000000000000001"
	ClientSecret  = "client-secret-of-the-discord-app"
	BotToken      = "bot-token.of-the.discord-app"
)

// bot is the user of the bot. Those of old applications have another id than the application.
const bot = "110000000000000002"

// Permissions.
const (
	Administrator = 1 << 3
	View          = 1 << 10
	Send          = 1 << 11
	EmbedLinks    = 1 << 14
	ReadHistory   = 1 << 16
)

// key signs interactions.
func key() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte("a seed of thirty-two bytes, here"))
}

// PublicKey is the key of the application.
func PublicKey() string { return hex.EncodeToString(key().Public().(ed25519.PublicKey)) }

// Discord is the stand-in.
type Discord struct {
	URL string

	mu sync.Mutex
	// guild is the one that the person chooses.
	guild  string
	guilds map[string]*Guild
	codes  map[string]code
	tokens []string
	nonces map[string]*Message
	fault  func(route string) string
	lost   int
	calls  map[string]int
	deny   bool
	next   int
}

type code struct{ guild, redirectURI, permissions string }

// Guild is a server of Discord.
type Guild struct {
	ID, Name string
	// Everyone, and Bot are the permissions of everyone and of the role that the bot got when it was added.
	Everyone, Bot uint64
	// In says that the bot is a member.
	In       bool
	Channels []*Channel
}

// role is the role of the bot.
func (g *Guild) role() string { return g.ID[:len(g.ID)-1] + "9" }

// Channel is a channel with its messages. Type 0 is a text channel, 2 a voice channel, 5 an announcement channel.
type Channel struct {
	ID, Name   string
	Type       int
	Overwrites []Overwrite
	Messages   []*Message
}

// Overwrite changes permissions in a channel. Of is everyone, role (that of the bot) or member (the bot itself).
type Overwrite struct {
	Of          string
	Allow, Deny uint64
}

// Message is a message in a channel. Answers is the id of the message that it answers.
type Message struct {
	ID, Answers, Content string
	Embeds               []Embed
	Edited               int
}

// Embed is the embed of a message.
type Embed struct {
	Title, Description, URL string
	Color                   int
	Timestamp               time.Time
	Fields                  []struct{ Name, Value string }
	Footer                  struct{ Text string }
	Author                  struct{ Name string }
	Image                   struct{ URL string }
}

// New starts a stand-in that ends with the test.
func New(t testing.TB) *Discord {
	t.Helper()
	d := &Discord{guilds: map[string]*Guild{}, codes: map[string]code{}, nonces: map[string]*Message{}, calls: map[string]int{}, next: 1000}
	server := httptest.NewServer(d.mux())
	t.Cleanup(server.Close)
	d.URL = server.URL
	return d
}

// id makes an id.
func (d *Discord) id() string {
	d.next++
	return fmt.Sprintf("22%013d000", d.next)
}

// AddGuild adds a guild with text channels that everybody sees, which the person chooses from now on.
func (d *Discord) AddGuild(name string, channels ...string) *Guild {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := &Guild{ID: d.id(), Name: name, Everyone: View | ReadHistory}
	for _, c := range channels {
		g.Channels = append(g.Channels, &Channel{ID: d.id(), Name: c})
	}
	d.guilds[g.ID], d.guild = g, g.ID
	return g
}

// Change changes the state of the stand-in.
func (d *Discord) Change(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// AddChannel adds a channel to a guild.
func (d *Discord) AddChannel(g *Guild, c Channel) *Channel {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.ID = d.id()
	g.Channels = append(g.Channels, &c)
	return &c
}

// Choose makes the person choose a guild in the next authorizations.
func (d *Discord) Choose(g *Guild) { d.Change(func() { d.guild = g.ID }) }

// Deny makes the person refuse the next authorizations.
func (d *Discord) Deny(deny bool) { d.Change(func() { d.deny = deny }) }

// Fault makes routes fail with the code that the function returns, unless it is empty: a status of HTTP, a code of the API, or `image` for
// the refusal of the picture of a message.
func (d *Discord) Fault(of func(route string) string) { d.Change(func() { d.fault = of }) }

// Lose takes the next messages and answers nothing.
func (d *Discord) Lose(messages int) { d.Change(func() { d.lost = messages }) }

// In reports whether the bot is a member of a guild.
func (d *Discord) In(g *Guild) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return g.In
}

// Kick removes the bot from a guild.
func (d *Discord) Kick(g *Guild) { d.Change(func() { g.In = false }) }

// Tokens lists the tokens of persons that were given out, so that a test can search for them where they must not be.
func (d *Discord) Tokens() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.tokens...)
}

// Calls counts the calls of a route so far.
func (d *Discord) Calls(route string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[route]
}

// Messages copies the messages of a channel.
func (d *Discord) Messages(c *Channel) []Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Message, len(c.Messages))
	for i, m := range c.Messages {
		out[i] = *m
	}
	return out
}

// Sign gives a delivery the headers of its signature.
func Sign(header http.Header, at time.Time, body []byte) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	header.Set("X-Signature-Timestamp", stamp)
	header.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(key(), append([]byte(stamp), body...))))
}
