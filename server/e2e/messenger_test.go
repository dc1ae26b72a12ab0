package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/testkit"
)

// messenger is a server with a stand-in for one chat service, and its administrator in a browser.
type messenger struct {
	*sourceBench

	id      string // of the connector
	sign    func(h http.Header, at time.Time, body []byte)
	secrets func() []string
}

func newMessenger(
	t *testing.T, id string, set func(*config.Config), sign func(http.Header, time.Time, []byte), secrets func() []string,
) *messenger {
	t.Helper()
	s := testkit.Start(t, set)
	b := &messenger{&sourceBench{t: t, s: s, rest: restClient{t, s, s.APIKey}, admin: newVisitor(t, s.BaseURL)}, id, sign, secrets}
	b.admin.signIn(s.AdminEmail, s.AdminPassword)
	return b
}

// install begins to connect a workspace and returns the path of the callback.
func (b *messenger) install(by restClient, body string) string {
	b.t.Helper()
	return b.atHub(fmt.Sprint(by.call("POST", "/v2/integrations/chat_connectors/"+b.id+"/install", body, 200)["url"]))
}

// connect connects the workspace that the person chooses, and waits for its channels. It returns the id.
func (b *messenger) connect() string {
	b.t.Helper()
	got := b.admin.get(b.install(b.session(), "{}"))
	if got.StatusCode != 303 || !strings.HasSuffix(got.Header.Get("Location"),
		"/settings/integrations?integration="+b.id+"&result=connected") {
		b.t.Fatalf("connect: %d %s\n%s", got.StatusCode, got.Header.Get("Location"), got.text)
	}
	b.until("the channels are read", func() bool { return b.workspace(b.rest)["synced_at"] != nil })
	return fmt.Sprint(b.workspace(b.rest)["id"])
}

// connector is the chat service in the list of an organization.
func (b *messenger) connector(by restClient) map[string]any {
	b.t.Helper()
	return connectorOf(b.t, by, b.id)
}

// connectorOf is a chat service in the list of an organization.
func connectorOf(t *testing.T, by restClient, id string) map[string]any {
	t.Helper()
	data, _ := by.call("GET", "/v2/integrations/chat_connectors", "", 200)["data"].([]any)
	for _, d := range data {
		if c, _ := d.(map[string]any); c["id"] == id {
			return c
		}
	}
	t.Fatalf("connectors: %v", data)
	return nil
}

// workspace is the newest workspace of an organization.
func (b *messenger) workspace(by restClient) map[string]any {
	b.t.Helper()
	all, _ := b.connector(by)["workspaces"].([]any)
	if len(all) == 0 {
		return map[string]any{}
	}
	w, _ := all[len(all)-1].(map[string]any)
	return w
}

// names lists the channels of a workspace that an answer holds.
func (b *messenger) names(by restClient, path string) string {
	b.t.Helper()
	var out []string
	data, _ := by.call("GET", path, "", 200)["destinations"].([]any)
	for _, d := range data {
		c, _ := d.(map[string]any)
		out = append(out, fmt.Sprint(c["name"], ":", c["private"]))
	}
	return strings.Join(out, " ")
}

// deliver sends what the chat service would send, and returns the status, the type and the text of the answer. A forged delivery has the
// signature of another body.
func (b *messenger) deliver(body string, at time.Time, forge bool) (status int, contentType, text string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.s.BaseURL+"/integrations/"+b.id+"/webhook",
		strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	signed := body
	if forge {
		signed += " "
	}
	b.sign(req.Header, at, []byte(signed))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Content-Type"), string(answer)
}

// noSecrets searches the audit entries for secrets.
func (b *messenger) noSecrets() {
	b.t.Helper()
	entries := fmt.Sprint(b.rest.call("GET", "/v2/audit_log?limit=100", "", 200)["data"])
	for _, secret := range b.secrets() {
		if strings.Contains(entries, secret) {
			b.t.Errorf("the audit log holds %q", secret)
		}
	}
	if !strings.Contains(entries, "integration.connected") || !strings.Contains(entries, "chatw_") || strings.Contains(entries, "intg_") {
		b.t.Errorf("the audit log of a connection: %s", entries)
	}
}
