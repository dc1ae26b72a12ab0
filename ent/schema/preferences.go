package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Preferences are settings of a user for the web application, in every organization. A user who never set one has no row.
type Preferences struct{ ent.Schema }

// Annotations of Preferences. It has no id, so its rows are converted by hand.
func (Preferences) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "preferences"}}
}

// Fields of Preferences.
func (Preferences) Fields() []ent.Field {
	return []ent.Field{
		rowID(),
		field.String("user_id").SchemaType(text).NotEmpty().Unique().Immutable(),
		field.Enum("theme").Values(choices(&svcv2.UpdatePreferencesRequest{}, "theme")...).SchemaType(text),
		field.Enum("stack_trace").Values(choices(&svcv2.UpdatePreferencesRequest{}, "stack_trace")...).SchemaType(text),
		field.String("time_zone").SchemaType(text).Default("browser").Comment("a name of the tz database, or browser"),
		field.Time("updated_at"),
	}
}

// Edges of Preferences.
func (Preferences) Edges() []ent.Edge {
	return []ent.Edge{edge.From("user", User.Type).Ref("preferences").Field("user_id").Unique().Required().Immutable()}
}
