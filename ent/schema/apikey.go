package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ApiKey is a credential for the API. Only a keyed hash of its secret is stored.
type ApiKey struct{ ent.Schema }

// Fields of ApiKey.
func (ApiKey) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("name").SchemaType(text).NotEmpty().Immutable(),
		field.String("description").SchemaType(text).Optional().Nillable().Immutable(),
		field.Enum("kind").Values("standard", "mcp").SchemaType(text).Immutable(),
		field.Strings("scopes").SchemaType(jsonb).Optional().Immutable().Comment("NULL is full access; an empty list allows nothing"),
		field.String("key_prefix").SchemaType(text).NotEmpty().Immutable(),
		field.String("secret_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.Time("revoked_at").Optional().Nillable(),
		field.Time("last_used_at").Optional().Nillable(),
		field.Time("expires_at").Optional().Nillable().Immutable(),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable().Comment("user id; no foreign key: the key outlives its maker"),
		field.String("created_by_email").SchemaType(text).Optional().Nillable().Immutable(),
	}
}

// Edges of ApiKey.
func (ApiKey) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("api_keys").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of ApiKey: the only order in which keys are listed.
func (ApiKey) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "created_at", "id")}
}
