// Package railway connects accounts of Railway with a token: it lists projects, environments, services and deployments.
package railway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/jsoncall"
	"github.com/svc-observability/svc/server/limits"
)

// ID is the short name of the provider, Name that for people.
const (
	ID   = "platform_a"
	Name = "Railway"
)

// Tools are the tools of the MCP server that read from Railway.
func Tools() []string { return []string{"sync_platform_a"} }

// Config is the server of Railway, https://backboard.railway.com.
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

// SameAccount implements integrations.Provider. An organization has one account of the platform.
func (p *Platform) SameAccount(_, _ json.RawMessage) bool { return true }

// Reconnected implements integrations.Provider. The settings say how the new token is used.
func (p *Platform) Reconnected(_, now json.RawMessage) (json.RawMessage, error) { return now, nil }

// settings are the stored facts about an account: a workspace, or one environment of one project.
type settings struct {
	Workspace   string `json:"workspace,omitempty"`
	Project     string `json:"project,omitempty"`
	Environment string `json:"environment,omitempty"`
	integrations.HostingSettings
}

func readSettings(text json.RawMessage) (settings, error) {
	var s settings
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("railway: settings of an account: %w", err)
	}
	return s, nil
}

// session is the access of one token.
type session struct {
	*Platform
	token string
	// project says that the token is that of a project, which has a header of its own.
	project bool
}

type fault struct {
	Message string `json:"message"`
}

// ask sends a query of GraphQL. Data is the value of `data` in the answer.
func ask[T any](ctx context.Context, s session, query string, variables map[string]any) (T, error) {
	var none T
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return none, fmt.Errorf("railway: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Base.JoinPath("graphql", "v2").String(), bytes.NewReader(body))
	if err != nil {
		return none, integrations.NewProblem(integrations.Invalid, err, "Railway does not take the request.")
	}
	r.Header.Set("Content-Type", "application/json")
	if s.project {
		r.Header.Set("Project-Access-Token", s.token)
	} else {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	var got struct {
		Data   *T      `json:"data"`
		Errors []fault `json:"errors"`
	}
	if err := s.call.Do(r, &got); err != nil {
		return none, err
	}
	if p := problemOf(got.Errors); p != nil {
		return none, p
	}
	if got.Data == nil {
		return none, integrations.NewProblem(integrations.Upstream, nil, "An answer of Railway has no data.")
	}
	return *got.Data, nil
}

// problemOf sorts the errors of an answer, most of which have the status 200.
func problemOf(faults []fault) *integrations.Problem {
	if len(faults) == 0 {
		return nil
	}
	for _, f := range faults {
		switch text := strings.ToLower(f.Message); {
		case strings.Contains(text, "not authorized"), strings.Contains(text, "unauthorized"):
			return integrations.NewProblem(integrations.Unauthorized, nil, "Railway refuses the token.")
		case strings.Contains(text, "not found"):
			return integrations.NewProblem(integrations.NotFound, nil, "Railway knows no such thing, or the token may not see it.")
		}
	}
	return integrations.NewProblem(integrations.Upstream, nil, "Railway could not answer the query.")
}

func sortProblem(status int, body []byte) *integrations.Problem {
	var got struct {
		Errors []fault `json:"errors"`
	}
	if status == http.StatusBadRequest && json.Unmarshal(body, &got) == nil {
		return problemOf(got.Errors)
	}
	return nil
}
