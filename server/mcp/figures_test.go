package mcp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

var figure = regexp.MustCompile(`\b[0-9][0-9,]* (?:seconds?|minutes?|hours?|days?|characters|bytes|KiB|MiB|GiB)\b`)

// TestFigures compares the figures in descriptions with limits. A figure with a unit is the value of a limit, comes from the
// contract, or is listed here.
func TestFigures(t *testing.T) {
	known := map[string]bool{
		"4,000 characters": true, // the reason of feedback, from the contract
		"200 characters":   true, // other texts of feedback, from the contract
	}
	for _, g := range limits.Table() {
		for _, l := range g.Limits {
			known[l.Text()] = true
		}
	}
	windows := 0
	for name, tool := range declared(t, connect(t, server(t, &backend{}, full(), nil), "full")) {
		schema := tooltest.Resolve(t, tool.InputSchema).Schema()
		texts := []string{tool.Description}
		for _, p := range schema.Properties {
			texts = append(texts, p.Description)
		}
		windows += strings.Count(tool.Description, " at most ")
		for _, text := range texts {
			for _, f := range figure.FindAllString(text, -1) {
				if !known[f] {
					t.Errorf("%s says %q, which is no value of limits: %s", name, f, text)
				}
			}
			if limitName := regexp.MustCompile(`\{[A-Z]`); limitName.MatchString(text) {
				t.Errorf("%s has a limit without its value: %s", name, text)
			}
		}
	}
	if windows < 15 {
		t.Errorf("%d windows were found", windows)
	}
}
