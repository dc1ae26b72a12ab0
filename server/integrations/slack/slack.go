// Package slack connects workspaces of Slack as an app with a bot: it installs the app, lists channels, sends messages, and checks
// deliveries.
package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
)

// ID is the short name of the provider, Name that for people.
const (
	ID   = "slack"
	Name = "Slack"
)

// Config is the registration of our app.
type Config struct {
	// URL is the server, https://slack.com.
	URL                                   string
	ClientID, ClientSecret, SigningSecret string
	// Trust makes the client for the addresses of the server.
	Trust func(origins ...*url.URL) *egress.Trusted
	Now   func() time.Time
}

// App implements integrations.ChatProvider, integrations.Identifier, integrations.Refresher and integrations.Revoker. It is safe for
// concurrent use.
type App struct {
	integrations.Server

	cfg    Config
	client *http.Client
}

// New returns the app.
func New(cfg Config) (*App, error) {
	server, err := integrations.NewServer(ID, Name, integrations.ClassChat, nil, cfg.URL)
	if err != nil {
		return nil, err
	}
	client := cfg.Trust(server.Base).Client(limits.ProviderTime)
	client.Transport = capped{client.Transport}
	return &App{Server: server, cfg: cfg, client: client}, nil
}

// capped bounds the bodies of answers.
type capped struct{ next http.RoundTripper }

func (c capped) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.next.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, limits.ProviderAnswer), res.Body}
	}
	return res, err
}

// ReturnsToHTTPS implements integrations.HTTPSReturner. A stand-in on the person's machine takes http.
func (a *App) ReturnsToHTTPS() bool { return a.Base.Scheme == "https" }

// SameAccount implements integrations.Provider. A workspace keeps its id.
func (a *App) SameAccount(_, _ json.RawMessage) bool { return false }

// Reconnected implements integrations.Provider. The settings that an administrator has made stay.
func (a *App) Reconnected(before, _ json.RawMessage) (json.RawMessage, error) { return before, nil }

// endpoint is the start of the addresses of the methods.
func (a *App) endpoint() string { return a.Base.JoinPath("api").String() + "/" }

// as makes a client with the token of a workspace or person.
func (a *App) as(token string) *api.Client {
	return api.New(token, api.OptionHTTPClient(a.client), api.OptionAPIURL(a.endpoint()))
}

// workspace makes a client with the bot of a workspace.
func (a *App) workspace(c integrations.Connection) (*api.Client, error) {
	t, err := readTokens(c.Credentials)
	if err != nil {
		return nil, err
	}
	return a.as(t.Access), nil
}

// accountEvents are the events after which a workspace is read again.
func accountEvents() []string {
	return []string{
		"app_uninstalled", "tokens_revoked", "team_rename", "channel_created", "channel_deleted", "channel_rename", "channel_archive",
		"channel_unarchive", "group_deleted", "group_rename", "group_archive", "group_unarchive", "member_joined_channel", "member_left_channel",
		"channel_left", "group_left",
	}
}

// Verify implements integrations.Verifier: `X-Slack-Signature` is the HMAC-SHA256 of version, time and body with the signing secret.
func (a *App) Verify(header http.Header, body []byte) (integrations.Delivery, error) {
	sent, ok := strings.CutPrefix(header.Get("X-Slack-Signature"), "v0=")
	signature, err := hex.DecodeString(sent)
	stamp := header.Get("X-Slack-Request-Timestamp")
	mac := hmac.New(sha256.New, []byte(a.cfg.SigningSecret))
	_, _ = fmt.Fprintf(mac, "v0:%s:", stamp)
	mac.Write(body)
	if !ok || err != nil || a.cfg.SigningSecret == "" || !hmac.Equal(signature, mac.Sum(nil)) {
		return integrations.Delivery{}, integrations.ErrForged
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if age := a.cfg.Now().Sub(time.Unix(seconds, 0)); err != nil || age > limits.WebhookSigned || age < -limits.WebhookSigned {
		return integrations.Delivery{}, integrations.ErrForged // a repeat of an old delivery
	}
	var said struct {
		Type, Challenge string
		TeamID          string `json:"team_id"`
		EventID         string `json:"event_id"`
		Event           struct{ Type string }
	}
	// A body of another form is of a kind that is not read here, such as the press of a button.
	if json.Unmarshal(body, &said) != nil {
		said.Type, said.TeamID, said.EventID, said.Event.Type = "", "", "", ""
	}
	if said.Type == "url_verification" {
		return integrations.Delivery{Answer: said.Challenge}, nil
	}
	d := integrations.Delivery{
		ID: said.EventID, Kind: said.Event.Type, Account: said.TeamID, Sync: slices.Contains(accountEvents(), said.Event.Type),
	}
	// Each reading takes the complete list of channels, so those after a change of a channel wait for each other. The end of our access does
	// not.
	if d.Sync && d.Kind != "app_uninstalled" && d.Kind != "tokens_revoked" {
		d.Pause = limits.ChatPause
	}
	return d, nil
}

// Sync implements integrations.Provider: it reads the name of the workspace and the complete list of its channels.
func (a *App) Sync(ctx context.Context, c integrations.Connection) (integrations.Synced, error) {
	client, err := a.workspace(c)
	if err != nil {
		return integrations.Synced{}, err
	}
	who, err := client.AuthTestContext(ctx)
	if err != nil {
		return integrations.Synced{}, problem(err)
	}
	if who.TeamID != c.ExternalID {
		return integrations.Synced{}, integrations.NewProblem(integrations.Suspended, nil, "The token is that of another workspace of Slack.")
	}
	if missing := missingScopes(who.Header.Get("X-Oauth-Scopes")); len(missing) > 0 {
		return integrations.Synced{}, integrations.NewProblem(integrations.Suspended, nil,
			"The app lacks permissions in the workspace: %s. Connect the workspace again.", strings.Join(missing, ", "))
	}
	out := integrations.Synced{Name: who.Team, Settings: c.Settings, Every: limits.ChatSync}
	if t, err := readTokens(c.Credentials); err == nil && t.Refresh != "" {
		out.Every = min(out.Every, max(time.Minute, t.due().Sub(a.cfg.Now())))
	}
	out.Channels, err = a.channels(ctx, client)
	return out, err
}

// missingScopes are the scopes that a token lacks. Slack lists those that it has in a header; without the header none counts as missing.
func missingScopes(granted string) (missing []string) {
	if granted == "" {
		return nil
	}
	has := strings.Split(strings.ReplaceAll(granted, " ", ""), ",")
	for scope := range strings.SplitSeq(scopes, ",") {
		if !slices.Contains(has, scope) {
			missing = append(missing, scope)
		}
	}
	return missing
}
