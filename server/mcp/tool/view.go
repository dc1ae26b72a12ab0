package tool

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/wording"
)

// View is the page of the web application that shows a person the same as an answer: its path below the organization, with parameters
// after a question mark. A name in braces stands for the argument with that name, and {id} for the object that the call made. The path
// ends before an argument that the call does not have, and such a parameter is left out. Parameters that begin with q: are conditions
// of the filter of the page, as in "/logs?q:service.name = {service}". Those that begin with raw: hold the condition in the argument.
type View string

// NoView says that no page shows the data of a tool.
const NoView View = "-"

// Of returns the address for a call, with the time range and the environment of the call. It is empty without a page.
func (v View) Of(c *Call, id string) string {
	if v == NoView {
		return ""
	}
	path, rest, _ := strings.Cut(string(v), "?")
	argument := func(name string) string {
		if name == "id" {
			return id
		}
		return c.text(name)
	}
	var b strings.Builder
	for _, segment := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		value, ok := filled(segment, argument)
		if !ok {
			break
		}
		if value == "product_events" { // a source of queries; its page has a shorter name
			value = "events"
		}
		b.WriteString("/" + url.PathEscape(value))
	}
	query := url.Values{}
	var conditions []string
	for _, part := range strings.Split(rest, "&") {
		name, template, isParameter := strings.Cut(part, "=")
		if condition, ok := strings.CutPrefix(part, "raw:"); ok {
			if text, ok := filled(condition, argument); ok {
				conditions = append(conditions, text)
			}
		} else if condition, ok := strings.CutPrefix(part, "q:"); ok {
			if text, ok := filled(condition, func(name string) string { return quoted(argument(name)) }); ok {
				conditions = append(conditions, text)
			}
		} else if value, ok := filled(template, argument); ok && isParameter {
			query.Set(name, value)
		}
	}
	if len(conditions) > 0 {
		query.Set("q", strings.Join(conditions, " AND "))
	}
	if w := c.read; w != nil {
		query.Set("from", w.From.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano))
		query.Set("to", w.To.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano))
	}
	if env := c.text("environment"); env != "" {
		query.Set("env", env)
	}
	if len(query) == 0 {
		return b.String()
	}
	return b.String() + "?" + query.Encode()
}

// filled fills in the argument of a template. ok is false if it has no value.
func filled(template string, argument func(string) string) (text string, ok bool) {
	before, rest, ok := strings.Cut(template, "{")
	if !ok {
		return template, true
	}
	name, after, _ := strings.Cut(rest, "}")
	value := argument(name)
	return before + value + after, value != "" && value != `""`
}

// quoted writes a value of a condition as the filters of pages read it.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// text is the argument with a name, or empty. Of a list it is the only value.
func (c *Call) text(name string) string {
	for field, p := range c.fields {
		if p.name != name {
			continue
		}
		v, ok := c.value(field)
		if !ok {
			return ""
		}
		if narrows, ok := field.(*bool); ok && !*narrows {
			return "" // a switch that is off sets no condition, unlike false of an optional argument
		}
		switch v := v.(type) {
		case []string:
			if len(v) == 1 {
				return v[0]
			}
			return ""
		case time.Time:
			return wording.Clock(v)
		}
		return fmt.Sprint(v)
	}
	return ""
}
