package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Delivery is one attempt to send a message to a destination. The rows are the outbox of all messages: those of alerts, and those of
// other subjects. They outlive the things that they name, so they reference only the organization.
type Delivery struct{ ent.Schema }

// Annotations of Delivery.
func (Delivery) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Get: true}}
}

// Fields of Delivery.
func (Delivery) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Int("shard").NonNegative().Immutable().Comment("of the kind `outbox`, by the organization"),
		field.String("subject").SchemaType(text).NotEmpty().Immutable().Comment("`alert`: only these are listed"),
		field.UUID("rule_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.UUID("incident_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.UUID("destination_id", uuid.UUID{}).Immutable(),
		field.String("destination_name").SchemaType(text).Immutable().Comment("at the time of the message"),
		field.String("destination_type").SchemaType(text).NotEmpty().Immutable(),
		field.String("delivery_key").SchemaType(text).NotEmpty().Immutable().Comment("the same for all attempts; the receiver may drop a " +
			"repeat by it"),
		field.String("event_type").SchemaType(text).NotEmpty().Immutable(),
		field.Int("attempt_number").Positive().Immutable(),
		field.String("status").SchemaType(text).NotEmpty().Comment("queued, processing, success or failed"),
		field.JSON("payload", json.RawMessage{}).SchemaType(jsonb).Immutable().Comment("the message as it was at its time"),
		field.Time("created_at").Immutable(),
		field.Time("scheduled_at").Immutable().Comment("the time of the event"),
		field.Time("due_at").Comment("not sent before"),
		field.Time("attempted_at").Optional().Nillable(),
		field.String("provider_message").SchemaType(text).Optional().Nillable(),
		field.String("provider_reference").SchemaType(text).Optional().Nillable(),
		field.Int("response_code").Optional().Nillable(),
		field.String("error_message").SchemaType(text).Optional().Nillable(),
	}
}

// Edges of Delivery.
func (Delivery) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("deliveries").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of Delivery: an attempt once, the due rows of a shard, and the order of the lists.
func (Delivery) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("delivery_key", "attempt_number").Unique(),
		index.Fields("shard", "status", "due_at"),
		index.Fields("org_id", "scheduled_at", "id"),
		index.Fields("incident_id"),
		index.Fields("rule_id"),
	}
}
