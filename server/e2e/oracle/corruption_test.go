package oracle_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
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

// corrupted compares all parts, and then again with one figure of each read changed, until each figure was changed. It lists the figures
// whose change no comparison of their read notices. A second round changes only those: in the first one, the change of one read can keep
// another from being asked.
func (a *audit) corrupted() {
	a.corruption = &corruption{answers: map[string]answered{}, paths: map[string]map[string]bool{}}
	state, state2, loud := marshaled(a.chance.MarshalBinary()), marshaled(a.activity.chance.MarshalBinary()), a.TB
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
	places := map[string][]string{}
	for read, paths := range a.paths {
		places[read] = slices.Sorted(maps.Keys(paths))
	}
	missed := a.sweep(a.sweep(places, pass), pass)
	for _, read := range slices.Sorted(maps.Keys(missed)) {
		a.Logf("no comparison notices another %s of %s", strings.Join(missed[read], ", "), read)
	}
	n := placesIn(places)
	a.Logf("%d places of figures in the answers of %d reads; the change of %d is noticed", n, len(places), n-placesIn(missed))
}

// sweep changes one place of each read at a time. It returns the places whose change is not noticed.
func (a *audit) sweep(places map[string][]string, pass func()) map[string][]string {
	missed := map[string][]string{}
	for n := 0; ; n++ {
		a.changed = map[string]string{}
		for read, paths := range places {
			if n < len(paths) {
				a.changed[read] = paths[n]
			}
		}
		if len(a.changed) == 0 {
			return missed
		}
		pass()
		for read, path := range a.changed {
			if a.wrongOf[read] == 0 {
				missed[read] = append(missed[read], path)
			}
		}
	}
}

func placesIn(places map[string][]string) (n int) {
	for _, list := range places {
		n += len(list)
	}
	return n
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
