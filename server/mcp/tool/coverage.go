package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/wording"
)

// Covered is a period with the part of it that has data, which is nil without data.
type Covered struct {
	Period string
	Data   *TimeRange
	Whole  TimeRange
}

// CoverageNotes returns a note for each period of which a part has no data.
func CoverageNotes(list ...Covered) []string {
	var notes []string
	for _, p := range list {
		switch {
		case p.Data == nil:
			notes = append(notes, "No service sent spans in the "+p.Period+".")
		case p.Data.Length() < p.Whole.Length()*9/10:
			notes = append(notes, fmt.Sprintf("The %s has spans only from %s to %s, and its rates are over this time.",
				p.Period, p.Data.Start, p.Data.End))
		}
	}
	return notes
}

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
