package query

import (
	"errors"

	"github.com/svc-observability/svc/server/apierr"
)

// BadWhere is the fault of a text that ParseWhere refused.
func BadWhere(field string, err error) *Invalid {
	bad := invalid(field, "cannot be read: %s", err)
	var at *WhereError
	if errors.As(err, &at) {
		bad.Reason = at.Error()
	}
	return bad
}

// Narrowed is the filter of a request that has conditions and further ones as text in its field `where`. The tag is that of the operation.
func Narrowed(s Source, conditions Filter, where string, tag apierr.Tag) (Filter, error) {
	further, err := ParseWhere(s, where)
	if err != nil {
		return Filter{}, BadWhere("where", err).API(tag)
	}
	if further.IsZero() {
		return conditions, nil
	}
	all := And(conditions, further)
	var bad *Invalid
	if errors.As(all.Validate("where", s), &bad) { // together they are too many: the conditions alone were valid
		return all, (&Invalid{Field: "where", Message: bad.Message}).API(tag)
	}
	return all, nil
}
