package tool

import "strings"

// longName is the length from which the fields of a part of a result are described in one tool of a set only, in bytes.
const longName = 50

// Once names the fields of a part that several results of a toolset have. described maps the fields of a part to the tool that describes
// them; it is that of the toolset. A further tool with the same part refers to the first one.
func (t *Tool) Once(described map[string]string) {
	if t.Output == nil || t.Output.Properties != nil {
		return
	}
	var b strings.Builder
	depth, start := 0, 0
	text := t.Output.Description
	for i, c := range text {
		switch c {
		case '{':
			if depth++; depth == 1 {
				b.WriteString(text[start : i+1])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				fields := text[start:i]
				if first, ok := described[fields]; ok {
					fields = "as in " + first
				} else if len(fields) >= longName {
					described[fields] = t.Name
				}
				b.WriteString(fields)
				start = i
			}
		}
	}
	t.Output.Description = b.String() + text[start:]
	if len(t.Output.Description) > describedResult {
		t.Output.Description = shallow(t.Output.Description)
	}
}

// shallow leaves out the fields of parts of parts.
func shallow(text string) string {
	var b strings.Builder
	depth := 0
	for _, c := range text {
		if c == '{' {
			depth++
		}
		if depth < 2 {
			b.WriteRune(c)
		}
		if c == '}' {
			depth--
		}
	}
	return b.String()
}
