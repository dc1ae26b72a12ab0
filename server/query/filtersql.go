package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// fieldSQL is the SQL that reads a field of a row.
type fieldSQL struct {
	kind fieldKind
	// value is a text, a number or a condition, depending on the kind of the field. In a row without the field it is the zero
	// value of its type.
	value string
	// present is the condition that the row has the field.
	present string
	// index is a condition that every row with the value meets and that an index can answer. It is nil if no index helps.
	index func(value string) string
	// For a field with several values, each is the array of values, and variable is the name of one value. Both are empty for
	// other fields.
	each, variable string
	normal         func(string) string
}

// Always is the condition that holds for every row.
const Always = "1"

// AttributeMap is the column of a source's own attributes. indexed reports whether an index covers its pairs.
func AttributeMap(s Source) (name string, indexed bool) {
	switch s {
	case Traces:
		return "SpanAttributes", true
	case Logs:
		return "LogAttributes", true
	case Sessions:
		return "UserTraits", false
	default:
		return "Attributes", false
	}
}

// promotedResource is the column that copies a resource attribute. The copy is equal whenever the attribute is present and not empty.
func promotedResource(s Source, key string) string {
	switch {
	case key == "service.name":
		return "ServiceName"
	case s == ProductEvents || s == Sessions:
		return ""
	case key == "service.namespace":
		return "ServiceNamespace"
	case key == "service.version" && s != Metrics:
		return "ServiceVersion"
	default:
		return ""
	}
}

// field binds the keys of a field and prints how to read it. The caller must have validated the field.
func (b planner) field(s Source, f Field) fieldSQL {
	if f.Scope == Builtin {
		return builtinSQL(s, f.Key)
	}
	out := b.attribute(s, f)
	if f.Key == sessionKey {
		out.normal = sessionText
	}
	return out
}

func (b planner) attribute(s Source, f Field) fieldSQL {
	switch f.Scope {
	case ResourceAttribute:
		out := b.mapSQL("ResourceAttributes", f.Key, false)
		if column := promotedResource(s, f.Key); column != "" {
			out.index = func(value string) string { return column + " = " + value }
		}
		return out
	case EventAttribute:
		out := b.mapSQL("event", f.Key, false)
		out.each, out.variable = "EventsAttributes", "event"
		return out
	default:
		name, indexed := AttributeMap(s)
		return b.mapSQL(name, f.Key, indexed)
	}
}

func builtinSQL(s Source, key string) fieldSQL {
	f, _ := findBuiltin(s, key)
	out := fieldSQL{kind: f.kind, value: f.sql, normal: f.normal}
	//exhaustive:enforce
	switch f.kind {
	case textField:
		out.present = f.sql + " != ''"
	case numberField, durationField:
		if out.present = f.sql + " != 0"; f.zero {
			out.present = Always
		}
	case boolField:
		out.present = Always
	case listField:
		out.kind, out.value, out.present, out.each, out.variable = textField, "item", "item != ''", f.sql, "item"
	}
	return out
}

// mapSQL reads a key of a map under each name that the key has had.
func (b planner) mapSQL(m, key string, indexed bool) fieldSQL {
	var names []string
	for _, k := range SameAttribute(key) {
		names = append(names, b.BindNumbered("key", "String", k))
	}
	out := fieldSQL{value: fmt.Sprintf("%s[%s]", m, names[len(names)-1])}
	var present []string
	for i := len(names) - 1; i >= 0; i-- {
		has := fmt.Sprintf("mapContains(%s, %s)", m, names[i])
		present = append([]string{has}, present...)
		if i < len(names)-1 {
			out.value = fmt.Sprintf("if(%s, %s[%s], %s)", has, m, names[i], out.value)
		}
	}
	out.present = sqlbuild.Either(present)
	if indexed {
		out.index = func(value string) string {
			var has []string
			for _, name := range names {
				// This is exactly the expression of the index, so that the index skips most granules.
				has = append(
					has,
					fmt.Sprintf("has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(%s), mapValues(%[1]s)), cityHash64(%s, %s))", m, name, value),
				)
			}
			return sqlbuild.Either(has)
		}
	}
	return out
}

// text is the value as text. It is empty in a row without the field.
func (f fieldSQL) text() string {
	if f.each != "" {
		return fmt.Sprintf("arrayMap(%s -> %s, arrayFilter(%[1]s -> %[3]s, %[4]s))[1]", f.variable, f.value, f.present, f.each)
	}
	switch f.kind {
	case numberField, durationField:
		return fmt.Sprintf("if(%s, toString(%s), '')", f.present, f.value)
	case boolField:
		return fmt.Sprintf("if(%s, 'true', 'false')", f.value)
	default:
		return f.value
	}
}

// number is the value as a finite Nullable(Float64). It is NULL for a value that is not a number.
func (f fieldSQL) number() string {
	switch f.kind {
	case durationField:
		return fmt.Sprintf("%s / 1e6", f.value)
	case numberField:
		return fmt.Sprintf("if(%s, toFloat64(%s), NULL)", f.present, f.value)
	default:
		// The texts nan and inf are NULL too.
		return fmt.Sprintf("if(isFinite(toFloat64OrZero(%s)), toFloat64OrNull(%[1]s), NULL)", f.value)
	}
}

// filter prints a valid filter as conditions that must all hold.
func (b planner) filter(s Source, f Filter) sqlbuild.Conditions {
	switch {
	case f.IsZero():
		return nil
	case len(f.All) > 0:
		var out sqlbuild.Conditions
		for _, child := range f.All {
			out = append(out, b.filter(s, child)...)
		}
		return out
	case len(f.Any) > 0:
		var list []string
		for _, child := range f.Any {
			list = append(list, sqlbuild.Both(b.filter(s, child)))
		}
		return sqlbuild.Conditions{sqlbuild.Either(list)}
	case f.Not != nil:
		return sqlbuild.Conditions{"NOT (" + sqlbuild.Both(b.filter(s, *f.Not)) + ")"}
	default:
		return b.match(s, f.Match)
	}
}

func (b planner) match(s Source, m *Match) sqlbuild.Conditions {
	f := b.field(s, m.Field)
	op, negated := m.Op.opposite()
	list := sqlbuild.Conditions(b.compare(s, m, f, op, !negated && f.each == ""))
	if f.each != "" {
		list = sqlbuild.Conditions{fmt.Sprintf("arrayExists(%s -> %s, %s)", f.variable, sqlbuild.Both(list), f.each)}
	}
	if negated {
		return sqlbuild.Conditions{"NOT (" + sqlbuild.Both(list) + ")"}
	}
	return list
}

// compare prints one comparison without its negation. With indexed it adds conditions that let indexes skip granules.
func (b planner) compare(s Source, m *Match, f fieldSQL, op Op, indexed bool) []string {
	var out []string
	switch op {
	case OpExists:
		return []string{f.present}
	case OpEqual, OpIn:
		return b.equals(m, f, indexed)
	case OpContains:
		if indexed && s == Logs && m.Field == (Field{Key: "body"}) {
			if tokens := sqlbuild.WholeTokens(m.Values[0]); len(tokens) > 0 {
				out = append(out, fmt.Sprintf("hasAllTokens(Body, %s)", b.BindNumbered("tokens", "Array(String)", tokens)))
			}
		}
		return append(
			out,
			f.present,
			sqlbuild.Contains(f.value, b.BindNumbered("value", "String", m.Values[0]), m.Values[0]),
		)
	}
	n, _ := fieldNumber(f.kind, m.Values[0])
	number := b.BindNumbered("number", "Float64", n)
	if f.kind == textField {
		return []string{fmt.Sprintf("ifNull(toFloat64OrNull(%s) %s %s, 0)", f.value, op, number)}
	}
	return f.having(fmt.Sprintf("%s %s %s", f.value, op, number))
}

// having adds the condition that the row has the field.
func (f fieldSQL) having(condition string) []string {
	if f.present == Always {
		return []string{condition}
	}
	return []string{f.present, condition}
}

func (b planner) equals(m *Match, f fieldSQL, indexed bool) []string {
	if f.kind == boolField {
		if yes, _ := strconv.ParseBool(m.Values[0]); !yes {
			return []string{"NOT (" + f.value + ")"}
		}
		return []string{f.value}
	}
	if f.kind != textField {
		var list []string
		for _, v := range m.Values {
			n, _ := fieldNumber(f.kind, v)
			list = append(list, fmt.Sprintf("%s = %s", f.value, b.BindNumbered("number", "Float64", n)))
		}
		return f.having(sqlbuild.Either(list))
	}
	var values, index []string
	for _, v := range m.Values {
		if f.normal != nil {
			v = f.normal(v)
		}
		place := b.BindNumbered("value", "String", v)
		values = append(values, place)
		if f.index != nil && v != "" {
			index = append(index, f.index(place))
		}
	}
	var out []string
	if m.Field.Scope != Builtin {
		out = append(out, f.present)
	}
	if len(values) == 1 {
		out = append(out, fmt.Sprintf("%s = %s", f.value, values[0]))
	} else {
		out = append(out, fmt.Sprintf("%s IN (%s)", f.value, strings.Join(values, ", ")))
	}
	// The index cannot find an empty value, so a list that contains one is read without the index. The condition of the index comes last:
	// it is costly, and the engine computes it only for rows that passed the other conditions.
	if indexed && len(index) == len(m.Values) {
		out = append(out, sqlbuild.Either(index))
	}
	return out
}

// groupKey prints the text of each field of a group.
func (b planner) groupKey(s Source, fields []Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, b.field(s, f).text())
	}
	return out
}

// grouped is groupKey, except for a query with Without. For that it prints no key, and the condition that excludes the named
// groups.
func (b planner) grouped(q *Spec) (keys []string, c sqlbuild.Conditions) {
	keys = b.groupKey(q.Source, q.GroupBy)
	if len(q.Without) == 0 || len(keys) == 0 {
		return keys, nil
	}
	var groups []string
	for _, group := range q.Without {
		var values []string
		for _, v := range group {
			values = append(values, b.BindNumbered("without", "String", v))
		}
		groups = append(groups, "("+strings.Join(values, ", ")+")")
	}
	var texts []string
	for _, k := range keys {
		texts = append(texts, "toString("+k+")")
	}
	return nil, sqlbuild.Conditions{fmt.Sprintf("(%s) NOT IN (%s)", strings.Join(texts, ", "), strings.Join(groups, ", "))}
}
