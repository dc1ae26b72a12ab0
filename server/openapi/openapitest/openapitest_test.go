package openapitest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/openapi"
	"github.com/svc-observability/svc/server/openapi/openapitest"
)

// document is written once, because that takes longer than all tests together.
var document = sync.OnceValues(func() ([]byte, error) {
	c, err := contract.Load()
	if err != nil {
		return nil, err
	}
	return openapi.New(c, "https://svc.test")
})

func newChecker(t *testing.T) *openapitest.Checker {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	checker, err := openapitest.New(doc)
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

const (
	key = `{"id":"key_YoyM27RZv6BZLTbZ2kvNcS","object":"api_key","name":"n","description":null,"key_prefix":"svc_ak_a...","kind":"standard","scopes":["traces:read"],` +
		`"revoked":false,"revoked_at":null,"last_used_at":null,"expires_at":null,"created_at":"2026-01-31T09:30:00Z","created_by":"user_x","created_by_email":null}`
	notFound = `{"error":{"_tag":"@svc/http/errors/ApiKeyNotFoundError","type":"not_found_error","code":"api_key_not_found","title":"No such API key","message":"m","retryable":false,"recovery":"none","param":"id"}}`
	limited  = `{"error":{"_tag":"@svc/http/v2/RateLimitError","type":"rate_limit_error","code":"rate_limited","title":"t","message":"m","retryable":true,"recovery":"retry"}}`
	noRoute  = `{"error":{"_tag":"@svc/http/v2/RouteNotFoundError","type":"not_found_error","code":"route_not_found","title":"t","message":"m","retryable":false,"recovery":"fix_request"}}`
)

func TestCheck(t *testing.T) {
	list := `{"object":"list","data":[` + key + `],"has_more":false,"next_cursor":null}`
	checker := newChecker(t)
	for _, c := range []struct {
		name, method, target, request string
		status                        int
		body                          string
		header                        string // one more header, `Name: value`; `-Name` removes a header
		want                          string // part of the only problem; empty: no problem
	}{
		{"a list", "GET", "/v2/api_keys?limit=5", "", 200, list, "", ""},
		{"HEAD", "HEAD", "/v2/api_keys", "", 200, "", "", ""},
		{"a failure", "GET", "/v2/api_keys/key_1", "", 404, notFound, "", ""},
		{"a retryable failure", "GET", "/v2/api_keys", "", 429, limited, "Retry-After: 60", ""},
		{"an unknown route", "GET", "/v2/nothing", "", 404, noRoute, "", ""},
		{"OPTIONS", "OPTIONS", "/v2/api_keys", "", 204, "", "", ""},

		{"a missing field", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `"name":"n",`, "", 1), "", "name"},
		{"a field too many", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `"name"`, `"hash":"x","name"`, 1), "", "hash"},
		{"a field too many in a list", "GET", "/v2/api_keys", "", 200, strings.Replace(list, `"name"`, `"hash":"x","name"`, 1), "", "hash"},
		{"null where none may be", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `"n"`, `null`, 1), "", "/name"},
		{"number for text", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `"n"`, `1`, 1), "", "/name"},
		{"another constant", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `"api_key"`, `"key"`, 1), "", "/object"},
		{"a value outside of its list", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `"standard"`, `"other"`, 1), "", "/kind"},
		{"an id of another kind", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `"key_Y`, `"dash_Y`, 1), "", "/id"},
		{"an empty list for null", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `["traces:read"]`, `[]`, 1), "", "/scopes"},
		{"a scope of the wrong form", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `traces:read`, `traces`, 1), "", "/scopes/0"},
		{"a time without a zone", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `:00Z`, `:00`, 1), "", "/created_at"},
		{
			"a time that does not exist", "GET", "/v2/api_keys/key_1", "", 200, strings.Replace(key, `2026-01-31`, `2026-02-31`, 1), "",
			"/created_at",
		},
		{"an unlisted status", "GET", "/v2/api_keys", "", 404, notFound, "", "does not list this status"},
		{"an unlisted tag", "GET", "/v2/api_keys/key_1", "", 404, noRoute, "", "does not fit its schema"},
		{
			"tag and code that differ", "GET", "/v2/api_keys/key_1", "", 404, strings.Replace(notFound, `api_key_not_found`, `x`, 1), "",
			"/error/code",
		},
		{"an open envelope", "GET", "/v2/api_keys/key_1", "", 404, strings.Replace(notFound, `"param"`, `"cause":"x","param"`, 1), "", "cause"},
		{"no Retry-After", "GET", "/v2/api_keys", "", 429, limited, "", "Retry-After"},
		{"a Retry-After of nothing", "GET", "/v2/api_keys", "", 429, limited, "Retry-After: 0", "header Retry-After"},
		{"Retry-After where none belongs", "GET", "/v2/nothing", "", 404, noRoute, "Retry-After: 1", "Retry-After"},
		{"no request id", "GET", "/v2/api_keys", "", 200, list, "-X-Request-Id", "X-Request-Id is missing"},
		{"another content type", "GET", "/v2/api_keys", "", 200, list, "Content-Type: text/plain", "content type"},
		{"not JSON", "GET", "/v2/api_keys", "", 200, "<html>", "", "not JSON"},
		{"an undocumented route", "GET", "/v2/secret", "", 200, "{}", "", "no such operation"},
		{"an accepted parameter too many", "GET", "/v2/api_keys?debug=1", "", 200, list, "", "takes no parameter query debug"},
		{"an accepted parameter out of bounds", "GET", "/v2/api_keys?limit=101", "", 200, list, "", "limit"},
		{
			"an accepted body too wide", "POST", "/v2/api_keys", `{"name":"n","admin":true}`, 200, strings.TrimSuffix(key, "}") + `,"secret":"s"}`,
			"", "admin",
		},
		{"an accepted body without a name", "POST", "/v2/api_keys", `{}`, 200, strings.TrimSuffix(key, "}") + `,"secret":"s"}`, "", "name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"r"}}
			if name, value, ok := strings.Cut(c.header, ": "); ok {
				header.Set(name, value)
			}
			if name, ok := strings.CutPrefix(c.header, "-"); ok {
				header.Del(name)
			}
			target, err := url.Parse(c.target)
			if err != nil {
				t.Fatal(err)
			}
			x := openapitest.Exchange{Method: c.method, URL: target, Status: c.status, Header: header, Body: []byte(c.body)}
			if c.request != "" {
				x.Request = []byte(c.request)
			}
			problems := checker.Check(x)
			switch {
			case c.want == "" && len(problems) > 0:
				t.Errorf("found %q", problems)
			case c.want != "" && (len(problems) == 0 || !strings.Contains(problems[0], c.want)):
				t.Errorf("found %q, want a problem with %q first", problems, c.want)
			}
		})
	}
}

// TestWatch checks that the watcher sees the bytes that a real server sends and a real client receives, compressed or not. It
// changes neither.
func TestWatch(t *testing.T) {
	checker := newChecker(t)
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "r")
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"got":%q}`, body)
	})
	server := httptest.NewServer(checker.Watch(answer))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: checker.Transport(http.DefaultTransport)}
	t.Cleanup(client.CloseIdleConnections)
	for target, want := range map[string]int{"/v2/api_keys": 2, "/v2/docs": 0, "/v2/docs/reference.css": 0, "/healthz": 0} {
		res, err := client.Post(server.URL+target, "application/json", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if string(body) != `{"got":"x"}` {
			t.Errorf("%s: the client got %s", target, body)
		}
		found := checker.Take()
		answers := 0
		for _, p := range found {
			if strings.Contains(p, "does not fit its schema") {
				answers++
			}
		}
		if answers != want {
			t.Errorf("%s: %d answers were found unfit, want %d: %q", target, answers, want, found)
		}
	}
	if diff := cmp.Diff(map[string]int{"createApiKey 200": 2}, checker.Checked()); diff != "" {
		t.Error(diff)
	}
}

// The schemas of the document must be schemas themselves, wherever they stand.
func TestInvalidSchema(t *testing.T) {
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{
		"components/schemas/ApiKey",
		"components/headers/X-Request-Id/schema",
		"paths//v2/api_keys/get/parameters/0/schema",
		"paths//v2/api_keys/post/requestBody/content/application/json/schema",
		"paths//v2/api_keys/get/responses/200/content/application/json/schema",
	} {
		t.Run(place, func(t *testing.T) {
			var root map[string]any
			if err := json.Unmarshal(doc, &root); err != nil {
				t.Fatal(err)
			}
			schemaAt(t, root, place)["type"] = "strng"
			changed, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := openapitest.New(changed); err == nil {
				t.Error("a document with a schema of type strng was accepted")
			}
		})
	}
}

// schemaAt finds a schema by its steps. A name of the document may itself contain slashes, so the longest one that exists is taken.
func schemaAt(t *testing.T, at any, path string) map[string]any {
	t.Helper()
	if path == "" {
		return at.(map[string]any)
	}
	steps := strings.Split(path, "/")
	for n := len(steps); n > 0; n-- {
		name, rest := strings.Join(steps[:n], "/"), strings.Join(steps[n:], "/")
		switch v := at.(type) {
		case map[string]any:
			if next, ok := v[name]; ok {
				return schemaAt(t, next, rest)
			}
		case []any:
			if i, err := strconv.Atoi(name); err == nil {
				return schemaAt(t, v[i], rest)
			}
		}
	}
	t.Fatalf("the document has no %s", path)
	return nil
}
