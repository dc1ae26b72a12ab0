package console

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tone is the colour of a cell.
type tone int

const (
	plain tone = iota
	bad
	warned
	faint
	bold
)

var colors = map[tone]string{bad: "\x1b[31m", warned: "\x1b[33m", faint: "\x1b[2m", bold: "\x1b[1m"}

const uncolor = "\x1b[0m"

// column is a column of a table.
type column struct {
	title string
	right bool
	// grow marks a text that may be cut when the terminal is narrow. Other columns, such as ids, never are: a person copies them.
	grow bool
	// prose marks a text of sentences, which goes on in further lines instead of being cut.
	prose bool
	// drop is the place in the order in which columns are left out when the terminal is narrow, the highest first; 0 stays.
	drop int
}

// cell is one value. Its text is that of telemetry; the table makes it safe.
type cell struct {
	text string
	tone tone
}

// section is a part of an answer: a table with a title, or pairs of name and value when no column has a title.
type section struct {
	title   string
	columns []column
	rows    [][]cell
	// records says that rows with more columns than the terminal can show become lists of names and values.
	records bool
}

func row(list ...string) []cell {
	out := make([]cell, len(list))
	for i, text := range list {
		out[i].text = text
	}
	return out
}

// pairs is a section of names and values.
func pairs(list ...[2]string) section {
	s := section{columns: []column{{}, {grow: true}}}
	for _, p := range list {
		if p[1] != "" {
			s.rows = append(s.rows, []cell{{p[0], faint}, {p[1], plain}})
		}
	}
	return s
}

const (
	gap = 2
	// A text is cut to the comfortable width before columns are left out, and to the shortest one after that.
	comfortable = 16
	shortest    = 4
)

func (o *Output) writeSection(w io.Writer, s section) error {
	safeRows := make([][]cell, len(s.rows))
	for i, r := range s.rows {
		safeRows[i] = make([]cell, len(r))
		for j, c := range r {
			safeRows[i][j] = cell{safe(c.text), c.tone}
		}
	}
	widths := make([]int, len(s.columns))
	titled := false
	for i, c := range s.columns {
		widths[i] = columnsOf(safe(c.title))
		titled = titled || c.title != ""
	}
	for _, r := range safeRows {
		for i, c := range r {
			widths[i] = max(widths[i], columnsOf(c.text))
		}
	}
	natural := slices.Clone(widths)
	o.fit(s.columns, widths)
	if s.records && o.crowded(natural, widths) {
		return o.writeRecords(w, s)
	}
	var out strings.Builder
	if s.title != "" {
		title := []string{safe(s.title)}
		if o.Width > 0 {
			title = wrap(title[0], o.Width)
		}
		for _, line := range title {
			o.paint(&out, line, bold)
			out.WriteByte('\n')
		}
	}
	if titled {
		heads := make([]cell, len(s.columns))
		for i, c := range s.columns {
			heads[i] = cell{safe(c.title), faint}
		}
		o.writeRow(&out, s.columns, widths, heads)
	}
	for _, r := range safeRows {
		for _, line := range o.wrapped(s.columns, widths, r) {
			o.writeRow(&out, s.columns, widths, line)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// readable is the width below which a cut text says nothing.
const readable = 8

// crowded reports whether a table has more columns than the terminal can show.
func (o *Output) crowded(natural, widths []int) bool {
	if o.Width <= 0 {
		return false
	}
	for i, n := range widths {
		if n < min(natural[i], readable) {
			return true
		}
	}
	return total(widths) > o.Width
}

// writeRecords writes each row as a list of names and values.
func (o *Output) writeRecords(w io.Writer, s section) error {
	for i, r := range s.rows {
		record := section{title: "Row " + strconv.Itoa(i+1), columns: []column{{}, {prose: true}}}
		for j, c := range r {
			if c.text != "" {
				record.rows = append(record.rows, []cell{{s.columns[j].title, faint}, c})
			}
		}
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := o.writeSection(w, record); err != nil {
			return err
		}
	}
	return nil
}

// fit makes the columns as narrow as the terminal. It cuts texts first, then leaves out columns (width -1), and cuts texts further when
// nothing else is left.
func (o *Output) fit(columns []column, widths []int) {
	if o.Width <= 0 {
		return
	}
	for over := total(widths) - o.Width; over > 0; over = total(widths) - o.Width {
		room, drop := 0, 0
		var widest, last *int
		for i, c := range columns {
			if (c.grow || c.prose) && widths[i] > shortest {
				room += max(0, widths[i]-comfortable)
				if widest == nil || widths[i] > *widest {
					widest = &widths[i]
				}
			}
			if c.drop > drop && widths[i] >= 0 {
				last, drop = &widths[i], c.drop
			}
		}
		switch {
		case room >= over:
			*widest-- // the widest text gives way first, so that texts end up equally wide
		case last != nil:
			*last = -1
		case widest != nil:
			*widest--
		default:
			return // the terminal breaks the lines; nothing is lost
		}
	}
}

func total(widths []int) int {
	sum := -gap
	for _, n := range widths {
		if n >= 0 {
			sum += n + gap
		}
	}
	return sum
}

func (o *Output) writeRow(out *strings.Builder, columns []column, widths []int, cells []cell) {
	pad := 0 // spaces are written only before text, so that no line ends with them
	for i, c := range cells {
		if widths[i] < 0 {
			continue
		}
		text := c.text
		if columns[i].grow && o.Width > 0 {
			text = cut(text, widths[i])
		}
		rest := max(0, widths[i]-columnsOf(text))
		if columns[i].right {
			pad, rest = pad+rest, 0
		}
		if text != "" {
			out.WriteString(strings.Repeat(" ", pad))
			o.paint(out, text, c.tone)
			pad = 0
		} else if columns[i].right {
			// The spaces of an empty number still come before the next cell.
			rest = 0
		}
		pad += rest + gap
	}
	out.WriteByte('\n')
}

// wrapped are the lines of a row whose prose is longer than its column is wide.
func (o *Output) wrapped(columns []column, widths []int, cells []cell) [][]cell {
	lines := [][]cell{slices.Clone(cells)}
	for i, c := range cells {
		if !columns[i].prose || o.Width <= 0 || widths[i] <= 0 {
			continue
		}
		for n, part := range wrap(c.text, widths[i]) {
			if n == len(lines) {
				lines = append(lines, make([]cell, len(cells)))
			}
			lines[n][i] = cell{part, c.tone}
		}
	}
	return lines
}

// wrap breaks text between words. A word that is longer than a line, such as a cursor or a URL, stays whole.
func wrap(text string, columns int) []string {
	var lines []string
	for columnsOf(text) > columns {
		end, used := -1, 0
		for i, r := range text {
			if r == ' ' && strings.TrimSpace(text[:i]) != "" && (used <= columns || end < 0) {
				end = i
			}
			if used += columnsOfRune(r); used > columns && end >= 0 {
				break
			}
		}
		if end < 0 {
			break
		}
		lines = append(lines, strings.TrimRight(text[:end], " "))
		text = strings.TrimLeft(text[end:], " ")
	}
	return append(lines, text)
}

func (o *Output) paint(out *strings.Builder, text string, t tone) {
	if !o.Color || colors[t] == "" {
		out.WriteString(text)
		return
	}
	out.WriteString(colors[t] + text + uncolor)
}

// cut shortens text to a number of columns. 0 means no limit.
func cut(text string, columns int) string {
	if columns <= 0 || columnsOf(text) <= columns {
		return text
	}
	used := 0
	for i, r := range text {
		n := columnsOfRune(r)
		if used+n > columns-1 {
			return text[:i] + "…"
		}
		used += n
	}
	return text
}

// columnsOf is the number of columns that a terminal uses for text.
func columnsOf(text string) (n int) {
	for _, r := range text {
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the scripts and symbols whose characters take two columns.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1faff, 1}, {0x20000, 0x3fffd, 1}},
}
