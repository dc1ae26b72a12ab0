package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/nearest"
)

// Call is embedded in the arguments of every tool. Its methods take pointers to fields of those arguments, as &a.Service. They
// know the parameter name of each field.
type Call struct {
	// Notes say which arguments the call dropped or changed.
	Notes []string
	// Now is the time of the call, in UTC.
	Now time.Time
	// Detail is brief, full or, as in most calls, empty for brief.
	Detail string

	// window is the time range that the call reads, or nil.
	read *TimeRange

	// fields maps the pointer to each field to its parameter.
	fields map[any]*param
	// given holds the parameters that have a value, from the caller or by default.
	given map[*param]bool
}

func (c *Call) call() *Call { return c }

// Arguments is implemented by pointers to structs that embed Call.
type Arguments interface{ call() *Call }

type detailKey struct{}

// WithDetail sets the detail of calls that do not give it.
func WithDetail(ctx context.Context, detail string) context.Context {
	return context.WithValue(ctx, detailKey{}, detail)
}

// Full reports whether the caller wants the whole result.
func (c *Call) Full() bool { return c.Detail == Full }

// Runner reads the arguments of a call and runs the tool.
type Runner struct {
	params []param
	err    error
	run    func(ctx context.Context, t *Tool, raw json.RawMessage, now time.Time) (*Answer, error)
}

// With makes the Runner of a tool from a function that takes the tool's own arguments. The arguments are a struct that embeds
// Call and has a field for each parameter (see paramsOf).
func With[A any, P interface {
	*A
	Arguments
}](run func(ctx context.Context, a P) (*Answer, error)) Runner {
	params, err := paramsOf(reflect.TypeFor[A](), nil)
	return Runner{params, err, func(ctx context.Context, t *Tool, raw json.RawMessage, now time.Time) (*Answer, error) {
		a := P(new(A))
		if err := t.bind(a, raw, now); err != nil {
			return nil, err
		}
		c := a.call()
		if c.Detail == "" {
			c.Detail, _ = ctx.Value(detailKey{}).(string)
		}
		out, err := t.withNames(ctx, c, func(ctx context.Context) (*Answer, error) { return run(ctx, a) })
		if err != nil {
			return nil, err
		}
		out.Text.Notes = append(c.Notes, out.Text.Notes...)
		out.full = c.Full()
		if out.Place == "" {
			out.Place = t.View.Of(c, out.ID)
		}
		return out, nil
	}}
}

// Read reads the arguments of a tool in the same way as a call.
func Read[A any, P interface {
	*A
	Arguments
}](raw string, now time.Time) (P, error) {
	params, err := paramsOf(reflect.TypeFor[A](), nil)
	if err != nil {
		return nil, err
	}
	a := P(new(A))
	return a, (&Tool{Run: Runner{params: params}}).bind(a, json.RawMessage(raw), now)
}

// bind reads arguments leniently. If a model's mistake has only one sensible meaning, that meaning is used. A note says what was
// dropped or changed. On failure bind returns one error that lists every argument that cannot be used.
func (t *Tool) bind(to Arguments, raw json.RawMessage, now time.Time) error {
	v, c := reflect.ValueOf(to).Elem(), to.call()
	c.Now, c.fields, c.given = now.UTC(), map[any]*param{}, map[*param]bool{}
	for i := range t.Run.params {
		p := &t.Run.params[i]
		c.fields[v.FieldByIndex(p.index).Addr().Interface()] = p
	}
	given := map[string]json.RawMessage{} // each value is decoded once, for the field that takes it
	if len(bytes.TrimSpace(raw)) > 0 && json.Unmarshal(raw, &given) != nil {
		return &InputError{Tag: TagDecode, Message: t.Name + ": the arguments must be a JSON object.\nParameters: " + t.paramNames()}
	}
	var problems []*InputError
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := t.param(name)
		if p == nil {
			if p = t.meant(name); p != nil {
				if _, both := given[p.name]; both || c.given[p] {
					c.Note("%s was ignored: %s was given as well.", name, p.name)
					continue
				}
			}
		}
		if p == nil {
			c.Note("%s has no parameter %q; it was ignored. Did you mean %s?", t.Name, name, t.nearest(name))
			continue
		}
		value, err := p.read(given[name], c)
		if err != nil {
			problems = append(problems, &InputError{
				Tag: TagInvalidInput, Parameter: p.name, Message: p.name + " " + err.Error() + ".", Example: p.example,
			})
			continue
		}
		if value != nil {
			p.set(v, value)
			c.given[p] = true
		}
	}
	for i := range t.Run.params {
		p := &t.Run.params[i]
		if c.given[p] {
			continue
		}
		if p.required && !slices.ContainsFunc(problems, func(e *InputError) bool { return e.Parameter == p.name }) {
			problems = append(problems, &InputError{
				Tag: TagInvalidInput, Parameter: p.name, Message: p.name + " is required.", Example: p.example,
			})
		}
		if p.fallback != nil {
			p.set(v, p.fallback)
			c.given[p] = true
		}
	}
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return problems[0]
	}
	text := t.Name + ": some arguments cannot be used."
	for _, e := range problems {
		text += "\n- " + e.Message
	}
	return &InputError{Tag: TagDecode, Message: text + "\nParameters: " + t.paramNames(), Parameter: problems[0].Parameter}
}

// set writes a value into the field of the parameter.
func (p *param) set(to reflect.Value, value any) {
	field := to.FieldByIndex(p.index)
	v := reflect.ValueOf(value)
	if field.Kind() != reflect.Pointer {
		field.Set(v.Convert(field.Type()))
		return
	}
	at := reflect.New(field.Type().Elem())
	at.Elem().Set(v.Convert(at.Elem().Type()))
	field.Set(at)
}

func (t *Tool) param(name string) *param {
	i := slices.IndexFunc(t.Run.params, func(p param) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &t.Run.params[i]
}

// meant is the parameter that an unknown name refers to. The name may be another usual name, or differ by _json at its end, which
// only some tools use.
func (t *Tool) meant(name string) *param {
	// A tool with several periods has no argument start_time. A caller that sends one means the current period.
	usual := map[string][]string{
		"service_name": {"service"}, "service_names": {"services"},
		"since": {"start_time", "current_start"}, "start_time": {"current_start"},
		"until": {"end_time", "current_end"}, "end_time": {"current_end"},
	}
	for _, other := range usual[name] {
		if p := t.param(other); p != nil {
			return p
		}
	}
	if base, ok := strings.CutSuffix(name, "_json"); ok {
		return t.param(base)
	}
	return t.param(name + "_json")
}

func (t *Tool) names() []string {
	var names []string
	for _, p := range t.listed() {
		names = append(names, p.name)
	}
	return names
}

func (t *Tool) paramNames() string { return strings.Join(t.names(), ", ") }

// nearest is the parameter whose name is most similar to a wrong name.
func (t *Tool) nearest(name string) string { return nearest.Name(name, t.names()) }

// Note adds a note to the answer of the call.
func (c *Call) Note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// NameOf is the parameter name of a field.
func (c *Call) NameOf(field any) string {
	if p := c.fields[field]; p != nil {
		return p.name
	}
	return ""
}

// Bad describes the fault of the argument in a field.
func (c *Call) Bad(field any, message, example string) error {
	return BadInput(c.NameOf(field), message, example)
}

// Given reports whether a field has a value, from the caller or by default.
func (c *Call) Given(field any) bool {
	_, ok := c.value(field)
	return ok
}

// value is the value of a field. A pointer or list may have been emptied since the call was read.
func (c *Call) value(field any) (any, bool) {
	v := reflect.ValueOf(field).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil, false
		}
		return v.Elem().Interface(), true
	case reflect.Slice:
		return v.Interface(), v.Len() > 0
	}
	p := c.fields[field]
	return v.Interface(), p != nil && c.given[p]
}

// Labels labels a time range and the fields that have values. They stand in the first line of a text.
func (c *Call) Labels(w TimeRange, fields ...any) []Pair {
	scope := []Pair{w.Label()}
	for _, f := range fields {
		if v, ok := c.value(f); ok {
			scope = append(scope, Pair{c.NameOf(f), fmt.Sprint(v)})
		}
	}
	return scope
}

// Again returns the arguments of another call for the same time range and fields.
func (c *Call) Again(w TimeRange, more map[string]any, fields ...any) map[string]any {
	args := map[string]any{"start_time": w.Start, "end_time": w.End}
	maps.Copy(args, c.Chosen(fields...))
	maps.Copy(args, more)
	return args
}

// Chosen returns the fields that have values, by their parameter names.
func (c *Call) Chosen(fields ...any) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		if v, ok := c.value(f); ok {
			out[c.NameOf(f)] = v
		}
	}
	return out
}

// Echo returns the fields that have values, by the names that results use: event_type becomes eventType.
func (c *Call) Echo(fields ...any) map[string]any {
	out := map[string]any{}
	for name, v := range c.Chosen(fields...) {
		out[camelCase(name)] = v
	}
	return out
}

// Decode reads the JSON in a field into a message of the API.
func (c *Call) Decode(field any, m proto.Message) error {
	return DecodeJSON(c.NameOf(field), reflect.ValueOf(field).Elem().Bytes(), m)
}

// Or is the value of an argument, or other if the call did not give the argument.
func Or[T any](v *T, other T) T {
	if v == nil {
		return other
	}
	return *v
}

// Int32 is the value of a number, as messages of the API have it; nil if the call did not give it.
func Int32(v *int) *int32 {
	if v == nil {
		return nil
	}
	return new(int32(*v))
}
