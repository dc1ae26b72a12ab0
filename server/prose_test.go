package server_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const widest = 140

// written calls visit for each file under the roots that a person writes and that may change. Landed migrations may not.
func written(t *testing.T, extensions []string, visit func(file string, text string)) {
	t.Helper()
	skipped := []string{"node_modules", "testdata", "dist", "migrations"}
	for _, root := range []string{
		"../server", "../cmd", "../ent/schema", "../proto", "../tools", "../docs", "../clients", "../.github",
		"../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md", "../SECURITY.md",
	} {
		err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				if err == nil && slices.Contains(skipped, entry.Name()) {
					return filepath.SkipDir
				}
				return err
			}
			if !slices.Contains(extensions, path.Ext(file)) {
				return nil
			}
			text, err := os.ReadFile(file)
			if err == nil && !generated.Match(text) {
				visit(file, string(text))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

var (
	commented = regexp.MustCompile(`^\s*(//|#)`)
	unbroken  = regexp.MustCompile(`https?://|//nolint|//go:`) // what cannot be broken into lines
)

// TestProseIsNarrow: comments and the text of documents have lines of at most 140 columns. Tables may be wider.
func TestProseIsNarrow(t *testing.T) {
	found := 0
	written(t, []string{".go", ".proto", ".ts", ".tsx", ".mjs", ".sh", ".md"}, func(file, text string) {
		document, quoted, fenced := path.Ext(file) == ".md", false, false
		for n, line := range strings.Split(text, "\n") {
			prose := commented.MatchString(line) && !quoted
			if document {
				if strings.HasPrefix(strings.TrimSpace(line), "```") {
					fenced = !fenced
				}
				prose = !fenced && !strings.HasPrefix(line, "|")
			} else if strings.Count(line, "`")%2 == 1 && !prose {
				quoted = !quoted // a text over several lines
			}
			if !prose {
				continue
			}
			found++
			if width := utf8.RuneCountInString(line); width > widest && !unbroken.MatchString(line) {
				t.Errorf("%s:%d has %d columns; at most %d", file, n+1, width, widest)
			}
		}
	})
	if found < 10_000 {
		t.Fatalf("only %d lines of prose were found", found)
	}
}

// literal is a text in code. A statement, a sentence or a pattern may be longer than a line.
var literal = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")

// TestCodeIsNarrow: lines of Go code have at most 140 columns, where a long text counts as 40. Tables of tests may be wider.
func TestCodeIsNarrow(t *testing.T) {
	found := 0
	written(t, []string{".go"}, func(file, text string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		quoted := false
		for n, line := range strings.Split(text, "\n") {
			inside := quoted
			if strings.Count(line, "`")%2 == 1 && !commented.MatchString(line) {
				quoted = !quoted
			}
			if inside || quoted {
				continue
			}
			found++
			short := literal.ReplaceAllStringFunc(line, func(text string) string {
				return text[:min(len(text), 40)]
			})
			if width := utf8.RuneCountInString(short); width > widest && !unbroken.MatchString(line) {
				t.Errorf("%s:%d has %d columns without its long texts; at most %d", file, n+1, width, widest)
			}
		}
	})
	if found < 100_000 {
		t.Fatalf("only %d lines of code were found", found)
	}
}

// stilted are forms that CONTRIBUTING.md refuses: a person or a program does something.
var stilted = regexp.MustCompile(`(?i)\b((is|are|was|were) (told|away)|whoever|of nobody|told (none|it)|(there )?is no [a-z]+)\b`)

// plain are the forms with "is no" that are good English: "there is no gap", "is no longer sent", "is no more than", "is no reason for". A
// line that begins with "is no such" goes on after "there".
var plain = regexp.MustCompile(`(?i)^(there is no|is no (longer|more|reason|such)\b)`)

// TestProseIsPlain holds the public texts and comments to the forms that CONTRIBUTING.md asks for.
func TestProseIsPlain(t *testing.T) {
	written(t, []string{".go", ".proto", ".tsx", ".md"}, func(file, text string) {
		if strings.HasSuffix(file, "_test.go") || path.Base(file) == "CONTRIBUTING.md" {
			return // names of fixtures, this list, and the rule itself
		}
		for n, line := range strings.Split(text, "\n") {
			for _, found := range stilted.FindAllString(line, -1) {
				if !plain.MatchString(found) {
					t.Errorf("%s:%d says %q: let a person or a program do something; \"is not a\" for \"is no\"", file, n+1, found)
				}
			}
		}
	})
}

var suppressed = regexp.MustCompile(`//nolint:([a-z,]+)`)

// TestSuppressionsAreNeeded: a comment for a linter that is not enabled suppresses nothing, and nolintlint does not see it.
func TestSuppressionsAreNeeded(t *testing.T) {
	config, err := os.ReadFile("../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	written(t, []string{".go"}, func(file, text string) {
		for _, m := range suppressed.FindAllStringSubmatch(text, -1) {
			for linter := range strings.SplitSeq(m[1], ",") {
				if !strings.Contains(string(config), "\n    - "+linter+"\n") {
					t.Errorf("%s suppresses %s, which is not enabled", file, linter)
				}
			}
		}
	})
}
