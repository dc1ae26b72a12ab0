package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// OAuthClient is a program that registered itself (RFC 7591). It is a public client: it has no secret, and anybody who knows its
// id may make requests in its name.
type OAuthClient struct{ ent.Schema }

// Fields of OAuthClient.
func (OAuthClient) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").SchemaType(text).NotEmpty().Immutable().Comment("the client_id"),
		field.String("name").SchemaType(text).Immutable(),
		field.String("uri").SchemaType(text).Default("").Immutable(),
		field.Strings("redirect_uris").SchemaType(jsonb).Immutable(),
		field.Time("created_at").Immutable(),
		field.Time("used_at").Optional().Nillable().Comment("when somebody last allowed it something"),
	}
}

// Indexes of OAuthClient.
func (OAuthClient) Indexes() []ent.Index {
	return []ent.Index{index.Fields("created_at"), index.Fields("used_at")}
}
