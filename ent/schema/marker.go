package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Marker is an event that people or machines report: a deployment, a change of a flag or of configuration, or a note.
type Marker struct{ ent.Schema }

// Annotations of Marker. Its list is read by time and page, so its methods are written by hand.
func (Marker) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Get: true, Lock: true, Event: true, Types: map[string]string{"kind": "string"}}}
}

// Fields of Marker.
func (Marker) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Enum("kind").Values(choices(&svcv2.CreateMarkerRequest{}, "kind")...).SchemaType(text),
		field.String("title").SchemaType(text).NotEmpty(),
		field.String("description").SchemaType(text).Optional().Nillable(),
		field.Time("occurred_at"),
		field.Time("ended_at").Optional().Nillable(),
		field.String("service_name").SchemaType(text).Optional().Nillable(),
		field.String("deployment_environment").SchemaType(text).Optional().Nillable(),
		field.String("url").SchemaType(text).Optional().Nillable(),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable().Comment("empty for a change that no user made"),
		field.Time("updated_at"),
	}
}

// Edges of Marker.
func (Marker) Edges() []ent.Edge {
	return []ent.Edge{edge.From("organization", Organization.Type).Ref("markers").Field("org_id").Unique().Required().Immutable()}
}

// Indexes of Marker: the order of the list.
func (Marker) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "occurred_at", "id")}
}
