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

// Dashboard is a complete definition. Its parts are stored as one JSON document in the snake_case of the API.
type Dashboard struct{ ent.Schema }

// Annotations of Dashboard.
func (Dashboard) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Get: true, Lock: true}}
}

// Fields of Dashboard.
func (Dashboard) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.JSON("definition", json.RawMessage{}).SchemaType(jsonb).
			Comment("JSON: the dashboard without id, object and times; PostgreSQL keeps its meaning but not its formatting"),
		field.Int("version").NonNegative().Comment("number of the newest version, for optimistic concurrency"),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable(),
		field.Time("updated_at"),
		field.String("updated_by").SchemaType(text),
	}
}

// Edges of Dashboard. Versions and shares are deleted with it.
func (Dashboard) Edges() []ent.Edge {
	cascade := entsql.OnDelete(entsql.Cascade)
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("dashboards").Field("org_id").Unique().Required().Immutable(),
		edge.To("versions", DashboardVersion.Type).Annotations(cascade),
		edge.To("shares", DashboardShare.Type).Annotations(cascade),
	}
}

// Indexes of Dashboard: the only order in which dashboards are listed.
func (Dashboard) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "updated_at", "id")}
}
