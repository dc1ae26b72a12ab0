package query

import "strings"

// ParseWhereExcept is ParseWhere, but it drops the conditions that have the mark in one of their values. They are not checked and
// hold for every row. A variable that stands for every value removes its conditions in this way.
func ParseWhereExcept(s Source, text, mark string) (Filter, error) {
	if mark == "" || !strings.Contains(text, mark) {
		return ParseWhere(s, text)
	}
	f, err := parseWhere(s, text, mark)
	if err != nil {
		return Filter{}, err
	}
	f, _ = f.without(mark)
	return f, nil
}

func (m *Match) has(mark string) bool {
	for _, v := range m.Values {
		if mark != "" && strings.Contains(v, mark) {
			return true
		}
	}
	return false
}

// without drops marked conditions. dropped says that nothing remains of the filter because of them.
func (f Filter) without(mark string) (_ Filter, dropped bool) {
	switch {
	case f.Match != nil:
		if f.Match.has(mark) {
			return Filter{}, true
		}
	case f.Not != nil:
		inner, gone := f.Not.without(mark)
		if gone {
			return Filter{}, true
		}
		return Filter{Not: &inner}, false
	case len(f.Any) > 0:
		var kept []Filter
		for _, child := range f.Any {
			left, gone := child.without(mark)
			if gone {
				return Filter{}, true // this alternative holds for every row
			}
			kept = append(kept, left)
		}
		return Filter{Any: kept}, false
	case len(f.All) > 0:
		var kept []Filter
		for _, child := range f.All {
			if left, gone := child.without(mark); !gone {
				kept = append(kept, left)
			}
		}
		if len(kept) == 0 {
			return Filter{}, true
		}
		return And(kept...), false
	}
	return f, false
}
