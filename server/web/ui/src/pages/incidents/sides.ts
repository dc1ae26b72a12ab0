/** The keys of an answer that are fields of spans and log records, not attributes. */
const builtin: Record<string, string> = {
  name: "span.name",
  kind: "span.kind",
  "status.message": "status.message",
  "span.name": "span.name",
  "service.name": "service.name",
  "resource.service.name": "service.name",
  severity: "severity",
};

/**
 * conditionOf is the condition that an attribute has a value, in the query language. Attributes of resources begin with `resource.`.
 * The keys of sessions are fields of the language as they are.
 */
export function conditionOf(key: string, value: string, session = false): string {
  const field = session ? key : (builtin[key] ?? (key.startsWith("resource.") ? key : `attr.${key}`));
  return `${field} = "${value.replace(/["\\]/g, "\\$&")}"`;
}

/** withPart joins a condition to a filter, once. */
export function withPart(where: string, condition: string): string {
  if (!condition || where.split(" AND ").includes(condition)) return where;
  return where ? `${where} AND ${condition}` : condition;
}
