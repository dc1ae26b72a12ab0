package stacktrace

import (
	"slices"
	"strings"
)

// parser reads the lines of one text.
type parser struct {
	stack                  *Stack
	text, message          string
	messageFrom, messageTo int
	// current is the index of the section that gets frames.
	current int
	// previous is the line before, for frames of two lines.
	previous string
	// causesFirst says that the text has the innermost error first.
	causesFirst bool
	// reasons says that lines are the list of causes that anyhow prints, which has no frames.
	reasons bool
	// headed says that the section has its type, so that further lines without frames do not give one.
	headed bool
	// suppressed says that sections belong to a suppressed error until an indent ends.
	suppressed bool
	// chained says that a section is followed by the error that it caused, as in Python.
	chained bool
	// thrown is the file of the call that the next frame of PHP made, thrownAt the line.
	thrown   string
	thrownAt uint32
}

func (p *parser) section() *Section { return &p.stack.Sections[p.current] }

// open begins a section. The first section is used again as long as it has no frames.
func (p *parser) open(typ string, role Role) {
	p.finish()
	at := len(p.stack.frames)
	p.stack.Sections = append(p.stack.Sections, Section{Type: typ, Role: role, from: at, to: at})
	p.current = len(p.stack.Sections) - 1
	p.headed = typ != ""
	p.thrown, p.thrownAt = "", 0
}

// finish ends the frames of the current section.
func (p *parser) finish() {
	if len(p.stack.Sections) > 0 {
		if s := p.section(); s.to == s.from {
			s.to = len(p.stack.frames)
		}
	}
}

// began reports whether the current section has frames.
func (p *parser) began() bool {
	s := p.section()
	return s.to > s.from || len(p.stack.frames) > s.from
}

func (p *parser) add(f Frame) {
	f.InApp = inApp(&f)
	p.stack.frames = append(p.stack.frames, f)
}

func (p *parser) run() {
	text, start := p.text, 0
	for n := 0; text != ""; n++ {
		if n == MaxLines {
			p.stack.Cut = true
			break
		}
		raw := text
		at := start
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			raw, text = text[:i], text[i+1:]
			start += i + 1
		} else {
			text = ""
		}
		if at > p.messageFrom && at < p.messageTo {
			continue // a further line of the message
		}
		raw = trimRight(raw)
		line := trimLeft(raw)
		if line != "" && (line[0] == '|' || line[0] == '+') {
			line, raw = p.member(line)
		}
		if line == "" {
			p.reasons = false
			p.previous = ""
			continue
		}
		p.line(line, len(raw)-len(line))
		p.previous = raw
	}
	p.finish()
	if p.causesFirst {
		slices.Reverse(p.stack.Sections)
	}
}

// member reads a line of a group of errors of Python, which has a bar in front. A new member that is not the first one is an aside.
func (p *parser) member(line string) (trimmed, raw string) {
	if strings.HasPrefix(line, "+-") {
		if strings.Contains(line, "- 1 -") {
			p.open("", Cause)
		} else if strings.Trim(line, "+-") != "" {
			p.open("", Aside)
		}
		return "", ""
	}
	raw = strings.TrimPrefix(line[1:], " ")
	return strings.TrimLeft(raw, " \t"), raw
}

func (p *parser) line(line string, indent int) {
	if p.mark(line, indent) {
		return
	}
	if p.reasons {
		return
	}
	if p.repeats(line) {
		p.head(line, indent)
		return
	}
	f, ok := p.frame(line, indent)
	if !ok {
		p.head(line, indent)
		return
	}
	p.add(f)
}

// repeats reports whether a line is the message, or a type and the message.
func (p *parser) repeats(line string) bool {
	m := p.message
	if m == "" || len(line) < len(m) {
		return false
	}
	if !strings.HasSuffix(line, m) {
		return len(m) >= 16 && strings.HasPrefix(line, m)
	}
	rest := line[:len(line)-len(m)]
	return rest == "" || strings.HasSuffix(rest, ": ")
}

// frame reads a line in the format of the language that it looks like.
func (p *parser) frame(line string, indent int) (Frame, bool) {
	switch c := line[0]; {
	case c == 'a' && strings.HasPrefix(line, "at "):
		return p.at(strings.TrimLeft(line[3:], " "))
	case c == 'F' && strings.HasPrefix(line, `File "`):
		return python(line[6:])
	case c == '#':
		return p.hash(line)
	case isDigit(c):
		if f, ok := p.count(line); ok {
			return f, true
		}
	case c == '(' && indent > 0:
		if f, ok := elixir(line); ok {
			return f, true
		}
	case c == '{' || c == '[':
		if f, ok := p.erlang(line); ok {
			return f, true
		}
	}
	if indent > 0 {
		if f, ok := p.golang(line); ok {
			return f, true
		}
	}
	if f, ok := ruby(line); ok {
		return f, true
	}
	if f, ok := gecko(line); ok {
		return f, true
	}
	if indent > 0 {
		return elixir(line)
	}
	return Frame{}, false
}

// numbered reads lines with ":digits" as frames: the text is of no known format.
func (p *parser) numbered() {
	s := p.stack
	s.Sections = s.Sections[:1]
	section := &s.Sections[0]
	*section = Section{Type: section.Type}
	text, start := p.text, 0
	for n := 0; text != "" && n < MaxLines; n++ {
		raw, at := text, start
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			raw, text = text[:i], text[i+1:]
			start += i + 1
		} else {
			text = ""
		}
		line := strings.Trim(raw, " \t\r")
		if line == "" || p.repeats(line) || at > p.messageFrom && at < p.messageTo {
			continue
		}
		if f, ok := unknown(line); ok {
			p.add(f)
		}
	}
	section.to = len(s.frames)
}

// unknown reads a line that has a colon and digits behind a name.
func unknown(line string) (Frame, bool) {
	for i := 1; i+1 < len(line); i++ {
		if line[i] != ':' || !isDigit(line[i+1]) || isDigit(line[i-1]) || line[i-1] == ' ' {
			continue
		}
		n, rest := number(line[i+1:])
		f := Frame{Language: Unknown, File: line[:i], Line: n}
		if j := strings.LastIndexAny(f.File, " (\t@"); j >= 0 {
			f.Function, f.File = strings.Trim(f.File[:j], " (\t@"), f.File[j+1:]
		}
		if f.Function == "" {
			f.Function = strings.Trim(strings.TrimLeft(rest, ":0123456789"), " )-:")
		}
		return f, true
	}
	return Frame{}, false
}
