package config

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// GitHub is the GitHub App of this server. Without an AppID there is none.
type GitHub struct {
	URL           string
	AppID         int64
	Slug          string
	ClientID      string
	ClientSecret  Secret
	PrivateKey    Secret
	WebhookSecret Secret
}

// Configured reports whether the operator has set the app up.
func (g GitHub) Configured() bool { return g.AppID != 0 }

// GitHubSettings are the settings that set the app up.
func GitHubSettings() []string {
	return []string{
		"github-app-id", "github-slug", "github-client-id", "github-client-secret", "github-private-key", "github-webhook-secret",
	}
}

// GitLab is the OAuth application of this server at a GitLab server. If ClientID is empty, the provider is off.
type GitLab struct {
	URL          string
	ClientID     string
	ClientSecret Secret
}

// Configured reports whether the operator has set the application up.
func (g GitLab) Configured() bool { return g.ClientID != "" }

// GitLabSettings are the settings that set the application up.
func GitLabSettings() []string { return []string{"gitlab-client-id", "gitlab-client-secret"} }

// Slack is the Slack app of this server. If ClientID is empty, the provider is off.
type Slack struct {
	URL           string
	ClientID      string
	ClientSecret  Secret
	SigningSecret Secret
}

// Configured reports whether the operator has set the app up.
func (s Slack) Configured() bool { return s.ClientID != "" }

// SlackSettings are the settings that set the app up.
func SlackSettings() []string {
	return []string{"slack-client-id", "slack-client-secret", "slack-signing-secret"}
}

// Discord is the application of this server at Discord. If ApplicationID is empty, the provider is off.
type Discord struct {
	URL           string
	ApplicationID string
	ClientSecret  Secret
	// PublicKey has hexadecimal digits.
	PublicKey string
	BotToken  Secret
}

// Configured reports whether the operator has set the application up.
func (d Discord) Configured() bool { return d.ApplicationID != "" }

// DiscordSettings are the settings that set the application up.
func DiscordSettings() []string {
	return []string{"discord-application-id", "discord-client-secret", "discord-public-key", "discord-bot-token"}
}

// PlanetScale is the OAuth application of this server at PlanetScale. If ClientID is empty, the provider is off.
type PlanetScale struct {
	URL, AuthURL string
	ClientID     string
	ClientSecret Secret
}

// Configured reports whether the operator has set the application up.
func (p PlanetScale) Configured() bool { return p.ClientID != "" }

// PlanetScaleSettings are the settings that set the application up.
func PlanetScaleSettings() []string {
	return []string{"planetscale-client-id", "planetscale-client-secret"}
}

// validateIntegrations finds registrations of which a part is missing.
func (c *Config) validateIntegrations() []error {
	g, l, s, d, p := c.GitHub, c.GitLab, c.Slack, c.Discord, c.PlanetScale
	return slices.Concat(
		c.whole("the GitHub App", GitHubSettings(), map[string]bool{
			"github-app-id": g.AppID != 0, "github-slug": g.Slug != "", "github-client-id": g.ClientID != "",
			"github-client-secret": g.ClientSecret != "", "github-private-key": g.PrivateKey != "", "github-webhook-secret": g.WebhookSecret != "",
		}),
		c.whole("the application at GitLab", GitLabSettings(), map[string]bool{
			"gitlab-client-id": l.ClientID != "", "gitlab-client-secret": l.ClientSecret != "",
		}),
		c.whole("the Slack app", SlackSettings(), map[string]bool{
			"slack-client-id": s.ClientID != "", "slack-client-secret": s.ClientSecret != "", "slack-signing-secret": s.SigningSecret != "",
		}),
		c.whole("the application at Discord", DiscordSettings(), map[string]bool{
			"discord-application-id": d.ApplicationID != "", "discord-client-secret": d.ClientSecret != "", "discord-public-key": d.PublicKey != "",
			"discord-bot-token": d.BotToken != "",
		}),
		c.whole("the application at PlanetScale", PlanetScaleSettings(), map[string]bool{
			"planetscale-client-id": p.ClientID != "", "planetscale-client-secret": p.ClientSecret != "",
		}),
	)
}

// whole finds settings that are missing although others of their group are given.
func (c *Config) whole(of string, settings []string, set map[string]bool) (problems []error) {
	var given, missing []string
	for _, name := range settings {
		if set[name] {
			given = append(given, name)
		} else {
			missing = append(missing, name)
		}
	}
	if len(given) > 0 && len(missing) > 0 {
		problems = append(problems, c.Invalid(given[0], of+" needs also "+strings.Join(missing, ", ")))
	}
	return problems
}

// origin reads the address of a server, without a path.
func origin(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, s string) error {
		*field(c) = ""
		if s == "" {
			return nil
		}
		u, err := url.Parse(strings.TrimRight(s, "/"))
		switch {
		case err != nil || u.Host == "":
			return errors.New("not a URL")
		case u.Scheme != "https" && u.Scheme != "http":
			return errors.New("the scheme is neither http nor https")
		case u.Path != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return errors.New("remove the user, the path, the query and the fragment")
		}
		*field(c) = u.String()
		return nil
	}
}

// secureOrigin reads the address of a server that gets secrets: https, or http on this machine, for a stand-in.
func secureOrigin(field func(*Config) *string) func(*Config, string) error {
	read := origin(field)
	return func(c *Config, s string) error {
		if err := read(c, s); err != nil {
			return err
		}
		u, err := url.Parse(*field(c))
		if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
			return err
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsLoopback() {
			return nil
		}
		*field(c) = ""
		return errors.New("the scheme must be https, because secrets go there")
	}
}

func appID(field func(*Config) *int64) func(*Config, string) error {
	return func(c *Config, s string) error {
		*field(c) = 0
		if s == "" {
			return nil
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 {
			return errors.New("it is the number on the page of the app")
		}
		*field(c) = n
		return nil
	}
}

var slugPattern = regexp.MustCompile(`^[a-zA-Z0-9-]*$`)

func slug(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, s string) error {
		if !slugPattern.MatchString(s) {
			return errors.New("it is the last part of the address of the app's page: letters, digits and dashes")
		}
		*field(c) = s
		return nil
	}
}

// matching reads a text of a form, which the reason describes.
func matching(form *regexp.Regexp, reason string, field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, s string) error {
		if s != "" && !form.MatchString(s) {
			return errors.New(reason)
		}
		*field(c) = s
		return nil
	}
}

var (
	decimalID = regexp.MustCompile(`^[0-9]{1,20}$`)
	publicKey = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
)

// parsePrivateKey reads a key whose line ends may be written as \n, since a variable of the environment has one line.
func parsePrivateKey(s string) (Secret, error) {
	if s == "" {
		return "", nil
	}
	text := strings.ReplaceAll(s, `\n`, "\n")
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return "", errors.New("it is not in the PEM format")
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return Secret(text), nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if _, ok := key.(*rsa.PrivateKey); err != nil || !ok {
		return "", errors.New("it is not an RSA private key")
	}
	return Secret(text), nil
}

// parseProxy reads the address of a proxy, which may hold a user and a password.
func parseProxy(s string) (DSN, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "":
		return "", errors.New("not a URL")
	case u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "socks5":
		return "", errors.New("the scheme must be http, https or socks5")
	}
	return DSN(s), nil
}
