package services_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

const (
	spanSource, logSource, metricSource, eventSource = "traces", "logs", "metrics", "product_events"
	sessionSource                                    = "sessions"
)

// tree is a filter of the query language. The test evaluates it and writes it as a message, as text and as SQL, without the code
// under test. The zero tree holds for every item.
type tree struct {
	all, any []tree
	not      *tree

	field, op string
	values    []string
}

// kinds of fields.
const (
	textKind = iota
	attributeKind
	numberKind
	durationKind
	flagKind
)

// stored is the value of an item's field.
type stored struct {
	kind    int
	text    string
	number  float64
	flag    bool
	present bool
}

// canonical is the name of a built-in field behind an alias.
func canonical(name string) string {
	aliases := map[string]string{
		"service": "service.name", "env": "deployment.environment", "deployment.environment.name": "deployment.environment", "name": "span.name",
		"status": "status.code", "http.request.method": "http.method", "http.response.status_code": "http.status_code", "duration_ms": "duration",
		"level": "severity", "message": "body", "commit_sha": "deployment.commit_sha",
		"event_name": "event.name", "path": "page.path", "visitor": "visitor.id", "user": "user.id",
	}
	if of, ok := aliases[name]; ok {
		return of
	}
	return name
}

func fieldNames(source string) []string {
	names := []string{"service.name", "service", "deployment.environment", "env"}
	for _, key := range keys() {
		names = append(names, "attr."+key)
	}
	for _, key := range resources() {
		names = append(names, "resource."+key)
	}
	switch source {
	case eventSource:
		return append(names, "deployment.commit_sha", "commit_sha", "event.name", "event_name", "event.kind", "source", "host", "page.path",
			"path", "visitor.id", "visitor", "user.id", "user", "group.id", "session.id", "person", "known.user", "known.visitor")
	case sessionSource:
		return append(names, "session.id", "visitor.id", "user.id", "host", "entry.path", "country", "referrer.host", "utm.source", "device.type",
			"visitor.is_new", "has_error")
	}
	names = append(names, "service.namespace", "deployment.commit_sha", "commit_sha")
	switch source {
	case metricSource:
		return names
	case logSource:
		return append(names, "trace.id", "span.id", "severity", "level", "severity_number", "body", "message")
	}
	return append(names, "trace.id", "span.id", "span.name", "status.code", "status", "http.method", "http.request.method", "http.route",
		"http.status_code", "duration", "duration_ms",
		"has_error", "root_only")
}

func (i item) value(name string) stored {
	attribute := func(of map[string]string, key string) stored {
		for _, k := range sameKey(key) {
			if v, ok := of[k]; ok {
				return stored{kind: attributeKind, text: v, present: true}
			}
		}
		return stored{kind: attributeKind}
	}
	if key, ok := strings.CutPrefix(name, "attr."); ok {
		return attribute(i.attributes, key)
	}
	if key, ok := strings.CutPrefix(name, "resource."); ok {
		return attribute(i.resource, key)
	}
	texts := map[string]string{
		"service.name": i.service, "service.namespace": i.namespace, "deployment.environment": i.environment,
		"deployment.commit_sha": cmp.Or(i.resource["deployment.commit_sha"], i.resource["vcs.ref.head.revision"]),
		"trace.id":              i.id, "span.id": i.spanID, "span.name": i.name, "status.code": i.status,
		"http.method": i.method, "http.route": i.route, "severity": i.severity, "body": i.body,
		"event.name": i.event, "event.kind": i.kind, "source": i.from, "host": i.host, "page.path": i.page, "entry.path": i.page,
		"visitor.id": i.visitor,
		"user.id":    i.user, "group.id": i.group, "session.id": i.session, "person": i.person, "known.user": i.knownUser,
		"known.visitor": i.knownVisitor, "country": i.country, "referrer.host": i.referrer, "utm.source": i.campaign, "device.type": i.device,
	}
	name = canonical(name)
	if v, ok := texts[name]; ok {
		return stored{text: v, present: v != ""}
	}
	switch name {
	case "http.status_code":
		return stored{kind: numberKind, number: float64(i.code), present: i.code != 0}
	case "severity_number":
		return stored{kind: numberKind, number: float64(i.number), present: i.number != 0}
	case "duration":
		return stored{kind: durationKind, number: float64(i.duration) / 1e6, present: true}
	case "visitor.is_new":
		return stored{kind: flagKind, flag: i.fresh, present: true}
	case "has_error":
		return stored{kind: flagKind, flag: i.status == "Error", present: true}
	default: // root_only
		return stored{kind: flagKind, flag: i.root, present: true}
	}
}

// asStored is a value in the form in which ingest stores values of the field.
func asStored(name, value string) string {
	switch canonical(name) {
	case "status.code":
		return strings.ToUpper(value[:min(1, len(value))]) + strings.ToLower(value[min(1, len(value)):])
	case "severity":
		return strings.ToUpper(strings.TrimSpace(value))
	case "trace.id", "span.id", "event.kind", "source", "host":
		return strings.ToLower(value)
	default:
		return value
	}
}

func compare(op string, a, b float64) bool {
	switch op {
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case "<=":
		return a <= b
	default:
		return a == b
	}
}

func toNumber(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return n
}

// holds evaluates the filter.
func (t tree) holds(i item) bool {
	switch {
	case len(t.all) > 0:
		return !slices.ContainsFunc(t.all, func(child tree) bool { return !child.holds(i) })
	case len(t.any) > 0:
		return slices.ContainsFunc(t.any, func(child tree) bool { return child.holds(i) })
	case t.not != nil:
		return !t.not.holds(i)
	case t.op == "":
		return true
	}
	op, negated := strings.CutPrefix(t.op, "!")
	return t.met(op, i.value(t.field)) != negated
}

func (t tree) met(op string, v stored) bool {
	switch op {
	case "exists":
		return v.present
	case "contains":
		return v.present && strings.Contains(strings.ToLower(v.text), strings.ToLower(t.values[0]))
	case "=", "in":
		return slices.ContainsFunc(t.values, func(wanted string) bool {
			switch v.kind {
			case flagKind:
				return strconv.FormatBool(v.flag) == wanted
			case numberKind, durationKind:
				return v.present && v.number == toNumber(wanted)
			case attributeKind:
				return v.present && v.text == wanted
			default:
				return v.text == asStored(t.field, wanted)
			}
		})
	}
	if v.kind == attributeKind {
		return v.present && compare(op, toNumber(v.text), toNumber(t.values[0]))
	}
	return v.present && compare(op, v.number, toNumber(t.values[0]))
}

func randomTree(r *rand.Rand, source string, items []item, depth int) tree {
	several := func() (list []tree) {
		for range 2 + r.IntN(2) {
			list = append(list, randomTree(r, source, items, depth-1))
		}
		return list
	}
	if depth > 0 {
		switch r.IntN(4) {
		case 0:
			return tree{all: several()}
		case 1:
			return tree{any: several()}
		case 2:
			return tree{not: new(randomTree(r, source, items, depth-1))}
		}
	}
	t := tree{field: pick(r, fieldNames(source))}
	have := pick(r, items).value(t.field)
	switch have.kind {
	case flagKind:
		t.op, t.values = pick(r, []string{"=", "!="}), []string{strconv.FormatBool(r.IntN(2) == 0)}
	case numberKind, durationKind:
		ops := []string{"=", "!=", ">", ">=", "<", "<=", "in", "!in"}
		if have.kind == numberKind {
			ops = append(ops, "exists", "!exists")
		}
		t.op = pick(r, ops)
		t.values = []string{strconv.FormatFloat(have.number, 'f', -1, 64), pick(r, []string{"0", "9", "200", "4.35"})}
	default:
		t.op = pick(r, []string{"=", "=", "!=", "contains", "!contains", "exists", "!exists", "in", "!in"})
		if have.kind == attributeKind && r.IntN(3) == 0 {
			t.op, t.values = pick(r, []string{">", ">=", "<", "<="}), []string{pick(r, []string{"3", "12.5", "-1"})}
			return t
		}
		t.values = []string{pick(r, []string{have.text, strings.ToLower(have.text), strings.ToUpper(have.text)}), pick(r, values())}
		switch canonical(t.field) {
		case "severity":
			t.values[0] = " " + t.values[0] + " "
		case "service.name", "deployment.environment", "deployment.commit_sha": // a comma in their values makes a list of a single text
			t.values[1] = "shop"
			if strings.Contains(t.values[0], ",") {
				t.values[0] = "mysql"
			}
		}
	}
	switch t.op {
	case "exists", "!exists":
		t.values = nil
	case "in", "!in":
	case "contains", "!contains":
		t.values = []string{strings.TrimSpace(t.values[0])}
		if n := len([]rune(t.values[0])); n > 2 {
			t.values[0] = string([]rune(t.values[0])[1 : n-1])
		}
	default:
		t.values = t.values[:1]
	}
	return t
}

// message is the filter in the form that the query service takes.
func (t tree) message() *svcv2.QueryFilter {
	several := func(list []tree) (out []*svcv2.QueryFilter) {
		for _, child := range list {
			out = append(out, child.message())
		}
		return out
	}
	switch {
	case len(t.all) > 0:
		return &svcv2.QueryFilter{All: several(t.all)}
	case len(t.any) > 0:
		return &svcv2.QueryFilter{Any: several(t.any)}
	case t.not != nil:
		return &svcv2.QueryFilter{Not: t.not.message()}
	case t.op == "":
		return nil
	}
	f := &svcv2.QueryFilter{Field: &t.field, Operator: &t.op}
	for _, v := range t.values {
		value := structpb.NewStringValue(v)
		switch (item{}).value(t.field).kind {
		case flagKind:
			value = structpb.NewBoolValue(v == "true")
		case numberKind, durationKind:
			value = structpb.NewNumberValue(toNumber(v))
		}
		f.Values = append(f.Values, value)
	}
	if len(f.GetValues()) == 1 {
		f.Value, f.Values = f.GetValues()[0], nil
	}
	return f
}

// text is the filter in the text form, with one of the spellings for each operator and keyword.
func (t tree) text(r *rand.Rand) string {
	several := func(list []tree, joints ...string) string {
		var out []string
		for _, child := range list {
			text := child.text(r)
			if len(child.all)+len(child.any) > 0 {
				text = "(" + text + ")"
			}
			out = append(out, text)
		}
		return strings.Join(out, pick(r, joints))
	}
	switch {
	case len(t.all) > 0:
		return several(t.all, " AND ", " and ")
	case len(t.any) > 0:
		return several(t.any, " OR ", " or ")
	case t.not != nil:
		return pick(r, []string{"NOT (", "not ("}) + t.not.text(r) + ")"
	case t.op == "":
		return ""
	}
	quoted := func(s string) string {
		mark := pick(r, []string{`"`, "'"})
		return mark + strings.NewReplacer(`\`, `\\`, mark, `\`+mark).Replace(s) + mark
	}
	scope, key, _ := strings.Cut(t.field, ".")
	field := t.field
	if strings.ContainsAny(key, `' \`) {
		field = scope + "." + quoted(key)
	}
	op := pick(r, map[string][]string{
		"=": {"=", "=="}, "!=": {"!=", "<>"}, "!contains": {"!contains", "NOT contains"}, "!exists": {"! exists", "not exists"},
		"!in":      {"!in", "NOT IN"},
		"contains": {"contains", "CONTAINS"}, "exists": {"exists", "Exists"}, "in": {"in", "IN"}, ">": {">"}, ">=": {">="}, "<": {"<"},
		"<=": {"<="},
	}[t.op])
	var list []string
	for _, v := range t.values {
		if (item{}).value(t.field).kind == durationKind {
			v += pick(r, []string{"", "ms"})
		}
		list = append(list, quoted(v))
	}
	switch {
	case len(t.values) == 0:
		return field + " " + op
	case strings.HasSuffix(t.op, "in"):
		return field + " " + op + " (" + strings.Join(list, ", ") + ")"
	default:
		return field + " " + op + " " + list[0]
	}
}

// sql is the filter as somebody would write it in SQL.
func (t tree) sql(source string) string {
	several := func(list []tree, joint string) string {
		var out []string
		for _, child := range list {
			out = append(out, "("+child.sql(source)+")")
		}
		return strings.Join(out, joint)
	}
	switch {
	case len(t.all) > 0:
		return several(t.all, " AND ")
	case len(t.any) > 0:
		return several(t.any, " OR ")
	case t.not != nil:
		return "NOT (" + t.not.sql(source) + ")"
	case t.op == "":
		return "true"
	}
	op, negated := strings.CutPrefix(t.op, "!")
	if negated {
		return "NOT (" + t.condition(source, op) + ")"
	}
	return t.condition(source, op)
}

func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

func (t tree) condition(source, op string) string {
	column := map[string]string{
		"service.name": "ServiceName", "service.namespace": "ServiceNamespace", "deployment.environment": "Environment", "trace.id": "TraceId",
		"span.id": "SpanId", "span.name": "SpanName", "status.code": "StatusCode", "http.method": "HttpMethod", "http.route": "HttpRoute",
		"severity": "SeverityText", "body": "Body", "http.status_code": "HttpStatusCode", "severity_number": "SeverityNumber",
		"duration": "DurationNano / 1e6",
		"deployment.commit_sha": "if(ResourceAttributes['deployment.commit_sha'] != '', ResourceAttributes['deployment.commit_sha'], " +
			"ResourceAttributes['vcs.ref.head.revision'])",
		"has_error": "HasError", "root_only": "ParentSpanId = ''",
		"event.name": "Name", "event.kind": "Kind", "source": "Source", "host": "Host", "page.path": "PagePath", "visitor.id": "VisitorId",
		"user.id": "UserId", "group.id": "GroupId", "session.id": "SessionId",
	}[canonical(t.field)]
	if source == eventSource && canonical(t.field) == "deployment.environment" {
		column = "if(ResourceAttributes['deployment.environment.name'] != '', ResourceAttributes['deployment.environment.name'], " +
			"ResourceAttributes['deployment.environment'])"
	}
	kind := (item{}).value(t.field).kind
	present := column + " != ''"
	scope, key, _ := strings.Cut(t.field, ".")
	switch kind {
	case attributeKind:
		m := "Attributes"
		switch {
		case scope == "resource":
			m = "ResourceAttributes"
		case source == spanSource:
			m = "SpanAttributes"
		case source == logSource:
			m = "LogAttributes"
		}
		names := sameKey(key)
		first, last := literal(names[0]), literal(names[len(names)-1])
		column = "if(mapContains(" + m + ", " + first + "), " + m + "[" + first + "], " + m + "[" + last + "])"
		present = "(mapContains(" + m + ", " + first + ") OR mapContains(" + m + ", " + last + "))"
	case numberKind:
		present = column + " != 0"
	case durationKind:
		present = "true"
	case flagKind:
		return "(" + column + ") = " + t.values[0]
	}
	var list []string
	for _, v := range t.values {
		switch kind {
		case numberKind, durationKind:
			list = append(list, v)
		case attributeKind:
			list = append(list, literal(v))
		default:
			list = append(list, literal(asStored(t.field, v)))
		}
	}
	switch op {
	case "exists":
		return present
	case "contains":
		return present + " AND position(lowerUTF8(" + column + "), lowerUTF8(" + literal(t.values[0]) + ")) > 0"
	case "=", "in":
		in := column + " IN (" + strings.Join(list, ", ") + ")"
		if kind == textKind {
			return in
		}
		return present + " AND " + in
	}
	if kind == attributeKind {
		return present + " AND ifNull(toFloat64OrNull(" + column + ") " + op + " " + t.values[0] + ", false)"
	}
	return present + " AND " + column + " " + op + " " + t.values[0]
}

// uses reports whether a condition is on one of the fields.
func (t tree) uses(fields ...string) bool {
	in := func(child tree) bool { return child.uses(fields...) }
	return slices.Contains(fields, t.field) || slices.ContainsFunc(t.all, in) || slices.ContainsFunc(t.any, in) || t.not != nil && in(*t.not)
}

// and adds a condition to a tree of conditions that must all hold.
func (t *tree) and(field, op string, values ...string) {
	t.all = append(t.all, tree{field: field, op: op, values: values})
}

func (t *tree) equal(field string, value *string) {
	if value != nil {
		t.and(field, "=", *value)
	}
}

func (t *tree) attributes(scope string, list []*svcv2.AttributeFilter) {
	for _, f := range list {
		op := map[string]string{
			"exists": "exists", "equals": "=", "contains": "contains", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=",
		}[f.GetOperator()]
		one := tree{field: scope + f.GetKey(), op: op}
		switch v := f.GetValue().GetKind().(type) {
		case *structpb.Value_StringValue:
			one.values = []string{v.StringValue}
		case *structpb.Value_NumberValue:
			one.values = []string{strconv.FormatFloat(v.NumberValue, 'f', -1, 64)}
		}
		if f.GetNegated() {
			one = tree{not: new(one)}
		}
		t.all = append(t.all, one)
	}
}

// treeOfSpans says the same as the filters of the trace methods.
func treeOfSpans(f *svcv2.TraceFilters) (t tree) {
	t.equal("service.name", f.ServiceName)
	t.equal("span.name", f.SpanName)
	t.equal("status.code", f.StatusCode)
	t.equal("http.method", f.HttpMethod)
	t.equal("http.route", f.HttpRoute)
	t.equal("deployment.environment", f.DeploymentEnvironment)
	t.equal("service.namespace", f.ServiceNamespace)
	t.equal("trace.id", f.TraceId)
	if f.SpanNameContains != nil {
		t.and("span.name", "contains", f.GetSpanNameContains())
	}
	if code := f.GetHttpStatusCode(); f.HttpStatusCode != nil {
		if n, err := strconv.Atoi(code); err != nil || strconv.Itoa(n) != code {
			code = "-1"
		}
		t.and("http.status_code", "=", code)
	}
	if f.HasError != nil {
		t.and("has_error", "=", strconv.FormatBool(f.GetHasError()))
	}
	if f.MinDurationMs != nil {
		t.and("duration", ">=", strconv.FormatFloat(f.GetMinDurationMs(), 'f', -1, 64))
	}
	if f.MaxDurationMs != nil {
		t.and("duration", "<=", strconv.FormatFloat(f.GetMaxDurationMs(), 'f', -1, 64))
	}
	if f.SpanScope != nil {
		t.and("root_only", "=", "true")
	}
	t.attributes("attr.", f.GetAttributes())
	t.attributes("resource.", f.GetResourceAttributes())
	return t
}

// treeOfRecords says the same as the filters of the log methods.
func treeOfRecords(f *svcv2.LogFilters) (t tree) {
	t.equal("service.name", f.ServiceName)
	t.equal("severity", f.Severity)
	t.equal("trace.id", f.TraceId)
	t.equal("span.id", f.SpanId)
	t.equal("deployment.environment", f.DeploymentEnvironment)
	t.equal("service.namespace", f.ServiceNamespace)
	if f.BodySearch != nil {
		t.and("body", "contains", f.GetBodySearch())
	}
	if f.GetMinimumSeverity() > 0 {
		var texts []string
		for _, text := range []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"} {
			if numberOf(text) >= f.GetMinimumSeverity() {
				texts = append(texts, text)
			}
		}
		unnumbered := tree{all: []tree{{not: &tree{field: "severity_number", op: "exists"}}, {field: "severity", op: "in", values: texts}}}
		t.all = append(t.all, tree{any: []tree{
			{field: "severity_number", op: ">=", values: []string{strconv.Itoa(int(f.GetMinimumSeverity()))}}, unnumbered,
		}})
	}
	t.attributes("attr.", f.GetAttributes())
	t.attributes("resource.", f.GetResourceAttributes())
	return t
}

// treeOfPoints says the same as the filters of the metric methods, without the metric.
func treeOfPoints(f *svcv2.MetricFilters) (t tree) {
	t.equal("service.name", f.ServiceName)
	t.equal("deployment.environment", f.DeploymentEnvironment)
	t.equal("service.namespace", f.ServiceNamespace)
	t.attributes("attr.", f.GetAttributes())
	t.attributes("resource.", f.GetResourceAttributes())
	return t
}
