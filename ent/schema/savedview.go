package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// SavedView is a state of a page of the web application, under a name.
type SavedView struct{ ent.Schema }

// Annotations of SavedView. Who reads a view depends on the caller, so its methods are written by hand.
func (SavedView) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{
		Lock: true, Event: true, Names: map[string]string{"user_id": "Owner"},
		Types: map[string]string{"page": "string", "visibility": "string", "user_id": "principal.UserID"},
	}}
}

// Fields of SavedView.
func (SavedView) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Enum("page").Values(choices(&svcv2.CreateSavedViewRequest{}, "page")...).SchemaType(text).Immutable(),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("description").SchemaType(text).Optional().Nillable(),
		field.String("state").SchemaType(text),
		field.Enum("visibility").Values(choices(&svcv2.CreateSavedViewRequest{}, "visibility")...).SchemaType(text),
		field.String("user_id").SchemaType(text).Optional().Nillable().Immutable().Comment("empty for a view of an API key"),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Edges of SavedView.
func (SavedView) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("saved_views").Field("org_id").Unique().Required().Immutable(),
		edge.From("owner", User.Type).Ref("saved_views").Field("user_id").Unique().Immutable(),
	}
}

// Indexes of SavedView: whose names are unique, and the order of the list.
func (SavedView) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "user_id", "page", "name").Unique().StorageKey("savedview_private_name").
			Annotations(entsql.IndexWhere("visibility = 'private'")),
		index.Fields("org_id", "page", "name").Unique().StorageKey("savedview_shared_name").
			Annotations(entsql.IndexWhere("visibility = 'shared'")),
		index.Fields("org_id", "name", "id"),
		index.Fields("user_id"),
	}
}
