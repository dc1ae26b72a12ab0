import { describe, expect, it } from "vitest";
import { begin, builderOf, changeOf, cleaned, condition, draftOf, fresh, rounded, switched } from "./draft";

describe("the start of a rule", () => {
  it("takes what a page knows, and the usual rest", () => {
    const d = begin(JSON.stringify({ signalType: "p95_latency", serviceNames: ["cart"] }), "production");
    expect(d).toMatchObject({
      signalType: "p95_latency",
      comparator: "gt",
      threshold: 500,
      serviceNames: ["cart"],
      groupBy: [],
      environments: ["production"],
    });
  });
  it("drops what cannot be read", () => {
    expect(begin("{", "")).toEqual(fresh);
    expect(begin("[1]", "")).toEqual(fresh);
    expect(begin('{"signalType":"constructor"}', "").threshold).toBe(0.05);
  });
});

describe("a rule on its way to the API", () => {
  it("has no field that its signal refuses", () => {
    const d = switched(
      { ...begin(null, "staging"), burn: { target: 0.99 }, apdexThresholdMs: 300, resolveThreshold: 0.01 },
      "builder_query",
    );
    const out = cleaned({ ...d, rawQuerySql: "SELECT 1" });
    expect(Object.keys(out)).not.toEqual(expect.arrayContaining(["environments"]));
    for (const name of ["environments", "burn", "apdexThresholdMs", "rawQuerySql", "resolveThreshold"])
      expect(out).not.toHaveProperty(name);
    expect(out.queryBuilderDraft).toBeDefined();
  });
  it("groups by services or by fields, not by both", () => {
    expect(cleaned({ ...fresh, serviceNames: ["cart"] })).not.toHaveProperty("groupBy");
    expect(cleaned({ ...fresh, excludeServiceNames: ["cart"], groupBy: [] })).not.toHaveProperty("excludeServiceNames");
  });
  it("names all fields of a change, so that an emptied one is emptied", () => {
    expect(changeOf("alrt_1", fresh).updateMask?.split(",")).toContain("resolveThreshold");
  });
  it("comes back from a stored rule", () => {
    expect(draftOf({ id: "alrt_1", object: "alert_rule", name: "a", threshold: 2, lastEvaluationError: "x" })).toEqual({
      name: "a",
      threshold: 2,
    });
  });
});

describe("words", () => {
  it("say the condition with its unit", () => {
    expect(condition({ signalType: "error_rate", comparator: "gt", threshold: 0.05 })).toBe("Error rate is above 5.0\u2009%");
    expect(condition({ signalType: "p95_latency", comparator: "between", threshold: 100, thresholdUpper: 200 })).toBe(
      "p95 latency is between 100\u2009ms and 200\u2009ms",
    );
  });
  it("reads one query and several", () => {
    expect(builderOf({ dataSource: "traces", aggregation: "count" }).queries[0]).toMatchObject({ name: "A", dataSource: "traces" });
    expect(builderOf({ queries: [{ name: "A" }, { name: "B" }] }).queries).toHaveLength(2);
  });
  it("rounds what a hand drags", () => expect(rounded(0.0512345)).toBe(0.0512));
});
