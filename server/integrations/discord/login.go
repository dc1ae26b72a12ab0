package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/integrations"
)

// scopes add the bot. Discord's reference describes the answer of a code, which names the guild, for `bot` with one more scope; `identify`
// is the least of them.
const scopes = "bot identify"

// AuthorizeURL implements integrations.LoginProvider. It sends no code challenge: Discord's reference describes none for an application
// with a secret.
func (a *App) AuthorizeURL(state, _, redirectURI string) string {
	u := a.Base.JoinPath("oauth2", "authorize")
	u.RawQuery = url.Values{
		"client_id": {a.cfg.ApplicationID}, "response_type": {"code"}, "scope": {scopes}, "permissions": {strconv.FormatUint(uint64(asked), 10)},
		"state": {state}, "redirect_uri": {redirectURI},
	}.Encode()
	return u.String()
}

// Accounts implements integrations.LoginProvider. The guild is that of the token, whatever the redirect said. The token is that of the
// person; it is thrown away, because the bot has its own.
func (a *App) Accounts(ctx context.Context, c integrations.Callback) ([]integrations.Account, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {c.Code}, "redirect_uri": {c.RedirectURI}}
	at := a.Base.JoinPath("api", "v10", "oauth2", "token").String()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(a.cfg.ApplicationID), url.QueryEscape(a.cfg.ClientSecret))
	var got struct{ Guild struct{ ID, Name string } }
	if err := a.caller.Do(r, &got); err != nil {
		return nil, err
	}
	if !isID(got.Guild.ID) {
		return nil, integrations.NewProblem(integrations.Invalid, nil,
			"Discord did not say to which server the app was added. Start again, and choose one.")
	}
	return []integrations.Account{{
		ExternalID: got.Guild.ID, Name: got.Guild.Name, Kind: "server", Chosen: true, Settings: json.RawMessage("{}"),
	}}, nil
}

// Revoke implements integrations.Revoker: the bot leaves the guild.
func (a *App) Revoke(ctx context.Context, c integrations.Connection) error {
	return a.do(ctx, http.MethodDelete, nil, nil, "users", "@me", "guilds", c.ExternalID)
}
