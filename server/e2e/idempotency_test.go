package e2e

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

// keyed sends a request with an Idempotency-Key, if one is given, and returns status, headers and body.
func keyed(t *testing.T, url, credential, key, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil, ""
	}
	req.Header.Set("Authorization", "Bearer "+credential)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, nil, ""
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, res.Header, string(text)
}

// TestIdempotencyKey checks that a create call that is repeated with its key creates one resource, over REST and Connect.
func TestIdempotencyKey(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Idempotency")
	c := restClient{t, s, s.APIKey}
	count := func() int {
		t.Helper()
		data, _ := c.call("GET", "/v2/api_keys?limit=100", "", 200)["data"].([]any)
		return len(data)
	}
	rest, connect := s.BaseURL+"/v2/api_keys", s.BaseURL+"/svc.v2.ApiKeysService/CreateApiKey"

	for _, door := range []string{rest, connect} {
		before := count()
		answers := map[string]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				status, header, body := keyed(t, door, s.APIKey, "parallel "+door[len(s.BaseURL):], `{"name":"once"}`)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case status == 200:
					answers[body]++
				case status == 409 && strings.Contains(body, "IdempotencyInProgressError") && header.Get("Retry-After") == "1":
				case status == 409 && door == connect && header.Get("Retry-After") == "1":
				default:
					t.Errorf("%s: %d %s", door, status, body)
				}
			})
		}
		wg.Wait()
		if len(answers) != 1 || count() != before+1 {
			t.Errorf("%s: %d different answers, %d keys created", door, len(answers), count()-before)
		}
		status, header, body := keyed(t, door, s.APIKey, "parallel "+door[len(s.BaseURL):], `{"name":"once"}`)
		if _, same := answers[body]; status != 200 || !same || header.Get("Idempotent-Replayed") != "true" ||
			header.Get("Cache-Control") != "no-store" && door == rest {
			t.Errorf("%s: repeated: %d %v %s, want one of %v", door, status, header, body, maps.Keys(answers))
		}
	}

	// The doors share the keys: Connect repeats the answer to a REST request, including the secret.
	_, _, made := keyed(t, rest, s.APIKey, "both doors", `{"name":"b","scopes":["traces:read"]}`)
	status, header, again := keyed(t, connect, s.APIKey, "both doors", `{"name":"b","scopes":["traces:read"]}`)
	secret := made[strings.LastIndex(made, "svc_ak_"):][:50]
	if status != 200 || header.Get("Idempotent-Replayed") != "true" || !strings.Contains(again, secret) {
		t.Errorf("over the other door: %d %v %s, want the secret of %s", status, header, again, made)
	}

	for name, x := range map[string]struct {
		key, body string
		status    int
		tag       string
	}{
		"another body":  {"both doors", `{"name":"c"}`, 409, "@svc/http/v2/IdempotencyKeyReusedError"},
		"a long key":    {strings.Repeat("k", 256), `{"name":"c"}`, 400, "@svc/http/v2/InvalidRequestError"},
		"other letters": {"schlüssel", `{"name":"c"}`, 400, "@svc/http/v2/InvalidRequestError"},
	} {
		status, _, body := keyed(t, rest, s.APIKey, x.key, x.body)
		if status != x.status || !strings.Contains(body, x.tag) {
			t.Errorf("%s: %d %s, want %d %s", name, status, body, x.status, x.tag)
		}
	}
	// Another method, a roll, with the key of a create.
	id := fmt.Sprint(c.call("GET", "/v2/api_keys?limit=1", "", 200)["data"].([]any)[0].(map[string]any)["id"])
	if status, _, body := keyed(t, rest+"/"+id+"/roll", s.APIKey, "both doors", ""); status != 409 ||
		!strings.Contains(body, "IdempotencyKeyReusedError") {
		t.Errorf("another method: %d %s", status, body)
	}
	_, _, first := keyed(t, rest+"/"+id+"/roll", s.APIKey, "roll", "")
	if status, _, second := keyed(t, rest+"/"+id+"/roll", s.APIKey, "roll", ""); status != 200 || first != second {
		t.Errorf("a repeated roll: %d %s, want %s", status, second, first)
	}
	// A failed request may be repeated, even with another body.
	if status, _, _ := keyed(t, rest, s.APIKey, "mended", `{"name":""}`); status != 400 {
		t.Errorf("a bad body: %d", status)
	}
	if status, header, body := keyed(t, rest, s.APIKey, "mended", `{"name":"mended"}`); status != 200 ||
		header.Get("Idempotent-Replayed") != "" {
		t.Errorf("after a failure: %d %v %s", status, header, body)
	}
	// Another caller has separate keys.
	other := testkit.Shared(t).NewOrganization(t, "Idempotency too")
	if status, header, _ := keyed(t, rest, other.APIKey, "both doors", `{"name":"b","scopes":["traces:read"]}`); status != 200 ||
		header.Get("Idempotent-Replayed") != "" {
		t.Errorf("another organization: %d %v", status, header)
	}
}
