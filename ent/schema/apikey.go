package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// ApiKey is a credential for the API. Only a keyed hash of its secret is stored.
type ApiKey struct{ ent.Schema }

// Annotations of ApiKey.
func (ApiKey) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "API key", Get: true, Types: map[string]string{"kind": "ApiKeyKind"}}}
}

// Fields of ApiKey.
func (ApiKey) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("name").SchemaType(text).NotEmpty().Immutable(),
		field.String("description").SchemaType(text).Optional().Nillable().Immutable(),
		field.Enum("kind").Values(choices(&svcv2.CreateApiKeyRequest{}, "kind")...).SchemaType(text).Immutable(),
		field.Strings("scopes").SchemaType(jsonb).Optional().Immutable().Comment("nil for full access; an empty list allows nothing"),
		field.String("key_prefix").SchemaType(text).NotEmpty().Immutable(),
		field.String("secret_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.Time("revoked_at").Optional().Nillable(),
		field.Time("last_used_at").Optional().Nillable(),
		field.Time("expires_at").Optional().Nillable().Immutable().Comment("nil for a key that never expires"),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable().Comment("no foreign key, because the key outlives its maker"),
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
