package openapi

import (
	"regexp"
	"strings"

	"github.com/svc-observability/svc/server/contract"
)

// publicText returns a comment as callers read it: paragraphs without line breaks.
func publicText(comment string) string {
	paragraphs := strings.Split(strings.TrimSpace(comment), "\n\n")
	for i, p := range paragraphs {
		lines := strings.Split(p, "\n")
		var out strings.Builder
		for j, l := range lines {
			if j > 0 {
				if isListItem(l) {
					out.WriteByte('\n')
				} else {
					out.WriteByte(' ')
				}
			}
			out.WriteString(strings.TrimSpace(l))
		}
		paragraphs[i] = out.String()
	}
	text := strings.Join(paragraphs, "\n\n")
	// `ApiKeyCreateParams: what a new key is to be.` repeats the name of the component.
	if name, rest, ok := strings.Cut(text, ": "); ok && componentWord.MatchString(name) {
		text = strings.ToUpper(rest[:1]) + rest[1:]
	}
	return text
}

var componentWord = regexp.MustCompile(`^([A-Z][a-z0-9]+){2,}$`)

func isListItem(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "- ")
}

// joinText joins two texts as paragraphs.
func joinText(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "\n\n" + b
}

// tagOf returns the tag of a method's operations: the first words of its service's comment, `API keys`, and the whole comment.
func tagOf(m *contract.Method) (name, description string) {
	description = publicText(contract.Comment(m.Descriptor.Parent()))
	name = description
	if i := strings.IndexAny(name, ".:,("); i >= 0 {
		name = name[:i]
	}
	if bare, ok := strings.CutPrefix(name, "The "); ok && bare != "" {
		name = strings.ToUpper(bare[:1]) + bare[1:]
	}
	return strings.TrimSpace(name), description
}
