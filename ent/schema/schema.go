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

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
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

// Row marks an entity whose methods are written by hand because it does more than the usual five: it has a secret, versions, or an
// order of its own. From its fields `make generate` writes the part of the store that only repeats them (server/store/NAME_gen.go):
// the struct, the insert, the conversion of a row, and the parts that are chosen here. Edits stay by hand: each of these entities has
// rules for them (a key keeps the time at which it was disabled, a dashboard has versions).
//
// Entities without an annotation convert their rows by hand, because the store's type is not the row: a plan and a sampling policy
// have no id and are replaced as a whole, a recommendation is a finding with a status, users and organizations are joined with
// memberships, usage and outcomes are counters.
type Row struct {
	// Noun is its name in sentences, if that is not the name of the entity.
	Noun string
	// Get is a method that reads one row of an organization. Lock does so in a transaction and locks the row.
	Get, Lock bool
	// Event is set for entities whose audit entries carry the name that the entity has in the API.
	Event bool
	// Names gives fields other names in the store's struct.
	Names map[string]string
	// Types gives fields other Go types in that struct. An enum that is not listed gets its own type with constants.
	Types map[string]string
	// Unread are fields that an insert writes and no method returns.
	Unread []string
}

// Name implements schema.Annotation.
func (Row) Name() string { return "Row" }

// choices returns the values that the API allows for a text field of a request, or shows in a field of an answer.
func choices(message proto.Message, field protoreflect.Name) []string {
	options := message.ProtoReflect().Descriptor().Fields().ByName(field).Options()
	rules, _ := proto.GetExtension(options, validate.E_Field).(*validate.FieldRules)
	shown, _ := proto.GetExtension(options, optionsv1.E_Field).(*optionsv1.FieldSpec)
	if in := rules.GetString().GetIn(); len(in) > 0 {
		return in
	}
	return shown.GetValues()
}

func orgID() ent.Field {
	return field.String("org_id").SchemaType(text).NotEmpty().Immutable()
}
