package oracle_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var corrupt = flag.Bool("corrupt", false, "change each figure of the answers, and list those whose change no comparison notices")

// corruption changes figures in answers before they are compared.
type corruption struct {
	answers map[string]answered
	// paths are the places of figures in the answers of each read.
	paths map[string]map[string]bool
	// changed is the place that is changed now, for each read.
	changed map[string]string
}

type answered struct {
	status int
	body   []byte
}

func (c *corruption) kept(method, path string, body []byte) (int, []byte, bool) {
	if c == nil {
		return 0, nil, false
	}
	got, ok := c.answers[method+" "+path+" "+string(body)]
	return got.status, got.body, ok
}

func (c *corruption) keep(method, path string, body []byte, status int, raw []byte) {
	if c != nil {
		c.answers[method+" "+path+" "+string(body)] = answered{status, raw}
	}
}

// change notes the figures of an answer, and changes those at the place in question.
func (c *corruption) change(read string, raw []byte) []byte {
	if c == nil {
		return raw
	}
	var content any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&content) != nil {
		return raw
	}
	if c.paths[read] == nil {
		c.paths[read] = map[string]bool{}
	}
	content = c.walk(read, "", content)
	if c.changed[read] == "" {
		return raw
	}
	out, _ := json.Marshal(content)
	return out
}

// walk visits an answer. A figure is a number, a truth value or a time.
func (c *corruption) walk(read, path string, v any) any {
	var other any
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = c.walk(read, strings.TrimPrefix(path+"."+k, "."), v[k])
		}
		return v
	case []any:
		for n := range v {
			v[n] = c.walk(read, path+"[]", v[n])
		}
		return v
	case json.Number:
		n, _ := v.Float64()
		other = n*1.5 + 1
		if n == float64(int64(n)) {
			other = int64(n)*2 + 1
		}
	case bool:
		other = !v
	case string:
		at, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return v
		}
		other = at.Add(time.Second).Format(time.RFC3339Nano)
	default:
		return v
	}
	c.paths[read][path] = true
	if c.changed[read] == path {
		return other
	}
	return v
}

// unnoticed are figures that no comparison holds, each with the reason.
var unnoticed = []struct{ figures, reason string }{}

// corrupted compares all parts, and then again with one figure of each read changed, until each figure was changed once. A figure whose
// change makes no comparison of its read fail must be in unnoticed.
func (a *audit) corrupted() {
	c := &corruption{answers: map[string]answered{}, paths: map[string]map[string]bool{}}
	state, state2, loud := marshaled(a.chance.MarshalBinary()), marshaled(a.activity.chance.MarshalBinary()), a.TB
	a.corruption = c
	pass := func() {
		_, _ = a.chance.UnmarshalBinary(state), a.activity.chance.UnmarshalBinary(state2)
		a.wrong, a.wrongOf = 0, map[string]int{}
		for _, check := range a.parts() {
			a.quietly(loud, check)
		}
		a.TB = loud
	}
	pass()
	if a.wrong > 0 {
		a.Fatalf("%d figures are wrong without any change: %v", a.wrong, a.wrongOf)
	}
	left, places := map[string][]string{}, 0
	for read, paths := range c.paths {
		left[read] = slices.Sorted(maps.Keys(paths))
		places += len(paths)
	}
	needed, missed := make([]int, len(unnoticed)), 0
	for len(left) > 0 {
		c.changed = map[string]string{}
		for read, paths := range left {
			c.changed[read] = paths[0]
			if left[read] = paths[1:]; len(paths) == 1 {
				delete(left, read)
			}
		}
		pass()
		for _, read := range slices.Sorted(maps.Keys(c.changed)) {
			if a.wrongOf[read] > 0 {
				continue
			}
			figure := read + " " + c.changed[read]
			i := slices.IndexFunc(unnoticed, func(u struct{ figures, reason string }) bool {
				return regexp.MustCompile("^(?:" + u.figures + ")$").MatchString(figure)
			})
			missed++
			if i < 0 {
				a.Errorf("no comparison notices another %s", figure)
				continue
			}
			needed[i]++
		}
	}
	for i, n := range needed {
		if n == 0 {
			a.Errorf("unnoticed needs no %q", unnoticed[i].figures)
		}
	}
	a.Logf("%d places of figures in the answers of %d reads; the change of %d is noticed", places, len(c.paths), places-missed)
}

func marshaled(state []byte, _ error) []byte { return state }

// quietly runs comparisons. Their failures count as wrong figures and do not fail the test.
func (a *audit) quietly(loud testing.TB, check func()) {
	a.TB = &quiet{loud, a}
	defer func() {
		if r := recover(); r != nil && r != any(stopped{}) {
			a.Errorf("%v", r)
		}
	}()
	check()
}

// quiet counts failures.
type quiet struct {
	testing.TB
	audit *audit
}

type stopped struct{}

func (q *quiet) Helper()             {}
func (q *quiet) Logf(string, ...any) {}

func (q *quiet) Errorf(format string, list ...any) {
	read, _, _ := strings.Cut(fmt.Sprintf(format, list...), " ")
	q.audit.wrongIn(strings.TrimSuffix(read, ":"))
}

func (q *quiet) Fatalf(format string, list ...any) {
	q.Errorf(format, list...)
	panic(stopped{})
}

func (q *quiet) Fatal(list ...any) { q.Fatalf("%s", fmt.Sprint(list...)) }
