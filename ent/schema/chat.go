package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// ChatChannel is a channel of a connected chat workspace. The rows are a copy of the provider's list.
type ChatChannel struct{ ent.Schema }

// Annotations of ChatChannel.
func (ChatChannel) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "chat channel"}}
}

// Fields of ChatChannel.
func (ChatChannel) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("connection_id", uuid.UUID{}).Immutable(),
		field.String("external_id").SchemaType(text).NotEmpty().Immutable().Comment("the channel's id at the provider; a rename keeps it"),
		field.String("name").SchemaType(text).NotEmpty(),
		field.Bool("is_private"),
		field.Bool("is_member").Comment("our app is in the channel"),
		field.Time("created_at").Immutable(),
		field.Time("seen_at").Comment("when the row was last written"),
	}
}

// Edges of ChatChannel.
func (ChatChannel) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("chat_channels").Field("org_id").Unique().Required().Immutable(),
		edge.From("connection", IntegrationConnection.Type).Ref("channels").Field("connection_id").Unique().Required().Immutable(),
	}
}

// Indexes of ChatChannel: a channel once for each workspace, and the order of the list.
func (ChatChannel) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("connection_id", "external_id").Unique(), index.Fields("connection_id", "name", "id"), index.Fields("org_id"),
	}
}

// IntegrationIdentity says which person of a provider a member of an organization is.
type IntegrationIdentity struct{ ent.Schema }

// Annotations of IntegrationIdentity.
func (IntegrationIdentity) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{
		Noun: "integration identity", Types: map[string]string{"user_id": "principal.UserID", "display_name": "string"},
	}}
}

// Fields of IntegrationIdentity.
func (IntegrationIdentity) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("user_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("provider").SchemaType(text).NotEmpty().Immutable(),
		field.String("external_account").SchemaType(text).NotEmpty().Comment("the workspace in which the person has this id"),
		field.String("external_user_id").SchemaType(text).NotEmpty(),
		field.String("display_name").SchemaType(text).Optional().Nillable(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of IntegrationIdentity.
func (IntegrationIdentity) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("integration_identities").Field("org_id").Unique().Required().Immutable(),
		edge.From("user", User.Type).Ref("integration_identities").Field("user_id").Unique().Required().Immutable(),
	}
}

// Indexes of IntegrationIdentity: a member has one identity at each provider.
func (IntegrationIdentity) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "user_id", "provider").Unique(), index.Fields("user_id")}
}
