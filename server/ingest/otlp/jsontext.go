package otlp

import (
	"unicode/utf16"
	"unicode/utf8"
)

func (p *jsonParser) quoted() ([]byte, *Error) {
	if p.peek() != '"' {
		return nil, p.fail("must be text in quotes")
	}
	return p.text()
}

// text reads the next string. The result is valid until the next call.
func (p *jsonParser) text() ([]byte, *Error) {
	p.at++
	from := p.at
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return p.in[from : p.at-1], nil
		case c == '\\':
			return p.escapedText(from)
		case c < 0x20:
			return nil, p.fail("control character in a text")
		default:
			p.at++
		}
	}
	return nil, p.fail("text without end")
}

func (p *jsonParser) escapedText(from int) ([]byte, *Error) {
	out := append(p.scratch[:0], p.in[from:p.at]...)
	for p.at < len(p.in) {
		c := p.in[p.at]
		p.at++
		switch {
		case c == '"':
			p.scratch = out
			return out, nil
		case c < 0x20:
			return nil, p.fail("control character in a text")
		case c != '\\':
			out = append(out, c)
			continue
		}
		if p.at == len(p.in) {
			break
		}
		e := p.in[p.at]
		p.at++
		switch e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := p.unicode()
			if !ok {
				return nil, p.fail(`bad \u escape`)
			}
			out = utf8.AppendRune(out, r)
		default:
			return nil, p.fail("unknown escape in a text")
		}
	}
	return nil, p.fail("text without end")
}

// unicode reads the digits after \u, and the second half of a surrogate pair. It refuses a surrogate without its pair.
func (p *jsonParser) unicode() (rune, bool) {
	r, ok := p.hex4()
	if !ok || !utf16.IsSurrogate(r) {
		return r, ok
	}
	if !p.word(`\u`) {
		return 0, false
	}
	low, ok := p.hex4()
	if !ok {
		return 0, false
	}
	r = utf16.DecodeRune(r, low)
	return r, r != utf8.RuneError
}

func (p *jsonParser) hex4() (rune, bool) {
	if len(p.in)-p.at < 4 {
		return 0, false
	}
	var r rune
	for _, c := range p.in[p.at : p.at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	p.at += 4
	return r, true
}

// ignore skips the value of an unknown field. The value must still be valid JSON.
func (p *jsonParser) ignore() *Error {
	switch c := p.peek(); {
	case c == '{' || c == '[':
		return p.ignoreAll(c == '{')
	case c == '"':
		_, err := p.text()
		return err
	case c == 't' && p.word("true"), c == 'f' && p.word("false"), c == 'n' && p.word("null"):
		return nil
	}
	_, err := p.number()
	return err
}

func (p *jsonParser) ignoreAll(object bool) *Error {
	p.at++
	if err := p.enter(); err != nil {
		return err
	}
	end := byte(']')
	if object {
		end = '}'
	}
	for first := true; !p.take(end); first = false {
		if !first && !p.take(',') {
			return p.fail("expected a comma or " + string(rune(end)))
		}
		if object {
			if p.peek() != '"' {
				return p.fail("expected a field name in quotes")
			}
			if _, err := p.text(); err != nil {
				return err
			}
			if err := p.colon(); err != nil {
				return err
			}
		}
		if err := p.ignore(); err != nil {
			return err
		}
	}
	p.depth--
	return nil
}
