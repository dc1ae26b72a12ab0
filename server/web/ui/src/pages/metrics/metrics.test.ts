import { expect, test } from "vitest";
import { next, parametersOf, previous, queriesOf, tracesOf, withCondition } from "./query";
import { fits, formatOf, prefixOf, unfit } from "./units";

test("queries go through the address and back", () => {
  const queries = [
    { letter: "A", metric: "a.b", type: "sum", agg: "rate", by: "service.name", where: 'attr.k = "v"' },
    { letter: "C", metric: "c", type: "", agg: "", by: "", where: "" },
  ];
  const p = new URLSearchParams();
  for (const q of queries) for (const [k, v] of Object.entries(parametersOf(q.letter, q))) if (v) p.set(k, v);
  expect(queriesOf(p)).toEqual(queries);
  expect(next(queries)).toBe("B");
  expect(parametersOf("B", null)).toEqual({ "m.b": null, "type.b": null, "agg.b": null, "by.b": null, "w.b": null });
  expect(parametersOf("A", { by: "" })).toEqual({ by: null });
});

test("an aggregation fits the type", () => {
  expect(fits("sum", true)[0]).toBe("rate");
  expect(fits("sum", false)).not.toContain("rate");
  expect(fits("histogram", false)[0]).toBe("p95");
  expect(fits("histogram", false)).not.toContain("rate");
  expect(unfit("rate", "gauge", false)).toContain("gauge");
  expect(unfit("p99", "summary", false)).toContain("summary");
});

test("units", () => {
  expect(formatOf("s")(0.25)).toBe("250\u2009ms");
  expect(formatOf("By", "rate")(2048)).toBe("2\u2009KiB/s");
  expect(formatOf("{connection}")(3)).toBe("3\u2009connection");
  expect(formatOf("1")(3)).toBe("3");
  expect(formatOf("s", "count")(12)).toBe("12");
});

test("names group by their beginning", () => {
  expect([prefixOf("http.server.request.duration"), prefixOf("go_gc_duration_seconds"), prefixOf("up"), prefixOf("process.cpu")]).toEqual([
    "http.server",
    "go_gc",
    "up",
    "process",
  ]);
});

test("traces behind a line, and conditions", () => {
  expect(tracesOf("service.name", 'a"b', [])).toBe('service.name = "a\\"b"');
  expect(tracesOf("attr.k", "v", ["cart"])).toBe('service.name = "cart"');
  expect(tracesOf("", undefined, ["a", "b"])).toBe("");
  expect(withCondition("", "attr.k", "=", "v")).toBe('attr.k = "v"');
  expect(withCondition('attr.k = "v"', "attr.k", "=", "v")).toBe('attr.k = "v"');
});

test("points of the window before lie on this window", () => {
  const at = [1000, 2000, 3000];
  const point = (t: number, value: number) => ({ timestamp: new Date(t).toISOString(), value });
  expect(previous({ previousPoints: [point(1000, 5), point(3000, 7)] }, at)).toEqual([5, null, 7]);
  expect(previous({ previousPoints: [point(-2000, 5), point(0, 7)] }, at)).toEqual([5, null, 7]);
});
