package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// LogpushConnector lets a CDN push its request logs. Only a keyed hash of its secret is stored.
type LogpushConnector struct{ ent.Schema }

// Annotations of LogpushConnector.
func (LogpushConnector) Annotations() []schema.Annotation {
	return []schema.Annotation{
		Row{Noun: "log push connector", Get: true, Lock: true, Event: true, Types: map[string]string{"dataset": "string"}},
	}
}

// Fields of LogpushConnector.
func (LogpushConnector) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("zone_name").SchemaType(text).NotEmpty(),
		field.String("service_name").SchemaType(text).NotEmpty(),
		field.Enum("dataset").Values("http_requests").SchemaType(text).Immutable(),
		field.String("secret_hash").SchemaType(text).NotEmpty().Unique().Sensitive(),
		field.String("secret_prefix").SchemaType(text).NotEmpty(),
		field.Time("disabled_at").Optional().Nillable(),
		field.Time("last_received_at").Optional().Nillable(),
		field.String("last_error").SchemaType(text).Optional().Nillable(),
		field.Time("secret_rotated_at").Optional().Nillable(),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable(),
		field.Time("updated_at"),
	}
}

// Edges of LogpushConnector.
func (LogpushConnector) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("logpush_connectors").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of LogpushConnector.
func (LogpushConnector) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "created_at", "id")}
}
