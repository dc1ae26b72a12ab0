package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// HostingProject is a project of a connected hosting platform. The rows are a copy of the platform's list.
type HostingProject struct{ ent.Schema }

// Annotations of HostingProject.
func (HostingProject) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "hosting project", Types: map[string]string{"framework": "string", "repository": "string"}}}
}

// Fields of HostingProject.
func (HostingProject) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("connection_id", uuid.UUID{}).Immutable(),
		field.String("external_id").SchemaType(text).NotEmpty().Immutable().Comment("the project's id at the platform; a rename keeps it"),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("framework").SchemaType(text).Optional().Nillable(),
		field.String("repository").SchemaType(text).Optional().Nillable().Comment("the source of the project, as owner/name"),
		field.JSON("environments", []string{}).SchemaType(jsonb).Comment("names; empty if the platform has no list of them"),
		field.JSON("services", []string{}).SchemaType(jsonb).Comment("names; empty if a project of the platform is one service"),
		field.Time("created_at").Immutable(),
		field.Time("seen_at").Comment("when the platform last listed it"),
	}
}

// Edges of HostingProject.
func (HostingProject) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("hosting_projects").Field("org_id").Unique().Required().Immutable(),
		edge.From("connection", IntegrationConnection.Type).Ref("hosting_projects").Field("connection_id").Unique().Required().Immutable(),
	}
}

// Indexes of HostingProject: a project once for each account, and the order of the list.
func (HostingProject) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("connection_id", "external_id").Unique(), index.Fields("connection_id", "name", "id"), index.Fields("org_id"),
	}
}

// HostingDeployment is a deployment of a project of a connected hosting platform.
type HostingDeployment struct{ ent.Schema }

// Annotations of HostingDeployment.
func (HostingDeployment) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "hosting deployment", Types: map[string]string{
		"state": "string", "service": "string", "commit_sha": "string", "branch": "string", "url": "string",
	}}}
}

// Fields of HostingDeployment.
func (HostingDeployment) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("connection_id", uuid.UUID{}).Immutable(),
		field.String("external_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("project_external_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("project_name").SchemaType(text).NotEmpty(),
		field.String("service").SchemaType(text).Optional().Nillable().Comment("empty if a project of the platform is one service"),
		field.String("target").SchemaType(text).NotEmpty().Comment("the environment: production, preview, or a name"),
		field.Enum("state").Values(choices(&svcv2.HostingDeployment{}, "state")...).SchemaType(text),
		field.String("platform_state").SchemaType(text).NotEmpty().Comment("the word of the platform for the state"),
		field.String("commit_sha").SchemaType(text).Optional().Nillable(),
		field.String("branch").SchemaType(text).Optional().Nillable(),
		field.String("url").SchemaType(text).Optional().Nillable(),
		field.Time("started_at").Comment("when the platform created the deployment"),
		field.Time("ready_at").Optional().Nillable(),
		field.Time("created_at").Immutable(),
		field.Time("seen_at").Comment("when the platform last listed it"),
	}
}

// Edges of HostingDeployment.
func (HostingDeployment) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("hosting_deployments").Field("org_id").Unique().Required().Immutable(),
		edge.From("connection", IntegrationConnection.Type).Ref("hosting_deployments").Field("connection_id").Unique().Required().Immutable(),
	}
}

// Indexes of HostingDeployment: a deployment once for each account, and the order of the list.
func (HostingDeployment) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("connection_id", "external_id").Unique(), index.Fields("connection_id", "started_at", "id"), index.Fields("org_id"),
	}
}
