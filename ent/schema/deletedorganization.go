package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// DeletedOrganization is the tombstone of an organization: telemetry of it that turns up later is removed again. Tombstones stay.
type DeletedOrganization struct{ ent.Schema }

// Fields of DeletedOrganization.
func (DeletedOrganization) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").SchemaType(text).NotEmpty().Immutable().Comment("org_…"),
		field.Time("deleted_at").Immutable(),
	}
}
