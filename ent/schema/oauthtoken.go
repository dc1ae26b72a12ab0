package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// OAuthToken is an access or refresh token of a grant. Only its keyed hash is stored.
type OAuthToken struct{ ent.Schema }

// Fields of OAuthToken.
func (OAuthToken) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.UUID("grant_id", uuid.UUID{}).Immutable(),
		field.Enum("kind").Values("access", "refresh").SchemaType(text).Immutable(),
		field.String("token_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.Time("created_at").Immutable(),
		field.Time("expires_at").Immutable(),
		field.Time("replaced_at").Optional().Nillable().Comment("when a refresh token was used; using it again betrays a thief"),
	}
}

// Edges of OAuthToken.
func (OAuthToken) Edges() []ent.Edge {
	return []ent.Edge{edge.From("grant", OAuthGrant.Type).Ref("tokens").Field("grant_id").Unique().Required().Immutable()}
}

// Indexes of OAuthToken.
func (OAuthToken) Indexes() []ent.Index {
	return []ent.Index{index.Fields("grant_id"), index.Fields("expires_at")}
}
