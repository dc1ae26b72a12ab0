package tool

import (
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/wording"
)

// MixedNotes returns a note when the figures mix several environments.
func MixedNotes(environments []string) []string {
	if len(environments) < 2 {
		return nil
	}
	return []string{"The figures mix the environments " + wording.Clip(strings.Join(environments, ", "), 300) +
		". Give environment to see one of them."}
}

// Foremost returns the environment to suggest first: production if there is one.
func Foremost(environments []string) string {
	if i := slices.IndexFunc(environments, func(e string) bool { return strings.HasPrefix(strings.ToLower(e), "prod") }); i >= 0 {
		return environments[i]
	}
	return environments[0]
}
