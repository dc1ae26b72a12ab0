import { expect, test } from "vitest";
import { logFilters, parse, quote, traceFilters, withCondition } from "./parse";

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
