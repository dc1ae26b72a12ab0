package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// Plan limits what an organization may send. An organization without a plan has no limits.
type Plan struct{ ent.Schema }

// PlanLimit bounds a signal for a calendar month (UTC). A nil field means no bound.
type PlanLimit struct {
	Signal string `json:"signal"`
	Items  *int64 `json:"items,omitempty"`
	Bytes  *int64 `json:"bytes,omitempty"`
}

// Fields of Plan.
func (Plan) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.String("org_id").SchemaType(text).NotEmpty().Immutable().Unique(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.Bool("active").Default(true).Comment("an inactive plan accepts nothing"),
		field.JSON("limits", []PlanLimit{}).SchemaType(jsonb).Optional(),
		field.Time("updated_at"),
	}
}

// Edges of Plan.
func (Plan) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("plan").Field("org_id").Unique().Required().Immutable(),
	}
}
