package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IngestUsage counts what an organization sent on one day (UTC), by signal and key. Nodes add to it.
type IngestUsage struct{ ent.Schema }

// Fields of IngestUsage.
func (IngestUsage) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Time("day").Immutable().Comment("midnight UTC"),
		field.String("signal").SchemaType(text).NotEmpty().Immutable(),
		field.String("key_id").SchemaType(text).NotEmpty().Immutable().Comment("public id; no foreign key: usage outlives the key"),
		field.Int64("requests"),
		field.Int64("items"),
		field.Int64("bytes").Comment("after decompression"),
	}
}

// Edges of IngestUsage.
func (IngestUsage) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("ingest_usage").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of IngestUsage: one row for each sum; its prefix serves the sums of a month.
func (IngestUsage) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "day", "signal", "key_id").Unique()}
}
