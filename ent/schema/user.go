package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// User is a person who signs in.
type User struct{ ent.Schema }

// Fields of User.
func (User) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").SchemaType(text).NotEmpty().Immutable().Comment("user_…"),
		field.String("email").SchemaType(text).NotEmpty().Unique().Comment("lower case, so that the index compares without case"),
		field.String("name").SchemaType(text).Default(""),
		field.String("password_hash").SchemaType(text).Default("").Sensitive().Comment("argon2id in PHC form; empty: no password sign-in"),
		field.String("avatar_url").SchemaType(text).Optional().Nillable().Comment("of the provider that the user signed in with"),
		field.Time("created_at").Immutable(),
	}
}

// Edges of User.
func (User) Edges() []ent.Edge {
	cascade := entsql.OnDelete(entsql.Cascade)
	return []ent.Edge{
		edge.To("memberships", Membership.Type).Annotations(cascade),
		edge.To("sessions", Session.Type).Annotations(cascade),
		edge.To("identities", UserIdentity.Type).Annotations(cascade),
		edge.To("integration_identities", IntegrationIdentity.Type).Annotations(cascade),
		edge.To("oauth_grants", OAuthGrant.Type).Annotations(cascade),
		edge.To("saved_views", SavedView.Type).Annotations(cascade),
		edge.To("preferences", Preferences.Type).Unique().Annotations(cascade),
	}
}
