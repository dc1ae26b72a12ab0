package query

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

// Invalid is a fault in a Spec or Request: the path of the field in the request, and the problem. API adds a tag.
type Invalid struct {
	Field   string
	Message string
	// Reason is the fault of a text and its place in it, which API repeats among the violations. It is empty for other faults.
	Reason string
}

func (e *Invalid) Error() string { return e.Field + ": " + e.Message }

// API is the error for callers of an operation. It has the tag of that operation.
func (e *Invalid) API(tag apierr.Tag) error {
	if e.Reason == "" {
		return apierr.New(tag, "`"+e.Field+"` "+e.Message, apierr.Param(e.Field))
	}
	return apierr.New(tag, "`"+e.Field+"` "+e.Message, apierr.Param(e.Field),
		apierr.Violations(apierr.Violation{Field: e.Field, Message: e.Reason}))
}

func invalid(field, format string, args ...any) *Invalid {
	return &Invalid{Field: field, Message: fmt.Sprintf(format, args...)}
}

// check describes the problem of a condition. It is empty for a valid condition.
func (m *Match) check(s Source) string {
	if !validUTF8(m.Field.Key) || utf8.RuneCountInString(m.Field.Key) > limits.FieldKey {
		return fmt.Sprintf("the name of a field must be text of at most %d characters", limits.FieldKey)
	}
	op, _ := m.Op.opposite()
	switch {
	case op == OpExists && len(m.Values) > 0:
		return fmt.Sprintf("`%s %s` takes no value", m.Field, m.Op)
	case op == OpIn && (len(m.Values) == 0 || len(m.Values) > maxInValues):
		return fmt.Sprintf("`%s %s` takes 1 to %d values, not %d", m.Field, m.Op, maxInValues, len(m.Values))
	case op != OpExists && op != OpIn && len(m.Values) != 1:
		return fmt.Sprintf("`%s %s` takes one value, not %d", m.Field, m.Op, len(m.Values))
	}
	for _, v := range m.Values {
		if !validUTF8(v) || utf8.RuneCountInString(v) > maxFilterText {
			return fmt.Sprintf("a value of `%s` must be text of at most %d characters", m.Field, maxFilterText)
		}
	}
	kind := textField
	//exhaustive:enforce
	switch m.Field.Scope {
	case Builtin:
		f, ok := findBuiltin(s, m.Field.Key)
		if !ok {
			return fmt.Sprintf(
				"%s have no field `%s`; their fields are %s, and attributes as %s",
				s,
				m.Field.Key,
				strings.Join(BuiltinFields(s), ", "),
				scopesOf(s),
			)
		}
		kind = f.kind
	case OwnAttribute, ResourceAttribute:
	case EventAttribute:
		if s != Traces {
			return fmt.Sprintf("%s have no events; their scopes are %s", s, scopesOf(s))
		}
	default:
		return fmt.Sprintf("the scope `%s` is not known; %s have %s", m.Field.Scope, s, scopesOf(s))
	}
	return m.checkValues(kind, op)
}

func (m *Match) checkValues(kind fieldKind, op Op) string {
	switch op {
	case OpEqual, OpContains, OpIn, OpExists, OpGreater, OpLess, OpGreaterOrEqual, OpLessOrEqual:
	default:
		return fmt.Sprintf("%q is not an operator; there are %s", string(m.Op), opList())
	}
	bad := func(allowed string) string {
		return fmt.Sprintf("`%s` cannot be compared by %s; use %s", m.Field, m.Op, allowed)
	}
	//exhaustive:enforce
	switch kind {
	case boolField:
		if op != OpEqual {
			return bad("= or != with true or false")
		}
		if _, err := strconv.ParseBool(m.Values[0]); err != nil {
			return fmt.Sprintf("`%s` is true or false, not %q", m.Field, m.Values[0])
		}
	case numberField, durationField:
		if op == OpContains || kind == durationField && op == OpExists {
			return bad("=, !=, >, <, >=, <= or in")
		}
		for _, v := range m.Values {
			if _, ok := fieldNumber(kind, v); !ok {
				return fmt.Sprintf(
					"`%s` is compared with a number%s, not %q",
					m.Field,
					map[bool]string{true: " of milliseconds or a duration such as 250ms or 1.5s"}[kind == durationField],
					v,
				)
			}
		}
	case listField:
		if op.ordered() {
			return bad("=, !=, contains, exists or in")
		}
	case textField:
		if op.ordered() {
			if m.Field.Scope == Builtin {
				return bad("=, !=, contains, exists or in")
			}
			if _, ok := fieldNumber(numberField, m.Values[0]); !ok {
				return fmt.Sprintf("`%s %s` takes a number, not %q", m.Field, m.Op, m.Values[0])
			}
		}
	}
	return ""
}

// fieldNumber reads a number of a filter. For a duration it returns nanoseconds.
func fieldNumber(kind fieldKind, text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if kind == durationField {
			n = math.Round(n * 1e6)
		}
		return n, !math.IsInf(n, 0) && !math.IsNaN(n)
	}
	if kind == durationField {
		if d, err := time.ParseDuration(text); err == nil {
			return float64(d), true
		}
	}
	return 0, false
}

func validUTF8(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// Validate checks the filter. path is the filter's place in the request.
func (f Filter) Validate(path string, s Source) error {
	matches := 0
	return f.validate(path, s, 0, &matches)
}

func (f Filter) validate(path string, s Source, depth int, matches *int) error {
	if depth > 2*maxFilterDepth {
		return invalid(path, "is nested more than %d deep", maxFilterDepth)
	}
	set := 0
	for _, is := range []bool{f.All != nil, f.Any != nil, f.Not != nil, f.Match != nil} {
		if is {
			set++
		}
	}
	if set > 1 {
		return invalid(path, "has more than one of all, any, not and a condition")
	}
	if f.Match != nil {
		if *matches++; *matches > maxFilterMatches {
			return invalid(path, "is one condition too many: at most %d are allowed", maxFilterMatches)
		}
		if problem := f.Match.check(s); problem != "" {
			return invalid(path, "is not a valid condition: %s", problem)
		}
	}
	for name, list := range map[string][]Filter{"all": f.All, "any": f.Any} {
		if list != nil && len(list) == 0 {
			return invalid(path+"."+name, "is empty")
		}
		for i, child := range list {
			at := fmt.Sprintf("%s.%s[%d]", path, name, i)
			if child.IsZero() {
				return invalid(at, "is empty")
			}
			if err := child.validate(at, s, depth+1, matches); err != nil {
				return err
			}
		}
	}
	if f.Not != nil {
		if f.Not.IsZero() {
			return invalid(path+".not", "is empty")
		}
		return f.Not.validate(path+".not", s, depth+1, matches)
	}
	return nil
}

// Validate checks a query. path is the query's place in the request.
func (q *Spec) Validate(path string) error {
	at := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	if len(builtins(q.Source)) == 0 {
		return invalid(at("source"), "must be traces, logs, metrics or product_events")
	}
	if err := q.Aggregation.validate(at, q.Source, q.Metric); err != nil {
		return err
	}
	if err := q.Filter.Validate(at("filter"), q.Source); err != nil {
		return err
	}
	if n := len(q.GroupBy); n > limits.GroupBy {
		return invalid(at("group_by"), "has %d fields; at most %d are allowed", n, limits.GroupBy)
	}
	for i, f := range q.GroupBy {
		if problem := CheckGroup(q.Source, f); problem != "" {
			return invalid(fmt.Sprintf("%s[%d]", at("group_by"), i), "%s", problem)
		}
	}
	for i, h := range q.Having {
		field := fmt.Sprintf("%s[%d]", at("having"), i)
		if math.IsNaN(h.Value) || math.IsInf(h.Value, 0) {
			return invalid(field, "must compare with a finite number")
		}
		if !h.Op.ordered() && h.Op != OpEqual && h.Op != OpNotEqual {
			return invalid(field, "must compare by =, !=, >, <, >= or <=")
		}
	}
	if q.Limit < 0 || q.Limit > q.mostGroups() {
		return invalid(at("limit"), "must be 1 to %d", q.mostGroups())
	}
	if q.SeriesLimit < 0 || q.SeriesLimit > limits.Series {
		return invalid(at("series_limit"), "must be 1 to %d", limits.Series)
	}
	return nil
}

// CheckGroup says why rows of a source cannot be grouped by a field. It is empty if they can.
func CheckGroup(s Source, f Field) string {
	if b, ok := findBuiltin(s, f.Key); f.Scope == Builtin && ok && b.kind == durationField {
		return fmt.Sprintf("cannot be grouped by: `%s` differs in every row", f)
	}
	// A field can be a group if it can be compared for equality.
	if problem := (&Match{Field: f, Op: OpEqual, Values: []string{"1"}}).check(s); problem != "" {
		return "cannot be grouped by: " + problem
	}
	return ""
}

var queryName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,31}$`)

// CheckName says why a query or formula cannot have a name. It is empty for a valid name. Formulas ignore the letter case of names.
func CheckName(name string) string {
	if !queryName.MatchString(name) {
		return "must be a letter and up to 31 letters, digits or underscores"
	}
	return ""
}

// CheckFormula describes the problem of an expression. It is empty for a valid expression. known has the names of the queries and
// earlier formulas, in lower case.
func CheckFormula(text string, known map[string]bool) string {
	e, err := ParseFormula(text)
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	for _, operand := range e.Operands() {
		if !known[strings.ToLower(operand)] {
			return fmt.Sprintf("names %q, which is neither a query nor an earlier formula", operand)
		}
	}
	return ""
}

// Validate checks a request whose window NewWindow made. The error is an *Invalid, or an *apierr.Error if the contract has a tag
// for it.
func (r *Request) Validate(breakdown bool) error {
	if n := len(r.Queries); n == 0 || n > limits.Queries {
		return invalid("queries", "holds %d queries; 1 to %d are allowed", n, limits.Queries)
	}
	if n := len(r.Formulas); n > limits.Queries {
		return invalid("formulas", "holds %d formulas; at most %d are allowed", n, limits.Queries)
	}
	seen := map[string]bool{}
	name := func(path, name string) error {
		if problem := CheckName(name); problem != "" {
			return invalid(path, "%s", problem)
		}
		if lower := strings.ToLower(name); seen[lower] {
			return invalid(path, "is used twice: %q", name)
		} else {
			seen[lower] = true
		}
		return nil
	}
	for i := range r.Queries {
		path := fmt.Sprintf("queries[%d]", i)
		if err := name(path+".name", r.Queries[i].Name); err != nil {
			return err
		}
		if err := r.Queries[i].Validate(path); err != nil {
			return err
		}
	}
	for i, f := range r.Formulas {
		path := fmt.Sprintf("formulas[%d]", i)
		if problem := CheckFormula(f.Expression, seen); problem != "" {
			return invalid(path+".expression", "%s", problem)
		}
		if err := name(path+".name", f.Name); err != nil {
			return err
		}
	}
	if breakdown {
		return r.validateBreakdown()
	}
	if r.Bucket < 0 || r.Bucket%time.Second != 0 || r.Bucket > limits.TimeseriesWindow {
		return invalid("bucket_seconds", "must be a whole number of seconds, at most %s", limits.Lasts(limits.TimeseriesWindow))
	}
	_, err := Buckets(r.Window, r.Bucket)
	return err
}

func (r *Request) validateBreakdown() error {
	if r.Window.Length() <= limits.UnfilteredBreakdownWindow {
		return nil
	}
	for i := range r.Queries {
		q := &r.Queries[i].Spec
		if q.Source != Metrics && !q.Filter.narrows(narrowing) {
			return apierr.New(
				apierr.TelemetryBreakdownFilterRequired,
				"A breakdown over more than "+limits.Lasts(limits.UnfilteredBreakdownWindow)+
					" needs a filter that narrows it: a service, span name, environment, trace, event name, errors only or an attribute's value.",
				apierr.Param("filters"),
			)
		}
	}
	return nil
}

// narrowing reports whether a condition leaves few enough rows to read a month of them.
func narrowing(m *Match) bool {
	if m.Op.ordered() || m.Op == OpExists || m.Op == OpContains {
		return false
	}
	if m.Field.Scope != Builtin {
		return true
	}
	switch m.Field.Key {
	case "has_error":
		b, err := strconv.ParseBool(m.Values[0])
		return err == nil && b
	case "is_entry", "root_only", "span.kind", "severity_number", "http.method":
		return false
	default:
		return true
	}
}
