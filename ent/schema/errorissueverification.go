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

// ErrorIssueVerification checks whether a fix of an issue holds, by the occurrences in releases that contain it.
type ErrorIssueVerification struct{ ent.Schema }

// Annotations of ErrorIssueVerification.
func (ErrorIssueVerification) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "verification"}}
}

// Fields of ErrorIssueVerification.
func (ErrorIssueVerification) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Int("shard").NonNegative().Immutable().Comment("of the kind `issue_checks`, by the organization"),
		field.UUID("issue_id", uuid.UUID{}).Immutable(),
		field.Int("attempt").Immutable().Comment("1, or 2 after an attempt without a result"),
		field.String("status").SchemaType(text).NotEmpty().Comment("waiting, running, verified, not_fixed, inconclusive or abandoned"),
		field.String("reason").SchemaType(text).Optional().Nillable().Comment("no_traffic, rolled_back, not_deployed or superseded"),
		field.String("url").SchemaType(text).Optional().Nillable().Immutable().Comment("the pull request"),
		field.String("commit").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("version").SchemaType(text).Optional().Nillable().Immutable(),
		field.Time("fixed_at").Immutable(),
		field.Time("started_at").Immutable().Comment("the start of this attempt: releases that ended before do not count"),
		field.Time("deployed_at").Optional().Nillable(),
		field.JSON("figures", json.RawMessage{}).SchemaType(jsonb).Optional().Comment("what the state rests on"),
		field.Time("due_at").Optional().Nillable().Comment("the next look at telemetry; null once it ended"),
		field.Time("checked_at").Optional().Nillable(),
		field.Time("ended_at").Optional().Nillable(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of ErrorIssueVerification.
func (ErrorIssueVerification) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("error_issue_verifications").Field("org_id").Unique().Required().Immutable(),
		edge.From("issue", ErrorIssue.Type).Ref("verifications").Field("issue_id").Unique().Required().Immutable(),
	}
}

// Indexes of ErrorIssueVerification: those of an issue, and those that are due in a shard.
func (ErrorIssueVerification) Indexes() []ent.Index {
	return []ent.Index{index.Fields("issue_id", "id"), index.Fields("shard", "due_at"), index.Fields("org_id")}
}
