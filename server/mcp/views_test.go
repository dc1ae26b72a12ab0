package mcp

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/mcp/tool"
)

// TestViewsHavePages compares the addresses in the answers of tools with the pages of the web application. A person who follows an
// address finds a page, and a part of the settings or of the alerts that it names.
func TestViewsHavePages(t *testing.T) {
	names := func(file, pattern string) []string {
		text, err := os.ReadFile("../web/ui/src/pages/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			found = append(found, m[1])
		}
		return found
	}
	pages := names("routes.tsx", `case "([^"]*)":`)
	parts := map[string][]string{
		"alerts":   append(names("alerts/index.tsx", `\["([a-z-]+)", "`), "incidents"),
		"settings": names("settings/index.tsx", `\["([a-z-]+)", "`),
	}
	if len(pages) < 15 || len(parts["settings"]) < 4 || len(parts["alerts"]) < 4 {
		t.Fatalf("only %d pages, %v", len(pages), parts)
	}
	clients := tool.NewClients(nil)
	checked := 0
	for _, set := range toolsets() {
		for _, newTool := range set.tools {
			made, err := newTool(clients)
			if err != nil {
				t.Fatal(err)
			}
			if made.View == tool.NoView {
				continue
			}
			path, _, _ := strings.Cut(strings.TrimPrefix(string(made.View), "/"), "?")
			first, rest, _ := strings.Cut(path, "/")
			checked++
			// The argument is a signal, whose page has its name.
			if !slices.Contains(pages, first) && first != "{source}" {
				t.Errorf("%s leads to %s, and routes.tsx has no such page", made.Name, made.View)
			}
			if second, _, _ := strings.Cut(rest, "/"); second != "" && parts[first] != nil && !slices.Contains(parts[first], second) {
				t.Errorf("%s leads to %s, which has no such part", made.Name, made.View)
			}
		}
	}
	for _, source := range []string{"traces", "logs", "metrics", "events"} {
		if !slices.Contains(pages, source) {
			t.Errorf("no page for the source %s", source)
		}
	}
	if checked < 60 {
		t.Errorf("only %d tools have a page", checked)
	}
}
