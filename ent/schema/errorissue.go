package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// ErrorIssue is an error that people and agents work on: all occurrences with one of its fingerprints.
type ErrorIssue struct{ ent.Schema }

// Annotations of ErrorIssue.
func (ErrorIssue) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "error issue", Get: true, Lock: true}}
}

// Fields of ErrorIssue.
func (ErrorIssue) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Int("shard").NonNegative().Immutable().Comment("of the kind `issues`, by the organization"),
		field.String("kind").SchemaType(text).NotEmpty().Immutable().Comment("error, alert or integration"),
		field.String("fingerprint_hash").SchemaType(text).NotEmpty().Immutable().Comment("its first fingerprint"),
		field.String("service_name").SchemaType(text).Immutable(),
		field.String("exception_type").SchemaType(text),
		field.String("exception_message").SchemaType(text),
		field.String("error_label").SchemaType(text),
		field.String("top_frame").SchemaType(text),
		field.String("workflow_state").SchemaType(text).NotEmpty(),
		field.Int("priority").Default(3),
		field.String("severity").SchemaType(text).Optional().Nillable(),
		field.Int("severity_rank").Default(0).Comment("4 critical to 1 low, 0 without a severity: the order of a list"),
		field.String("severity_source").SchemaType(text).Optional().Nillable(),
		field.JSON("source_ref", json.RawMessage{}).SchemaType(jsonb).Optional(),
		field.UUID("assigned_actor_id", uuid.UUID{}).Optional().Nillable(),
		field.UUID("lease_holder_id", uuid.UUID{}).Optional().Nillable(),
		field.Time("lease_expires_at").Optional().Nillable(),
		field.Time("claimed_at").Optional().Nillable(),
		field.Int("lease_seconds").Default(0).Comment("the granted length; each act of the holder renews the lease by it"),
		field.String("notes").SchemaType(text).Optional().Nillable(),
		field.Time("first_seen_at"),
		field.Time("last_seen_at"),
		field.Int64("occurrence_count").Default(0).Comment("received occurrences"),
		field.Float("estimated_count").Default(0).Comment("occurrences, corrected for sampling"),
		field.Time("resolved_at").Optional().Nillable(),
		field.Time("last_resolved_at").Optional().Nillable(),
		field.Time("last_regressed_at").Optional().Nillable(),
		field.Int("regression_count").Default(0),
		field.Strings("resolved_versions").SchemaType(jsonb).Optional().Comment("the versions that ran when it was resolved"),
		field.Strings("versions").SchemaType(jsonb).Optional().Comment("the versions with occurrences, the newest first"),
		field.Strings("environments").SchemaType(jsonb).Optional(),
		field.Time("snooze_until").Optional().Nillable(),
		field.Time("archived_at").Optional().Nillable(),
		field.UUID("open_incident_id", uuid.UUID{}).Optional().Nillable(),
		field.UUID("open_verification_id", uuid.UUID{}).Optional().Nillable().Comment("the check of its fix that has not ended"),
		field.UUID("merged_into", uuid.UUID{}).Optional().Nillable().Comment("the issue that has its fingerprints now"),
		field.Int("comment_count").Default(0),
		field.Int("open_pull_request_count").Default(0),
		field.Int("merged_pull_request_count").Default(0),
		field.Bool("told").Default(false).Comment("the message about a new issue was put into the outbox, or is not wanted"),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Edges of ErrorIssue.
func (ErrorIssue) Edges() []ent.Edge {
	cascade := entsql.OnDelete(entsql.Cascade)
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("error_issues").Field("org_id").Unique().Required().Immutable(),
		edge.To("fingerprints", ErrorIssueFingerprint.Type).Annotations(cascade),
		edge.To("events", ErrorIssueEvent.Type).Annotations(cascade),
		edge.To("incidents", ErrorIncident.Type).Annotations(cascade),
		edge.To("pull_requests", ErrorIssuePullRequest.Type).Annotations(cascade),
		edge.To("verifications", ErrorIssueVerification.Type).Annotations(cascade),
	}
}

// Indexes of ErrorIssue: the orders of the list, the states, and the rows that a worker looks for.
func (ErrorIssue) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "last_seen_at", "id"), index.Fields("org_id", "severity_rank", "last_seen_at", "id"),
		index.Fields("org_id", "workflow_state"), index.Fields("shard", "lease_expires_at"), index.Fields("shard", "snooze_until"),
		index.Fields("shard", "archived_at"), index.Fields("shard", "told"),
	}
}

// ErrorIssueFingerprint says which issue has the occurrences of a fingerprint.
type ErrorIssueFingerprint struct{ ent.Schema }

// Annotations of ErrorIssueFingerprint.
func (ErrorIssueFingerprint) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "fingerprint"}}
}

// Fields of ErrorIssueFingerprint.
func (ErrorIssueFingerprint) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("issue_id", uuid.UUID{}),
		field.String("hash").SchemaType(text).NotEmpty().Immutable().Comment("64 bits in decimal, or the text of another kind of issue"),
		field.Bool("pinned").Default(false).Comment("a person put it there: it never moves by itself"),
		field.String("service_name").SchemaType(text).Immutable(),
		field.String("exception_type").SchemaType(text),
		field.String("exception_message").SchemaType(text),
		field.String("error_label").SchemaType(text),
		field.String("top_frame").SchemaType(text),
		field.JSON("grouping", json.RawMessage{}).SchemaType(jsonb).Optional().Comment("why its occurrences are one group"),
		field.Time("first_seen_at"),
		field.Time("last_seen_at"),
		field.Int64("occurrence_count").Default(0),
		field.Float("estimated_count").Default(0),
		field.Time("created_at").Immutable(),
	}
}

// Edges of ErrorIssueFingerprint.
func (ErrorIssueFingerprint) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("error_issue_fingerprints").Field("org_id").Unique().Required().Immutable(),
		edge.From("issue", ErrorIssue.Type).Ref("fingerprints").Field("issue_id").Unique().Required(),
	}
}

// Indexes of ErrorIssueFingerprint: a fingerprint has one issue.
func (ErrorIssueFingerprint) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "hash").Unique(), index.Fields("issue_id")}
}

// ErrorInbox has sums of occurrences that are not applied to issues. An ingest node adds them in the transaction that notes how far it
// has counted; the worker of the shard applies and removes them in one transaction.
type ErrorInbox struct{ ent.Schema }

// Fields of ErrorInbox.
func (ErrorInbox) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Int("shard").NonNegative().Immutable().Comment("of the kind `issues`, by the organization"),
		field.JSON("sum", json.RawMessage{}).SchemaType(jsonb).Immutable(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of ErrorInbox.
func (ErrorInbox) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("error_inbox").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of ErrorInbox: the rows of a shard, oldest first.
func (ErrorInbox) Indexes() []ent.Index {
	return []ent.Index{index.Fields("shard", "org_id", "id")}
}
