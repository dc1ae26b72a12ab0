// Package schema declares the relational entities. A change here needs a new migration for each database: `make migration NAME=…` writes both
// into server/store/migrations.
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

// text is PostgreSQL's unlimited text instead of ent's varchar: both cost the same there, and index predicates on text read
// back as they were written.
var text = map[string]string{dialect.Postgres: "text"}

// jsonb is PostgreSQL's binary JSON.
var jsonb = map[string]string{dialect.Postgres: "jsonb"}

// rowID is a UUIDv7 that server/store chooses, so that it is known before the row is written.
func rowID() ent.Field {
	return field.UUID("id", uuid.UUID{}).Immutable()
}

// Resource marks an entity of an organization with the usual five methods: create, list, get, update, delete. From its fields `make generate`
// writes the store's half of them (server/store/NAME_gen.go) and the methods with their conversions (server/services/NAMEs/methods_gen.go).
// The messages of the contract have the fields under the same names. By hand the store adds a method check for the rules of the entity, and the
// service a function resource for its errors.
type Resource struct {
	// Subject is the store's constant for changes that caches hear of, empty if no cache holds the resource.
	Subject string
}

// Name implements schema.Annotation.
func (Resource) Name() string { return "Resource" }

// choices are the values that the contract allows for a field of text.
func choices(request proto.Message, field protoreflect.Name) []string {
	options := request.ProtoReflect().Descriptor().Fields().ByName(field).Options()
	rules, _ := proto.GetExtension(options, validate.E_Field).(*validate.FieldRules)
	return rules.GetString().GetIn()
}

func orgID() ent.Field {
	return field.String("org_id").SchemaType(text).NotEmpty().Immutable()
}
