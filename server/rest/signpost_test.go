package rest_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSignposts: a path of version 1 names its successor, without credentials and by every method.
func TestSignposts(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newDoor(t, 600))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{
		"/api/api_keys":         "/v2/api_keys",
		"/api/v1/apiKeys/x":     "/v2/api_keys",
		"/api/error-issues?a=b": "/v2/error_issues",
		"/api/trace/1/2":        "/v2/traces",
		"/api/traces/":          "/v2/traces",
		"/api":                  "/v2/docs",
		"/api/":                 "/v2/docs",
		"/api/v1":               "/v2/docs",
		"/api//traces":          "/v2/traces",
		"/api/%2e%2e/x":         "/v2/docs",
		"/api/<script>":         "/v2/docs",
		"/api/s":                "/v2/docs",
		"/apis/traces":          "",
		"/v2/api/traces":        "",
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
			res, body := send(t, server.URL, call{method, path, "", "", nil})
			if res.StatusCode != 404 {
				t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, body)
			}
			checkEnvelope(t, res, body, "")
			link := ""
			if want != "" {
				link = "<" + want + `>; rel="successor-version"`
			}
			var answer struct{ Error struct{ Message, Tag string } }
			if err := json.Unmarshal([]byte(strings.Replace(body, `"_tag"`, `"tag"`, 1)), &answer); err != nil {
				t.Fatal(err)
			}
			if got := res.Header.Get("Link"); got != link || want != "" && !strings.Contains(answer.Error.Message, "Its successor is "+want+";") ||
				answer.Error.Tag != "@svc/http/v2/RouteNotFoundError" || strings.Contains(body, "<script>") {
				t.Errorf("%s %s: Link %q, want %q; %s", method, path, got, link, body)
			}
		}
	}
}
