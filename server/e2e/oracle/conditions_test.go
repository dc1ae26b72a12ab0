package oracle_test

import (
	"strconv"
	"strings"
)

// condition is a condition on rows in the filters of a read and in the query language.
type condition struct {
	filters object
	where   string
	meets   func(*row) bool
}

func attributeIs(r map[string]string, key, value string) bool {
	v, ok := attribute(r, key)
	return ok && v == value
}

func attributeAbove(m map[string]string, key string, than float64) bool {
	v, ok := attribute(m, key)
	n, isNumber := number(v)
	return ok && isNumber && n > than
}

func onAttribute(key, operator string, value any, negated bool) object {
	c := object{"key": key, "operator": operator}
	if value != nil {
		c["value"] = value
	}
	if negated {
		c["negated"] = true
	}
	return c
}

// common are conditions on spans and on records alike.
func (t *telemetry) common() []condition {
	o := t.origins[t.r.IntN(len(t.origins))]
	tenant, database := t.pick("a", "ü"), t.pick("db.system", "db.system.name")
	return []condition{
		{object{}, "", func(*row) bool { return true }},
		{object{"service_name": o.service}, "service.name = " + strconv.Quote(o.service), func(r *row) bool { return r.service == o.service }},
		{
			object{"deployment_environment": "production"},
			`deployment.environment = "production"`,
			func(r *row) bool { return r.environment == "production" },
		},
		{
			object{"service_name": o.service, "deployment_environment": "staging"},
			"service.name = " + strconv.Quote(o.service) + ` AND env = "staging"`,
			func(r *row) bool { return r.service == o.service && r.environment == "staging" },
		},
		{object{"service_namespace": "shop"}, "service.namespace = shop", func(r *row) bool { return r.namespace == "shop" }},
		{
			object{"attributes": []object{onAttribute("tenant", "equals", tenant, false)}},
			"attr.tenant = " + strconv.Quote(tenant),
			func(r *row) bool { return attributeIs(r.attributes, "tenant", tenant) },
		},
		{
			object{"attributes": []object{onAttribute("tenant", "equals", tenant, true)}},
			"attr.tenant != " + strconv.Quote(tenant),
			func(r *row) bool { return !attributeIs(r.attributes, "tenant", tenant) },
		},
		{
			object{"attributes": []object{onAttribute("tenant", "exists", nil, true)}},
			"attr.tenant !exists",
			func(r *row) bool { _, ok := r.attributes["tenant"]; return !ok },
		},
		{
			object{"resource_attributes": []object{onAttribute("tenant", "equals", "resource-a", false)}},
			`resource.tenant = "resource-a"`,
			func(r *row) bool { return r.tenant == "resource-a" },
		},
		{
			object{"attributes": []object{onAttribute("cart.size", "gt", 5, false)}},
			"attr.cart.size > 5",
			func(r *row) bool { return attributeAbove(r.attributes, "cart.size", 5) },
		},
		{
			object{"attributes": []object{onAttribute(database, "equals", "redis", false)}},
			database + " = redis",
			func(r *row) bool { return attributeIs(r.attributes, "db.system", "redis") },
		},
	}
}

func (t *telemetry) spanConditions() []condition {
	return append(
		t.common(),
		condition{object{"has_error": true}, "has_error = true", func(r *row) bool { return r.failed }},
		condition{object{"has_error": false}, "has_error = false", func(r *row) bool { return !r.failed }},
		condition{object{"status_code": "Unset"}, "status.code = Unset", func(r *row) bool { return r.status == "Unset" }},
		condition{object{"span_name": "GET"}, "span.name = GET", func(r *row) bool { return r.name == "GET" }},
		condition{object{"span_name_contains": "E"}, "span.name contains E", func(r *row) bool { return contains(r.name, "e") }},
		condition{object{"span_scope": "root"}, "root_only = true", func(r *row) bool { return r.root }},
		condition{object{"min_duration_ms": 100}, "duration >= 100", func(r *row) bool { return r.milliseconds() >= 100 }},
		condition{object{"max_duration_ms": 50}, "duration <= 50ms", func(r *row) bool { return r.milliseconds() <= 50 }},
		condition{object{"http_method": "GET"}, "http.method = GET", func(r *row) bool { return r.method == "GET" }},
		condition{object{"http_route": "/cart/{id}"}, `http.route = "/cart/{id}"`, func(r *row) bool { return r.route == "/cart/{id}" }},
		condition{object{"http_status_code": "404"}, "http.status_code = 404", func(r *row) bool { return r.code == 404 }},
		condition{
			object{"service_name": "web", "has_error": true},
			`service.name = web AND (has_error = true AND NOT span.name = "nothing")`,
			func(r *row) bool { return r.service == "web" && r.failed },
		},
	)
}

func (t *telemetry) recordConditions() []condition {
	return append(
		t.common(),
		condition{object{"severity": "error"}, "severity = error", func(r *row) bool { return r.severity == "ERROR" }},
		condition{
			object{"minimum_severity": 13},
			`(severity_number >= 13 OR (severity_number not exists AND severity in (WARN, ERROR, FATAL)))`,
			func(r *row) bool {
				return r.severityNumber >= 13 || r.severityNumber == 0 && r.failed || r.severityNumber == 0 && r.severity == "WARN"
			},
		},
		condition{object{"body_search": "STRASSE"}, "body contains STRASSE", func(r *row) bool { return contains(r.name, "strasse") }},
		condition{object{"body_search": "Cart"}, "body contains Cart", func(r *row) bool { return contains(r.name, "cart") }},
	)
}

// grouping is a dimension of a read and its name in the query language.
type grouping struct {
	request object
	field   string
	of      func(*row) string
}

func ofAttribute(key string) func(*row) string {
	return func(r *row) string { v, _ := attribute(r.attributes, key); return v }
}

func spanGroupings() []grouping {
	return []grouping{
		{object{"group_by": "service"}, "service.name", func(r *row) string { return r.service }},
		{object{"group_by": "span_name"}, "span.name", func(r *row) string { return r.name }},
		{object{"group_by": "status_code"}, "status.code", func(r *row) string { return r.status }},
		{object{"group_by": "http_method"}, "http.method", func(r *row) string { return r.method }},
		{object{"group_by": "attribute", "group_by_attribute_key": "tenant"}, "attr.tenant", ofAttribute("tenant")},
		{object{"group_by": "attribute", "group_by_attribute_key": "db.system.name"}, "attr.db.system.name", ofAttribute("db.system")},
		{
			object{"group_by": "resource_attribute", "group_by_attribute_key": "tenant"},
			"resource.tenant",
			func(r *row) string { return r.tenant },
		},
	}
}

func recordGroupings() []grouping {
	return []grouping{
		{object{"group_by": "service"}, "service.name", func(r *row) string { return r.service }},
		{object{"group_by": "severity"}, "severity", func(r *row) string { return r.severity }},
	}
}

// moreFields are fields of the query language that the other reads do not group by.
func moreFields(source string) []grouping {
	fields := []grouping{
		{nil, "deployment.environment", func(r *row) string { return r.environment }},
		{nil, "service.version", func(r *row) string { return r.version }},
		{nil, "service.namespace", func(r *row) string { return r.namespace }},
		{nil, "attr.tenant", ofAttribute("tenant")},
		{nil, "resource.tenant", func(r *row) string { return r.tenant }},
	}
	if source == "traces" {
		fields = append(fields, grouping{nil, "span.kind", func(r *row) string { return r.kind }})
	}
	return fields
}

// orNone is the name that series and groups have for rows without a value.
func orNone(v string) string {
	if strings.TrimSpace(v) == "" {
		return "(none)"
	}
	return v
}
