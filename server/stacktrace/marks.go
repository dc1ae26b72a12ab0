package stacktrace

import "strings"

const (
	pythonCause   = "The above exception was the direct cause of the following exception"
	pythonContext = "During handling of the above exception, another exception occurred"
	innerEnd      = "--- End of inner exception stack trace"
)

// mark handles a line that separates sections or that is neither a frame nor a head.
func (p *parser) mark(line string, indent int) bool {
	switch line[0] {
	case 'C':
		if line == "Caused by:" {
			p.reasons = true
			return true
		}
		if rest, ok := strings.CutPrefix(line, "Caused by: "); ok {
			p.cause(rest, indent)
			return true
		}
	case 'S':
		if rest, ok := strings.CutPrefix(line, "Suppressed: "); ok {
			p.open(errorType(rest), Aside)
			p.suppressed = true
			return true
		}
		if line == "Stack backtrace:" || line == "Stack trace:" {
			p.reasons = false
			return true
		}
	case 's':
		if line == "stack backtrace:" {
			p.reasons = false
			return true
		}
	case 'T':
		if strings.HasPrefix(line, pythonCause) {
			p.causesFirst, p.chained = true, true
			return true
		}
		if line == "Traceback (most recent call last):" {
			p.traceback()
			return true
		}
	case 'D':
		if strings.HasPrefix(line, pythonContext) {
			p.causesFirst, p.chained = true, true
			return true
		}
	case 'E':
		if line == "Exception Group Traceback (most recent call last):" {
			p.traceback()
			return true
		}
	case '[':
		if rest, ok := strings.CutPrefix(line, "[cause]: "); ok {
			p.open(errorType(rest), Cause)
			return true
		}
		if strings.HasPrefix(line, "[Previous line repeated ") {
			return true
		}
	case 'N':
		if rest, ok := strings.CutPrefix(line, "Next "); ok && p.began() {
			p.causesFirst = true
			p.open(errorType(rest), Cause)
			p.thrown, p.thrownAt = thrownIn(line)
			return true
		}
	case '-':
		return p.dashes(line)
	case 'g':
		if strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, ":") {
			if p.began() {
				p.open("", Aside)
			}
			return true
		}
	case '.':
		return strings.HasPrefix(line, "... ") // Java leaves out the frames that two sections share.
	}
	return false
}

func (p *parser) cause(rest string, indent int) {
	role := Cause
	if p.suppressed && indent > 0 {
		role = Aside
	} else {
		p.suppressed = false
	}
	p.open(errorType(rest), role)
}

// traceback begins a section of Python or of old Ruby, whose outermost call comes first.
func (p *parser) traceback() {
	if p.began() {
		role := Cause
		if !p.chained {
			role = Aside
		}
		p.open("", role)
	}
	p.chained = false
	p.section().reversed = true
	p.headed = false
}

// dashes handles the lines of .NET.
func (p *parser) dashes(line string) bool {
	if rest, ok := strings.CutPrefix(line, "---> "); ok {
		p.inner(rest)
		return true
	}
	if strings.HasPrefix(line, innerEnd) {
		p.finish()
		if p.current > 0 {
			p.current--
		}
		s := p.section()
		if s.from == s.to {
			s.from = len(p.stack.frames)
			s.to = s.from
		}
		return true
	}
	return strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "---")
}

// inner opens a section for each error of a head of .NET: "A: … ---> B: …".
func (p *parser) inner(rest string) {
	for {
		// AggregateException writes "(Inner Exception #0) " in front of the type.
		if i := strings.Index(rest, ") "); i >= 0 && strings.HasPrefix(rest, "(Inner Exception #") {
			rest = rest[i+2:]
		}
		one, more, found := strings.Cut(rest, " ---> ")
		p.open(errorType(one), Cause)
		if !found {
			return
		}
		rest = more
	}
}

// head reads a line that is not a frame: the first one of a section, or in Python and old Ruby the one behind its frames.
func (p *parser) head(line string, indent int) {
	s := p.section()
	if s.reversed {
		if p.began() && !p.headed && indent == 0 {
			s.Type, p.headed = errorType(line), true
		}
		return
	}
	if p.began() || p.headed {
		return
	}
	if outer, inner, ok := strings.Cut(line, " ---> "); ok {
		s.Type, p.headed = errorType(unhandled(outer)), true
		p.inner(inner)
		return
	}
	if file, at := thrownIn(line); file != "" {
		p.thrown, p.thrownAt = file, at
	}
	if typ := errorType(unhandled(line)); typ != "" && !strings.HasSuffix(line, ")") || strings.Contains(line, ": ") {
		s.Type, p.headed = typ, typ != ""
	}
}

// unhandled removes the words that a runtime puts in front of the type.
func unhandled(line string) string {
	for _, words := range [...]string{
		"Unhandled exception. ", "Unhandled Exception: ", "Uncaught ", "PHP Fatal error:  Uncaught ", "Fatal error: Uncaught ",
		"** (", "[error] ", "Error: Uncaught (in promise): ",
	} {
		if rest, ok := strings.CutPrefix(line, words); ok {
			if words == "** (" {
				rest, _, _ = strings.Cut(rest, ")")
			}
			return strings.TrimPrefix(rest, "(in promise) ")
		}
	}
	if rest, ok := strings.CutPrefix(line, `Exception in thread "`); ok {
		if i := strings.Index(rest, `" `); i >= 0 {
			return rest[i+2:]
		}
	}
	return line
}
