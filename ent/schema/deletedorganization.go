package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// DeletedOrganization is the tombstone of an organization: telemetry of the organization that arrives later is removed again. The
// audit log was deleted with the organization, so the entry of the deletion is stored here. Tombstones are never deleted.
type DeletedOrganization struct{ ent.Schema }

// AuditActor says who did something, through which door and from where. Unknown fields are empty.
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
