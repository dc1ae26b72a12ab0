package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// DashboardShare is a link to a dashboard or to one of its widgets. The token is shown on every read, so it is stored. Everybody
// who has the token can read the shared content.
type DashboardShare struct{ ent.Schema }

// Annotations of DashboardShare.
func (DashboardShare) Annotations() []schema.Annotation {
	return []schema.Annotation{
		Row{
			Names: map[string]string{"dashboard_id": "Dashboard", "widget_id": "Widget", "token_hash": "Hash"},
			Types: map[string]string{"mode": "string"},
		},
	}
}

// Fields of DashboardShare.
func (DashboardShare) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("dashboard_id", uuid.UUID{}).Immutable(),
		field.String("widget_id").SchemaType(text).Default("").Immutable().Comment("empty if the whole dashboard is shared"),
		field.Enum("mode").Values(choices(&svcv2.UpsertDashboardShareRequest{}, "mode")...).SchemaType(text),
		field.String("token").SchemaType(text).NotEmpty().Sensitive().Comment("encrypted with the installation's key"),
		field.String("token_hash").SchemaType(text).NotEmpty().Unique().Sensitive(),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable(),
		field.Time("updated_at"),
	}
}

// Edges of DashboardShare.
func (DashboardShare) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("dashboard_shares").Field("org_id").Unique().Required().Immutable(),
		edge.From("dashboard", Dashboard.Type).Ref("shares").Field("dashboard_id").Unique().Required().Immutable(),
	}
}

// Indexes of DashboardShare: one link for a dashboard and one for each widget.
func (DashboardShare) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "dashboard_id", "widget_id").Unique()}
}
