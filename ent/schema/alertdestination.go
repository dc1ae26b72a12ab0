package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AlertDestination is a place that alerts are sent to. Its secret is sealed.
type AlertDestination struct{ ent.Schema }

// Annotations of AlertDestination.
func (AlertDestination) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "alert destination", Get: true, Lock: true, Event: true}}
}

// Fields of AlertDestination.
func (AlertDestination) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("type").SchemaType(text).NotEmpty().Immutable(),
		field.Bool("enabled").Default(true),
		field.JSON("config", json.RawMessage{}).SchemaType(jsonb).Comment("the settings of its type that are not secret"),
		field.Bytes("secret").Optional().Sensitive().Comment("sealed JSON: the secrets of its type"),
		field.Time("last_tested_at").Optional().Nillable(),
		field.String("last_test_error").SchemaType(text).Optional().Nillable(),
		field.Int("failure_streak").NonNegative().Default(0).Comment("failures in a row that a retry does not help"),
		field.String("disabled_reason").SchemaType(text).Optional().Nillable().Comment("why the outbox disabled it"),
		field.Int("breaker_failures").NonNegative().Default(0).Comment("failures in a row that a retry may help"),
		field.Int("breaker_step").NonNegative().Default(0).Comment("doubles the pause"),
		field.Time("breaker_until").Optional().Nillable().Comment("nothing is sent before"),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable(),
		field.Time("updated_at"),
		field.String("updated_by").SchemaType(text),
	}
}

// Edges of AlertDestination.
func (AlertDestination) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("alert_destinations").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of AlertDestination: a name once, and the order of the list.
func (AlertDestination) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "name").Unique(), index.Fields("org_id", "created_at", "id")}
}
