package railway

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/integrations"
)

// named is anything with an id and a name.
type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (n named) display() string {
	if name := integrations.Clip(n.Name); name != "" {
		return name
	}
	return integrations.Clip(n.ID)
}

// Tokens of an account and of a workspace answer this query; the token of a project answers the next one.
const (
	workspacesQuery = `query { apiToken { workspaces { id name } } }`
	projectQuery    = `query { projectToken { project { id name } environment { id name } } }`
)

type workspacesAnswer struct {
	APIToken struct {
		Workspaces []named `json:"workspaces"`
	} `json:"apiToken"`
}

type projectAnswer struct {
	ProjectToken struct {
		Project     named `json:"project"`
		Environment named `json:"environment"`
	} `json:"projectToken"`
}

// Check implements integrations.TokenProvider. The kind of the token is found by asking.
func (p *Platform) Check(ctx context.Context, token, name string) (integrations.Account, error) {
	got, err := ask[workspacesAnswer](ctx, session{Platform: p, token: token}, workspacesQuery, nil)
	switch {
	case integrations.IsKind(err, integrations.Unauthorized):
		return p.checkProject(ctx, token)
	case err != nil:
		return integrations.Account{}, err
	}
	all := got.APIToken.Workspaces
	for _, w := range all {
		if name != "" && (strings.EqualFold(w.Name, name) || w.ID == name) || name == "" && len(all) == 1 {
			return account(w.ID, w.display(), settings{Workspace: w.ID}, token)
		}
	}
	if name != "" || len(all) == 0 {
		return integrations.Account{}, integrations.NewProblem(integrations.NotFound, nil, "The token sees no workspace with this id or name.")
	}
	return integrations.Account{}, integrations.NewProblem(integrations.Invalid, nil,
		"The token sees %d workspaces. Give the id or the name of one.", len(all))
}

func (p *Platform) checkProject(ctx context.Context, token string) (integrations.Account, error) {
	got, err := ask[projectAnswer](ctx, session{Platform: p, token: token, project: true}, projectQuery, nil)
	if err != nil {
		return integrations.Account{}, err
	}
	project, environment := got.ProjectToken.Project, got.ProjectToken.Environment
	return account(environment.ID, project.display()+", "+environment.display(),
		settings{Project: project.ID, Environment: environment.ID}, token)
}

func account(id, name string, known settings, token string) (integrations.Account, error) {
	if id == "" {
		return integrations.Account{}, integrations.NewProblem(integrations.Upstream, nil, "Railway did not tell the account of the token.")
	}
	text, err := json.Marshal(known)
	if err != nil {
		return integrations.Account{}, fmt.Errorf("railway: %w", err)
	}
	return integrations.Account{ExternalID: id, Name: name, Settings: text, Credentials: []byte(token)}, nil
}
