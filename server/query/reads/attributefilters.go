package reads

import (
	"fmt"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// attributeColumn is a map column, whether its pairs are indexed, and the columns that hold a copy of some keys.
type attributeColumn struct {
	name string
	// indexed columns have a bloom filter over cityHash64(key, value) of every pair.
	indexed bool
	// promoted maps a key to the column that has the same value whenever the key is present and not empty.
	promoted map[string]string
}

func resourceColumn() attributeColumn {
	return attributeColumn{name: "ResourceAttributes", promoted: map[string]string{
		"service.name": "ServiceName", "service.namespace": "ServiceNamespace", "service.version": "ServiceVersion",
	}}
}

func spanColumn() attributeColumn {
	return attributeColumn{name: "SpanAttributes", indexed: true, promoted: map[string]string{"http.route": "HttpRoute"}}
}

func logColumn() attributeColumn { return attributeColumn{name: "LogAttributes", indexed: true} }

func attributes(b *sqlbuild.Builder, c *sqlbuild.Conditions, column attributeColumn, filters []query.AttributeFilter) {
	for _, f := range filters {
		text := attributeSQL(b, column, f)
		if f.Negated {
			text = "NOT (" + text + ")"
		}
		*c = append(*c, text)
	}
}

// attribute prints one condition. A missing key makes every condition false, also when its default, the empty text, would match.
func attributeSQL(b *sqlbuild.Builder, column attributeColumn, f query.AttributeFilter) string {
	key := b.BindNumbered("attribute_key", "String", f.Key)
	m := column.name
	switch f.Operator {
	case query.Equals:
		value := b.BindNumbered("attribute_value", "String", f.Text)
		text := fmt.Sprintf("mapContains(%s, %s) AND %s[%s] = %s", m, key, m, key, value)
		if column.indexed && !f.Negated {
			// The same expression as the index, which then skips most granules.
			text = fmt.Sprintf("has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(%s), mapValues(%s)), cityHash64(%s, %s)) AND ", m, m, key, value) + text
		}
		if promoted := column.promoted[f.Key]; promoted != "" && f.Text != "" {
			text = fmt.Sprintf("%s = %s AND ", promoted, value) + text
		}
		return text
	case query.Contains:
		return fmt.Sprintf("mapContains(%s, %s) AND positionCaseInsensitiveUTF8(%s[%s], %s) > 0", m, key, m, key, b.BindNumbered("attribute_value", "String", f.Text))
	case query.Greater, query.GreaterOrEqual, query.Less, query.LessOrEqual:
		sign := map[query.Operator]string{query.Greater: ">", query.GreaterOrEqual: ">=", query.Less: "<", query.LessOrEqual: "<="}[f.Operator]
		return fmt.Sprintf("ifNull(toFloat64OrNull(%s[%s]) %s %s, 0)", m, key, sign, b.BindNumbered("attribute_value", "Float64", f.Number))
	default: // Exists
		return fmt.Sprintf("mapContains(%s, %s)", m, key)
	}
}
