package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// AttributeMapping copies or moves an attribute of spans during ingest. Mappings run in the order of their creation.
type AttributeMapping struct{ ent.Schema }

// Fields of AttributeMapping.
func (AttributeMapping) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.Enum("source_context").Values(choices(&svcv2.CreateAttributeMappingRequest{}, "source_context")...).SchemaType(text),
		field.String("source_key").SchemaType(text).NotEmpty(),
		field.String("target_key").SchemaType(text).NotEmpty().Comment("always an attribute of the span"),
		field.Enum("operation").Values(choices(&svcv2.CreateAttributeMappingRequest{}, "operation")...).SchemaType(text),
		field.Bool("enabled").Default(true),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Annotations of AttributeMapping.
func (AttributeMapping) Annotations() []schema.Annotation {
	return []schema.Annotation{Resource{Subject: "SubjectIngestPolicy"}}
}

// Edges of AttributeMapping.
func (AttributeMapping) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("attribute_mappings").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of AttributeMapping: the only order in which mappings are listed and run.
func (AttributeMapping) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "created_at", "id")}
}
