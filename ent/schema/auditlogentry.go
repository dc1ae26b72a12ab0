package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	entschema "entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// AuditLogEntry is one attempted change. Rows are only added, never changed. They outlive the things that they name, so they
// reference only the organization.
type AuditLogEntry struct{ ent.Schema }

// AuditChanges are the fields that changed. The values never contain secrets.
type AuditChanges struct {
	Fields []string       `json:"fields"`
	Before map[string]any `json:"before"`
	After  map[string]any `json:"after"`
}

// Annotations of AuditLogEntry.
func (AuditLogEntry) Annotations() []entschema.Annotation {
	return []entschema.Annotation{entsql.Annotation{Table: "audit_log_entries"}}
}

// Fields of AuditLogEntry.
func (AuditLogEntry) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("action").SchemaType(text).NotEmpty().Immutable().Comment("<resource>.<verb>"),
		field.Enum("outcome").Values(choices(&svcv2.AuditLogEntry{}, "outcome")...).SchemaType(text).Immutable(),
		field.String("denial_reason").SchemaType(text).Optional().Nillable().Immutable(),
		field.Enum("actor_type").Values(choices(&svcv2.AuditLogEntry{}, "actor_type")...).SchemaType(text).Immutable(),
		field.String("actor_id").SchemaType(text).Optional().Nillable().Immutable().Comment("public id"),
		field.String("actor_name").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("affected_user").SchemaType(text).Optional().Nillable().Immutable(),
		field.Enum("source").Values(choices(&svcv2.AuditLogEntry{}, "source")...).SchemaType(text).Immutable(),
		field.String("resource_type").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("resource_id").SchemaType(text).Optional().Nillable().Immutable().Comment("public id"),
		field.JSON("changes", &AuditChanges{}).SchemaType(jsonb).Optional().Immutable(),
		field.String("changed").SchemaType(text).Default("").Immutable().
			Comment("names of the changed fields, each between commas, for the filter"),
		field.JSON("metadata", map[string]any{}).SchemaType(jsonb).Optional().Immutable(),
		field.String("request_id").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("origin_ip").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("origin_country").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("user_agent").SchemaType(text).Optional().Nillable().Immutable(),
		field.Time("occurred_at").Immutable(),
		field.Time("recorded_at").Immutable(),
	}
}

// Edges of AuditLogEntry.
func (AuditLogEntry) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("audit_log_entries").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of AuditLogEntry: newest first, and by the most selective filters.
func (AuditLogEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "occurred_at", "id"),
		index.Fields("org_id", "action", "occurred_at"),
		index.Fields("org_id", "actor_id", "occurred_at"),
		index.Fields("org_id", "resource_id", "occurred_at"),
	}
}
