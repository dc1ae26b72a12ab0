package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Counter is a number that only grows, such as the `txid` of changes.
type Counter struct{ ent.Schema }

// Fields of Counter.
func (Counter) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").SchemaType(text).NotEmpty().Immutable(),
		field.Int64("value").NonNegative(),
	}
}
