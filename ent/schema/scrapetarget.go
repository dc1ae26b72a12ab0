package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ScrapeTarget is an endpoint with metrics in a format of Prometheus. Its credentials are sealed.
type ScrapeTarget struct{ ent.Schema }

// Annotations of ScrapeTarget.
func (ScrapeTarget) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{
		Noun: "scrape target", Get: true, Lock: true, Event: true, Types: map[string]string{"managed_by": "string"},
	}}
}

// Fields of ScrapeTarget.
func (ScrapeTarget) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Int("shard").NonNegative().Immutable().Comment("of the kind `scrape`, by the id"),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("service_name").SchemaType(text).Optional().Nillable(),
		field.String("url").SchemaType(text).NotEmpty(),
		field.String("target_type").SchemaType(text).NotEmpty().Immutable(),
		field.String("organization_name").SchemaType(text).Optional().Nillable().Comment("the account at the vendor"),
		field.Strings("include_branches").SchemaType(jsonb).Optional(),
		field.Strings("exclude_branches").SchemaType(jsonb).Optional(),
		field.Int("scrape_interval_seconds").Positive(),
		field.String("labels_json").SchemaType(text).Optional().Nillable(),
		field.String("auth_type").SchemaType(text).NotEmpty(),
		field.Bytes("credentials").Optional().Sensitive().Comment("sealed JSON"),
		field.String("managed_by").SchemaType(text).Optional().Nillable(),
		field.Bool("enabled").Default(true),
		field.Time("last_scrape_at").Optional().Nillable().Comment("of the last success"),
		field.String("last_scrape_error").SchemaType(text).Optional().Nillable(),
		field.Time("failing_since").Optional().Nillable().Comment("the first of the failures in a row"),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable(),
		field.Time("updated_at"),
		field.String("updated_by").SchemaType(text),
	}
}

// Edges of ScrapeTarget.
func (ScrapeTarget) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("scrape_targets").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of ScrapeTarget: a name once (it is the label `job`), the order of the list, and the targets of a shard.
func (ScrapeTarget) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "name").Unique(), index.Fields("org_id", "created_at", "id"), index.Fields("shard"),
	}
}
