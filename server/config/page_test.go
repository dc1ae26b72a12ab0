package config

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/configuration.md")

// TestConfigurationPage holds the table of docs/configuration.md against the table of keys.
func TestConfigurationPage(t *testing.T) {
	const path, begin, end = "../../docs/configuration.md", "<!-- configuration -->\n", "<!-- /configuration -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), begin)
	have, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks the marks %q and %q", path, begin, end)
	}
	want := MarkdownTable()
	if have == want {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the configuration table of %s is not current: run go test ./server/config -run TestConfigurationPage -update", path)
}
