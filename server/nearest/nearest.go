// Package nearest finds the name that was probably meant by one that does not exist.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// Name is the candidate with the smallest distance, the first of several; empty without candidates.
func Name(name string, candidates []string) string {
	best, least := "", -1
	for _, c := range candidates {
		if d := Distance(name, c); least < 0 || d < least {
			best, least = c, d
		}
	}
	return best
}

// Distance is Levenshtein's, over bytes: how many bytes must be put in, taken out or replaced to make one text of the other.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Few lists the candidates that the caller probably meant, the most similar first. Such a candidate differs from the name in few
// letters, contains it, or is a part of it. Letter case does not matter.
func Few(name string, candidates []string, most int) []string {
	type scored struct {
		name     string
		distance int
	}
	lower := strings.ToLower(name)
	var found []scored
	for _, c := range candidates {
		other := strings.ToLower(c)
		d := Distance(lower, other)
		within := len(lower) > 2 && strings.Contains(other, lower) || len(other) > 2 && strings.Contains(lower, other)
		if within || d < len(name)/3+2 && d < len(name) {
			found = append(found, scored{c, d})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, f := range found[:min(len(found), most)] {
		out = append(out, f.name)
	}
	return out
}
