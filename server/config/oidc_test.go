package config

import (
	"strings"
	"testing"
)

// TestOIDCSettings checks that settings without effect, and settings that let strangers in, stop the start. The message names the
// key.
func TestOIDCSettings(t *testing.T) {
	provider := []string{"SVC_OIDC_ISSUER=https://id.example.com", "SVC_OIDC_CLIENT_ID=svc"}
	for _, tc := range []struct {
		name    string
		environ []string
		want    string // in the error; empty: no error
	}{
		{"complete", append(provider, "SVC_OIDC_CLIENT_SECRET=short is fine"), ""},
		{"this machine", []string{"SVC_OIDC_ISSUER=http://127.0.0.1:9/", "SVC_OIDC_CLIENT_ID=svc"}, ""},
		{"spaces between scopes", append(provider, "SVC_OIDC_SCOPES=openid email"), ""},
		{"in clear", []string{"SVC_OIDC_ISSUER=http://id.example.com", "SVC_OIDC_CLIENT_ID=svc"}, "https"},
		{"no client", provider[:1], "oidc-client-id"},
		{"no issuer", provider[1:], "oidc-issuer"},
		{"only a secret", []string{"SVC_OIDC_CLIENT_SECRET=s"}, "oidc-client-secret"},
		{"printed stars", append(provider, "SVC_OIDC_CLIENT_SECRET=***"), "oidc-client-secret"},
		{"no openid", append(provider, "SVC_OIDC_SCOPES=email"), "oidc-scopes"},
		{"everybody may join", append(provider, "SVC_OIDC_JOIN_ORGANIZATION=acme"), "oidc-join-domains"},
		{"join what", append(provider, "SVC_OIDC_JOIN_DOMAINS=example.com"), "oidc-join-organization"},
		{"no domain", append(provider, "SVC_OIDC_JOIN_ORGANIZATION=acme", "SVC_OIDC_JOIN_DOMAINS=*"), "not a domain"},
	} {
		_, err := Load(Sources{Environ: tc.environ})
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}
