package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// IngestMark says how far the telemetry that one ingest node acknowledged is stored. An evaluation of a window waits for it.
type IngestMark struct{ ent.Schema }

// Fields of IngestMark.
func (IngestMark) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").SchemaType(text).NotEmpty().Immutable().Comment("the name of the node, which is the same over restarts"),
		field.Time("stored_through").Comment("everything acknowledged before is stored, except for the organizations that are behind"),
		field.Strings("behind").SchemaType(jsonb).Comment("organizations whose backlog is stored beside the others"),
		field.Time("behind_through").Comment("stored_through for these"),
		field.Time("seen_at").Comment("by the clock of the database"),
	}
}
