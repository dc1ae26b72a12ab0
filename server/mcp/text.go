package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// textBudget is the most that a text may hold, in characters.
const textBudget = 25_000

// pair is a label and a value.
type pair struct{ label, value string }

// page is the text of an answer, in the order in which it is printed.
type page struct {
	scope  []pair
	notes  []string
	blocks []block
	// shown is the line that says how much of everything this is.
	shown string
	next  []suggestion
}

// block is a heading over rows that can be cut off one by one.
type block struct {
	heading string
	// head comes before the rows whenever there are any; empty is printed when there are none.
	head  []string
	rows  []string
	empty string
}

// suggestion is a call that may come next.
type suggestion struct {
	tool   string
	args   map[string]any
	reason string
}

func table(heading, empty string, columns []string, rows [][]string) block {
	b := block{heading: heading, empty: empty, head: []string{
		"| " + strings.Join(columns, " | ") + " |", "|" + strings.Repeat(" --- |", len(columns)),
	}}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = strings.ReplaceAll(oneLine(c), "|", "\\|")
		}
		b.rows = append(b.rows, "| "+strings.Join(cells, " | ")+" |")
	}
	return b
}

// render prints the page within the budget: rows that do not fit are left out, and the text says so.
func (p *page) render(title string) string {
	var head, tail strings.Builder
	head.WriteString("## " + title + "\n")
	if len(p.scope) > 0 {
		parts := make([]string, 0, len(p.scope))
		for _, s := range p.scope {
			if value := oneLine(s.value); value != "" {
				parts = append(parts, s.label+": "+value)
			}
		}
		head.WriteString(clip(strings.Join(parts, " · "), 2000) + "\n")
	}
	for _, n := range p.notes {
		head.WriteString("Note: " + clip(oneLine(n), 500) + "\n")
	}
	if p.shown != "" {
		tail.WriteString("\n" + p.shown + "\n")
	}
	if len(p.next) > 0 {
		tail.WriteString("\nNext:\n")
		for _, s := range p.next {
			args, err := json.Marshal(s.args)
			if err != nil {
				continue // arguments are texts and numbers, which always marshal
			}
			tail.WriteString("- `" + s.tool + "` " + string(args) + ": " + s.reason + "\n")
		}
	}
	const reserve = 200 // for the budget note
	left := textBudget - reserve - utf8.RuneCountInString(head.String()) - utf8.RuneCountInString(tail.String())
	dropped := 0
	for _, b := range p.blocks {
		lines := []string{""}
		if b.heading != "" {
			lines = append(lines, "### "+b.heading)
		}
		if len(b.rows) == 0 {
			lines = append(lines, b.empty)
		} else {
			lines = append(lines, b.head...)
		}
		text := strings.Join(lines, "\n") + "\n"
		if utf8.RuneCountInString(text) > left {
			dropped += len(b.rows)
			continue
		}
		left -= utf8.RuneCountInString(text)
		head.WriteString(text)
		for i, row := range b.rows {
			if left -= utf8.RuneCountInString(row) + 1; left < 0 {
				dropped += len(b.rows) - i
				break
			}
			head.WriteString(row + "\n")
		}
	}
	if dropped > 0 {
		fmt.Fprintf(&head, "\nNote: %d rows do not fit into %d characters and were left out of this text; the structured content has them.\n", dropped, textBudget)
	}
	return head.String() + tail.String()
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

// clip cuts a text to a number of characters and says how many are missing.
func clip(s string, most int) string {
	n := utf8.RuneCountInString(s)
	if n <= most {
		return s
	}
	runes := []rune(s)
	return string(runes[:most]) + fmt.Sprintf("… (%d more characters)", n-most)
}

func number(v float64) string {
	switch {
	case v == float64(int64(v)):
		return fmt.Sprintf("%d", int64(v))
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}
