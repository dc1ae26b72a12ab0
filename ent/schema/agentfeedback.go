package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	entschema "entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// AgentFeedback is the opinion of an agent about its work with the product.
type AgentFeedback struct{ ent.Schema }

// FeedbackAgent says who gave feedback.
type FeedbackAgent struct {
	Type    string  `json:"type"`
	Name    *string `json:"name,omitempty"`
	Model   *string `json:"model,omitempty"`
	Version *string `json:"version,omitempty"`
}

// Annotations of AgentFeedback.
func (AgentFeedback) Annotations() []entschema.Annotation {
	return []entschema.Annotation{
		Row{Types: map[string]string{"source": "string", "agent": "FeedbackAgent"}},
		entsql.Annotation{Table: "agent_feedback"},
	}
}

// Fields of AgentFeedback.
func (AgentFeedback) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("kind").SchemaType(text).NotEmpty().Immutable(),
		field.String("impact").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("summary").SchemaType(text).NotEmpty().Immutable(),
		field.String("reason").SchemaType(text).NotEmpty().Immutable(),
		field.String("details").SchemaType(text).Optional().Nillable().Immutable(),
		field.String("related_to").SchemaType(text).Optional().Nillable().Immutable(),
		field.JSON("agent", FeedbackAgent{}).SchemaType(jsonb).Immutable(),
		field.Enum("source").Values(choices(&svcv2.AgentFeedback{}, "source")...).SchemaType(text).Immutable(),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable(),
	}
}

// Edges of AgentFeedback.
func (AgentFeedback) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("agent_feedback").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of AgentFeedback: the only order in which feedback is listed.
func (AgentFeedback) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "created_at", "id")}
}
