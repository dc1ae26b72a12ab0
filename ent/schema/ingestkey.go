package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IngestKey is a credential that can only send telemetry. Rolling replaces its hash and keeps its id, so that telemetry stays
// attributed to the same key.
type IngestKey struct{ ent.Schema }

// ResourceAttribute is written on every resource that is sent with a key.
type ResourceAttribute struct {
	Key   string        `json:"key"`
	Value string        `json:"value"`
	Mode  AttributeMode `json:"mode"`
}

// AttributeMode says whether a key's resource attribute replaces the sender's.
type AttributeMode string

// Annotations of IngestKey.
func (IngestKey) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Get: true, Event: true, Types: map[string]string{
		"kind": "IngestKeyKind", "public_text": "string", "resource_attributes": "[]ResourceAttribute",
	}}}
}

// Fields of IngestKey.
func (IngestKey) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Enum("kind").Values("public", "private", "custom").SchemaType(text).Immutable(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("description").SchemaType(text).Optional().Nillable(),
		field.String("key_hash").SchemaType(text).NotEmpty().Unique().Sensitive(),
		field.String("key_prefix").SchemaType(text).NotEmpty(),
		field.String("public_text").SchemaType(text).Optional().Nillable().
			Comment("the whole public key, which is not a secret: it is shipped in client code; empty for the other kinds"),
		field.Strings("signals").SchemaType(jsonb).Optional().Comment("nil if every signal is allowed, as for default keys"),
		field.Float("rate_limit").Optional().Nillable().Comment("requests per second over all ingest servers; nil for no limit"),
		field.JSON("resource_attributes", []ResourceAttribute{}).SchemaType(jsonb).Optional(),
		field.Time("disabled_at").Optional().Nillable(),
		field.Time("expires_at").Optional().Nillable(),
		field.Time("rotated_at").Optional().Nillable(),
		field.Time("last_used_at").Optional().Nillable(),
		field.Time("created_at").Immutable(),
		field.Time("updated_at").Optional().Nillable().Comment("the time of creation until the first change, which the table holds as NULL"),
		field.String("created_by").SchemaType(text).Immutable(),
	}
}

// Edges of IngestKey.
func (IngestKey) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("ingest_keys").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of IngestKey: an organization has exactly one public and one private key.
func (IngestKey) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "kind").Unique().StorageKey("ingestkey_org_id_default_kind").
			Annotations(entsql.IndexWhere("kind <> 'custom'")),
		index.Fields("org_id", "created_at", "id"),
	}
}
