package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// Seconds writes milliseconds for reading.
func Seconds(ms float64) string {
	if ms < 1000 {
		return wording.Number(ms) + " ms"
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(100 * time.Millisecond).String()
}

// MaxValueText limits the characters that one value of a span adds to a result, because prompts and stack traces can be
// megabytes. REST returns them whole.
const MaxValueText = limits.ToolValue

// TextBudget is the highest number of characters in a text.
const TextBudget = limits.ToolText

// Pair is a label and a value.
type Pair struct{ label, value string }

// Page is the text of an answer, in the order in which it is printed.
type Page struct {
	Scope  []Pair
	Notes  []string
	Blocks []Block
	// Shown is the line that says how much of the whole the page shows.
	Shown string
	// URL is the address of the page that shows a person the same.
	URL  string
	Next []Suggestion
}

// Block is a heading over rows that can be cut off one by one.
type Block struct {
	Heading string
	// head comes before the rows if there are any. Otherwise empty is printed.
	head  []string
	Rows  []string
	Empty string
}

// Suggestion is a call that may come next.
type Suggestion struct {
	tool   string
	Args   map[string]any
	Reason string
}

func Table(heading, empty string, columns []string, rows [][]string) Block {
	b := Block{Heading: heading, Empty: empty, head: []string{
		"| " + strings.Join(columns, " | ") + " |", "|" + strings.Repeat(" --- |", len(columns)),
	}}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = strings.ReplaceAll(wording.OneLine(milliseconds(c)), "|", "\\|")
		}
		b.Rows = append(b.Rows, "| "+strings.Join(cells, " | ")+" |")
	}
	return b
}

// Render prints the page within the budget. It leaves out the rows that do not fit and says so.
func (p *Page) Render(title string) string {
	var head, tail strings.Builder
	head.WriteString("## " + title + "\n")
	if len(p.Scope) > 0 {
		parts := make([]string, 0, len(p.Scope))
		for _, s := range p.Scope {
			if value := wording.OneLine(s.value); value != "" {
				parts = append(parts, s.label+": "+value)
			}
		}
		head.WriteString(wording.Clip(strings.Join(parts, " · "), 2000) + "\n")
	}
	for _, n := range p.Notes {
		head.WriteString("Note: " + wording.Clip(wording.OneLine(n), 500) + "\n")
	}
	if p.Shown != "" {
		tail.WriteString("\n" + p.Shown + "\n")
	}
	if p.URL != "" {
		tail.WriteString("\nFor people: " + p.URL + "\n")
	}
	if len(p.Next) > 0 {
		tail.WriteString("\nNext:\n")
		for _, s := range p.Next {
			args, err := json.Marshal(s.Args)
			if err != nil {
				continue // cannot happen: arguments are texts and numbers, which always marshal
			}
			tail.WriteString("- `" + s.tool + "` " + string(args) + ": " + s.Reason + "\n")
		}
	}
	const reserve = 200 // for the budget note
	left := TextBudget - reserve - utf8.RuneCountInString(head.String()) - utf8.RuneCountInString(tail.String())
	dropped := 0
	for _, b := range p.Blocks {
		lines := []string{""}
		if b.Heading != "" {
			lines = append(lines, "### "+b.Heading)
		}
		if len(b.Rows) == 0 {
			lines = append(lines, b.Empty)
		} else {
			lines = append(lines, b.head...)
		}
		text := strings.Join(lines, "\n") + "\n"
		if utf8.RuneCountInString(text) > left {
			dropped += len(b.Rows)
			continue
		}
		left -= utf8.RuneCountInString(text)
		head.WriteString(text)
		for i, row := range b.Rows {
			if left -= utf8.RuneCountInString(row) + 1; left < 0 {
				dropped += len(b.Rows) - i
				break
			}
			head.WriteString(row + "\n")
		}
	}
	if dropped > 0 {
		fmt.Fprintf(
			&head,
			"\nNote: %d rows do not fit into %d characters and were left out of this text; the structured content has them.\n",
			dropped,
			TextBudget,
		)
	}
	return head.String() + tail.String()
}

// Labeled makes a label with its value.
func Labeled(label, value string) Pair { return Pair{label, value} }

// Next suggests a call and says why.
func Next(tool string, args map[string]any, reason string) Suggestion {
	return Suggestion{tool, args, reason}
}
