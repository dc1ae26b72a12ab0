package widget

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

// All is the value of a variable that stands for every value.
const All = "__all"

// BadVariable is the error for a value that a variable cannot have.
type BadVariable struct{ Name, Message string }

func (e *BadVariable) Error() string { return "variable_values." + e.Name + " " + e.Message }

// Choose gives each variable its value. It takes the first of these that exists: the given value, the default value, every value
// if the variable allows that, and the first option. A variable with none of these stands for every value.
func Choose(variables []*svcv2.DashboardVariable, given map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for _, v := range variables {
		name := v.GetName()
		value, ok := given[name]
		switch {
		case ok:
			if err := allowed(v, value); err != nil {
				return nil, err
			}
		case v.GetDefaultValue() != "":
			value = v.GetDefaultValue()
		case v.GetType() == "custom" && !v.GetIncludeAll() && len(v.GetOptions()) > 0:
			value = v.GetOptions()[0].GetValue()
		default:
			value = All
		}
		out[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := out[name]; !ok {
			return nil, &BadVariable{name, "is the value of a variable that the dashboard does not have."}
		}
	}
	return out, nil
}

func allowed(v *svcv2.DashboardVariable, value string) error {
	switch {
	case value == All && !v.GetIncludeAll():
		return &BadVariable{v.GetName(), "cannot be " + All + ": the variable does not allow every value."}
	case value == All:
		return nil
	case utf8.RuneCountInString(value) > limits.VariableValue || !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return &BadVariable{v.GetName(), fmt.Sprintf("must be text of at most %d characters.", limits.VariableValue)}
	case v.GetType() == "custom" && value != v.GetDefaultValue() && !slices.ContainsFunc(v.GetOptions(),
		func(o *svcv2.VariableOption) bool { return o.GetValue() == value }):
		return &BadVariable{v.GetName(), "must be one of the options of the variable."}
	default:
		return nil
	}
}

// values holds the variables of one resolution.
type values struct {
	byName    map[string]string
	variables []*svcv2.DashboardVariable
}

var reference = regexp.MustCompile(`\$(?:([A-Za-z][A-Za-z0-9_]*)|\{([A-Za-z][A-Za-z0-9_]*)\})`)

// Uses reports whether a text refers to a variable.
func uses(text, name string) bool {
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		if m[1] == name || m[2] == name {
			return true
		}
	}
	return false
}

// allMark stands for every value in a filter. It uses the private use area of Unicode, which telemetry does not use.
const allMark = "\uE000all\uE001"

// where writes the values into a filter. A value becomes a quoted word, or a part of the quotes around its variable, so it stays
// one value whatever it contains. ParseWhereExcept removes the conditions that have allMark.
func (v values) where(text string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `'`, `\'`)
	return eachReference(text, func(ref, name string, quoted bool) string {
		value, ok := v.byName[name]
		if !ok {
			return ref
		}
		if value == All {
			value = allMark
		}
		if value = escape.Replace(value); !quoted {
			value = `"` + value + `"`
		}
		return value
	})
}

// eachReference replaces each reference in a filter with the result of replace. A dollar sign after a backslash within quotes is
// a plain dollar sign.
func eachReference(text string, replace func(ref, name string, quoted bool) string) string {
	if !strings.ContainsRune(text, '$') {
		return text
	}
	var out strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); {
		c := text[i]
		if c == '$' {
			if m := reference.FindStringSubmatchIndex(text[i:]); m != nil && m[0] == 0 {
				ref := text[i : i+m[1]]
				out.WriteString(replace(ref, strings.Trim(ref[1:], "{}"), quote != 0))
				i += m[1]
				continue
			}
		}
		switch {
		case c == '\\' && quote != 0 && i+1 < len(text):
			out.WriteByte(c)
			i++
			c = text[i]
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
		out.WriteByte(c)
		i++
	}
	return out.String()
}

// UnknownVariable is the first variable in a filter that is not among the given ones, or empty.
func UnknownVariable(text string, variables []*svcv2.DashboardVariable) (unknown string) {
	eachReference(text, func(ref, name string, _ bool) string {
		if unknown == "" && !slices.ContainsFunc(variables, func(v *svcv2.DashboardVariable) bool { return v.GetName() == name }) {
			unknown = name
		}
		return ref
	})
	return unknown
}

// formula writes the values into a formula. The values must be numbers.
func (v values) formula(text string) (string, error) {
	var bad error
	out := reference.ReplaceAllStringFunc(text, func(ref string) string {
		name := strings.Trim(ref[1:], "{}")
		value, ok := v.byName[name]
		if !ok {
			return ref
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || n-n != 0 {
			bad = &BadVariable{name, "must be a number: a formula computes with it."}
			return ref
		}
		return "(" + strconv.FormatFloat(n, 'f', -1, 64) + ")"
	})
	return out, bad
}

// ReadableFormula is a formula with a number in place of each variable. It can be checked before the variables have values.
func ReadableFormula(text string, variables []*svcv2.DashboardVariable) string {
	v := values{byName: make(map[string]string, len(variables))}
	for _, variable := range variables {
		v.byName[variable.GetName()] = "1"
	}
	out, _ := v.formula(text) // this cannot fail, because 1 is a number
	return out
}
