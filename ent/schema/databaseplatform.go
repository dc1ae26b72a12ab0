package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// DatabaseBranch is a branch of a database of a database platform.
type DatabaseBranch struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Production bool   `json:"production"`
	Ready      bool   `json:"ready"`
}

// PlatformDatabase is a database of a connected database platform. The rows are a copy of the platform's list.
type PlatformDatabase struct{ ent.Schema }

// Annotations of PlatformDatabase.
func (PlatformDatabase) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{
		Noun: "platform database", Types: map[string]string{"state": "string", "region": "string", "plan": "string"},
	}}
}

// Fields of PlatformDatabase.
func (PlatformDatabase) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("connection_id", uuid.UUID{}).Immutable(),
		field.String("external_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("kind").SchemaType(text).NotEmpty().Comment("mysql or postgresql"),
		field.String("state").SchemaType(text).Optional().Nillable(),
		field.String("region").SchemaType(text).Optional().Nillable(),
		field.String("plan").SchemaType(text).Optional().Nillable(),
		field.JSON("branches", []DatabaseBranch{}).SchemaType(jsonb).Optional(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of PlatformDatabase.
func (PlatformDatabase) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("platform_databases").Field("org_id").Unique().Required().Immutable(),
		edge.From("connection", IntegrationConnection.Type).Ref("databases").Field("connection_id").Unique().Required().Immutable(),
	}
}

// Indexes of PlatformDatabase: a database once for each connection.
func (PlatformDatabase) Indexes() []ent.Index {
	return []ent.Index{index.Fields("connection_id", "external_id").Unique(), index.Fields("org_id")}
}

// PlatformEvent is a change that happened at a connected database platform.
type PlatformEvent struct{ ent.Schema }

// Annotations of PlatformEvent.
func (PlatformEvent) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{
		Noun: "platform event", Types: map[string]string{"state": "string", "actor_login": "string", "url": "string"},
	}}
}

// Fields of PlatformEvent.
func (PlatformEvent) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("connection_id", uuid.UUID{}).Immutable(),
		field.String("external_id").SchemaType(text).NotEmpty().Immutable().Comment("of the thing that changed, or of the entry about it"),
		field.String("event_type").SchemaType(text).NotEmpty().Immutable(),
		field.String("category").SchemaType(text).NotEmpty().Immutable(),
		field.String("database_name").SchemaType(text).Immutable(),
		field.String("branch_name").SchemaType(text).Immutable().Comment("may be empty"),
		field.String("state").SchemaType(text).Optional().Nillable(),
		field.String("title").SchemaType(text).Immutable(),
		field.String("source").SchemaType(text).NotEmpty().Immutable().Comment("webhook: it was read because of a delivery; else backfill"),
		field.String("actor_login").SchemaType(text).Optional().Nillable(),
		field.String("url").SchemaType(text).Optional().Nillable(),
		field.Time("occurred_at").Immutable(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of PlatformEvent.
func (PlatformEvent) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("platform_events").Field("org_id").Unique().Required().Immutable(),
		edge.From("connection", IntegrationConnection.Type).Ref("events").Field("connection_id").Unique().Required().Immutable(),
	}
}

// Indexes of PlatformEvent: an event once, the order of the list, and the removal of old ones.
func (PlatformEvent) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("connection_id", "external_id", "event_type").Unique(), index.Fields("org_id", "occurred_at", "id"),
		index.Fields("occurred_at"),
	}
}
