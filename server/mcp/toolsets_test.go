package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestSelected(t *testing.T) {
	read, write := &tool{name: "find_errors", set: "errors"}, &tool{name: "create_dashboard", set: "dashboards", writes: true}
	for query, want := range map[string][2]bool{
		"": {true, true}, "toolsets=all": {true, true}, "readonly=true": {true, false}, "readonly=false": {true, true}, "toolsets=errors": {true, false},
		"toolsets=Dashboards,services": {false, true}, "toolsets=errors&toolsets=dashboards": {true, true}, "toolsets=dashboards&readonly=1": {false, false}, "readonly=false&readonly=true": {true, false}, "toolsets=nothing": {false, false},
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
	for query, names := range map[string]string{"toolsets=nothing": "dashboards", "toolsets=errors,erors": "errors", "readonly=yes": "readonly", "readonly=true&readonly=x": "readonly"} {
		if res, body := send(t, http.MethodPost, srv.URL+Path+"?"+query, listTools, header); res.StatusCode != http.StatusBadRequest || !strings.Contains(body, names) {
			t.Errorf("%s: status %d, %s; want 400 that names %s", query, res.StatusCode, body, names)
		}
	}
	for _, query := range []string{"toolsets=Errors,%20services", "toolsets=all&readonly=TRUE", "readonly=", "other=1"} {
		if res, body := send(t, http.MethodPost, srv.URL+Path+"?"+query, listTools, header); res.StatusCode != http.StatusOK || !strings.Contains(body, "find_errors") {
			t.Errorf("%s: status %d, %s", query, res.StatusCode, body)
		}
	}
}

func TestFailuresNameTheToolsParameter(t *testing.T) {
	session := &tool{params: []param{{name: "session_id", kind: kindText, required: true}}}
	for field, want := range map[string]string{"id": "session_id", "session_id": "session_id", "nothing": ""} {
		if got := session.parameterOf(field); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	d := session.named("id", failureData{Message: "id is not the id of a session replay."})
	if d.Parameter != "session_id" || d.Message != "session_id is not the id of a session replay." {
		t.Errorf("%+v", d)
	}
}

func TestCommitsOfBothKeysAreListedOnce(t *testing.T) {
	got := mergeCounts([]nameCount{{"a", 9}, {"b", 5}, {"a", 7}, {"c", 6}})
	if want := []nameCount{{"a", 9}, {"c", 6}, {"b", 5}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMetricOfAnotherSourceIsNamed(t *testing.T) {
	for source, metric := range map[string]string{"logs": "p95_duration", "product_events": "avg", "traces": "increase", "metrics": "apdex"} {
		a := &arguments{values: map[string]any{"source": source, "kind": "breakdown", "metric": metric}}
		_, _, err := a.spec(timeRange{})
		var input *inputError
		if !errors.As(err, &input) || input.parameter != "metric" || !strings.Contains(input.message, metricsOf(source)[0]) {
			t.Errorf("%s with %s: %v", source, metric, err)
		}
	}
}
