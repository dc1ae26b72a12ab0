package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// IntegrationConnection is an account of a provider (an installation of our GitHub App) that an organization has connected.
type IntegrationConnection struct{ ent.Schema }

// Annotations of IntegrationConnection.
func (IntegrationConnection) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{
		Noun: "integration", Get: true, Lock: true,
		Types: map[string]string{"state": "string", "reason": "string", "last_sync_error": "string", "connected_by": "principal.UserID"},
	}}
}

// Fields of IntegrationConnection.
func (IntegrationConnection) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.Int("shard").NonNegative().Immutable().Comment("of the kind `integrations`, by the id"),
		field.String("provider").SchemaType(text).NotEmpty().Immutable(),
		field.String("base_url").SchemaType(text).NotEmpty().Immutable().Comment("the provider's server"),
		field.String("external_id").SchemaType(text).NotEmpty().Comment("the id of our access to the account; a new installation has a new one"),
		field.String("name").SchemaType(text).NotEmpty().Comment("the account's name at the provider"),
		field.Enum("state").Values(choices(&svcv2.SourceConnection{}, "status")...).SchemaType(text),
		field.String("reason").SchemaType(text).Optional().Nillable().Comment("why the state is not connected"),
		field.JSON("settings", json.RawMessage{}).SchemaType(jsonb).Comment("what the provider's package keeps about the account"),
		field.Bytes("credentials").Optional().Sensitive().Comment("sealed: the tokens of the account; empty if the provider needs none"),
		field.Int("credential_version").NonNegative().Default(0).Comment("a new pair of tokens has the next one"),
		field.String("connected_by").SchemaType(text).Comment("empty for a change that no user made"),
		field.Time("connected_at"),
		field.Time("state_changed_at"),
		field.Time("sync_due_at").Optional().Nillable(),
		field.Time("last_sync_at").Optional().Nillable().Comment("of the last success"),
		field.String("last_sync_error").SchemaType(text).Optional().Nillable(),
		field.Int("failures").NonNegative().Default(0).Comment("in a row"),
		field.Time("failing_since").Optional().Nillable().Comment("the first of the failures in a row"),
		field.Time("picture_failed_at").Optional().Nillable().Comment("when a chat service last could not fetch a picture of a message"),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Edges of IntegrationConnection.
func (IntegrationConnection) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("integration_connections").Field("org_id").Unique().Required().Immutable(),
		edge.To("repositories", SourceRepository.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("databases", PlatformDatabase.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("events", PlatformEvent.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("channels", ChatChannel.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("hosting_projects", HostingProject.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("hosting_deployments", HostingDeployment.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of IntegrationConnection: an account once, the organizations that share one, and the work of a shard.
func (IntegrationConnection) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("org_id", "provider", "base_url", "external_id").Unique(),
		index.Fields("provider", "external_id"),
		index.Fields("shard", "sync_due_at"),
	}
}

// IntegrationLogin is an attempt to connect an account (RFC 6749 section 4.1). The id is the keyed hash of its `state`.
type IntegrationLogin struct{ ent.Schema }

// Annotations of IntegrationLogin.
func (IntegrationLogin) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{
		Noun: "integration login", Types: map[string]string{"user_id": "principal.UserID", "session_id": "string", "return_to": "string"},
	}}
}

// Fields of IntegrationLogin.
func (IntegrationLogin) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		orgID(),
		field.String("state_hash").SchemaType(text).NotEmpty().Unique().Immutable().Sensitive(),
		field.String("provider").SchemaType(text).NotEmpty().Immutable(),
		field.String("user_id").SchemaType(text).Optional().Nillable().Comment("empty until a person confirms an attempt that an API key began"),
		field.String("session_id").SchemaType(text).Optional().Nillable().Comment("the session that may finish it"),
		field.Bool("install").Default(false).Immutable().Comment("the first step was the installation of the app"),
		field.Bool("identity").Default(false).Immutable().Comment("a person links an identity of the provider; no account is connected"),
		field.Bytes("verifier").Immutable().Sensitive().Comment("sealed: the PKCE code verifier"),
		field.String("return_to").SchemaType(text).Optional().Nillable().Immutable(),
		field.Bytes("offer").Optional().Sensitive().Comment("sealed: the accounts that the person can choose from"),
		field.Time("created_at").Immutable(),
		field.Time("expires_at").Immutable(),
		field.Time("used_at").Optional().Nillable(),
	}
}

// Edges of IntegrationLogin.
func (IntegrationLogin) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organization", Organization.Type).Ref("integration_logins").Field("org_id").Unique().Required().Immutable(),
	}
}

// Indexes of IntegrationLogin.
func (IntegrationLogin) Indexes() []ent.Index { return []ent.Index{index.Fields("expires_at")} }

// WebhookDelivery is a delivery of a provider. It is kept so that a repeated one does nothing. Its payload is not: a delivery only says
// which account has to be read again.
type WebhookDelivery struct{ ent.Schema }

// Annotations of WebhookDelivery.
func (WebhookDelivery) Annotations() []schema.Annotation {
	return []schema.Annotation{Row{Noun: "webhook delivery"}}
}

// Fields of WebhookDelivery.
func (WebhookDelivery) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.String("provider").SchemaType(text).NotEmpty().Immutable(),
		field.String("delivery_id").SchemaType(text).NotEmpty().Immutable(),
		field.String("kind").SchemaType(text).Immutable(),
		field.String("account").SchemaType(text).Immutable().Comment("the account's id at the provider; may be empty"),
		field.Int("connections").NonNegative().Immutable().Comment("number of connections that are read again because of it"),
		field.Time("created_at").Immutable(),
	}
}

// Indexes of WebhookDelivery.
func (WebhookDelivery) Indexes() []ent.Index {
	return []ent.Index{index.Fields("provider", "delivery_id").Unique(), index.Fields("created_at")}
}
