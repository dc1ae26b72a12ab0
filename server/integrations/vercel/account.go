package vercel

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/svc-observability/svc/server/integrations"
)

type team struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
}

type teamPage struct {
	Teams      []team     `json:"teams"`
	Pagination pagination `json:"pagination"`
}

func (p teamPage) page() pagination { return p.Pagination }

type person struct {
	User struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
	} `json:"user"`
}

// Check implements integrations.TokenProvider.
func (p *Platform) Check(ctx context.Context, token, name string) (integrations.Account, error) {
	s := session{Platform: p, token: token}
	if strings.HasPrefix(name, "team_") {
		found, err := s.teamByID(ctx, name)
		if err != nil {
			return integrations.Account{}, asked(err)
		}
		return account(found.ID, found.display(), true, token)
	}
	var all []team
	if _, err := pages(ctx, s, "v2/teams", nil, 10, func(p teamPage) { all = append(all, p.Teams...) }); err != nil {
		return integrations.Account{}, asked(err)
	}
	for _, t := range all {
		if name != "" && (strings.EqualFold(t.Slug, name) || t.ID == name) || name == "" && len(all) == 1 {
			return account(t.ID, t.display(), true, token)
		}
	}
	switch {
	case name != "":
		return integrations.Account{}, integrations.NewProblem(integrations.NotFound, nil, "The token sees no team with this id or short name.")
	case len(all) > 1:
		return integrations.Account{}, integrations.NewProblem(integrations.Invalid, nil,
			"The token sees %d teams. Give the id or the short name of one.", len(all))
	}
	who, err := s.person(ctx)
	if err != nil {
		return integrations.Account{}, asked(err)
	}
	return account(who.User.ID, who.display(), false, token)
}

// asked converts the error of a first attempt with a token. Vercel answers to a wrong token as to one that was revoked, which is the
// problem of a connection. Here the person mistyped the token.
func asked(err error) error {
	if integrations.IsKind(err, integrations.Suspended) {
		return integrations.NewProblem(integrations.Unauthorized, err, "Vercel refuses the token.")
	}
	return err
}

func account(id, name string, isTeam bool, token string) (integrations.Account, error) {
	if id == "" {
		return integrations.Account{}, integrations.NewProblem(integrations.Upstream, nil, "Vercel did not tell the account of the token.")
	}
	text, err := json.Marshal(settings{Account: id, Team: isTeam})
	if err != nil {
		return integrations.Account{}, fmt.Errorf("vercel: %w", err)
	}
	return integrations.Account{ExternalID: id, Name: name, Settings: text, Credentials: []byte(token)}, nil
}

func (t team) display() string { return firstOf(t.Name, t.Slug, t.ID) }

func (p person) display() string { return firstOf(p.User.Name, p.User.Username, p.User.ID) }

// firstOf returns the first text that is not empty, clipped.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t = integrations.Clip(t); t != "" {
			return t
		}
	}
	return ""
}

func (s session) teamByID(ctx context.Context, id string) (team, error) {
	var found team
	err := s.get(ctx, "v2/teams/"+url.PathEscape(id), nil, &found)
	return found, err
}

func (s session) person(ctx context.Context) (person, error) {
	var who person
	err := s.get(ctx, "v2/user", nil, &who)
	return who, err
}
