package confine

import (
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/nearest"
)

// DidYouMean returns a sentence that names up to three known names similar to the given name. The sentence starts with a space.
// It is empty if no known name is similar.
func DidYouMean(name string, known []string) string {
	type candidate struct {
		name     string
		distance int
	}
	lower := strings.ToLower(name)
	if len(lower) > 64 {
		return ""
	}
	var found []candidate
	for _, k := range known {
		l := strings.ToLower(k)
		d := nearest.Distance(lower, l)
		near := d <= (min(len(lower), len(l))+2)/3
		if !near && len(lower) >= 4 && (strings.HasPrefix(l, lower) || len(l) >= 4 && strings.HasPrefix(lower, l)) {
			near = true // name is the beginning of a longer name
		}
		if near {
			found = append(found, candidate{k, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range found[:min(len(found), 3)] {
		names = append(names, "`"+c.name+"`")
	}
	if len(names) == 0 {
		return ""
	}
	return " Did you mean " + strings.Join(names, ", ") + "?"
}
