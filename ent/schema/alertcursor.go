package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AlertCursor says how far the rules of an organization are evaluated. The times of rules without a failure are these.
type AlertCursor struct{ ent.Schema }

// Fields of AlertCursor.
func (AlertCursor) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.String("org_id").SchemaType(text).NotEmpty().Immutable().Unique(),
		field.Int("shard").NonNegative().Immutable().Comment("of the kind `alerts`, by the organization"),
		field.Time("scheduled_through").Optional().Nillable().Comment("the last minute whose evaluation began"),
		field.Time("evaluated_through").Optional().Nillable().Comment("the last minute whose results are stored"),
		field.String("last_error").SchemaType(text).Optional().Nillable(),
	}
}

// Edges of AlertCursor.
func (AlertCursor) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("alert_cursor").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of AlertCursor: the organizations of a shard.
func (AlertCursor) Indexes() []ent.Index {
	return []ent.Index{index.Fields("shard")}
}
