package tool

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

// Arguments are what a call gave, read leniently: a model's slip that has one sensible meaning is taken as that, with a note where
// something was dropped or changed.
type Arguments struct {
	Values map[string]any // string, time.Time, float64, bool, []string or json.RawMessage
	Notes  []string
	Now    time.Time

	// How names that a call gives are meant (resolveNames).
	PartOfName, OnResource bool
}

// Read fails with one error that lists every argument that cannot be used.
func (t *Tool) Read(raw json.RawMessage, now time.Time) (*Arguments, error) {
	a := &Arguments{Values: map[string]any{}, Now: now.UTC()}
	given := map[string]any{}
	if text := bytes.TrimSpace(raw); len(text) > 0 && !bytes.Equal(text, []byte("null")) {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&given); err != nil {
			return nil, &InputError{Tag: TagDecode, Message: t.Name + ": the arguments must be a JSON object.\nParameters: " + t.paramNames()}
		}
	}
	var problems []*InputError
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := t.param(name)
		if p == nil {
			if p = t.meant(name); p != nil {
				if _, both := given[p.Name]; both {
					a.Note("%s was ignored: %s was given as well.", name, p.Name)
					continue
				}
			}
		}
		if p == nil {
			a.Note("%s has no parameter %q; it was ignored. Did you mean %s?", t.Name, name, t.nearest(name))
			continue
		}
		value, err := p.read(given[name], a)
		if err != nil {
			problems = append(problems, &InputError{Tag: TagInvalidInput, Parameter: p.Name, Message: p.Name + " " + err.Error() + ".", Example: p.Example})
			continue
		}
		if value != nil {
			a.Values[p.Name] = value
		}
	}
	for _, p := range t.Params {
		if _, ok := a.Values[p.Name]; ok {
			continue
		}
		if p.Required && !slices.ContainsFunc(problems, func(e *InputError) bool { return e.Parameter == p.Name }) {
			problems = append(problems, &InputError{Tag: TagInvalidInput, Parameter: p.Name, Message: p.Name + " is required.", Example: p.Example})
		}
		switch v := p.Fallback.(type) {
		case int:
			a.Values[p.Name] = float64(v)
		case bool:
			a.Values[p.Name] = v
		case string:
			a.Values[p.Name] = v
		}
	}
	switch len(problems) {
	case 0:
		return a, nil
	case 1:
		return nil, problems[0]
	}
	text := t.Name + ": some arguments cannot be used."
	for _, e := range problems {
		text += "\n- " + e.Message
	}
	return nil, &InputError{Tag: TagDecode, Message: text + "\nParameters: " + t.paramNames(), Parameter: problems[0].Parameter}
}

func (a *Arguments) Note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// read takes one value; nil means that it was left out.
func (p *Param) read(v any, a *Arguments) (any, error) {
	text, isText := v.(string)
	if number, ok := v.(json.Number); ok {
		text = number.String()
	} else if isText {
		text = strings.TrimSpace(text)
	}
	if v == nil || isText && text == "" {
		return nil, nil
	}
	switch p.Kind {
	case KindList:
		return p.readList(v, text, isText)
	case KindJSON:
		return p.readJSON(v, text, isText)
	}
	if text == "" && p.Kind != KindFlag {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	switch p.Kind {
	case KindTime:
		at, err := parseTime(text, a.Now)
		if err != nil {
			return nil, err
		}
		return at, nil
	case KindInteger, KindNumber:
		return p.readNumber(text, a)
	case KindFlag:
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

func (p *Param) readText(text string) (any, error) {
	if len(p.Enum) > 0 {
		for _, e := range p.Enum {
			if strings.EqualFold(e, text) {
				return e, nil
			}
		}
		return nil, fmt.Errorf("must be one of %s", strings.Join(p.Enum, ", "))
	}
	if p.Pattern != "" {
		if ok, err := regexp.MatchString(p.Pattern, text); err != nil || !ok {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	return text, nil
}

func (p *Param) readList(v any, text string, isText bool) (any, error) {
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

func (p *Param) readJSON(v any, text string, isText bool) (any, error) {
	raw := []byte(text)
	if isText && p.Short != nil {
		if short, ok := p.Short(text); ok {
			return short, nil
		}
	}
	if !isText {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) || raw[0] != '{' && (p.Object || raw[0] != '[') {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	return json.RawMessage(raw), nil
}

func (p *Param) readNumber(text string, a *Arguments) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || p.Kind == KindInteger && f != math.Trunc(f) {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	bounded := f
	if p.Minimum != nil {
		bounded = max(bounded, *p.Minimum)
	}
	if p.Maximum != nil {
		bounded = min(bounded, *p.Maximum)
	}
	if bounded != f {
		if !p.Clamped {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
		a.Note("%s was set to %v, the nearest value that is allowed.", p.Name, bounded)
	}
	return bounded, nil
}

func (p *Param) expects() string {
	text := map[kind]string{KindText: "text", KindTime: "a time", KindInteger: "a whole number", KindNumber: "a number", KindFlag: "true or false", KindList: "a list of texts", KindJSON: "JSON, an object or an array,"}[p.Kind]
	if p.Form != "" {
		text = p.Form
	}
	switch {
	case p.Minimum != nil && p.Maximum != nil:
		text += fmt.Sprintf(" from %v to %v", *p.Minimum, *p.Maximum)
	case p.Minimum != nil:
		text += fmt.Sprintf(" of at least %v", *p.Minimum)
	case p.Example != "" && p.Form != "":
		text += ", such as " + p.Example
	case p.Example != "":
		text += " such as " + p.Example
	}
	return text
}

// nearest is the parameter whose name is most like a wrong one.
func (t *Tool) nearest(name string) string {
	names := make([]string, len(t.Params))
	for i, p := range t.Params {
		names[i] = p.Name
	}
	return nearest.Name(name, names)
}

// Text is nil when the argument was not given.
func (a *Arguments) Text(name string) *string {
	if v, ok := a.Values[name].(string); ok {
		return &v
	}
	return nil
}

func (a *Arguments) Number(name string) *float64 {
	if v, ok := a.Values[name].(float64); ok {
		return &v
	}
	return nil
}

func (a *Arguments) List(name string) []string {
	v, _ := a.Values[name].([]string)
	return v
}

func (a *Arguments) Raw(name string) json.RawMessage {
	v, _ := a.Values[name].(json.RawMessage)
	return v
}

// TextOr is a text argument, or other when it was not given.
func (a *Arguments) TextOr(name, other string) string {
	if v := a.Text(name); v != nil {
		return *v
	}
	return other
}

// IsSet reports whether a flag was given as true.
func (a *Arguments) IsSet(name string) bool { return a.Values[name] == true }

func (a *Arguments) Integer(name string) int {
	v, _ := a.Values[name].(float64)
	return int(v)
}

func (a *Arguments) Flag(name string) *bool {
	if v, ok := a.Values[name].(bool); ok {
		return &v
	}
	return nil
}
