package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/store/pgtest"
	"github.com/svc-observability/svc/server/testkit"
)

// answersIn is the time within which a request is refused when a part of the installation is away.
const answersIn = 5 * time.Second

// TestDatabaseHangs drops every packet between the server and its database. Requests with a known ingest key are accepted. Everything that
// needs the database gets 503 with Retry-After in time, on a connection from before too, and never 401. All is well again when the packets
// pass.
func TestDatabaseHangs(t *testing.T) {
	t.Parallel()
	database, err := url.Parse(pgtest.Start(t).NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	between := startBlackhole(t, database.Host)
	database.Host = between.Addr
	s := testkit.Start(t, func(c *config.Config) { c.DatabaseURL = config.DSN(database.String()) })
	for _, key := range []string{s.PrivateKey, s.APIKey} { // from now on, the server knows them
		if status, _ := away(t, s, key); status != http.StatusOK {
			t.Fatalf("before: %d", status)
		}
	}
	between.cut()
	for _, c := range []struct {
		name, key string
		want      int
	}{
		{"a known ingest key", s.PrivateKey, http.StatusOK},
		{"an ingest key that the server has not seen", s.PublicKey, http.StatusServiceUnavailable},
		{"a read on a connection from before", s.APIKey, http.StatusServiceUnavailable},
		{"another read", s.APIKey, http.StatusServiceUnavailable},
		{"a known ingest key, later", s.PrivateKey, http.StatusOK},
	} {
		began := time.Now()
		status, retry := away(t, s, c.key)
		took := time.Since(began)
		if status != c.want || took > answersIn+3*time.Second || status != http.StatusOK && retry == "" {
			t.Errorf("%s: %d after %s, Retry-After %q", c.name, status, took, retry)
		}
		t.Logf("%s: %d after %s", c.name, status, took.Round(time.Millisecond))
	}
	between.heal()
	for _, key := range []string{s.PublicKey, s.APIKey} {
		eventually(t, "the database", func() bool { status, _ := away(t, s, key); return status == http.StatusOK })
	}
}

// away sends log records with an ingest key, or lists the keys with an API key.
func away(t *testing.T, s *testkit.Server, key string) (status int, retryAfter string) {
	t.Helper()
	method, to := http.MethodPost, s.IngestURL+"/v1/logs"
	if key == s.APIKey {
		method, to = http.MethodGet, s.BaseURL+"/v2/api_keys"
	}
	req, err := http.NewRequestWithContext(t.Context(), method, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		body := bytes.NewReader(oneLog("away"))
		req.Body, req.ContentLength = io.NopCloser(body), int64(body.Len())
		req.Header.Set("Content-Encoding", "gzip")
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	res.Body.Close()
	return res.StatusCode, res.Header.Get("Retry-After")
}
