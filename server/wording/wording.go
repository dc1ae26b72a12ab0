// Package wording writes figures and texts for people and models.
package wording

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// OneLine puts a text on one line, with single spaces.
func OneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

// First returns the first n characters of a text.
func First(text string, n int) string {
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

// Clip shortens a text to a number of characters and says how many are missing.
func Clip(s string, most int) string {
	n := utf8.RuneCountInString(s)
	if n <= most {
		return s
	}
	runes := []rune(s)
	return string(runes[:most]) + fmt.Sprintf("… (%d more characters)", n-most)
}

// List joins words as in a sentence: a, b and c.
func List(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Number writes whole numbers in full and other numbers with about three digits.
func Number(v float64) string {
	switch {
	case v == float64(int64(v)):
		return fmt.Sprintf("%d", int64(v))
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

// Percent writes a fraction of 1 as percent.
func Percent(rate float64) string { return Number(100*rate) + " %" }

// Clock writes a time as RFC 3339 in UTC.
func Clock(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// namedTurns is the number of turns that a text names.
const namedTurns = 5

// Turns names turns of a conversation: "turn 1", "turns 1 and 4".
func Turns(numbers []int32) string {
	var names []string
	for _, n := range numbers[:min(len(numbers), namedTurns)] {
		names = append(names, fmt.Sprint(n))
	}
	if more := len(numbers) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	switch last := len(names) - 1; last {
	case -1:
		return "no turn"
	case 0:
		return "turn " + names[0]
	default:
		return "turns " + strings.Join(names[:last], ", ") + " and " + names[last]
	}
}

// Comparator is a comparison of an alert rule in words, as in "is at or above 5".
func Comparator(comparator string) string {
	switch comparator {
	case "gt":
		return "above"
	case "gte":
		return "at or above"
	case "lt":
		return "below"
	case "lte":
		return "at or below"
	case "eq":
		return "equal to"
	case "neq":
		return "different from"
	case "between":
		return "between"
	case "not_between":
		return "outside"
	default:
		return comparator
	}
}
