package pages

import (
	"strings"
	"testing"
)

func TestAccess(t *testing.T) {
	for scopes, want := range map[string]string{
		"*":                                   "Everything that you can read and change in the organization",
		"traces:read":                         "Read traces",
		"traces:read logs:read":               "Read traces and logs",
		"logs:read alerts:write metrics:read": "Read logs and metrics|Read and change alerts",
		"api_keys:write sql:read":             "Read SQL|Read and change API keys",
		"dashboards:read dashboards:write session_replays:write": "Read and change dashboards and session replays",
	} {
		if got := strings.Join(access(strings.Fields(scopes)), "|"); got != want {
			t.Errorf("%s: %q, want %q", scopes, got, want)
		}
	}
}

func TestDestination(t *testing.T) {
	for to, want := range map[string]string{
		"https://app.test/cb?x=1": "app.test", "https://app.test:8443/": "app.test:8443",
		"http://localhost:3000/cb":         "a program on this computer (localhost:3000)",
		"cursor://anysphere.cursor-mcp/cb": "the application that opens cursor: addresses",
	} {
		if got, local := destination(to); got != want || local == strings.HasPrefix(to, "https") {
			t.Errorf("%s: %q %v", to, got, local)
		}
	}
}
