import { expect, test } from "vitest";
import type { SqlResult } from "../../gen/api";
import { drawn, number, sorted, text, widgetOf, widths } from "./result";

const time = { name: "t", type: "DateTime64(9, 'UTC')" };
const name = { name: "service", type: "LowCardinality(String)" };
const value = { name: "n", type: "UInt64" };

test("lines over time by name", () => {
  const r: SqlResult = {
    columns: [time, name, value],
    rows: [
      ["2026-01-01T00:00:00Z", "b", "2"],
      ["2026-01-01T00:01:00Z", "a", "1"],
      ["2026-01-01T00:01:00Z", "b", "3"],
    ],
  };
  expect(drawn(r)).toEqual({
    kind: "lines",
    times: [Date.parse("2026-01-01T00:00:00Z"), Date.parse("2026-01-01T00:01:00Z")],
    lines: [
      { label: "b", color: "--s0", values: [2, 3] },
      { label: "a", color: "--s1", values: [null, 1] },
    ],
  });
});

test("bars without a time, and the reason when nothing can be drawn", () => {
  expect(drawn({ columns: [name, value], rows: [["a", 5]] })).toEqual({
    kind: "bars",
    label: "service",
    value: "n",
    rows: [{ name: "a", value: 5 }],
  });
  expect(drawn({ columns: [name], rows: [["a"]] }).kind).toBe("none");
  expect(drawn({ columns: [value], rows: [] }).kind).toBe("none");
});

test("cells", () => {
  expect([text(null), text({ a: 1 }), text(true), number("12"), number("x"), number(null)]).toEqual([
    "NULL",
    '{"a":1}',
    "true",
    12,
    null,
    null,
  ]);
  expect(sorted([["10"], ["9"], [null]], 0, true, true)).toEqual([["10"], ["9"], [null]]);
  expect(sorted([["b"], ["a"]], 0, false, false)).toEqual([["a"], ["b"]]);
  expect(widths({ columns: [{ name: "a" }], rows: [["x".repeat(500)]] })).toEqual([48]);
});

test("a widget of a statement has the macro that widgets need", () => {
  expect(widgetOf("A", "SELECT 1;\n", false)).toMatchObject({
    visualization: "table",
    dataSource: { sql: "SELECT * FROM (\nSELECT 1\n) WHERE $__orgFilter" },
  });
  expect(widgetOf("A", "SELECT 1 WHERE $__orgFilter", true)).toMatchObject({
    visualization: "chart",
    dataSource: { displayType: "line", sql: "SELECT 1 WHERE $__orgFilter" },
  });
});
