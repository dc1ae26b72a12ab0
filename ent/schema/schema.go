// Package schema declares the relational entities. A change here needs a new migration for each database: `make migration NAME=…`
// writes both into server/store/migrations.
package schema

import (
	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// text is PostgreSQL's unlimited text type instead of ent's varchar. Both cost the same, and PostgreSQL prints index predicates
// on text as they were written.
var text = map[string]string{dialect.Postgres: "text"}

// jsonb is PostgreSQL's binary JSON.
var jsonb = map[string]string{dialect.Postgres: "jsonb"}

// rowID is a UUIDv7 that server/store chooses, so that it knows the id before it writes the row.
func rowID() ent.Field {
	return field.UUID("id", uuid.UUID{}).Immutable()
}

// Resource marks an entity of an organization with the usual five methods: create, list, get, update, delete. From its fields
// `make generate` writes the store's part of these methods (server/store/NAME_gen.go) and the API methods with their conversions
// (server/services/NAMEs/methods_gen.go). The API messages have the fields under the same names. Two parts are written by hand:
// in the store a method check for the rules of the entity, and in the service a function resource for its errors.
type Resource struct {
	// Subject is the store's constant for changes that caches receive. It is empty if no cache holds the resource.
	Subject string
}

// Name implements schema.Annotation.
func (Resource) Name() string { return "Resource" }

// choices returns the values that the API allows for a text field.
func choices(request proto.Message, field protoreflect.Name) []string {
	options := request.ProtoReflect().Descriptor().Fields().ByName(field).Options()
	rules, _ := proto.GetExtension(options, validate.E_Field).(*validate.FieldRules)
	return rules.GetString().GetIn()
}

func orgID() ent.Field {
	return field.String("org_id").SchemaType(text).NotEmpty().Immutable()
}
