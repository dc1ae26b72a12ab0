package config

import (
	"os"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/golden"
)

// TestConfigurationPage compares the table in docs/configuration.md with the table of keys.
func TestConfigurationPage(t *testing.T) {
	const path, begin, end = "../../docs/configuration.md", "<!-- configuration -->\n", "<!-- /configuration -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks the marks %q and %q", path, begin, end)
	}
	want := MarkdownTable()
	golden.Write(t, path, head+begin+want+end+tail)
	if text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), begin+want+end) {
		return
	}
	t.Errorf("the configuration table of %s is not current: run go test ./server/config -run TestConfigurationPage -update", path)
}
