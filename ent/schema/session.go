package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Session is a signed-in user. Only a keyed hash of its token is stored.
type Session struct{ ent.Schema }

// Annotations of Session.
func (Session) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{}}
}

// Fields of Session.
func (Session) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.String("user_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("org_id").SchemaType(text).Optional().Nillable().Comment("the organization that was chosen at sign-in, if any"),
		field.String("token_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.String("user_agent").SchemaType(text).Default("").Immutable(),
		field.Time("created_at").Immutable(),
		field.Time("last_seen_at"),
		field.Time("expires_at"),
		field.Time("revoked_at").Optional().Nillable(),
	}
}

// Edges of Session.
func (Session) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("user", User.Type).Ref("sessions").Field("user_id").Unique().Required().Immutable(),
		edge.From("organization", Organization.Type).Ref("sessions").Field("org_id").Unique(),
	}
}

// Indexes of Session.
func (Session) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("user_id"),
		index.Fields("org_id"),
		index.Fields("expires_at"),
	}
}
