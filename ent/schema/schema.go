// Package schema declares the relational entities. A change here needs a new migration for each database: `make migration NAME=…` writes both
// into server/store/migrations.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"
	"github.com/google/uuid"
)

// text is PostgreSQL's unlimited text instead of ent's varchar: both cost the same there, and index predicates on text read
// back as they were written.
var text = map[string]string{dialect.Postgres: "text"}

// jsonb is PostgreSQL's binary JSON.
var jsonb = map[string]string{dialect.Postgres: "jsonb"}

// rowID is a UUIDv7 that server/store chooses, so that it is known before the row is written.
func rowID() ent.Field {
	return field.UUID("id", uuid.UUID{}).Immutable()
}

func orgID() ent.Field {
	return field.String("org_id").SchemaType(text).NotEmpty().Immutable()
}
