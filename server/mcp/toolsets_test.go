package mcp

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/mcp/tool"
)

func TestSelected(t *testing.T) {
	read, write := &tool.Tool{Name: "find_errors", Set: "errors"}, &tool.Tool{Name: "create_dashboard", Set: "dashboards", Writes: true}
	for query, want := range map[string][2]bool{
		"": {true, true}, "toolsets=all": {true, true}, "readonly=true": {true, false}, "readonly=false": {true, true},
		"toolsets=errors":              {true, false},
		"toolsets=Dashboards,services": {false, true}, "toolsets=errors&toolsets=dashboards": {true, true},
		"toolsets=dashboards&readonly=1": {false, false}, "readonly=false&readonly=true": {true, false}, "toolsets=nothing": {false, false},
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.WithValue(t.Context(), selectionKey{}, q)
		if got := [2]bool{selected(ctx, read), selected(ctx, write)}; got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

func TestSlipsInTheURLAreRefused(t *testing.T) {
	srv := server(t, &backend{}, full(), nil)
	header := map[string]string{"Authorization": "Bearer full", "Content-Type": "application/json"}
	for query, names := range map[string]string{
		"toolsets=nothing": "dashboards", "toolsets=errors,erors": "errors",
		"readonly=yes": "readonly", "readonly=true&readonly=x": "readonly",
	} {
		if res, body := send(t, http.MethodPost, srv.URL+Path+"?"+query, listTools, header); res.StatusCode != http.StatusBadRequest ||
			!strings.Contains(body, names) {
			t.Errorf("%s: status %d, %s; want 400 that names %s", query, res.StatusCode, body, names)
		}
	}
	for _, query := range []string{"toolsets=Errors,%20services", "toolsets=all&readonly=TRUE", "readonly=", "other=1"} {
		if res, body := send(t, http.MethodPost, srv.URL+Path+"?"+query, listTools, header); res.StatusCode != http.StatusOK ||
			!strings.Contains(body, "find_errors") {
			t.Errorf("%s: status %d, %s", query, res.StatusCode, body)
		}
	}
}
