package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// AlertCheckBatch holds the results of one shard and minute until they are in the warehouse. The insert group is the token of their
// insert, so a repeat of the insert stores nothing twice.
type AlertCheckBatch struct{ ent.Schema }

// Fields of AlertCheckBatch.
func (AlertCheckBatch) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.Int("shard").NonNegative().Immutable().Comment("of the kind `alerts`"),
		field.Time("evaluated_at").Immutable().Comment("the minute"),
		field.Bytes("rows").Immutable().Comment("the results as compressed JSON"),
		field.UUID("insert_group", uuid.UUID{}).Optional().Nillable().Comment("set before the insert; batches of one group are one insert"),
	}
}

// Indexes of AlertCheckBatch: the batches of a shard, oldest first.
func (AlertCheckBatch) Indexes() []ent.Index {
	return []ent.Index{index.Fields("shard", "evaluated_at", "id")}
}
