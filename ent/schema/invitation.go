package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Invitation lets the holder of its link join an organization. Only a keyed hash of its token is stored.
type Invitation struct{ ent.Schema }

// Annotations of Invitation.
func (Invitation) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Event: true, Unread: []string{"token_hash"}, Types: map[string]string{"role": "principal.Role"}}}
}

// Fields of Invitation.
func (Invitation) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("email").SchemaType(text).Optional().Nillable().Immutable().Comment("the only address that may accept; nil for any"),
		field.Enum("role").NamedValues("Admin", "org:admin", "Member", "org:member").SchemaType(text).Immutable(),
		field.String("token_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable(),
		field.Time("expires_at").Immutable(),
		field.Time("accepted_at").Optional().Nillable(),
		field.String("accepted_by").SchemaType(text).Optional().Nillable(),
		field.Time("revoked_at").Optional().Nillable(),
	}
}

// Edges of Invitation.
func (Invitation) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("invitations").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of Invitation.
func (Invitation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "created_at", "id")}
}
