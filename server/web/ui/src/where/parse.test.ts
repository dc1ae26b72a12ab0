import { expect, test } from "vitest";
import { logFilters, parse, quote, traceFilters, traceProblem, traceWhere, withCondition } from "./parse";

test("conditions and words", () => {
  expect(parse('service.name = "a b" AND severity >= WARN card declined')).toEqual({
    conditions: [
      { field: "service.name", op: "=", value: "a b", negated: false, at: 0 },
      { field: "severity", op: ">=", value: "WARN", negated: false, at: 25 },
    ],
    words: ["card", "declined"],
  });
});

test("filters of logs", () => {
  expect(
    logFilters('service.name = cart AND severity >= WARN "minorUnits" attr.cart.id exists NOT resource.k8s.pod.name = x', "production")
      .filters,
  ).toEqual({
    deploymentEnvironment: "production",
    serviceName: "cart",
    minimumSeverity: 13,
    bodySearch: "minorUnits",
    attributes: [{ key: "cart.id", operator: "exists" }],
    resourceAttributes: [{ key: "k8s.pod.name", operator: "equals", value: "x", negated: true }],
  });
});

test("filters of traces", () => {
  expect(traceFilters("duration > 250ms AND has_error = true AND http.route = /cart/{id} AND attr.n >= 3", "").filters).toEqual({
    minDurationMs: 250,
    hasError: true,
    httpRoute: "/cart/{id}",
    attributes: [{ key: "n", operator: "gte", value: 3 }],
  });
});

test("a text that the filters cannot say is refused at its place", () => {
  for (const [text, at] of [
    ["a = 1 OR b = 2", 6],
    ["= 3", 0],
    ["severity =", 9],
    ["NOT card", 0],
  ] as const) {
    expect(logFilters(text, "").error?.at, text).toBe(at);
  }
  expect(logFilters("severity >= LOUD", "").error?.at).toBe(0);
  expect(traceFilters("duration > soon", "").error).toBeDefined();
});

test("a value that is quoted is read back, whatever it holds", () => {
  for (const value of ["plain", "two words", 'a "quote"', "back\\slash", "<script>", "or", "=", "ünï ☃", "NOT", ""]) {
    const text = withCondition("", "attr.k", "=", value);
    expect(parse(text).conditions[0]?.value, text).toBe(value);
  }
  expect(quote("plain")).toBe("plain");
});

test("a condition is added to both sides of an OR", () => {
  expect(withCondition("a = 1 OR b = 2", "c", "=", "3")).toBe("(a = 1 OR b = 2) AND c = 3");
  expect(withCondition('(a = 1 OR b = 2) AND d = "x or y"', "c", "=", "3")).toBe('(a = 1 OR b = 2) AND d = "x or y" AND c = 3');
  expect(withCondition("(a = 1)or b in (or)", "c", "=", "3")).toBe("((a = 1)or b in (or)) AND c = 3");
});

test("filters of traces in the query language", () => {
  const where = (text: string, env: string): string => traceWhere(text, env).where;
  expect(where("", "")).toBe("");
  expect(where('service = "a \\"b\\"" AND NOT attr.k exists duration > 250ms order.id = 7 card declined', "production")).toBe(
    'deployment.environment = "production" AND service.name = "a \\"b\\"" AND NOT attr.k exists AND duration > "250ms" ' +
      'AND attr.order.id = "7" AND span.name contains "card declined"',
  );
  expect(where("root = true AND status = Error AND http.status_code = 503", "")).toBe(
    'root_only = "true" AND status.code = "Error" AND http.status_code = "503"',
  );
  expect(traceWhere("a = 1 OR b = 2", "")).toMatchObject({ where: "", error: { at: 6 } });
});

test("fields of resources in the filters of traces", () => {
  expect(traceFilters("service.version = 2.8.1 AND service.namespace = shop", "").filters).toEqual({
    resourceAttributes: [{ key: "service.version", operator: "equals", value: "2.8.1" }],
    serviceNamespace: "shop",
  });
  expect(traceFilters("span.kind = Server", "").error?.message).toContain("span.kind");
});

test("the filters of traces say less than the query language", () => {
  for (const [text, where] of [
    ["NOT http.route exists", "NOT http.route exists"],
    ["NOT http.status_code exists", "NOT http.status_code exists"],
    ["NOT deployment.environment exists AND NOT span.name exists", "NOT deployment.environment exists AND NOT span.name exists"],
    ["NOT status exists", "NOT status.code exists"],
    ["span.kind = Server", 'span.kind = "Server"'],
  ] as const) {
    expect(traceProblem(text), text).toBeUndefined();
    expect(traceWhere(text, ""), text).toEqual({ where });
  }
  for (const text of ["NOT http.route exists", "NOT http.status_code exists", "NOT span.name exists", "span.kind = Server"])
    expect(traceFilters(text, "").error, text).toBeDefined();
  expect(traceFilters("http.route = /cart AND NOT attr.k exists", "").error).toBeUndefined();
  for (const text of ["a = 1 OR b = 2", "duration > soon", "duration exists", "status = Broken", "has_error exists"])
    expect(traceProblem(text), text).toBeDefined();
});

test.each([traceFilters, logFilters])("what has no service is asked for as such", (filters) => {
  expect(filters("NOT service.name exists", "").filters).toEqual({
    resourceAttributes: [{ key: "service.name", operator: "exists", negated: true }],
  });
  expect(filters("NOT service = cart", "").filters).toEqual({
    resourceAttributes: [{ key: "service.name", operator: "equals", value: "cart", negated: true }],
  });
});
