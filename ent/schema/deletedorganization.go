package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// DeletedOrganization is the tombstone of an organization: telemetry of it that turns up later is removed again. Its audit log went with
// it, so the entry of the deletion is here. Tombstones stay.
type DeletedOrganization struct{ ent.Schema }

// AuditActor is who did something, through which door and from where; what is not known is empty.
type AuditActor struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Source    string `json:"source"`
	RequestID string `json:"request_id,omitempty"`
	OriginIP  string `json:"origin_ip,omitempty"`
	UserAgent string `json:"user_agent,omitempty"`
}

// Fields of DeletedOrganization.
func (DeletedOrganization) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").SchemaType(text).NotEmpty().Immutable().Comment("org_…"),
		field.Time("deleted_at").Immutable(),
		field.String("name").SchemaType(text).Default("").Immutable(),
		field.String("slug").SchemaType(text).Default("").Immutable(),
		field.JSON("deleted_by", &AuditActor{}).SchemaType(jsonb).Optional().Immutable(),
	}
}
