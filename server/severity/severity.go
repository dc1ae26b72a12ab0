// Package severity has the texts and numbers of the severities of log records, as the OpenTelemetry logs data model defines them
// (SeverityText and SeverityNumber).
package severity

import "slices"

// Highest is the highest severity number.
const Highest = 24

// width is the count of numbers of each text.
const width = 4

var texts = [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}

// Text returns the text of a severity number. It is empty for 0, which stands for a record without a number, and for other numbers that
// do not exist.
func Text(number uint32) string {
	if number == 0 || number > Highest {
		return ""
	}
	return texts[(number-1)/width]
}

// Number returns the lowest number of a severity text in capital letters. It is 0 for an unknown text.
func Number(text string) int {
	at := slices.Index(texts[:], text)
	if at < 0 {
		return 0
	}
	return width*at + 1
}

// From lists the texts whose lowest number is at least the given number, from the lowest to the highest.
func From(number int) []string {
	var out []string
	for _, t := range texts {
		if Number(t) >= number {
			out = append(out, t)
		}
	}
	return out
}
