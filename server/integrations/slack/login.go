package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	api "github.com/slack-go/slack"

	"github.com/svc-observability/svc/server/integrations"
)

// scopes are the permissions of the bot: write to public channels and to those that it is a member of, and list channels.
const scopes = "chat:write,chat:write.public,channels:read,groups:read"

// AuthorizeURL implements integrations.LoginProvider. It sends no code challenge: Slack takes one only from clients without a secret.
func (a *App) AuthorizeURL(state, _, redirectURI string) string {
	u := a.Base.JoinPath("oauth", "v2", "authorize")
	u.RawQuery = url.Values{"client_id": {a.cfg.ClientID}, "scope": {scopes}, "state": {state}, "redirect_uri": {redirectURI}}.Encode()
	return u.String()
}

// tokens are the stored credentials of a workspace. Refresh and the times are empty unless the app rotates its tokens.
type tokens struct {
	Access    string    `json:"access"`
	Refresh   string    `json:"refresh,omitempty"`
	From      time.Time `json:"from,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

func readTokens(text []byte) (tokens, error) {
	var t tokens
	if err := json.Unmarshal(text, &t); err != nil || t.Access == "" {
		return t, integrations.NewProblem(integrations.Suspended, err, "The stored token of the workspace cannot be read. Connect it again.")
	}
	return t, nil
}

// due is the time at which the token is renewed: half of its life.
func (t tokens) due() time.Time { return t.From.Add(t.ExpiresAt.Sub(t.From) / 2) }

// tokensOf reads an answer of oauth.v2.access.
func tokensOf(res *api.OAuthV2Response, now time.Time) ([]byte, error) {
	t := tokens{Access: res.AccessToken, Refresh: res.RefreshToken}
	if res.RefreshToken != "" {
		t.From, t.ExpiresAt = now, now.Add(time.Duration(res.ExpiresIn)*time.Second)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	return text, nil
}

// Accounts implements integrations.LoginProvider. The workspace is that of the token, whatever the redirect said.
func (a *App) Accounts(ctx context.Context, c integrations.Callback) ([]integrations.Account, error) {
	res, err := api.GetOAuthV2ResponseContext(ctx, a.client, a.cfg.ClientID, a.cfg.ClientSecret, c.Code, c.RedirectURI,
		api.OAuthOptionAPIURL(a.endpoint()))
	switch {
	case err != nil:
		return nil, problem(err)
	case res.IsEnterpriseInstall || res.Team.ID == "":
		return nil, integrations.NewProblem(integrations.Invalid, nil,
			"The app was installed for a whole enterprise. Install it in one workspace of it; each workspace is connected by itself.")
	case res.AccessToken == "":
		return nil, integrations.NewProblem(integrations.Upstream, nil, "Slack gave no token for the workspace.")
	}
	text, err := tokensOf(res, a.cfg.Now())
	if err != nil {
		return nil, err
	}
	return []integrations.Account{{
		ExternalID: res.Team.ID, Name: res.Team.Name, Kind: "workspace", Chosen: true, Settings: json.RawMessage("{}"), Credentials: text,
	}}, nil
}

// Refresh implements integrations.Refresher.
func (a *App) Refresh(ctx context.Context, c integrations.Connection) ([]byte, error) {
	t, err := readTokens(c.Credentials)
	if err != nil || t.Refresh == "" || a.cfg.Now().Before(t.due()) {
		return nil, err
	}
	res, err := api.RefreshOAuthV2TokenContext(ctx, a.client, a.cfg.ClientID, a.cfg.ClientSecret, t.Refresh,
		api.OAuthOptionAPIURL(a.endpoint()))
	if err != nil {
		return nil, problem(err)
	}
	return tokensOf(res, a.cfg.Now())
}

// Revoke implements integrations.Revoker.
func (a *App) Revoke(ctx context.Context, c integrations.Connection) error {
	client, err := a.workspace(c)
	if err != nil {
		return err
	}
	if _, err := client.SendAuthRevokeContext(ctx, ""); err != nil {
		return problem(err)
	}
	return nil
}

// IdentityURL implements integrations.Identifier.
func (a *App) IdentityURL(state, redirectURI string) string {
	u := a.Base.JoinPath("openid", "connect", "authorize")
	u.RawQuery = url.Values{
		"response_type": {"code"}, "scope": {"openid profile"}, "client_id": {a.cfg.ClientID}, "state": {state}, "redirect_uri": {redirectURI},
	}.Encode()
	return u.String()
}

// Identity implements integrations.Identifier. The token of the person is used here and thrown away.
func (a *App) Identity(ctx context.Context, c integrations.Callback) (integrations.Identity, error) {
	res, err := api.GetOpenIDConnectTokenContext(ctx, a.client, a.cfg.ClientID, a.cfg.ClientSecret, c.Code, c.RedirectURI,
		api.OAuthOptionAPIURL(a.endpoint()))
	if err != nil {
		return integrations.Identity{}, problem(err)
	}
	who, err := a.as(res.AccessToken).GetOpenIDConnectUserInfoContext(ctx)
	if err != nil {
		return integrations.Identity{}, problem(err)
	}
	if who.UserID == "" || who.TeamID == "" {
		return integrations.Identity{}, integrations.NewProblem(integrations.Upstream, nil, "Slack did not tell who signed in.")
	}
	return integrations.Identity{Account: who.TeamID, UserID: who.UserID, DisplayName: who.Name}, nil
}
