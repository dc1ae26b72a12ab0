package server_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReliabilityPage checks that docs/reliability.md names only tests that exist, and that each row names one or is among those that
// are not tried.
func TestReliabilityPage(t *testing.T) {
	page, err := os.ReadFile("../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{} // the files that declare a test
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, root := range []string{".", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllSubmatch(text, -1) {
				sources[string(m[1])] += string(text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)(?:/([^`]+))?`")
	rows, untried := 0, false
	for n, line := range strings.Split(string(page), "\n") {
		untried = untried || line == "## Not tried in CI"
		names := named.FindAllStringSubmatch(line, -1)
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| fault |") && !strings.HasPrefix(line, "| attack |") {
			rows++
			if cells := strings.Split(line, "|"); len(names) == 0 && !untried || strings.TrimSpace(cells[len(cells)-2]) == "" {
				t.Errorf("line %d names no test and no reason: %s", n+1, line)
			}
		}
		for _, m := range names {
			switch source, ok := sources[m[1]]; {
			case !ok:
				t.Errorf("line %d: there is no test %s", n+1, m[1])
			case m[2] != "" && !strings.Contains(source, `t.Run("`+m[2]+`"`):
				t.Errorf("line %d: %s has no part %q", n+1, m[1], m[2])
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d rows", rows)
	}
}
