// Package vercel connects accounts of Vercel with a token: it lists projects, deployments and drains.
package vercel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/jsoncall"
	"github.com/svc-observability/svc/server/limits"
)

// ID is the short name of the provider, Name that for people.
const (
	ID   = "platform_b"
	Name = "Vercel"
)

// Tools are the tools of the MCP server that read from Vercel.
func Tools() []string { return []string{"sync_platform_b"} }

// Config is the server of Vercel, https://api.vercel.com.
type Config = integrations.PlatformConfig

// Platform implements integrations.TokenProvider. It is safe for concurrent use.
type Platform struct {
	integrations.Server

	cfg  Config
	call jsoncall.Caller
}

// New returns the platform.
func New(cfg Config) (*Platform, error) {
	server, err := integrations.NewServer(ID, Name, integrations.ClassHosting, Tools(), cfg.URL)
	if err != nil {
		return nil, err
	}
	client := cfg.Trust(server.Base).Client(limits.ProviderTime)
	return &Platform{server, cfg, jsoncall.Caller{Name: Name, Client: client, Sort: sortProblem}}, nil
}

// sortProblem knows the answer to a token that was deleted or never was, which has the status 403.
func sortProblem(status int, body []byte) *integrations.Problem {
	var said struct {
		Error struct {
			InvalidToken bool `json:"invalidToken"`
		} `json:"error"`
	}
	if status == http.StatusForbidden && json.Unmarshal(body, &said) == nil && said.Error.InvalidToken {
		return integrations.NewProblem(integrations.Suspended, nil,
			"Vercel no longer knows the token. It may have ended, or its owner has deleted it.")
	}
	return nil
}

// SameAccount implements integrations.Provider. An organization has one account of the platform.
func (p *Platform) SameAccount(_, _ json.RawMessage) bool { return true }

// Reconnected implements integrations.Provider. The drains that are known stay known, unless another account takes the place.
func (p *Platform) Reconnected(before, now json.RawMessage) (json.RawMessage, error) {
	old, err := readSettings(before)
	if err != nil {
		return nil, err
	}
	next, err := readSettings(now)
	if err != nil || old.Account != next.Account {
		return now, err
	}
	return before, nil
}

// settings are the stored facts about an account.
type settings struct {
	// Account is the id of the team or of the person, Team says which.
	Account string `json:"account"`
	Team    bool   `json:"team"`
	integrations.HostingSettings
	// FullAt is when all deployments of the retention were read last.
	FullAt time.Time `json:"full_at,omitzero"`
}

func readSettings(text json.RawMessage) (settings, error) {
	var s settings
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("vercel: settings of an account: %w", err)
	}
	return s, nil
}

// session is the access of one token to one account.
type session struct {
	*Platform
	token string
	// team is empty for the account of a person.
	team string
}

// get reads from the API.
func (s session) get(ctx context.Context, path string, query url.Values, into any) error {
	u := s.Base.JoinPath(path)
	if query == nil {
		query = url.Values{}
	}
	if s.team != "" {
		query.Set("teamId", s.team)
	}
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return integrations.NewProblem(integrations.Invalid, err, "Vercel does not take the request.")
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	return s.call.Do(r, into)
}

// pageSize is the size of a page: the largest that Vercel takes.
const pageSize = "100"

// pagination leads to the next page: its value of until.
type pagination struct {
	Next json.RawMessage `json:"next"`
}

// pages reads the pages of a list, at most so many, and gives each to a function. The answer is true if the list is complete.
func pages[T interface{ page() pagination }](
	ctx context.Context, s session, path string, query url.Values, most int, read func(T),
) (complete bool, err error) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", pageSize)
	for last := ""; most > 0; most-- {
		var got T
		if err := s.get(ctx, path, query, &got); err != nil {
			return false, err
		}
		read(got)
		next := string(bytes.Trim(got.page().Next, `"`))
		if next == "" || next == "null" || next == last {
			return true, nil
		}
		last = next
		query.Set("until", next)
	}
	return false, nil
}
