package sqlbuild

import "strings"

// WholeTokens lists, in lower case, the words of a substring that are whole words in every text that contains the substring. These words
// have a separator on both sides. Words outside ASCII are left out, because the index folds only ASCII letters.
func WholeTokens(search string) []string {
	const maxTokens = 32
	var tokens []string
	start := -1 // the start of the current word; -1 before the first separator and after each one
	open := false
	for i := 0; i < len(search) && len(tokens) < maxTokens; i++ {
		if isTokenByte(search[i]) {
			continue
		}
		if open && start < i {
			if word := search[start:i]; isASCII(word) {
				tokens = append(tokens, strings.ToLower(word))
			}
		}
		open, start = true, i+1
	}
	return tokens
}

func isTokenByte(c byte) bool {
	return c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
