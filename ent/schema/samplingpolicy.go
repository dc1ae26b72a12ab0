package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// SamplingPolicy says which spans of an organization are kept. An organization without a policy keeps every span.
type SamplingPolicy struct{ ent.Schema }

// Fields of SamplingPolicy.
func (SamplingPolicy) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.String("org_id").SchemaType(text).NotEmpty().Immutable().Unique(),
		field.Float("trace_sample_ratio").Default(1),
		field.Bool("always_keep_error_spans").Default(true),
		field.Int64("always_keep_slow_spans_ms").Optional().Nillable(),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Edges of SamplingPolicy.
func (SamplingPolicy) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("sampling_policy").Field("org_id").Unique().Required().Immutable(),
	}
}
