package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// IssueActor is a person or an agent that works on issues.
type IssueActor struct{ ent.Schema }

// Annotations of IssueActor.
func (IssueActor) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "actor", Get: true}}
}

// Fields of IssueActor.
func (IssueActor) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("type").SchemaType(text).NotEmpty().Immutable().Comment("user or agent"),
		field.String("user_id").SchemaType(text).Optional().Nillable().Immutable().Comment("of a user, and of the user that registered an agent"),
		field.String("name").SchemaType(text).NotEmpty().Immutable().Comment("`user:<id>` of a user, else the name of the agent"),
		field.String("model").SchemaType(text).Optional().Nillable(),
		field.Strings("capabilities").SchemaType(jsonb).Optional(),
		field.Time("last_active_at").Optional().Nillable(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of IssueActor.
func (IssueActor) Edges() []ent.Edge {
	return []ent.Edge{edge.From("organization", Organization.Type).Ref("issue_actors").Field("org_id").Unique().Required().Immutable()}
}

// Indexes of IssueActor: a user or an agent once.
func (IssueActor) Indexes() []ent.Index { return []ent.Index{index.Fields("org_id", "name").Unique()} }

// ErrorIssueEvent is an entry of the history of an issue.
type ErrorIssueEvent struct{ ent.Schema }

// Annotations of ErrorIssueEvent.
func (ErrorIssueEvent) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "event"}}
}

// Fields of ErrorIssueEvent.
func (ErrorIssueEvent) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("issue_id", uuid.UUID{}).Immutable(),
		field.UUID("actor_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("null: the system"),
		field.String("type").SchemaType(text).NotEmpty().Immutable(),
		field.String("from_state").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("to_state").SchemaType(text).Optional().Nillable().Immutable(),
		field.JSON("payload", json.RawMessage{}).SchemaType(jsonb).Immutable(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of ErrorIssueEvent.
func (ErrorIssueEvent) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("error_issue_events").Field("org_id").Unique().Required().Immutable(),
		edge.From("issue", ErrorIssue.Type).Ref("events").Field("issue_id").Unique().Required().Immutable(),
	}
}

// Indexes of ErrorIssueEvent: the history of an issue.
func (ErrorIssueEvent) Indexes() []ent.Index { return []ent.Index{index.Fields("issue_id", "id")} }

// ErrorIncident is a time in which the error of an issue occurs.
type ErrorIncident struct{ ent.Schema }

// Annotations of ErrorIncident.
func (ErrorIncident) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "error incident"}}
}

// Fields of ErrorIncident.
func (ErrorIncident) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Int("shard").NonNegative().Immutable(),
		field.UUID("issue_id", uuid.UUID{}).Immutable(),
		field.String("status").SchemaType(text).NotEmpty().Comment("open or resolved"),
		field.String("reason").SchemaType(text).NotEmpty().Immutable().Comment("first_seen, regression or manual"),
		field.Time("first_triggered_at").Immutable(),
		field.Time("last_triggered_at"),
		field.Time("resolved_at").Optional().Nillable(),
		field.Int64("occurrence_count").Default(0),
		field.Time("created_at").Immutable(),
	}
}

// Edges of ErrorIncident.
func (ErrorIncident) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("error_incidents").Field("org_id").Unique().Required().Immutable(),
		edge.From("issue", ErrorIssue.Type).Ref("incidents").Field("issue_id").Unique().Required().Immutable(),
	}
}

// Indexes of ErrorIncident: the orders of the lists, and the open ones of a shard.
func (ErrorIncident) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "status", "last_triggered_at", "id"), index.Fields("issue_id", "first_triggered_at"),
		index.Fields("shard", "status", "last_triggered_at"),
	}
}

// ErrorIssuePullRequest links a change of code that is meant to fix an issue.
type ErrorIssuePullRequest struct{ ent.Schema }

// Annotations of ErrorIssuePullRequest.
func (ErrorIssuePullRequest) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "pull request"}}
}

// Fields of ErrorIssuePullRequest.
func (ErrorIssuePullRequest) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("issue_id", uuid.UUID{}),
		field.String("provider").SchemaType(text).NotEmpty().Immutable(),
		field.String("repo_full_name").SchemaType(text).NotEmpty().Immutable(),
		field.Int64("number").Immutable(),
		field.String("url").SchemaType(text).NotEmpty().Immutable(),
		field.String("title").SchemaType(text).Optional().Nillable(),
		field.String("author_login").SchemaType(text).Optional().Nillable(),
		field.String("state").SchemaType(text).NotEmpty().Comment("open, merged or closed"),
		field.Time("merged_at").Optional().Nillable(),
		field.String("merge_commit_sha").SchemaType(text).Optional().Nillable(),
		field.String("link_source").SchemaType(text).NotEmpty().Immutable().Comment("agent, user or auto"),
		field.Int("shard").NonNegative().Default(0).Immutable().Comment("of the kind `issue_checks`, by the organization"),
		field.Time("due_at").Optional().Nillable().Comment("when the source host is asked again; null once it is merged"),
		field.Time("checked_at").Optional().Nillable().Comment("when the source host last reported the state"),
		field.String("check_problem").SchemaType(text).Optional().Nillable().Comment("why the source host did not tell it"),
		field.String("etag").SchemaType(text).Optional().Nillable().Comment("of the host's last answer"),
		field.UUID("linked_by_actor_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of ErrorIssuePullRequest.
func (ErrorIssuePullRequest) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("error_issue_pull_requests").Field("org_id").Unique().Required().Immutable(),
		edge.From("issue", ErrorIssue.Type).Ref("pull_requests").Field("issue_id").Unique().Required(),
	}
}

// Indexes of ErrorIssuePullRequest: a link once, those that a delivery is about, and those that are due in a shard.
func (ErrorIssuePullRequest) Indexes() []ent.Index {
	return []ent.Index{index.Fields("issue_id", "url").Unique(), index.Fields("org_id", "provider", "number"), index.Fields("shard", "due_at")}
}

// ErrorPolicy says which changes of issues are sent to which destinations. An organization without a row is sent nothing.
type ErrorPolicy struct{ ent.Schema }

// Fields of ErrorPolicy.
func (ErrorPolicy) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("kind").SchemaType(text).NotEmpty().Immutable().Comment("notification or escalation"),
		field.JSON("policy", json.RawMessage{}).SchemaType(jsonb),
		field.Time("updated_at"),
		field.String("updated_by").SchemaType(text),
	}
}

// Edges of ErrorPolicy.
func (ErrorPolicy) Edges() []ent.Edge {
	return []ent.Edge{edge.From("organization", Organization.Type).Ref("error_policies").Field("org_id").Unique().Required().Immutable()}
}

// Indexes of ErrorPolicy: an organization has one policy of each kind.
func (ErrorPolicy) Indexes() []ent.Index { return []ent.Index{index.Fields("org_id", "kind").Unique()} }
