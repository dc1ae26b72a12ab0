package e2e

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/testkit"
)

// trustTests lets servers in this binary trust the certificate of httptest, besides the public ones of the machine. It must run
// first: the certificates are read once.
func trustTests() (remove func(), err error) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	dir, err := os.MkdirTemp("", "svc-ca-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "ca.pem")
	err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600)
	return func() { _ = os.RemoveAll(dir) }, errors.Join(err, os.Setenv("SSL_CERT_FILE", file))
}

// TestOAuthPublishedClient checks a program that does not register, but publishes its metadata at its client_id. The consent page
// shows the host of that address, and the program gets a token.
func TestOAuthPublishedClient(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil, func(o *app.Options) { o.Egress = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	program := newWaitingProgram(t)
	publisher := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"client_id":"https://%s%s","client_name":"A published editor","redirect_uris":["http://127.0.0.1/callback"],"token_endpoint_auth_method":"none"}`, r.Host, r.URL.Path)
	}))
	t.Cleanup(publisher.Close)
	cfg := oauth2.Config{ClientID: publisher.URL + "/editor.json", RedirectURL: program.callback, Endpoint: oauth2.Endpoint{
		AuthURL: s.BaseURL + "/oauth/authorize", TokenURL: s.BaseURL + "/oauth/token", AuthStyle: oauth2.AuthStyleInParams,
	}}
	verifier := oauth2.GenerateVerifier()
	address := cfg.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", s.BaseURL+"/mcp"))
	steps := append([]step{open(address)}, signInSteps(s.AdminEmail, s.AdminPassword)...)
	steps = append(steps, awaitPage(s.BaseURL+"/oauth/authorize?"), look("consent-published"), read("page", ".card"),
		click("button[value=approve]"), awaitPage(program.callback))
	got := walk(t, []string{s.BaseURL, strings.TrimSuffix(program.callback, "/callback")}, steps...)
	for _, want := range []string{"A published editor", strings.TrimPrefix(publisher.URL, "https://")} {
		if !strings.Contains(fmt.Sprint(got.Seen["page"]), want) {
			t.Errorf("the page does not show %q: %v", want, got.Seen["page"])
		}
	}
	token, err := cfg.Exchange(t.Context(), (<-program.answers).Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if res, text := atMCP(t, s, "/mcp", func(r *http.Request) {
		r.Header.Set("Authorization",
			"Bearer "+token.AccessToken)
	}); res.StatusCode != 200 || !strings.Contains(text, "list_services") {
		t.Errorf("%d %s", res.StatusCode, text)
	}

	// These are not credentials of the MCP server.
	session := fmt.Sprint(restClient{t, s, ""}.call("POST", "/v2/session",
		fmt.Sprintf(`{"email":%q,"password":%q}`, s.AdminEmail, s.AdminPassword), 200)["token"])
	for what, credential := range map[string]string{
		"public ingest key": s.PublicKey, "private ingest key": s.PrivateKey, "session": session,
		"nothing of ours": "svc_ak_unknown",
	} {
		res, text := atMCP(t, s, "/mcp", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+credential) })
		if res.StatusCode != 401 || !strings.Contains(res.Header.Get("WWW-Authenticate"), "resource_metadata=") ||
			!strings.Contains(text, `"type":"authentication_error"`) {
			t.Errorf("%s: %d %v %s", what, res.StatusCode, res.Header, text)
		}
	}
}
