package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// UserIdentity links a user to a subject of an OpenID Connect provider.
type UserIdentity struct{ ent.Schema }

// Fields of UserIdentity.
func (UserIdentity) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.String("user_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("issuer").SchemaType(text).NotEmpty().Immutable(),
		field.String("subject").SchemaType(text).NotEmpty().Immutable(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of UserIdentity.
func (UserIdentity) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("user", User.Type).Ref("identities").Field("user_id").Unique().Required().Immutable(),
	}
}

// Indexes of UserIdentity.
func (UserIdentity) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("issuer", "subject").Unique(),
		index.Fields("user_id"),
	}
}
