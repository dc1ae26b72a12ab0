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

// DashboardVersion is the state of a dashboard after a change.
type DashboardVersion struct{ ent.Schema }

// Annotations of DashboardVersion.
func (DashboardVersion) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Names: map[string]string{
		"dashboard_id":      "Dashboard",
		"version_number":    "Number",
		"change_kind":       "Kind",
		"change_summary":    "Summary",
		"source_version_id": "Restored",
	}}}
}

// Fields of DashboardVersion.
func (DashboardVersion) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("dashboard_id", uuid.UUID{}).Immutable(),
		field.Int("version_number").Positive().Immutable(),
		field.JSON("snapshot", json.RawMessage{}).SchemaType(jsonb).Immutable().Comment("the definition of the dashboard; lists omit it"),
		field.String("name").SchemaType(text).NotEmpty().Immutable(),
		field.String("change_kind").SchemaType(text).NotEmpty().Immutable(),
		field.String("change_summary").SchemaType(text).Optional().Nillable().Immutable(),
		field.UUID("source_version_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("the version that was restored"),
		field.Time("created_at").Immutable().Comment("also the time of the change"),
		field.String("created_by").SchemaType(text).Immutable(),
	}
}

// Edges of DashboardVersion.
func (DashboardVersion) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("dashboard_versions").Field("org_id").Unique().Required().Immutable(),
		edge.From("dashboard", Dashboard.Type).Ref("versions").Field("dashboard_id").Unique().Required().Immutable(),
	}
}

// Indexes of DashboardVersion.
func (DashboardVersion) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "dashboard_id", "version_number").Unique()}
}
