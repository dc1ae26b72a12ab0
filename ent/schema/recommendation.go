package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Recommendation is a possible improvement of an attribute's name that the telemetry showed.
type Recommendation struct{ ent.Schema }

// Fields of Recommendation.
func (Recommendation) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Int("number").Positive().Immutable().Comment("within the organization, in the order of finding"),
		field.String("recommendation_key").SchemaType(text).NotEmpty().Immutable(),
		field.Enum("kind").Values(choices(&svcv2.Recommendation{}, "kind")...).SchemaType(text).Immutable(),
		field.String("source_key").SchemaType(text).NotEmpty().Immutable(),
		field.String("canonical_key").SchemaType(text).Optional().Nillable().Immutable(),
		field.Enum("status").Values(choices(&svcv2.Recommendation{}, "status")...).SchemaType(text),
		field.Int64("usage_count").NonNegative(),
		field.Time("opened_at"),
		field.Time("updated_at"),
		field.Time("resolved_at").Optional().Nillable(),
	}
}

// Edges of Recommendation.
func (Recommendation) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("recommendations").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of Recommendation: one row for each finding, and the order in which recommendations are listed.
func (Recommendation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "recommendation_key").Unique(), index.Fields("org_id", "number").Unique()}
}
