package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// WorkShard is a fixed part of the work of one kind, such as `alerts/07`. A process that holds its lease does the work of the shard.
type WorkShard struct{ ent.Schema }

// Fields of WorkShard.
func (WorkShard) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").SchemaType(text).NotEmpty().Immutable().Comment("<kind>/<number>"),
		field.String("kind").SchemaType(text).NotEmpty().Immutable(),
		field.Int("number").NonNegative().Immutable(),
		field.UUID("holder", uuid.UUID{}).Optional().Nillable().Comment("the node with the lease"),
		field.Int64("fence").NonNegative().Comment("grows with each change of the holder; a transaction under an old fence fails"),
		field.Time("expires_at").Optional().Nillable().Comment("by the clock of the database; nil on SQLite, where a lease does not expire"),
	}
}

// Indexes of WorkShard: the shards of a kind, each once.
func (WorkShard) Indexes() []ent.Index {
	return []ent.Index{index.Fields("kind", "number").Unique(), index.Fields("holder")}
}
