// Package templates holds the built-in dashboards. Their queries use the names of the OpenTelemetry semantic conventions and of
// the Collector's receivers, with the metric types that those send. A query with another type finds nothing.
package templates

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// Parameter is a value that the user of a template can choose.
type Parameter struct {
	Key, Label, Description string
	Required                bool
	Placeholder             string
	// Values lists the allowed values. It is empty for free text.
	Values []string
}

// Requirement is something that must be set up before a template has data to show.
type Requirement struct{ Kind, Label, Collector, Hint string }

// Template is a built-in dashboard.
type Template struct {
	// Slug identifies the template: `^[a-z][a-z0-9-]*$`.
	Slug, Name, Description string
	// Category is application, database, infrastructure or messaging.
	Category string
	Tags     []string
	// Requirements describes the requirements in words. Requirement is nil if tracing is enough.
	Requirements   []string
	Requirement    *Requirement
	MetricPrefixes []string
	Parameters     []Parameter

	widgets func(b *board)
}

// ParameterError reports a parameter that cannot be used.
type ParameterError struct {
	Key string
	// Missing means that the parameter is required but was not given.
	Missing bool
	Reason  string
}

// Error names the parameter.
func (e *ParameterError) Error() string { return fmt.Sprintf("parameter %s %s", e.Key, e.Reason) }

// All lists the templates in display order.
func All() []*Template {
	return slices.Concat(application(), runtimes(), databases(), infrastructure(), messaging())
}

// Find returns a template by its slug, or nil if there is no such template.
func Find(slug string) *Template {
	for _, t := range All() {
		if t.Slug == slug {
			return t
		}
	}
	return nil
}

// Check reports the first parameter that is unknown or has a bad value, as a *ParameterError. With complete, it also reports a
// missing parameter.
func (t *Template) Check(values map[string]string, complete bool) error {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		i := slices.IndexFunc(t.Parameters, func(p Parameter) bool { return p.Key == key })
		if i < 0 {
			return &ParameterError{Key: key, Reason: "is not a parameter of this template"}
		}
		p, v := t.Parameters[i], values[key]
		switch {
		case utf8.RuneCountInString(v) > limits.TemplateValue:
			return &ParameterError{Key: key, Reason: fmt.Sprintf("has %d characters; at most %d are allowed",
				utf8.RuneCountInString(v), limits.TemplateValue)}
		case strings.ContainsFunc(v, unicode.IsControl):
			return &ParameterError{Key: key, Reason: "holds a control character"}
		case v != "" && len(p.Values) > 0 && !slices.Contains(p.Values, v):
			return &ParameterError{Key: key, Reason: "must be one of " + strings.Join(p.Values, ", ")}
		}
	}
	for _, p := range t.Parameters {
		if complete && p.Required && strings.TrimSpace(values[p.Key]) == "" {
			return &ParameterError{Key: p.Key, Missing: true, Reason: "is required"}
		}
	}
	return nil
}

// Build makes the dashboard. It leaves out the parts whose values are missing or blank. The same values give the same dashboard.
func (t *Template) Build(values map[string]string) *svcv2.DashboardDefinition {
	b := &board{values: map[string]string{}, ids: map[string]int{}}
	name := t.Name
	for i, p := range t.Parameters {
		v := strings.TrimSpace(values[p.Key])
		b.values[p.Key] = v
		if i == 0 && v != "" {
			of := " — " + name
			name = wording.First(v, limits.DashboardName-utf8.RuneCountInString(of)) + of
		}
	}
	def := &svcv2.DashboardDefinition{
		Name: name, Tags: slices.Clone(t.Tags), TimeRange: &svcv2.TimeRange{Type: "relative", Value: new("1h")},
	}
	if t.Description != "" {
		def.Description = new(t.Description)
	}
	if t.widgets != nil {
		t.widgets(b)
	}
	def.Widgets = b.widgets
	return def
}

func serviceName() []Parameter {
	return []Parameter{{
		Key: "service_name", Label: "Service", Description: "Show this service only; all services when left out.", Placeholder: "checkout",
	}}
}

func metricsFrom(label, collector, hint string) *Requirement {
	return &Requirement{Kind: "metrics", Label: label, Collector: collector, Hint: hint}
}
