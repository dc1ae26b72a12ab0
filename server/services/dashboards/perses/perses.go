// Package perses converts dashboards of Perses into dashboards of svc. Every panel becomes a widget. A warning names each part
// that cannot be converted. A panel whose query cannot run becomes a text widget with the reason.
package perses

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/widget"
	"github.com/svc-observability/svc/server/wording"
)

// Error is the reason why a document is not a Perses dashboard.
type Error struct {
	// Path is the invalid field, below `dashboard`.
	Path, Reason string
}

// Error returns path and reason.
func (e *Error) Error() string { return e.Path + " " + e.Reason }

const (
	fallbackName  = "Imported Perses Dashboard"
	fallbackRange = "12h"
	importTag     = "perses-import"
)

// object reads JSON objects and tolerates missing fields.
type object map[string]*structpb.Value

func (o object) child(name string) object {
	return o[name].GetStructValue().GetFields()
}

// at descends through several names.
func (o object) at(names ...string) object {
	for _, name := range names {
		o = o.child(name)
	}
	return o
}

func (o object) text(name string) string { return strings.TrimSpace(o[name].GetStringValue()) }

func (o object) list(name string) []*structpb.Value { return o[name].GetListValue().GetValues() }

func (o object) number(name string) *float64 {
	if n, ok := o[name].GetKind().(*structpb.Value_NumberValue); ok {
		return &n.NumberValue
	}
	return nil
}

// importer collects the widgets and the warnings.
type importer struct {
	panels   object
	widgets  []*svcv2.Widget
	warnings []string
	ids      map[string]bool
	placed   map[string]bool
	bottom   float64
	refuse   func(sql string) string
}

func (m *importer) warn(format string, args ...any) {
	m.warnings = append(m.warnings, fmt.Sprintf(format, args...))
}

// Convert reads a Perses dashboard. refuse returns the reason why a statement cannot run, as in "must be a SELECT", or an empty
// text if it can. The error is an *Error.
func Convert(document *structpb.Struct, refuse func(sql string) string) (*svcv2.DashboardDefinition, []string, error) {
	root := object(document.GetFields())
	if root.text("kind") != "Dashboard" {
		return nil, nil, &Error{"kind", "must be Dashboard"}
	}
	if root["spec"].GetStructValue() == nil {
		return nil, nil, &Error{"spec", "must be an object"}
	}
	spec := root.child("spec")
	m := &importer{panels: spec.child("panels"), ids: map[string]bool{}, placed: map[string]bool{}, refuse: refuse}
	if len(m.panels) == 0 {
		return nil, nil, &Error{"spec.panels", "must hold at least one panel"}
	}
	def := &svcv2.DashboardDefinition{
		Name: cmp.Or(clip(spec.child("display").text("name")), clip(root.child("metadata").text("name")), fallbackName),
		Tags: []string{importTag}, TimeRange: &svcv2.TimeRange{Type: "relative", Value: new(fallbackRange)},
	}
	if text := m.shorten("the dashboard", spec.child("display").text("description"), maxDescription); text != "" {
		def.Description = &text
	}
	if d := spec.text("duration"); durationForm.MatchString(d) {
		whole := svcv2.TimeRange{Type: "relative", Value: &d}
		if _, problem := widget.Unreadable(&whole); problem != "" {
			longest := fmt.Sprintf("%dd", limits.TimeseriesWindow/limits.Day)
			m.warn("The duration %q is longer than a widget can read: the dashboard shows the last %s.", d, longest)
			d = longest
		}
		def.TimeRange.Value = &d
	} else if d == "" {
		m.warn("The dashboard has no duration: it shows the last %s.", fallbackRange)
	} else {
		m.warn("The duration %q is not a number of minutes, hours, days or weeks: the dashboard shows the last %s.", d, fallbackRange)
	}
	if n := len(spec.list("variables")); n > 0 {
		m.warn("%s not imported: queries that use them must be changed.", count(n, "variable"))
	}
	if n := len(spec.child("datasources")); n > 0 {
		m.warn("%s not stored: queries run on the telemetry of this organization.", count(n, "datasource"))
	}
	m.layouts(spec.list("layouts"))
	m.leftOver()
	def.Widgets = m.widgets
	return def, m.warnings, nil
}

var durationForm = regexp.MustCompile(`^[1-9][0-9]{0,5}[mhdw]$`)

// clip shortens a text to the length of a name.
func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return wording.First(text, limits.DashboardName)
}

const (
	maxDescription = limits.DashboardText
	maxMarkdown    = limits.DashboardMarkdown
)

// shorten cuts a text that is longer than a dashboard may hold, and adds a warning.
func (m *importer) shorten(of, text string, longest int) string {
	short := wording.First(text, longest)
	if short != text {
		m.warn("The text of %s was cut after %d characters.", of, longest)
	}
	return short
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}

// layouts places the panels that grids refer to.
func (m *importer) layouts(list []*structpb.Value) {
	if len(list) == 0 {
		m.warn("The dashboard has no layout: its panels were placed one after the other.")
	}
	for i, each := range list {
		layout := object(each.GetStructValue().GetFields())
		if kind := layout.text("kind"); kind != "Grid" {
			m.warn("Layout %d is of the kind %q, not Grid: its panels were placed one after the other.", i+1, kind)
			continue
		}
		top := m.bottom
		for j, item := range layout.child("spec").list("items") {
			m.item(fmt.Sprintf("item %d of layout %d", j+1, i+1), top, item.GetStructValue().GetFields())
		}
	}
}

// item places one panel of a grid that begins at the row top.
func (m *importer) item(name string, top float64, item object) {
	ref := item.child("content").text("$ref")
	key, isPanel := strings.CutPrefix(ref, "#/spec/panels/")
	key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
	switch {
	case ref == "":
		m.warn("The %s refers to no panel: it was left out.", name)
		return
	case !isPanel || m.panels[key] == nil:
		m.warn("The %s refers to %q, which is not a panel of the dashboard: it was left out.", name, ref)
		return
	}
	given := [4]float64{}
	for i, field := range []string{"x", "y", "width", "height"} {
		if n := item.number(field); n != nil {
			given[i] = *n
		}
	}
	x := whole(given[0], 0, limits.GridColumns-1)
	p := [4]float64{x, whole(given[1], 0, 1000), whole(given[2], 1, limits.GridColumns-x), whole(given[3], 2, 100)}
	if p != given {
		m.warn("The place of panel %q was fitted into the grid of %d columns.", key, limits.GridColumns)
	}
	p[1] += top
	m.add(key, p)
}

func whole(v, least, most float64) float64 {
	return min(max(float64(int(min(max(v, -1e6), 1e6))), least), most)
}

// leftOver places the panels that no grid refers to below all others.
func (m *importer) leftOver() {
	x, y, height := 0.0, m.bottom, 0.0
	for _, key := range slices.Sorted(maps.Keys(m.panels)) {
		if m.placed[key] {
			continue
		}
		w, h := 6.0, 5.0
		if pluginOf(object(m.panels[key].GetStructValue().GetFields())) == "StatChart" {
			w, h = 3, 4
		}
		if x+w > 12 {
			x, y, height = 0, y+height, 0
		}
		m.warn("Panel %q is in no layout: it was placed below the others.", key)
		m.add(key, [4]float64{x, y, w, h})
		x, height = x+w, max(height, h)
	}
}

// add makes a widget of a panel. A panel that two items refer to becomes two widgets.
func (m *importer) add(key string, p [4]float64) {
	m.placed[key] = true
	m.bottom = max(m.bottom, p[1]+p[3])
	w := m.widget(key, object(m.panels[key].GetStructValue().GetFields()))
	w.Layout = &svcv2.WidgetLayout{X: &p[0], Y: &p[1], W: &p[2], H: &p[3]}
	base := "perses-" + clip(strings.Trim(unsafe.ReplaceAllString(key, "-"), "-"))
	w.Id = base
	for n := 2; m.ids[w.Id]; n++ {
		w.Id = fmt.Sprintf("%s-%d", base, n)
	}
	m.ids[w.Id] = true
	m.widgets = append(m.widgets, w)
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
