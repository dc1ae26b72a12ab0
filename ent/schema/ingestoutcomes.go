package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IngestOutcomes are the last answers that one ingest node gave to one key, for "I sent data and see nothing".
type IngestOutcomes struct{ ent.Schema }

// IngestOutcome is one answer.
type IngestOutcome struct {
	// At is Unix milliseconds.
	At       int64  `json:"at"`
	Signal   string `json:"signal"`
	Door     string `json:"door"`
	Status   int    `json:"status"`
	Tag      string `json:"tag,omitempty"`
	Accepted int    `json:"accepted"`
	Rejected int    `json:"rejected,omitempty"`
	Sampled  int    `json:"sampled,omitempty"`
	// Cut counts the values that were shortened or left out because they exceed a limit.
	Cut    int    `json:"cut,omitempty"`
	Bytes  int    `json:"bytes"`
	Reason string `json:"reason,omitempty"`
	// Agent is the sender's User-Agent.
	Agent string `json:"agent,omitempty"`
}

// Fields of IngestOutcomes.
func (IngestOutcomes) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("key_id").SchemaType(text).NotEmpty().Immutable().Comment("public id"),
		field.String("node").SchemaType(text).NotEmpty().Immutable(),
		field.JSON("outcomes", []IngestOutcome{}).SchemaType(jsonb),
		field.Time("updated_at"),
	}
}

// Edges of IngestOutcomes.
func (IngestOutcomes) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("ingest_outcomes").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of IngestOutcomes.
func (IngestOutcomes) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "key_id", "node").Unique(),
		index.Fields("updated_at"),
	}
}
