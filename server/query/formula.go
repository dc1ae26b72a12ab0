package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// Expression is the arithmetic of a formula. It has + - * / and parentheses, over numbers and the names of queries and earlier
// formulas. The letter case of names does not matter.
type Expression struct {
	// op is one of + - * /, 'n' for a number, 'v' for a name, or '~' for the negation of left.
	op          byte
	number      float64
	name        string
	left, right *Expression
}

const (
	maxExpression      = limits.FormulaText
	maxExpressionDepth = limits.FormulaDepth
)

// ParseFormula reads an expression.
func ParseFormula(text string) (*Expression, error) {
	if utf8.RuneCountInString(text) > maxExpression {
		return nil, fmt.Errorf("it has more than %d characters", maxExpression)
	}
	p := &formulaParser{text: text}
	e, err := p.sum(0)
	if err != nil {
		return nil, err
	}
	if p.peek() != 0 {
		return nil, p.errorf("%q is not expected here", p.text[p.pos:])
	}
	return e, nil
}

type formulaParser struct {
	text string
	pos  int
}

func (p *formulaParser) errorf(format string, args ...any) error {
	return &WhereError{Position: len([]rune(p.text[:p.pos])) + 1, Message: fmt.Sprintf(format, args...)}
}

// peek is the next character that is not blank, or 0 at the end.
func (p *formulaParser) peek() byte {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *formulaParser) sum(depth int) (*Expression, error) {
	return p.binary(depth, "+-", func(depth int) (*Expression, error) { return p.binary(depth, "*/", p.factor) })
}

func (p *formulaParser) binary(depth int, ops string, operand func(int) (*Expression, error)) (*Expression, error) {
	left, err := operand(depth)
	for err == nil {
		op := p.peek()
		if op == 0 || strings.IndexByte(ops, op) < 0 {
			break
		}
		p.pos++
		var right *Expression
		if right, err = operand(depth); err == nil {
			left = &Expression{op: op, left: left, right: right}
		}
	}
	return left, err
}

func (p *formulaParser) factor(depth int) (*Expression, error) {
	if depth > maxExpressionDepth {
		return nil, p.errorf("it is nested more than %d deep", maxExpressionDepth)
	}
	c := p.peek()
	start := p.pos
	switch {
	case c == '-':
		p.pos++
		e, err := p.factor(depth + 1)
		return &Expression{op: '~', left: e}, err
	case c == '(':
		p.pos++
		e, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.peek() != ')' {
			return nil, p.errorf("a closing parenthesis is missing")
		}
		p.pos++
		return e, nil
	case c >= '0' && c <= '9' || c == '.':
		for p.pos < len(p.text) && (p.text[p.pos] >= '0' && p.text[p.pos] <= '9' || p.text[p.pos] == '.') {
			p.pos++
		}
		n, err := strconv.ParseFloat(p.text[start:p.pos], 64)
		if err != nil {
			p.pos = start
			return nil, p.errorf("this is not a number")
		}
		return &Expression{op: 'n', number: n}, nil
	case isNameByte(c):
		for p.pos < len(p.text) && (isNameByte(p.text[p.pos]) || p.text[p.pos] >= '0' && p.text[p.pos] <= '9') {
			p.pos++
		}
		return &Expression{op: 'v', name: p.text[start:p.pos]}, nil
	case c == 0:
		return nil, p.errorf("the expression ends where a number, a name or a parenthesis is expected")
	default:
		return nil, p.errorf("a number, a name or a parenthesis is expected, not %q", rune(c))
	}
}

func isNameByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// Operands lists the distinct names in the expression.
func (e *Expression) Operands() []string {
	var out []string
	seen := map[string]bool{}
	var walk func(*Expression)
	walk = func(e *Expression) {
		if e == nil {
			return
		}
		if lower := strings.ToLower(e.name); e.op == 'v' && !seen[lower] {
			seen[lower] = true
			out = append(out, e.name)
		}
		walk(e.left)
		walk(e.right)
	}
	walk(e)
	return out
}

// Eval computes the expression. value gives the value of a name in lower case. The result is NaN if an operand is NaN, or after a
// division by zero, which dividedByZero reports.
func (e *Expression) Eval(value func(name string) float64) (result float64, dividedByZero bool) {
	switch e.op {
	case 'n':
		return e.number, false
	case 'v':
		return value(strings.ToLower(e.name)), false
	case '~':
		v, zero := e.left.Eval(value)
		return -v, zero
	}
	l, zero := e.left.Eval(value)
	r, rightZero := e.right.Eval(value)
	zero = zero || rightZero
	switch e.op {
	case '+':
		l += r
	case '-':
		l -= r
	case '*':
		l *= r
	default:
		if r == 0 {
			return math.NaN(), true
		}
		l /= r
	}
	if math.IsInf(l, 0) {
		return math.NaN(), zero
	}
	return l, zero
}
