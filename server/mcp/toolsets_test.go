package mcp

import (
	"context"
	"net/url"
	"testing"
)

func TestSelected(t *testing.T) {
	read, write := &tool{name: "find_errors", set: "errors"}, &tool{name: "create_dashboard", set: "dashboards", writes: true}
	for query, want := range map[string][2]bool{
		"": {true, true}, "toolsets=all": {true, true}, "readonly=true": {true, false}, "readonly=false": {true, true}, "toolsets=errors": {true, false},
		"toolsets=Dashboards,services": {false, true}, "toolsets=errors&toolsets=dashboards": {true, true}, "toolsets=dashboards&readonly=1": {false, false}, "toolsets=nothing": {false, false},
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
