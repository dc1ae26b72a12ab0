package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// WorkNode is a running process that does background work. Its row is a sign of life: the nodes share the shards.
type WorkNode struct{ ent.Schema }

// Fields of WorkNode.
func (WorkNode) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.Strings("kinds").SchemaType(jsonb).Immutable().Comment("the kinds of work that the node can do"),
		field.String("host").SchemaType(text).Immutable(),
		field.String("version").SchemaType(text).Immutable(),
		field.Time("started_at").Immutable(),
		field.Time("seen_at").Comment("by the clock of the database"),
	}
}
