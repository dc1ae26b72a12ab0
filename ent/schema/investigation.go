package schema

import (
	"encoding/json"
	"time"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Investigation keeps what people and agents find out about a problem.
type Investigation struct{ ent.Schema }

// InvestigationFinding is a sentence about a problem, with a figure and the call that gives it again.
type InvestigationFinding struct {
	Text      string          `json:"text"`
	Value     *float64        `json:"value,omitempty"`
	Unit      *string         `json:"unit,omitempty"`
	Call      *string         `json:"call,omitempty"`
	Request   json.RawMessage `json:"request,omitempty"`
	CreatedBy string          `json:"created_by,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
}

// Annotations of Investigation. Findings are added to it, so its methods are written by hand.
func (Investigation) Annotations() []schema.Annotation {
	return []schema.Annotation{
		Row{Get: true, Lock: true, Event: true, Types: map[string]string{"status": "string", "findings": "[]InvestigationFinding"}},
	}
}

// Fields of Investigation.
func (Investigation) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("title").SchemaType(text).NotEmpty(),
		field.String("question").SchemaType(text).Optional().Nillable(),
		field.Enum("status").Values(choices(&svcv2.UpdateInvestigationRequest{}, "status")...).SchemaType(text),
		field.String("issue_id").SchemaType(text).Immutable().Optional().Nillable().
			Comment("the public id; the investigation outlives the issue"),
		field.String("conclusion").SchemaType(text).Optional().Nillable(),
		field.String("assignee").SchemaType(text).Optional().Nillable(),
		field.JSON("findings", []InvestigationFinding{}).SchemaType(jsonb),
		field.Time("created_at").Immutable(),
		field.String("created_by").SchemaType(text).Immutable().Comment("empty for a change that no user made"),
		field.Time("updated_at"),
	}
}

// Edges of Investigation.
func (Investigation) Edges() []ent.Edge {
	return []ent.Edge{edge.From("organization", Organization.Type).Ref("investigations").Field("org_id").Unique().Required().Immutable()}
}

// Indexes of Investigation: the order of the list.
func (Investigation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("org_id", "updated_at", "id")}
}
