package e2e

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

// TestReferenceInBrowser uses the reference at /v2/docs in Chromium: search, an operation, Try it with a pasted key, light and dark, a
// narrow window. Nothing may come from another server, and the content security policy may refuse nothing.
func TestReferenceInBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t, os.Getenv("SVC_TEST_REQUIRE_CHROMIUM") == "1")
	dir := npmInstall(t, "browser", "playwright-core")
	s := testkit.Shared(t).NewOrganization(t, "Reference")
	out := run(t, dir, nil, "node", "reference.mjs", browser, s.BaseURL, s.APIKey, screenshots(t))
	var got struct {
		Operations int      `json:"operations"`
		Found      []string `json:"found"`
		Opened     struct {
			Title string `json:"title"`
			Hash  string `json:"hash"`
			Curl  string `json:"curl"`
		} `json:"opened"`
		WithoutKey string   `json:"withoutKey"`
		Refused    string   `json:"refused"`
		Answered   string   `json:"answered"`
		Light      string   `json:"light"`
		Dark       string   `json:"dark"`
		Nested     []string `json:"nested"`
		Fields     []string `json:"fields"`
		Wide       bool     `json:"wide"`
		Problems   []string `json:"problems"`
		Foreign    []string `json:"foreign"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := 0
	for _, m := range theContract(t).Methods() {
		if !m.NoREST {
			want++
		}
	}
	if got.Operations != want {
		t.Errorf("%d operations are listed, want %d", got.Operations, want)
	}
	if len(got.Found) == 0 || len(got.Found) >= want || !strings.Contains(got.Found[0], "Create an API key") {
		t.Errorf("the search found %q", got.Found)
	}
	if !strings.HasSuffix(got.Opened.Hash, "/createApiKey") || !strings.HasPrefix(got.Opened.Title, "Create an API key") {
		t.Errorf("Enter opened %+v", got.Opened)
	}
	for _, part := range []string{"curl " + s.BaseURL + "/v2/api_keys", "--request POST", "Authorization: Bearer ", `"name": "deploy bot"`} {
		if !strings.Contains(got.Opened.Curl, part) {
			t.Errorf("the curl command lacks %q: %s", part, got.Opened.Curl)
		}
	}
	// The example of an optional header is not sent, because it names another organization.
	if strings.Contains(strings.ToLower(got.Opened.Curl), "x-svc-org-id") {
		t.Errorf("the curl command sends an optional parameter: %s", got.Opened.Curl)
	}
	if !strings.Contains(got.WithoutKey, "InvalidCredentialsError") || !strings.Contains(got.WithoutKey, "It must be `Bearer`") {
		t.Errorf("Try it without a key says %q", got.WithoutKey)
	}
	if !strings.Contains(got.Refused, "401 Unauthorized") || !strings.Contains(got.Refused, "InvalidCredentialsError") {
		t.Errorf("Try it with an unknown key shows %q", got.Refused)
	}
	if !strings.Contains(got.Answered, "200 OK") || !strings.Contains(got.Answered, `"name": "Bootstrap"`) {
		t.Errorf("Try it shows %q", got.Answered)
	}
	if got.Light == got.Dark || got.Light == "" {
		t.Errorf("light is %q, dark is %q", got.Light, got.Dark)
	}
	if !slices.Contains(got.Nested, "has_error") || !slices.Contains(got.Fields, "key_prefix") || got.Fields[0] != "id" {
		t.Errorf("the filters of a search are %q, the fields of ApiKey %q", got.Nested, got.Fields)
	}
	if got.Wide {
		t.Error("a narrow window must be scrolled sideways")
	}
	if len(got.Problems) > 0 || len(got.Foreign) > 0 {
		t.Errorf("problems %q, requests elsewhere %q", got.Problems, got.Foreign)
	}
}
