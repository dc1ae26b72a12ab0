package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// AlertRuleState is the memory of one rule about one group: counters, the last status, a hold. A healthy group without a memory has
// no row.
type AlertRuleState struct{ ent.Schema }

// Fields of AlertRuleState.
func (AlertRuleState) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.UUID("rule_id", uuid.UUID{}).Immutable(),
		field.String("group_key").SchemaType(text).Immutable(),
		field.JSON("state", json.RawMessage{}).SchemaType(jsonb),
		field.Time("updated_at"),
	}
}

// Edges of AlertRuleState.
func (AlertRuleState) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("alert_rule_states").Field("org_id").Unique().Required().Immutable(),
		edge.From("rule", AlertRule.Type).Ref("states").Field("rule_id").Unique().Required().Immutable(),
	}
}

// Indexes of AlertRuleState: a group once, and the states of an organization.
func (AlertRuleState) Indexes() []ent.Index {
	return []ent.Index{index.Fields("rule_id", "group_key").Unique(), index.Fields("org_id")}
}
