package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// OAuthGrant is the permission that a user gave a program in one organization. It begins as an authorization code, which is
// exchanged for its tokens.
type OAuthGrant struct{ ent.Schema }

// Annotations of OAuthGrant.
func (OAuthGrant) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "OAuth grant", Unread: []string{"code_hash"}}}
}

// Fields of OAuthGrant.
func (OAuthGrant) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("user_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("client_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("client_name").SchemaType(text).Immutable(),
		field.String("scope").SchemaType(text).Immutable().Comment("a list separated by spaces; * means everything"),
		field.String("resource").SchemaType(text).Immutable(),
		field.String("redirect_uri").SchemaType(text).Immutable(),
		field.String("code_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.String("code_challenge").SchemaType(text).NotEmpty().Immutable(),
		field.Time("code_expires_at").Immutable(),
		field.Time("redeemed_at").Optional().Nillable().Comment("when the code became tokens"),
		field.Time("created_at").Immutable(),
		field.Time("used_at").Optional().Nillable(),
		field.Time("expires_at").Immutable().Comment("the end of everything that comes of it"),
		field.Time("revoked_at").Optional().Nillable(),
	}
}

// Edges of OAuthGrant.
func (OAuthGrant) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("oauth_grants").Field("org_id").Unique().Required().Immutable(),
		edge.From("user", User.Type).Ref("oauth_grants").Field("user_id").Unique().Required().Immutable(),
		edge.To("tokens", OAuthToken.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of OAuthGrant.
func (OAuthGrant) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "user_id"), index.Fields("user_id"), index.Fields("expires_at")}
}
