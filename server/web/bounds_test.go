package web

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A bound by hand: the attribute maxLength, a literal largest number, also of a list, or a smallest number other than 0 and 1.
var boundByHand = regexp.MustCompile(`\bmaxLength=|\bdisabled=\{\w+\.length >= \d|\bmax=(?:\{|")[\d_]|\bmin=(?:\{|")(?:[2-9]|[01]\d)`)

// A figure in a sentence of a page, and the name of a window that a person can choose.
var (
	figureByHand = regexp.MustCompile(`\b\d(?:[\d,_]*\d)? (?:days?|hours?|minutes?|KiB|MiB|GiB|rows|characters|bytes)\b`)
	chosenWindow = regexp.MustCompile(`\bLast \d+ [a-z]+`)
)

// noLimits lists the figures of the web application that are no limits: times that a person can choose, and what the examples say.
var noLimits = map[string][]string{
	"pages/alerts/destinationform.tsx": {"32 characters"}, // a key of PagerDuty
	"pages/alerts/preview.tsx":         {"1 hour", "6 hours", "24 hours", "7 days"},
	"pages/alerts/rule.tsx":            {"15 minutes", "1 hour", "8 hours", "1 day", "7 days"},
	"pages/alerts/templates.ts":        {"30 days", "5 minutes"},
	"pages/errors/acts.tsx":            {"1 day", "30 days"},
	"pages/events/funnel.tsx":          {"10 minutes", "1 hour", "1 day", "7 days", "30 days"},
	"pages/home.tsx":                   {"24 hours"},
	"pages/incidents/index.tsx":        {"6 hours", "24 hours", "7 days"},
	"pages/settings/auditlog.tsx":      {"30 days"},
}

// TestBoundsByHand checks that the web application takes its limits from gen/limits.ts.
func TestBoundsByHand(t *testing.T) {
	const folder = "ui/src"
	files := 0
	used := map[string]bool{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, ".test.") || strings.HasPrefix(path, "gen/") ||
			!strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(folder), path)
		if err != nil {
			return err
		}
		files++
		for i, line := range strings.Split(string(text), "\n") {
			if bound := boundByHand.FindString(line); bound != "" {
				t.Errorf("%s:%d has the bound %q by hand; import it from gen/limits, and bound a text with atMost", path, i+1, bound)
			}
			if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "*") ||
				strings.HasPrefix(trimmed, "/*") {
				continue
			}
		figures:
			for _, figure := range figureByHand.FindAllString(chosenWindow.ReplaceAllString(line, ""), -1) {
				for _, known := range noLimits[path] {
					if figure == known {
						used[path+" "+known] = true
						continue figures
					}
				}
				t.Errorf("%s:%d says %q; write it with a limit of gen/limits, or list it here", path, i+1, figure)
			}
		}
		return nil
	})
	if err != nil || files < 150 {
		t.Fatalf("%d files, %v", files, err)
	}
	for path, list := range noLimits {
		for _, figure := range list {
			if !used[path+" "+figure] {
				t.Errorf("%s does not say %q", path, figure)
			}
		}
	}
}
