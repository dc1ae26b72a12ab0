package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Membership says which role a user holds in an organization.
type Membership struct{ ent.Schema }

// Fields of Membership.
func (Membership) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("user_id").SchemaType(text).NotEmpty().Immutable(),
		field.Enum("role").NamedValues("Admin", "org:admin", "Member", "org:member").SchemaType(text),
		field.Time("created_at").Immutable(),
	}
}

// Edges of Membership.
func (Membership) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("memberships").Field("org_id").Unique().Required().Immutable(),
		edge.From("user", User.Type).Ref("memberships").Field("user_id").Unique().Required().Immutable(),
	}
}

// Indexes of Membership.
func (Membership) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "user_id").Unique(),
		index.Fields("user_id"),
	}
}
