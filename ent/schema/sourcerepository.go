package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// FormerName is a name that a repository had. Requests may still use it for a while.
type FormerName struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
}

// SourceRepository is a repository that a connected account lets us read.
type SourceRepository struct{ ent.Schema }

// Annotations of SourceRepository.
func (SourceRepository) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{
		Noun: "source repository", Get: true, Lock: true, Event: true,
		Types: map[string]string{
			"status": "string", "tracked_branch": "string", "last_sync_error": "string", "etag": "string", "pulls_etag": "string",
		},
	}}
}

// Fields of SourceRepository.
func (SourceRepository) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("connection_id", uuid.UUID{}).Immutable(),
		field.String("external_id").SchemaType(text).NotEmpty().Immutable().Comment("the repository's id at the provider; a rename keeps it"),
		field.String("full_name").SchemaType(text).NotEmpty(),
		field.JSON("former_names", []FormerName{}).SchemaType(jsonb).Optional(),
		field.String("html_url").SchemaType(text).NotEmpty(),
		field.Bool("is_private"),
		field.Bool("is_archived"),
		field.String("default_branch").SchemaType(text).Comment("empty for an empty repository"),
		field.String("tracked_branch").SchemaType(text).Optional().Nillable().Comment("empty: the default branch"),
		field.Enum("status").Values("active", "removed").SchemaType(text).Default("active"),
		field.Time("last_synced_at").Optional().Nillable(),
		field.String("last_sync_error").SchemaType(text).Optional().Nillable(),
		field.String("etag").SchemaType(text).Optional().Nillable().Comment("of the last answer about the repository"),
		field.Time("checked_at").Optional().Nillable().Comment("when the provider last gave access to it"),
		field.Time("searched_at").Optional().Nillable(),
		field.Int("shard").NonNegative().Default(0).Comment("of the kind `repositories`, by the organization"),
		field.Time("look_due_at").Optional().Nillable().Comment("when pull requests and deployments are looked for again"),
		field.String("pulls_etag").SchemaType(text).Optional().Nillable().Comment("of the last list of pull requests"),
		field.Time("pulls_seen_at").Optional().Nillable().Comment("the last change of a pull request that was looked at"),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Edges of SourceRepository.
func (SourceRepository) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("source_repositories").Field("org_id").Unique().Required().Immutable(),
		edge.From("connection", IntegrationConnection.Type).Ref("repositories").Field("connection_id").Unique().Required().Immutable(),
	}
}

// Indexes of SourceRepository: a repository once for each connection, the order of the list, and those that are due in a shard.
func (SourceRepository) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("connection_id", "external_id").Unique(), index.Fields("org_id", "full_name", "id"), index.Fields("shard", "look_due_at"),
	}
}
