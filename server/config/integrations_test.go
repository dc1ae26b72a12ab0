package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// privateKey makes an RSA key in the PEM format.
func privateKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// oneLine writes a text in one line, as for a variable.
func oneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", `\n`) }

func TestPrivateKey(t *testing.T) {
	text := privateKey(t)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	curve := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}))
	for name, c := range map[string]struct{ text, reason string }{
		"with line ends": {text, ""},
		"in one line":    {oneLine(text), ""},
		"nothing":        {"", ""},
		"no PEM":         {"MIIEvQIBADANBg", "PEM"},
		"not RSA":        {curve, "RSA"},
		"cut":            {text[:len(text)/2], "PEM"},
		"a certificate":  {strings.ReplaceAll(text, "RSA PRIVATE KEY", "CERTIFICATE")[:40] + "\n", "PEM"},
	} {
		got, err := parsePrivateKey(c.text)
		switch {
		case c.reason == "" && (err != nil || strings.Contains(got.Reveal(), `\n`)):
			t.Errorf("%s: %v", name, err)
		case c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)):
			t.Errorf("%s: %v, want an error about %s", name, err, c.reason)
		}
	}
}

// A half-set registration names the settings that are missing, and a key may stand in a file with all its lines.
func TestGitHubSettings(t *testing.T) {
	_, err := Load(Sources{Environ: []string{"SVC_GITHUB_APP_ID=7", "SVC_GITHUB_SLUG=svc"}})
	for _, want := range []string{"github-app-id", "github-client-id", "github-client-secret", "github-private-key", "github-webhook-secret"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	path, text := filepath.Join(t.TempDir(), "key.pem"), privateKey(t)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Sources{Environ: []string{
		"SVC_GITHUB_APP_ID=7", "SVC_GITHUB_SLUG=svc", "SVC_GITHUB_CLIENT_ID=i", "SVC_GITHUB_CLIENT_SECRET=s",
		"SVC_GITHUB_PRIVATE_KEY_FILE=" + path, "SVC_GITHUB_WEBHOOK_SECRET=w", "SVC_GITHUB_URL=https://git.corp.example/",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.GitHub.PrivateKey.Reveal(); got != strings.TrimSpace(text) || cfg.GitHub.URL != "https://git.corp.example" {
		t.Errorf("key of %d characters, URL %s", len(got), cfg.GitHub.URL)
	}
	for _, bad := range []string{"ftp://x", "https://u:p@x", "https://x/path", "https://x?q"} {
		if _, err := Load(Sources{Environ: []string{"SVC_GITHUB_URL=" + bad}}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// A registration at GitLab that lacks a setting names that setting. A GitLab server of the operator is named by its address.
func TestGitLabSettings(t *testing.T) {
	for given, missing := range map[string]string{
		"SVC_GITLAB_CLIENT_ID=i": "gitlab-client-secret", "SVC_GITLAB_CLIENT_SECRET=s": "gitlab-client-id",
	} {
		if _, err := Load(Sources{Environ: []string{given}}); err == nil || !strings.Contains(err.Error(), "needs also "+missing) {
			t.Errorf("%s: %v does not name %s", given, err, missing)
		}
	}
	for address, want := range map[string]string{
		"": "https://gitlab.com", "https://git.corp.example/": "https://git.corp.example",
		"https://x/y": "",
	} {
		environ := []string{"SVC_GITLAB_CLIENT_ID=i", "SVC_GITLAB_CLIENT_SECRET=s"}
		if address != "" {
			environ = append(environ, "SVC_GITLAB_URL="+address)
		}
		cfg, err := Load(Sources{Environ: environ})
		if want == "" {
			if err == nil {
				t.Errorf("%s is taken", address)
			}
			continue
		}
		if err != nil || cfg.GitLab.URL != want || !cfg.GitLab.Configured() {
			t.Errorf("%q: %v, %v", address, cfg, err)
		}
	}
}

// A half-set registration at Discord names what is missing; its values have a form; addresses that get secrets are https.
func TestChatSettings(t *testing.T) {
	for _, c := range []struct {
		environ []string
		reason  string
	}{
		{[]string{"SVC_DISCORD_APPLICATION_ID=1"}, "discord-client-secret, discord-public-key, discord-bot-token"},
		{[]string{"SVC_DISCORD_BOT_TOKEN=t"}, "discord-application-id, discord-client-secret, discord-public-key"},
		{[]string{"SVC_DISCORD_APPLICATION_ID=svc"}, "it is the number"},
		{[]string{"SVC_DISCORD_PUBLIC_KEY=abc"}, "64 hexadecimal digits"},
		{[]string{"SVC_DISCORD_URL=http://discord.example"}, "https"},
		{[]string{"SVC_SLACK_URL=http://slack.example"}, "https"},
		{[]string{"SVC_SLACK_URL=http://10.0.0.1:80"}, "https"},
		{[]string{"SVC_SLACK_URL=http://localhost:80", "SVC_DISCORD_URL=http://[::1]:80"}, ""},
		{[]string{
			"SVC_DISCORD_APPLICATION_ID=1", "SVC_DISCORD_BOT_TOKEN=t", "SVC_DISCORD_CLIENT_SECRET=s",
			"SVC_DISCORD_PUBLIC_KEY=" + strings.Repeat("0aF1", 16),
		}, ""},
	} {
		_, err := Load(Sources{Environ: c.environ})
		switch {
		case c.reason == "" && err != nil:
			t.Errorf("%v: %v", c.environ, err)
		case c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)):
			t.Errorf("%v: %v, want an error about %s", c.environ, err, c.reason)
		}
	}
}
