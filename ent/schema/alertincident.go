package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// AlertIncident is a time during which a group breached its rule. It keeps the rule as it was at the opening.
type AlertIncident struct{ ent.Schema }

// Annotations of AlertIncident.
func (AlertIncident) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "alert incident", Get: true}}
}

// Fields of AlertIncident.
func (AlertIncident) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("rule_id", uuid.UUID{}).Immutable(),
		field.String("rule_name").SchemaType(text).Immutable(),
		field.String("group_key").SchemaType(text).Immutable().Comment("`__total__` without groups"),
		field.String("signal_type").SchemaType(text).NotEmpty().Immutable(),
		field.String("severity").SchemaType(text).NotEmpty().Immutable(),
		field.String("status").SchemaType(text).NotEmpty().Comment("open or resolved"),
		field.String("comparator").SchemaType(text).NotEmpty().Immutable(),
		field.Float("threshold").Immutable(),
		field.Float("threshold_upper").Optional().Nillable().Immutable(),
		field.Time("created_at").Immutable(),
		field.Time("first_triggered_at").Immutable(),
		field.Time("last_triggered_at"),
		field.Time("resolved_at").Optional().Nillable(),
		field.String("resolve_reason").SchemaType(text).Optional().Nillable(),
		field.Float("last_observed_value").Optional().Nillable(),
		field.Int64("last_sample_count").Optional().Nillable(),
		field.String("dedupe_key").SchemaType(text).NotEmpty().Immutable(),
		field.String("open_key").SchemaType(text).Optional().Nillable().Unique().
			Comment("<rule>/<group> while it is open: one open incident a group"),
		field.String("last_delivered_event_type").SchemaType(text).Optional().Nillable(),
		field.Time("last_notified_at").Optional().Nillable(),
		field.Bool("trigger_told").Default(false).Comment("a trigger was put into the outbox; only then a resolve is sent"),
		field.String("hold_reason").SchemaType(text).Optional().Nillable(),
		field.Time("held_since").Optional().Nillable(),
		field.String("error_issue_id").SchemaType(text).Optional().Nillable(),
	}
}

// Edges of AlertIncident.
func (AlertIncident) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("alert_incidents").Field("org_id").Unique().Required().Immutable(),
		edge.From("rule", AlertRule.Type).Ref("incidents").Field("rule_id").Unique().Required().Immutable(),
	}
}

// Indexes of AlertIncident: the order of the lists.
func (AlertIncident) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "last_triggered_at", "id"), index.Fields("rule_id", "last_triggered_at")}
}
