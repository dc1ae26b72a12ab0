package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IdempotencyKey stores the answer to a create request, so that a repeated request gets the same answer instead of a second
// resource.
type IdempotencyKey struct{ ent.Schema }

// Fields of IdempotencyKey.
func (IdempotencyKey) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("caller").SchemaType(text).NotEmpty().Immutable().Comment("public id of the key or user"),
		field.String("key_hash").SchemaType(text).NotEmpty().Immutable(),
		field.String("request_hash").SchemaType(text).NotEmpty().Immutable(),
		field.Int("status").Default(0).Comment("0 while the first request is under way"),
		field.Bytes("response").Optional().Comment("encrypted: it may hold a secret"),
		field.Time("created_at").Immutable(),
		field.Time("expires_at"),
	}
}

// Edges of IdempotencyKey.
func (IdempotencyKey) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("idempotency_keys").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of IdempotencyKey.
func (IdempotencyKey) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "caller", "key_hash").Unique(),
		index.Fields("expires_at"),
	}
}
