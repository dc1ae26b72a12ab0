// Package slacktest is a stand-in for Slack: the endpoints that package slack uses. It checks secrets, codes, tokens, the scopes of bots
// and the limits of messages as Slack's documentation describes them.
package slacktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The registration of the app.
const (
	ClientID      = "4711.svctest"
	ClientSecret  = "client-secret-of-the-slack-app"
	SigningSecret = "signing-secret-of-the-slack-app"
)

// Slack is the stand-in.
type Slack struct {
	URL string

	mu sync.Mutex
	// team and person are those with whom the browser is signed in.
	team, person string
	teams        map[string]*Team
	codes        map[string]code
	tokens       map[string]*token
	fault        func(method string) string
	calls        map[string]int
	deny         bool
	// Rotate gives tokens that end.
	rotate time.Duration
	next   int
}

type code struct{ kind, team, person, redirectURI, scopes string }

type token struct {
	kind, team, person, refresh, scopes string
	revoked                             bool
}

// Team is a workspace.
type Team struct {
	ID, Name string
	Channels []*Channel
}

// Channel is a channel with its messages.
type Channel struct {
	ID, Name                  string
	Private, Member, Archived bool
	Messages                  []*Message
}

// Message is a message in a channel. Thread is the timestamp of the message that it answers.
type Message struct {
	TS, Thread, Text, Attachments string
	Edited                        int
}

// New starts a stand-in that ends with the test.
func New(t testing.TB) *Slack {
	t.Helper()
	s := &Slack{teams: map[string]*Team{}, codes: map[string]code{}, tokens: map[string]*token{}, calls: map[string]int{}, next: 1000}
	server := httptest.NewServer(s.mux())
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// AddTeam adds a workspace with public channels, and signs the browser in there.
func (s *Slack) AddTeam(id, name string, channels ...string) *Team {
	s.mu.Lock()
	defer s.mu.Unlock()
	team := &Team{ID: id, Name: name}
	for _, c := range channels {
		s.next++
		team.Channels = append(team.Channels, &Channel{ID: fmt.Sprintf("C%08d", s.next), Name: c})
	}
	s.teams[id], s.team, s.person = team, id, "U0PERSON1"
	return team
}

// Change changes the state of the stand-in.
func (s *Slack) Change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// SignIn makes a workspace and a person those of the browser.
func (s *Slack) SignIn(team, person string) { s.Change(func() { s.team, s.person = team, person }) }

// Deny makes the person refuse the next authorizations.
func (s *Slack) Deny(deny bool) { s.Change(func() { s.deny = deny }) }

// Rotate makes new tokens end after a time; 0 makes them last.
func (s *Slack) Rotate(life time.Duration) { s.Change(func() { s.rotate = life }) }

// Fault makes methods fail with the error that the function returns, unless it is empty. A number is a status of HTTP. A text that begins
// with `image:` is a refusal of the picture of the message.
func (s *Slack) Fault(of func(method string) string) { s.Change(func() { s.fault = of }) }

// RevokeAll withdraws all tokens of a workspace.
func (s *Slack) RevokeAll(team string) {
	s.Change(func() {
		for _, t := range s.tokens {
			if t.team == team {
				t.revoked = true
			}
		}
	})
}

// Narrow takes a scope from the tokens of a workspace.
func (s *Slack) Narrow(team, scope string) {
	s.Change(func() {
		for _, t := range s.tokens {
			if t.team == team {
				t.scopes = strings.Join(slices.DeleteFunc(strings.Split(t.scopes, ","), func(had string) bool { return had == scope }), ",")
			}
		}
	})
}

// Live counts the tokens of a workspace that work.
func (s *Slack) Live(team string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tokens {
		if t.team == team && t.kind == "bot" && !t.revoked {
			n++
		}
	}
	return n
}

// Tokens lists all tokens that were given out, those for a renewal too, so that a test can search for them where they must not be.
func (s *Slack) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Sorted(maps.Keys(s.tokens))
	for _, t := range s.tokens {
		if t.refresh != "" {
			all = append(all, t.refresh)
		}
	}
	return all
}

// Calls counts the calls of a method so far.
func (s *Slack) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Messages copies the messages of a channel.
func (s *Slack) Messages(c *Channel) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Message, len(c.Messages))
	for i, m := range c.Messages {
		out[i] = *m
	}
	return out
}

// Sign gives a delivery the headers of its signature.
func Sign(header http.Header, at time.Time, body []byte) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(SigningSecret))
	_, _ = fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	header.Set("X-Slack-Request-Timestamp", stamp)
	header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}
