package definition

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/widget"
	"github.com/svc-observability/svc/server/wirejson"
)

// Bounds of a definition.
const (
	maxWidgets         = limits.Widgets
	maxSections        = limits.Sections
	maxTabs            = limits.Tabs
	maxVariables       = limits.Variables
	maxOptions         = limits.VariableOptions
	maxTags            = limits.Tags
	maxName            = limits.DashboardName
	maxText            = limits.DashboardText
	maxMarkdown        = limits.DashboardMarkdown
	maxDefinitionBytes = limits.DashboardDefinitionBytes

	gridColumns = limits.GridColumns
	maxRows     = limits.GridRows
	// maxViolations bounds the violations that are reported for a hostile definition.
	maxViolations = limits.Problems
)

const (
	rangeRelative = "relative"
	rangeAbsolute = "absolute"
)

var (
	relativeForm = regexp.MustCompile(`^[0-9]{1,6}(mo|m|h|d|w)$`)
	variableForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

// checker collects violations. The rules that the .proto files state for single fields, above all types and enums, already hold.
type checker struct {
	violations []apierr.Violation
	// known holds the variables of the definition.
	known []*svcv2.DashboardVariable
	// beyond holds the values that no read accepts. A violation names each of them unless it is in stored, which holds those of
	// definitions that earlier releases stored: a change of another field must not fail because of them.
	beyond, stored map[string]bool
}

func newChecker(known []*svcv2.DashboardVariable) *checker {
	return &checker{known: known, beyond: map[string]bool{}, stored: map[string]bool{}}
}

// unreadable refuses a value that no read accepts, unless the value is stored already.
func (c *checker) unreadable(path, value, format string, args ...any) {
	c.beyond[value] = true
	if !c.stored[value] {
		c.fail(path, format, args...)
	}
}

func (c *checker) fail(path, format string, args ...any) {
	if len(c.violations) < maxViolations {
		c.violations = append(c.violations, apierr.Violation{Field: path, Message: fmt.Sprintf(format, args...)})
	}
}

// Check checks a normalized definition as a whole and returns the text to store. The error names every invalid field. The definition
// may keep values of stored definitions that no read accepts, because earlier releases stored such values.
func Check(def *svcv2.DashboardDefinition, stored ...*svcv2.DashboardDefinition) ([]byte, error) {
	return check(def, stored, "widgets", func(c *checker) { c.definition(def) })
}

// CheckAlone checks the only widget of a definition. The error has the names of the fields of a request that gives this widget as
// `widget` and the variables as `variables`.
func CheckAlone(def *svcv2.DashboardDefinition, stored ...*svcv2.DashboardDefinition) error {
	_, err := check(def, stored, "widget", func(c *checker) {
		one := def.GetWidgets()[0]
		c.values(one.ProtoReflect(), "widget")
		c.values((&svcv2.DashboardDefinition{Variables: def.GetVariables()}).ProtoReflect(), "")
		c.widget("widget", one, nil)
		c.variables(def.GetVariables())
	})
	return err
}

// check returns the text of a definition that passes visit. A definition that is too large has the field large in its error.
func check(def *svcv2.DashboardDefinition, stored []*svcv2.DashboardDefinition, large string, visit func(*checker)) ([]byte, error) {
	c := newChecker(def.GetVariables())
	for _, s := range stored {
		before := newChecker(s.GetVariables())
		before.definition(s)
		maps.Copy(c.stored, before.beyond)
	}
	visit(c)
	if len(c.violations) > 0 {
		return nil, Invalid(c.violations)
	}
	text, err := wirejson.Marshal(def)
	if err != nil {
		return nil, err
	}
	if len(text) > maxDefinitionBytes {
		return nil, Invalid([]apierr.Violation{{Field: large, Message: fmt.Sprintf(
			"make the dashboard %d bytes large; at most %d bytes are allowed", len(text), maxDefinitionBytes)}})
	}
	return text, nil
}

func (c *checker) definition(def *svcv2.DashboardDefinition) {
	c.values(def.ProtoReflect(), "")
	c.label("name", def.GetName())
	if len(def.GetTags()) > maxTags {
		c.fail("tags", "has %d tags; at most %d are allowed", len(def.GetTags()), maxTags)
	}
	for i, tag := range def.GetTags() {
		c.label(at("tags", i), tag)
	}
	c.storedRange("time_range", def.GetTimeRange())
	tabs := c.sections(def.GetSections())
	c.widgets(def.GetWidgets(), tabs)
	c.variables(def.GetVariables())
}

// CheckRange checks the form of the time range of a request. The read of the widget bounds its length. The range may be nil.
func CheckRange(r *svcv2.TimeRange) error {
	if r == nil {
		return nil
	}
	c := newChecker(nil)
	c.timeRange("time_range", r)
	if len(c.violations) > 0 {
		return Invalid(c.violations)
	}
	return nil
}

func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// label checks a text of one line that must not be blank.
func (c *checker) label(path, text string) {
	switch {
	case strings.TrimSpace(text) == "":
		c.fail(path, "must not be blank")
	case utf8.RuneCountInString(text) > maxName:
		c.length(path, text, maxName)
	case strings.ContainsFunc(text, unicode.IsControl):
		c.fail(path, "holds a control character")
	}
}

// storedRange checks the window of a dashboard or widget. A window that no widget can read is refused.
func (c *checker) storedRange(path string, r *svcv2.TimeRange) {
	c.timeRange(path, r)
	if field, problem := widget.Unreadable(r); problem != "" {
		c.unreadable(path+"."+field, "time_range "+rangeText(r), "%s", problem)
	}
}

func (c *checker) timeRange(path string, r *svcv2.TimeRange) {
	switch r.GetType() {
	case rangeRelative:
		if r.StartTime != nil {
			c.fail(path+".start_time", "is allowed only in an absolute range")
		}
		if r.EndTime != nil {
			c.fail(path+".end_time", "is allowed only in an absolute range")
		}
		if v := r.GetValue(); !relativeForm.MatchString(v) || strings.TrimLeft(v, "0") != v {
			c.fail(path+".value", "must be a number of at least 1 and a unit (m, h, d, w or mo), such as 15m, 12h or 7d")
		}
	case rangeAbsolute:
		if r.Value != nil {
			c.fail(path+".value", "is allowed only in a relative range")
		}
		switch {
		case r.GetStartTime() == nil:
			c.fail(path+".start_time", "is required in an absolute range")
		case r.GetEndTime() == nil:
			c.fail(path+".end_time", "is required in an absolute range")
		case !r.GetStartTime().IsValid():
			c.fail(path+".start_time", "is not a valid time")
		case !r.GetEndTime().IsValid():
			c.fail(path+".end_time", "is not a valid time")
		case !r.GetEndTime().AsTime().After(r.GetStartTime().AsTime()):
			c.fail(path+".end_time", "must be after start_time")
		}
	}
}

// sections returns the tabs of each section by its id.
func (c *checker) sections(list []*svcv2.DashboardSection) map[string][]string {
	if len(list) > maxSections {
		c.fail("sections", "has %d sections; at most %d are allowed", len(list), maxSections)
	}
	out := make(map[string][]string, len(list))
	for i, s := range list {
		path := at("sections", i)
		c.label(path+".id", s.GetId())
		if _, twice := out[s.GetId()]; twice {
			c.fail(path+".id", "is already the id of an earlier section")
		}
		if len(s.GetTabs()) > maxTabs {
			c.fail(path+".tabs", "has %d tabs; at most %d are allowed", len(s.GetTabs()), maxTabs)
		}
		tabs := []string{}
		for j, tab := range s.GetTabs() {
			here := at(path+".tabs", j)
			c.label(here+".id", tab.GetId())
			if slices.Contains(tabs, tab.GetId()) {
				c.fail(here+".id", "is already the id of an earlier tab")
			}
			tabs = append(tabs, tab.GetId())
		}
		out[s.GetId()] = tabs
	}
	return out
}

func (c *checker) widgets(list []*svcv2.Widget, tabs map[string][]string) {
	if len(list) > maxWidgets {
		c.fail("widgets", "has %d widgets; at most %d are allowed", len(list), maxWidgets)
	}
	seen := make(map[string]bool, len(list))
	for i, w := range list {
		path := at("widgets", i)
		if seen[w.GetId()] {
			c.fail(path+".id", "is already the id of an earlier widget")
		}
		seen[w.GetId()] = true
		c.widget(path, w, tabs)
	}
}

// widget checks one widget. tabs lists the tabs of each section.
func (c *checker) widget(path string, w *svcv2.Widget, tabs map[string][]string) {
	c.label(path+".id", w.GetId())
	known, exists := tabs[w.GetSectionId()]
	switch {
	case w.SectionId == nil && w.TabId != nil:
		c.fail(path+".tab_id", "needs a section_id")
	case w.SectionId != nil && !exists:
		c.fail(path+".section_id", "names no section of this dashboard")
	case w.TabId != nil && !slices.Contains(known, w.GetTabId()):
		c.fail(path+".tab_id", "names no tab of that section")
	}
	c.layout(path+".layout", w.GetLayout())
	if w.GetTimeRange() != nil {
		c.storedRange(path+".time_range", w.GetTimeRange())
	}
	c.dataSource(path+".data_source", w.GetDataSource())
	for i, name := range w.GetDataSource().GetColumns() {
		if err := widget.CheckColumn(w, name); err != nil {
			c.unreadable(at(path+".data_source.columns", i), "column "+name, "%s", err)
		}
	}
	c.display(path+".display", w.GetDisplay())
	c.match(path, w)
}

func (c *checker) layout(path string, l *svcv2.WidgetLayout) {
	whole := func(field string, v, least, most float64) bool {
		if v != math.Trunc(v) || v < least || v > most {
			c.fail(path+"."+field, "must be a whole number between %v and %v", least, most)
			return false
		}
		return true
	}
	x := whole("x", l.GetX(), 0, gridColumns-1)
	whole("y", l.GetY(), 0, maxRows)
	w := whole("w", l.GetW(), 1, gridColumns)
	whole("h", l.GetH(), 1, maxRows)
	if x && w && l.GetX()+l.GetW() > gridColumns {
		c.fail(path+".w", "reaches beyond the last of %d columns", gridColumns)
	}
	for _, bound := range []struct {
		field string
		v     *float64
		most  float64
	}{{"min_w", l.MinW, gridColumns}, {"min_h", l.MinH, maxRows}, {"max_w", l.MaxW, gridColumns}, {"max_h", l.MaxH, maxRows}} {
		if bound.v != nil {
			whole(bound.field, *bound.v, 1, bound.most)
		}
	}
	if l.MinW != nil && l.MaxW != nil && l.GetMinW() > l.GetMaxW() {
		c.fail(path+".max_w", "must not be less than min_w")
	}
	if l.MinH != nil && l.MaxH != nil && l.GetMinH() > l.GetMaxH() {
		c.fail(path+".max_h", "must not be less than min_h")
	}
}

func (c *checker) variables(list []*svcv2.DashboardVariable) {
	if len(list) > maxVariables {
		c.fail("variables", "has %d variables; at most %d are allowed", len(list), maxVariables)
	}
	seen := make(map[string]bool, len(list))
	for i, v := range list {
		path := at("variables", i)
		switch name := v.GetName(); {
		case !variableForm.MatchString(name) || len(name) > maxName:
			c.fail(path+".name", "must begin with a letter and have only letters, digits and _")
		case seen[name]:
			c.fail(path+".name", "is already the name of an earlier variable")
		}
		seen[v.GetName()] = true
		source, options := v.GetSource(), v.GetOptions()
		if v.GetType() == "query" {
			c.variableSource(path+".source", source)
		} else if source != nil {
			c.fail(path+".source", "is allowed only in a variable of the type query")
		}
		switch {
		case v.GetType() != "custom" && len(options) > 0:
			c.fail(path+".options", "is allowed only in a variable of the type custom")
		case v.GetType() == "custom" && len(options) == 0:
			c.fail(path+".options", "needs at least one option")
		case len(options) > maxOptions:
			c.fail(path+".options", "has %d options; at most %d are allowed", len(options), maxOptions)
		}
	}
}

func (c *checker) variableSource(path string, s *svcv2.VariableSource) {
	switch {
	case s == nil:
		c.fail(path, "is required in a variable of the type query")
	case s.GetKind() == "facet":
		c.needs(path+".facet", s.Facet != nil, "facet")
		c.foreign(path+".scope", s.Scope != nil, "attribute")
		c.foreign(path+".attribute_key", s.AttributeKey != nil, "attribute")
	default:
		c.needs(path+".scope", s.Scope != nil, "attribute")
		c.needs(path+".attribute_key", strings.TrimSpace(s.GetAttributeKey()) != "", "attribute")
		c.foreign(path+".facet", s.Facet != nil, "facet")
	}
}

// needs reports a missing field that the kind requires.
func (c *checker) needs(path string, given bool, kind string) {
	if !given {
		c.fail(path, "is required with the kind %s", kind)
	}
}

// foreign reports a field that is set but belongs to another kind.
func (c *checker) foreign(path string, given bool, kind string) {
	if given {
		c.fail(path, "is allowed only with the kind %s", kind)
	}
}
