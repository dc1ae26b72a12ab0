package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AlertRule is a condition that is evaluated each minute.
type AlertRule struct{ ent.Schema }

// Annotations of AlertRule.
func (AlertRule) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "alert rule", Get: true, Lock: true, Event: true}}
}

// Fields of AlertRule.
func (AlertRule) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("notes").SchemaType(text).Optional().Nillable(),
		field.JSON("notification_template", json.RawMessage{}).SchemaType(jsonb).Optional(),
		field.Bool("enabled").Default(true),
		field.String("severity").SchemaType(text).NotEmpty(),
		field.Strings("service_names").SchemaType(jsonb).Optional(),
		field.Strings("exclude_service_names").SchemaType(jsonb).Optional(),
		field.Strings("environments").SchemaType(jsonb).Optional(),
		field.Strings("tags").SchemaType(jsonb).Optional(),
		field.Strings("group_by").SchemaType(jsonb).Optional().Comment("nil without groups"),
		field.String("signal_type").SchemaType(text).NotEmpty(),
		field.String("comparator").SchemaType(text).NotEmpty(),
		field.Float("threshold"),
		field.Float("threshold_upper").Optional().Nillable(),
		field.Float("resolve_threshold").Optional().Nillable(),
		field.Int("window_minutes").Positive(),
		field.Int64("minimum_sample_count").NonNegative(),
		field.Int("consecutive_breaches_required").Positive(),
		field.Int("consecutive_healthy_required").Positive(),
		field.Int("renotify_interval_minutes").Positive(),
		field.Float("apdex_threshold_ms").Optional().Nillable(),
		field.JSON("query_builder_draft", json.RawMessage{}).SchemaType(jsonb).Optional(),
		field.String("raw_query_sql").SchemaType(text).Optional().Nillable(),
		field.String("raw_query_reducer").SchemaType(text).Optional().Nillable(),
		field.Bool("alert_on_no_data").Default(false),
		field.JSON("burn", json.RawMessage{}).SchemaType(jsonb).Optional().Comment("the service level objective of a burn rate"),
		field.JSON("baseline", json.RawMessage{}).SchemaType(jsonb).Optional(),
		field.Strings("destination_ids").SchemaType(jsonb).Optional().Comment("UUIDs; the list is checked when it is written"),
		field.Time("muted_until").Optional().Nillable(),
		field.Int("version").NonNegative().Comment("grows with each edit; a result of an older definition is dropped"),
		field.Time("enabled_at").Optional().Nillable().Comment("not evaluated for earlier minutes; nil while it is disabled"),
		field.Time("last_scheduled_at").Optional().Nillable().Comment("only where it differs from that of the organization"),
		field.Time("last_evaluated_at").Optional().Nillable().Comment("only where it differs from that of the organization"),
		field.String("last_evaluation_error").SchemaType(text).Optional().Nillable(),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable(),
		field.Time("updated_at"),
		field.String("updated_by").SchemaType(text),
	}
}

// Edges of AlertRule. States and incidents are deleted with their rule.
func (AlertRule) Edges() []ent.Edge {
	cascade := entsql.OnDelete(entsql.Cascade)
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("alert_rules").Field("org_id").Unique().Required().Immutable(),
		edge.To("states", AlertRuleState.Type).Annotations(cascade),
		edge.To("incidents", AlertIncident.Type).Annotations(cascade),
	}
}

// Indexes of AlertRule: a name once, and the order of the list.
func (AlertRule) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "name").Unique(), index.Fields("org_id", "created_at", "id")}
}
