package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// DeviceLogin is a login of the command line that waits for a person to confirm its code in a browser (RFC 8628). Only keyed hashes
// of its codes are stored.
type DeviceLogin struct{ ent.Schema }

// Annotations of DeviceLogin.
func (DeviceLogin) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Unread: []string{"device_code_hash", "user_code_hash"}, Types: map[string]string{"status": "string"}}}
}

// Fields of DeviceLogin.
func (DeviceLogin) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.String("device_code_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.String("user_code_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.String("client_name").SchemaType(text).Immutable().Comment("the host name that the command line sent"),
		field.String("client_address").SchemaType(text).Default("").Immutable(),
		field.Enum("status").Values(append(choices(&svcv2.PendingCliLogin{}, "status"), "redeemed")...).SchemaType(text).Default("pending"),
		field.String("org_id").SchemaType(text).Optional().Nillable().Comment("the organization of the person who decided; empty before"),
		field.String("user_id").SchemaType(text).Optional().Nillable(),
		field.Time("created_at").Immutable(),
		field.Time("expires_at").Immutable(),
		field.Time("polled_at").Optional().Nillable(),
	}
}

// Indexes of DeviceLogin.
func (DeviceLogin) Indexes() []ent.Index {
	return []ent.Index{index.Fields("expires_at")}
}
