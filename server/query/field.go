package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/publicid"
)

// Scope says where a field of a row is.
type Scope string

// These are the scopes.
const (
	// Builtin fields are columns: service.name, duration, severity.
	Builtin Scope = ""
	// OwnAttribute is an attribute of the span, log record, data point or product event itself.
	OwnAttribute Scope = "attr"
	// ResourceAttribute is an attribute of the resource that sent the row.
	ResourceAttribute Scope = "resource"
	// EventAttribute is an attribute of any event of a span.
	EventAttribute Scope = "event"
)

// Field names something that rows of a source have. For Builtin, Key is a canonical name. Otherwise it is the attribute's key as
// the sender wrote it.
type Field struct {
	Scope Scope
	Key   string
}

// String is the field in the filter language.
func (f Field) String() string {
	key := f.Key
	if strings.ContainsFunc(key, func(r rune) bool { return !isKeyRune(r) }) || key == "" {
		key = quoteWhere(key)
	}
	if f.Scope == Builtin {
		return key
	}
	return string(f.Scope) + "." + key
}

// fieldKind is the kind of values of a built-in field.
type fieldKind int

const (
	textField fieldKind = iota
	numberField
	durationField // nanoseconds in the table, text with a unit or milliseconds in a filter
	boolField
	listField // several texts in one row; a condition holds if one of them passes
)

// builtin is a field that is a column or is computed from columns.
type builtin struct {
	key     string
	aliases []string
	kind    fieldKind
	// sql is an expression. In rows without the field, a text is empty and a number is 0. The expression of a bool field is a condition.
	sql string
	// normal converts a value to the form in which it is stored.
	normal func(string) string
	// zero says that 0 is an ordinary value of this field, not the mark of an absent one.
	zero bool
	// identity says that sql reads columns of identified. That table joins product events with their sessions.
	identity bool
}

// CommitKeys are the resource attributes that name a commit, the current name first. Where both are present, the older one counts.
func CommitKeys() []string { return []string{"vcs.ref.head.revision", "deployment.commit_sha"} }

// CommitSHA is the expression of the commit in rows with ResourceAttributes. It is empty without one.
func CommitSHA() string {
	var b strings.Builder
	for _, key := range slices.Backward(CommitKeys()) {
		fmt.Fprintf(&b, "nullIf(ResourceAttributes['%s'], ''), ", key)
	}
	return "coalesce(" + b.String() + "'')"
}

func resourceBuiltins() []builtin {
	return []builtin{
		{key: "service.name", aliases: []string{"service", "service_name"}, sql: "ServiceName"},
		{key: "service.namespace", aliases: []string{"namespace", "service_namespace"}, sql: "ServiceNamespace"},
		{
			key:     "deployment.environment",
			aliases: []string{"env", "environment", "deployment.environment.name", "deployment_environment"},
			sql:     "Environment",
		},
		commitBuiltin(),
	}
}

// builtins lists the fields of a source.
func builtins(s Source) []builtin {
	common := resourceBuiltins()
	//exhaustive:enforce
	switch s {
	case Traces:
		return append(
			common,
			builtin{key: "service.version", aliases: []string{"version", "service_version"}, sql: "ServiceVersion"},
			builtin{key: "span.name", aliases: []string{"span", "span_name", "name"}, sql: "SpanName"},
			builtin{key: "span.kind", aliases: []string{"kind", "span_kind"}, sql: "SpanKind", normal: capitalised},
			builtin{key: "status.code", aliases: []string{"status", "status_code"}, sql: "StatusCode", normal: capitalised},
			builtin{key: "status.message", aliases: []string{"status_message"}, sql: "StatusMessage"},
			builtin{key: "http.method", aliases: []string{"http_method", "http.request.method"}, sql: "HttpMethod"},
			builtin{key: "http.route", aliases: []string{"http_route"}, sql: "HttpRoute"},
			builtin{
				key:     "http.status_code",
				aliases: []string{"http_status_code", "http.response.status_code"},
				sql:     "HttpStatusCode",
				kind:    numberField,
			},
			builtin{key: "duration", aliases: []string{"duration_ms"}, sql: "DurationNano", kind: durationField, zero: true},
			builtin{key: "has_error", aliases: []string{"errors_only"}, sql: "HasError", kind: boolField},
			builtin{key: "root_only", aliases: []string{"root.only", "is_root"}, sql: "ParentSpanId = ''", kind: boolField},
			builtin{key: "is_entry", aliases: []string{"entry_only"}, sql: "IsEntry", kind: boolField},
			builtin{key: "trace.id", aliases: []string{"trace_id"}, sql: "TraceId", normal: strings.ToLower},
			builtin{key: "span.id", aliases: []string{"span_id"}, sql: "SpanId", normal: strings.ToLower},
			builtin{key: "parent.id", aliases: []string{"parent_span_id"}, sql: "ParentSpanId", normal: strings.ToLower},
			builtin{key: "scope.name", aliases: []string{"scope_name"}, sql: "ScopeName"},
			builtin{key: "event.name", sql: "EventsName", kind: listField},
		)
	case Logs:
		return append(common,
			builtin{key: "service.version", aliases: []string{"version", "service_version"}, sql: "ServiceVersion"},
			builtin{key: "severity", aliases: []string{"severity_text", "severity.text", "level"}, sql: "SeverityText", normal: trimmedUpper},
			builtin{key: "severity_number", aliases: []string{"severity.number"}, sql: "SeverityNumber", kind: numberField},
			builtin{key: "body", aliases: []string{"message"}, sql: "Body"},
			builtin{key: "event.name", aliases: []string{"event_name"}, sql: "EventName"},
			builtin{key: "trace.id", aliases: []string{"trace_id"}, sql: "TraceId", normal: strings.ToLower},
			builtin{key: "span.id", aliases: []string{"span_id"}, sql: "SpanId", normal: strings.ToLower},
			builtin{key: "scope.name", aliases: []string{"scope_name"}, sql: "ScopeName"},
		)
	case Metrics:
		return append(common,
			builtin{key: "scope.name", aliases: []string{"scope_name"}, sql: "ScopeName"},
		)
	case ProductEvents:
		return []builtin{
			{key: "event.name", aliases: []string{"event", "event_name", "name"}, sql: "Name"},
			{key: "event.kind", aliases: []string{"kind", "event_kind"}, sql: "Kind", normal: strings.ToLower},
			{key: "source", sql: "Source", normal: strings.ToLower},
			{key: "service.name", aliases: []string{"service", "service_name"}, sql: "ServiceName"},
			environmentBuiltin(),
			commitBuiltin(),
			{key: "host", sql: "Host", normal: strings.ToLower},
			{key: "page.path", aliases: []string{"page_path", "path"}, sql: "PagePath"},
			{key: "url", sql: "Url"},
			{key: "visitor.id", aliases: []string{"visitor", "visitor_id"}, sql: "VisitorId"},
			{key: "user.id", aliases: []string{"user", "user_id"}, sql: "UserId"},
			{key: "group.id", aliases: []string{"group", "group_id"}, sql: "GroupId"},
			{key: sessionKey, aliases: []string{"session", "session_id"}, sql: "SessionId", normal: sessionText},
			{key: "person", aliases: []string{"person.id", "person_id"}, sql: "substring(Key, 3)", identity: true},
			{key: "known.user", aliases: []string{"known_user"}, sql: "KnownUser", identity: true},
			{key: "known.visitor", aliases: []string{"known_visitor"}, sql: "KnownVisitor", identity: true},
		}
	case Sessions:
		return sessionBuiltins()
	default:
		return nil
	}
}

// environmentBuiltin is the environment in a table without a column for it.
func environmentBuiltin() builtin {
	return builtin{
		key: "deployment.environment", aliases: []string{"env", "environment", "deployment.environment.name", "deployment_environment"},
		sql: "coalesce(nullIf(ResourceAttributes['deployment.environment.name'], ''), ResourceAttributes['deployment.environment'])",
	}
}

// commitBuiltin is the commit of the sender.
func commitBuiltin() builtin {
	return builtin{key: "deployment.commit_sha", aliases: []string{"commit_sha", "vcs.ref.head.revision"}, sql: CommitSHA()}
}

// sessionBuiltins are the fields of sessions. Texts are those that a browser sends, so most are compared as they are.
func sessionBuiltins() []builtin {
	return []builtin{
		{key: "service.name", aliases: []string{"service", "service_name"}, sql: "ServiceName"},
		{key: "service.version", aliases: []string{"version", "service_version"}, sql: "ResourceAttributes['service.version']"},
		environmentBuiltin(),
		{key: "browser.name", aliases: []string{"browser", "browser_name"}, sql: "BrowserName"},
		{key: "os.name", aliases: []string{"os", "os_name"}, sql: "OsName"},
		{key: "device.type", aliases: []string{"device", "device_type"}, sql: "DeviceType"},
		{key: "language", sql: "Language"},
		{key: "country", sql: "Country"},
		{key: "host", sql: "Host", normal: strings.ToLower},
		{key: "entry.path", aliases: []string{"entry_path"}, sql: "EntryPath"},
		{key: "exit.path", aliases: []string{"exit_path"}, sql: "ExitPath"},
		{key: "referrer.host", aliases: []string{"referrer", "referrer_host"}, sql: "ReferrerHost"},
		{key: "utm.source", aliases: []string{"utm_source"}, sql: "UtmSource"},
		{key: "utm.medium", aliases: []string{"utm_medium"}, sql: "UtmMedium"},
		{key: "utm.campaign", aliases: []string{"utm_campaign"}, sql: "UtmCampaign"},
		{key: "utm.term", aliases: []string{"utm_term"}, sql: "UtmTerm"},
		{key: "utm.content", aliases: []string{"utm_content"}, sql: "UtmContent"},
		{key: sessionKey, aliases: []string{"session", "session_id"}, sql: "SessionId", normal: sessionText},
		{key: "visitor.id", aliases: []string{"visitor", "visitor_id"}, sql: "VisitorId"},
		{key: "visitor.is_new", aliases: []string{"new_visitor"}, sql: "VisitorIsNew", kind: boolField},
		{key: "user.id", aliases: []string{"user", "user_id"}, sql: "UserId"},
		{key: "group.id", aliases: []string{"group", "group_id"}, sql: "GroupId"},
		{key: "group.name", aliases: []string{"group_name"}, sql: "GroupName"},
		{key: "has_error", aliases: []string{"errors_only"}, sql: "ErrorCount > 0", kind: boolField},
		{key: "error_count", aliases: []string{"errors"}, sql: "ErrorCount", kind: numberField, zero: true},
		{key: "click_count", aliases: []string{"clicks"}, sql: "ClickCount", kind: numberField, zero: true},
		{key: "page_views", aliases: []string{"pages"}, sql: "PageViews", kind: numberField, zero: true},
		{
			key: "duration", aliases: []string{"duration_ms"}, kind: durationField, zero: true,
			sql: "greatest(toUnixTimestamp64Nano(greatest(EndTime, LastActivityAt)) - toUnixTimestamp64Nano(StartTime), 0)",
		},
	}
}

// sessionKey is the field of the id of a session. Spans and log records have it as an attribute.
const sessionKey = "session.id"

// sessionText is the id that the sender gave a session, which is stored, if the text is the public id, which people see.
func sessionText(id string) string {
	if u, err := publicid.Decode(publicid.SessionReplay, id); err == nil {
		return u.String()
	}
	if sent, err := publicid.DecodeText(publicid.SessionReplay, id); err == nil {
		return sent
	}
	return id
}

func capitalised(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
}

func trimmedUpper(s string) string { return strings.ToUpper(strings.TrimSpace(s)) }

func findBuiltin(s Source, key string) (builtin, bool) {
	key = strings.ToLower(key)
	for _, f := range builtins(s) {
		if f.key == key || slices.Contains(f.aliases, key) {
			return f, true
		}
	}
	return builtin{}, false
}

// ownScope is the prefix for a source's own attributes, besides `attr.`.
func ownScope(s Source) string {
	switch s {
	case Traces:
		return "span"
	case Logs:
		return "log"
	case Metrics:
		return "metric"
	case ProductEvents:
		return "event"
	default:
		return ""
	}
}

// ParseField reads the name of a field: a built-in field or its alias, `attr.KEY`, the source's own `span.KEY`, `log.KEY`,
// `metric.KEY` or `event.KEY`, or `resource.KEY`. For traces `event.KEY` is an attribute of a span event. Any other text is the
// key of an own attribute.
func ParseField(s Source, text string) (Field, error) {
	if text == "" {
		return Field{}, fmt.Errorf("the name of a field is missing")
	}
	if utf8.RuneCountInString(text) > limits.FieldKey+len("attributes.") {
		return Field{}, fmt.Errorf("the name of a field has more than %d characters", limits.FieldKey)
	}
	if f, ok := findBuiltin(s, text); ok {
		return Field{Key: f.key}, nil
	}
	prefix, rest, dotted := strings.Cut(text, ".")
	if !dotted {
		return Field{Scope: OwnAttribute, Key: text}, nil
	}
	var scope Scope
	switch p := strings.ToLower(prefix); p {
	case "attr", "attribute", "attributes":
		scope = OwnAttribute
	case "resource":
		scope = ResourceAttribute
	case "event":
		scope = OwnAttribute
		if s == Traces {
			scope = EventAttribute
		} else if s != ProductEvents {
			return Field{}, fmt.Errorf("%s have no scope `event.`; write `attr.%s` for an attribute of that name", s, text)
		}
	case "span", "log", "metric":
		if p != ownScope(s) {
			return Field{}, fmt.Errorf("%s have no scope `%s.`; their scopes are %s", s, p, scopesOf(s))
		}
		scope = OwnAttribute
	default:
		return Field{Scope: OwnAttribute, Key: text}, nil
	}
	if rest == "" {
		return Field{}, fmt.Errorf("`%s` names no attribute", text)
	}
	return Field{Scope: scope, Key: rest}, nil
}

func scopesOf(s Source) string {
	list := []string{"`attr.`", "`" + ownScope(s) + ".`", "`resource.`"}
	if s == Traces {
		list = append(list, "`event.`")
	}
	return strings.Join(list, ", ")
}

// BuiltinFields lists the names of the built-in fields of a source, for suggestions.
func BuiltinFields(s Source) []string {
	var out []string
	for _, f := range builtins(s) {
		out = append(out, f.key)
	}
	return out
}

// CanonicalField returns the main name of the built-in field with this name. It looks in the given source first, and then in the
// other sources.
func CanonicalField(s Source, name string) (string, bool) {
	for _, one := range append([]Source{s}, Sources()...) {
		if f, ok := findBuiltin(one, name); ok {
			return f.key, true
		}
	}
	return "", false
}

// renamed lists attributes that OpenTelemetry renamed, old name first. A read of either name finds both.
func renamed() [][2]string {
	return [][2]string{
		{"http.method", "http.request.method"},
		{"http.status_code", "http.response.status_code"},
		{"http.url", "url.full"},
		{"http.user_agent", "user_agent.original"},
		{"deployment.environment", "deployment.environment.name"},
		{"net.peer.name", "server.address"},
		{"net.peer.port", "server.port"},
		{"db.system", "db.system.name"},
		{"db.statement", "db.query.text"},
		{"db.operation", "db.operation.name"},
		{"db.name", "db.namespace"},
	}
}

// SameAttribute lists the keys under which an attribute may have been sent, the given one first.
func SameAttribute(key string) []string {
	for _, pair := range renamed() {
		switch key {
		case pair[0]:
			return []string{key, pair[1]}
		case pair[1]:
			return []string{key, pair[0]}
		}
	}
	return []string{key}
}
