package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/nearest"
)

// arguments are what a call gave, read leniently: a model's slip that has one sensible meaning is taken as that, with a note where
// something was dropped or changed.
type arguments struct {
	values map[string]any // string, time.Time, float64, bool, []string or json.RawMessage
	notes  []string
	now    time.Time

	// How names that a call gives are meant (resolveNames).
	partOfName, onResource bool
}

// read fails with one error that lists every argument that cannot be used.
func (t *tool) read(raw json.RawMessage, now time.Time) (*arguments, error) {
	a := &arguments{values: map[string]any{}, now: now.UTC()}
	given := map[string]any{}
	if text := bytes.TrimSpace(raw); len(text) > 0 && !bytes.Equal(text, []byte("null")) {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&given); err != nil {
			return nil, &inputError{tag: tagDecode, message: t.name + ": the arguments must be a JSON object.\nParameters: " + t.paramNames()}
		}
	}
	var problems []*inputError
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := t.param(name)
		if p == nil {
			if p = t.meant(name); p != nil {
				if _, both := given[p.name]; both {
					a.note("%s was ignored: %s was given as well.", name, p.name)
					continue
				}
			}
		}
		if p == nil {
			a.note("%s has no parameter %q; it was ignored. Did you mean %s?", t.name, name, t.nearest(name))
			continue
		}
		value, err := p.read(given[name], a)
		if err != nil {
			problems = append(problems, &inputError{tag: tagInvalidInput, parameter: p.name, message: p.name + " " + err.Error() + ".", example: p.example})
			continue
		}
		if value != nil {
			a.values[p.name] = value
		}
	}
	for _, p := range t.params {
		if _, ok := a.values[p.name]; ok {
			continue
		}
		if p.required && !slices.ContainsFunc(problems, func(e *inputError) bool { return e.parameter == p.name }) {
			problems = append(problems, &inputError{tag: tagInvalidInput, parameter: p.name, message: p.name + " is required.", example: p.example})
		}
		switch v := p.fallback.(type) {
		case int:
			a.values[p.name] = float64(v)
		case bool:
			a.values[p.name] = v
		case string:
			a.values[p.name] = v
		}
	}
	switch len(problems) {
	case 0:
		return a, nil
	case 1:
		return nil, problems[0]
	}
	text := t.name + ": some arguments cannot be used."
	for _, e := range problems {
		text += "\n- " + e.message
	}
	return nil, &inputError{tag: tagDecode, message: text + "\nParameters: " + t.paramNames(), parameter: problems[0].parameter}
}

func (a *arguments) note(format string, args ...any) {
	a.notes = append(a.notes, fmt.Sprintf(format, args...))
}

// read takes one value; nil means that it was left out.
func (p *param) read(v any, a *arguments) (any, error) {
	text, isText := v.(string)
	if number, ok := v.(json.Number); ok {
		text = number.String()
	} else if isText {
		text = strings.TrimSpace(text)
	}
	if v == nil || isText && text == "" {
		return nil, nil
	}
	switch p.kind {
	case kindList:
		return p.readList(v, text, isText)
	case kindJSON:
		return p.readJSON(v, text, isText)
	}
	if text == "" && p.kind != kindFlag {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	switch p.kind {
	case kindTime:
		at, err := parseTime(text, a.now)
		if err != nil {
			return nil, err
		}
		return at, nil
	case kindInteger, kindNumber:
		return p.readNumber(text, a)
	case kindFlag:
		switch {
		case v == true || text == "1" || strings.EqualFold(text, "true"):
			return true, nil
		case v == false || text == "0" || strings.EqualFold(text, "false"):
			return false, nil
		}
		return nil, fmt.Errorf("must be %s", p.expects())
	default:
		return p.readText(text)
	}
}

func (p *param) readText(text string) (any, error) {
	if len(p.enum) > 0 {
		for _, e := range p.enum {
			if strings.EqualFold(e, text) {
				return e, nil
			}
		}
		return nil, fmt.Errorf("must be one of %s", strings.Join(p.enum, ", "))
	}
	if p.pattern != "" {
		if ok, err := regexp.MatchString(p.pattern, text); err != nil || !ok {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	return text, nil
}

func (p *param) readList(v any, text string, isText bool) (any, error) {
	var given []any
	switch {
	case strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &given) == nil:
	case isText:
		for _, part := range strings.Split(text, ",") {
			given = append(given, part)
		}
	default:
		var ok bool
		if given, ok = v.([]any); !ok {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	var list []string
	for _, item := range given {
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		one, err := p.readText(s)
		if err != nil {
			return nil, err
		}
		list = append(list, one.(string))
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

func (p *param) readJSON(v any, text string, isText bool) (any, error) {
	raw := []byte(text)
	if isText && p.short != nil {
		if short, ok := p.short(text); ok {
			return short, nil
		}
	}
	if !isText {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) || raw[0] != '{' && (p.object || raw[0] != '[') {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	return json.RawMessage(raw), nil
}

func (p *param) readNumber(text string, a *arguments) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || p.kind == kindInteger && f != math.Trunc(f) {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	bounded := f
	if p.minimum != nil {
		bounded = max(bounded, *p.minimum)
	}
	if p.maximum != nil {
		bounded = min(bounded, *p.maximum)
	}
	if bounded != f {
		if !p.clamped {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
		a.note("%s was set to %v, the nearest value that is allowed.", p.name, bounded)
	}
	return bounded, nil
}

func (p *param) expects() string {
	text := map[kind]string{kindText: "text", kindTime: "a time", kindInteger: "a whole number", kindNumber: "a number", kindFlag: "true or false", kindList: "a list of texts", kindJSON: "JSON, an object or an array,"}[p.kind]
	if p.form != "" {
		text = p.form
	}
	switch {
	case p.minimum != nil && p.maximum != nil:
		text += fmt.Sprintf(" from %v to %v", *p.minimum, *p.maximum)
	case p.minimum != nil:
		text += fmt.Sprintf(" of at least %v", *p.minimum)
	case p.example != "" && p.form != "":
		text += ", such as " + p.example
	case p.example != "":
		text += " such as " + p.example
	}
	return text
}

// nearest is the parameter whose name is most like a wrong one.
func (t *tool) nearest(name string) string {
	names := make([]string, len(t.params))
	for i, p := range t.params {
		names[i] = p.name
	}
	return nearest.Name(name, names)
}

// text is nil when the argument was not given.
func (a *arguments) text(name string) *string {
	if v, ok := a.values[name].(string); ok {
		return &v
	}
	return nil
}

func (a *arguments) number(name string) *float64 {
	if v, ok := a.values[name].(float64); ok {
		return &v
	}
	return nil
}

func (a *arguments) list(name string) []string {
	v, _ := a.values[name].([]string)
	return v
}

func (a *arguments) raw(name string) json.RawMessage {
	v, _ := a.values[name].(json.RawMessage)
	return v
}

// textOr is a text argument, or other when it was not given.
func (a *arguments) textOr(name, other string) string {
	if v := a.text(name); v != nil {
		return *v
	}
	return other
}

// isSet reports whether a flag was given as true.
func (a *arguments) isSet(name string) bool { return a.values[name] == true }

func (a *arguments) integer(name string) int {
	v, _ := a.values[name].(float64)
	return int(v)
}

func (a *arguments) flag(name string) *bool {
	if v, ok := a.values[name].(bool); ok {
		return &v
	}
	return nil
}
