// Package nearest finds the name that was probably meant by one that does not exist.
package nearest

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
