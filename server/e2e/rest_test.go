package e2e

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/testkit"
)

// TestPathsAsWritten sends paths that net/http would redirect. The envelope answers every one, never HTML.
func TestPathsAsWritten(t *testing.T) {
	s := testkit.Shared(t)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range []string{
		"/", "/v2", "/v2/", "/v2//api_keys", "//v2/api_keys", "/v2/../v2/api_keys", "/v2/api_keys/a%2Fb%2F..%2Fc/x",
		"/v2/api_keys/", "/api/keys", "/svc", "/mcp/",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.URL.Opaque = "//" + req.URL.Host + path
		req.Header.Set("Authorization", "Bearer "+s.APIKey)
		res, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		body, err := io.ReadAll(res.Body)
		if err = joinClose(err, res.Body); err != nil {
			t.Fatal(err)
		}
		var e struct {
			Error wireError `json:"error"`
		}
		if json.Unmarshal(body, &e) != nil || res.StatusCode != http.StatusNotFound || e.Error.Tag != "@svc/http/v2/RouteNotFoundError" {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
}

// TestHealthOfEveryRole checks that a node that only takes in telemetry serves health and metrics too, and nothing of the API.
func TestHealthOfEveryRole(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Start(t, func(c *config.Config) {
		c.Roles, c.APIAddr = config.Roles{config.RoleIngest}, addr
	})
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/v2/api_keys": 404, "/mcp": 404} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
		if status, body := roundTrip(t, req); status != want {
			t.Errorf("%s: %d, want %d: %.200s", path, status, want, body)
		}
	}
}

func joinClose(err error, c io.Closer) error {
	if closing := c.Close(); err == nil {
		err = closing
	}
	return err
}

// TestPublicPages checks the pages that need no credential: health, version, metrics and the MCP manifest under both of its
// names.
func TestPublicPages(t *testing.T) {
	s := testkit.Shared(t)
	for path, want := range map[string]string{
		"/healthz": `"status":"ok"`, "/readyz": `"warehouse":"ok"`, "/version": `"region":"us"`, "/metrics": "svc_ingest_queue_bytes",
		"/.well-known/mcp.json": s.BaseURL + "/mcp", "/.well-known/mcp/server-card.json": s.BaseURL + "/mcp",
	} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+path, nil)
		status, body := roundTrip(t, req)
		if status != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d, want %q in %.300s", path, status, want, body)
		}
	}
}

// TestKeyExpiresExactly checks that a key for one week works for exactly one week.
func TestKeyExpiresExactly(t *testing.T) {
	s := testkit.Shared(t)
	a := callREST(t, s, s.APIKey, operation(t, "createApiKey"), json.RawMessage(`{"name":"a week","expires_in_seconds":604800}`))
	if a.err != nil {
		t.Fatalf("%+v", a.err)
	}
	var key struct {
		CreatedAt time.Time `json:"created_at"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal(a.body, &key); err != nil {
		t.Fatal(err)
	}
	if got := key.ExpiresAt.Sub(key.CreatedAt); got != 7*24*time.Hour {
		t.Errorf("the key lives for %s", got)
	}
}

// TestVersionOne: a path of version 1 names its successor to a caller without credentials, behind all other doors of the address.
func TestVersionOne(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t)
	for path, want := range map[string]string{"/api/v1/traces": "/v2/traces", "/api": "/v2/docs"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusNotFound || res.Header.Get("Link") != "<"+want+`>; rel="successor-version"` {
			t.Errorf("%s: %d, Link %q", path, res.StatusCode, res.Header.Get("Link"))
		}
	}
}
