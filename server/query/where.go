package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// WhereError is the error for a filter text that cannot be read.
type WhereError struct {
	// Position counts characters from 1.
	Position int
	Message  string
}

func (e *WhereError) Error() string { return fmt.Sprintf("at character %d: %s", e.Position, e.Message) }

// ParseWhere reads the text form of a filter:
//
//	service.name = checkout AND (duration > 250ms OR status = Error) AND NOT resource.k8s.pod.name exists
//
// A condition is a field, an operator and a value; `exists` takes none, `in` takes a list in parentheses. AND binds more tightly than OR,
// NOT more tightly than both; parentheses group. Keywords may be in either case. Values are bare words, or quoted with ' or " where a
// backslash escapes the next character. A list of values after `=` may also be written as `service.name = "a,b"` for service.name,
// deployment.environment and deployment.commit_sha, and a condition on a bool field may be the field alone. Blank text is the zero Filter.
func ParseWhere(s Source, text string) (Filter, error) { return parseWhere(s, text, "") }

// parseWhere reads a filter but does not check conditions that have the mark in a value.
func parseWhere(s Source, text, mark string) (Filter, error) {
	if n := utf8.RuneCountInString(text); n > limits.WhereText {
		return Filter{}, &WhereError{
			Position: 1,
			Message:  fmt.Sprintf("the filter has %d characters; at most %d are allowed", n, limits.WhereText),
		}
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return Filter{}, &WhereError{Position: 1, Message: "the filter is not valid UTF-8 text"}
	}
	p := &whereParser{source: s, mark: mark, lexer: whereLexer{text: text}}
	if err := p.next(); err != nil {
		return Filter{}, err
	}
	if p.token.kind == endToken {
		return Filter{}, nil
	}
	f, err := p.any(0)
	if err != nil {
		return Filter{}, err
	}
	if p.token.kind != endToken {
		return Filter{}, p.errorf("%s is not expected here: join conditions with AND or OR", p.token)
	}
	return f, nil
}

type whereParser struct {
	source  Source
	mark    string
	lexer   whereLexer
	token   whereToken
	matches int
}

func (p *whereParser) next() (err error) {
	p.token, err = p.lexer.next()
	return err
}

func (p *whereParser) errorf(format string, args ...any) error {
	return p.lexer.errorAt(p.token.at, format, args...)
}

func (p *whereParser) keyword(word string) bool {
	return p.token.kind == wordToken && !p.token.quoted && strings.EqualFold(p.token.text, word)
}

// any reads conditions joined by OR.
func (p *whereParser) any(depth int) (Filter, error) {
	if depth > maxFilterDepth {
		return Filter{}, p.errorf("parentheses are nested more than %d deep", maxFilterDepth)
	}
	return p.list("or", func() (Filter, error) {
		return p.list("and", func() (Filter, error) { return p.term(depth) }, func(l []Filter) Filter { return Filter{All: l} })
	}, func(l []Filter) Filter { return Filter{Any: l} })
}

func (p *whereParser) list(joint string, item func() (Filter, error), join func([]Filter) Filter) (Filter, error) {
	var list []Filter
	for {
		f, err := item()
		if err != nil {
			return Filter{}, err
		}
		list = append(list, f)
		if !p.keyword(joint) {
			break
		}
		if err := p.next(); err != nil {
			return Filter{}, err
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return join(list), nil
}

func (p *whereParser) term(depth int) (Filter, error) {
	switch {
	case p.keyword("not"):
		if depth >= maxFilterDepth {
			return Filter{}, p.errorf("NOT is nested more than %d deep", maxFilterDepth)
		}
		if err := p.next(); err != nil {
			return Filter{}, err
		}
		f, err := p.term(depth + 1)
		return Filter{Not: &f}, err
	case p.token.kind == openToken:
		if err := p.next(); err != nil {
			return Filter{}, err
		}
		f, err := p.any(depth + 1)
		if err != nil {
			return Filter{}, err
		}
		if p.token.kind != closeToken {
			return Filter{}, p.errorf("%s is not expected here: a parenthesis is still open", p.token)
		}
		return f, p.next()
	case p.token.kind == wordToken && !p.keyword("and") && !p.keyword("or"):
		return p.match()
	default:
		return Filter{}, p.errorf("a condition is expected, such as service.name = checkout, not %s", p.token)
	}
}

func (p *whereParser) match() (Filter, error) {
	if p.matches++; p.matches > maxFilterMatches {
		return Filter{}, p.errorf("the filter has more than %d conditions", maxFilterMatches)
	}
	at := p.token.at
	field, err := ParseField(p.source, p.token.text)
	if err != nil {
		return Filter{}, p.errorf("%s", err)
	}
	if err := p.next(); err != nil {
		return Filter{}, err
	}
	m := &Match{Field: field}
	if m.Op, err = p.operator(field); err != nil {
		return Filter{}, err
	}
	switch m.Op {
	case OpExists, OpNotExists:
	case OpIn, OpNotIn:
		if m.Values, err = p.values(); err != nil {
			return Filter{}, err
		}
	default:
		if p.endsMatch() {
			if b, ok := findBuiltin(p.source, field.Key); field.Scope == Builtin && ok && b.kind == boolField && m.Op == "" {
				m.Op, m.Values = OpEqual, []string{"true"}
				break
			}
			return Filter{}, p.errorf("%s is not expected here: `%s` needs an operator and a value, such as %s = value", p.token, field, field)
		}
		if p.token.kind != wordToken {
			return Filter{}, p.errorf("a value is expected after %s, not %s", m.Op, p.token)
		}
		m.Values = []string{p.token.text}
		if err := p.next(); err != nil {
			return Filter{}, err
		}
		m.splitList()
	}
	if m.has(p.mark) {
		return Filter{Match: m}, nil
	}
	if problem := m.check(p.source); problem != "" {
		return Filter{}, p.lexer.errorAt(at, "%s", problem)
	}
	return Filter{Match: m}, nil
}

// splitList turns an equality into `in` for a field whose values never contain a comma.
func (m *Match) splitList() {
	lists := []string{"service.name", "deployment.environment", "deployment.commit_sha"}
	if m.Field.Scope != Builtin || !slices.Contains(lists, m.Field.Key) || !strings.Contains(m.Values[0], ",") {
		return
	}
	var values []string
	for v := range strings.SplitSeq(m.Values[0], ",") {
		if v = strings.TrimSpace(v); v != "" {
			values = append(values, v)
		}
	}
	switch {
	case len(values) == 0:
	case m.Op == OpEqual:
		m.Op, m.Values = OpIn, values
	case m.Op == OpNotEqual:
		m.Op, m.Values = OpNotIn, values
	}
}

func (p *whereParser) endsMatch() bool {
	return p.token.kind == endToken || p.token.kind == closeToken || p.keyword("and") || p.keyword("or")
}

// operator reads the operator after a field. It is "" if the condition ends there, which is valid for a bool field.
func (p *whereParser) operator(f Field) (Op, error) {
	if p.endsMatch() {
		return "", nil
	}
	if p.token.kind == opToken {
		op := Op(p.token.text)
		switch op {
		case "==":
			op = OpEqual
		case "<>":
			op = OpNotEqual
		}
		return op, p.next()
	}
	negated := ""
	if p.keyword("not") || p.token.kind == bangToken {
		negated = "!"
		if err := p.next(); err != nil {
			return "", err
		}
	}
	for _, op := range []Op{OpContains, OpExists, OpIn} {
		if p.keyword(string(op)) {
			return Op(negated) + op, p.next()
		}
	}
	return "", p.errorf("%s is not an operator; after `%s` comes one of %s", p.token, f, opList())
}

func opList() string {
	var names []string
	for _, op := range Ops() {
		names = append(names, string(op))
	}
	return strings.Join(names, " ")
}

func (p *whereParser) values() ([]string, error) {
	if p.token.kind != openToken {
		return nil, p.errorf("a list in parentheses is expected after in, such as in (a, b), not %s", p.token)
	}
	var out []string
	for {
		if err := p.next(); err != nil {
			return nil, err
		}
		if p.token.kind != wordToken {
			return nil, p.errorf("a value is expected in the list, not %s", p.token)
		}
		out = append(out, p.token.text)
		if err := p.next(); err != nil {
			return nil, err
		}
		switch p.token.kind {
		case commaToken:
		case closeToken:
			return out, p.next()
		default:
			return nil, p.errorf("a comma or a closing parenthesis is expected in the list, not %s", p.token)
		}
	}
}

// String is the filter in the form that ParseWhere reads.
func (f Filter) String() string {
	switch {
	case f.Match != nil:
		return f.Match.String()
	case len(f.All) > 0:
		return printList(f.All, " AND ", func(child Filter) bool { return len(child.All)+len(child.Any) > 0 })
	case len(f.Any) > 0:
		return printList(f.Any, " OR ", func(child Filter) bool { return len(child.Any) > 0 })
	case f.Not != nil && len(f.Not.All)+len(f.Not.Any) > 0:
		return "NOT (" + f.Not.String() + ")"
	case f.Not != nil:
		return "NOT " + f.Not.String()
	default:
		return ""
	}
}

func printList(list []Filter, joint string, parentheses func(Filter) bool) string {
	var out []string
	for _, child := range list {
		text := child.String()
		if parentheses(child) {
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, joint)
}

// String is the condition in the form that ParseWhere reads.
func (m *Match) String() string {
	text := m.Field.String() + " " + string(m.Op)
	var values []string
	for _, v := range m.Values {
		values = append(values, quoteWhere(v))
	}
	switch op, _ := m.Op.opposite(); op {
	case OpExists:
		return text
	case OpIn:
		return text + " (" + strings.Join(values, ", ") + ")"
	default:
		return text + " " + strings.Join(values, ", ")
	}
}
