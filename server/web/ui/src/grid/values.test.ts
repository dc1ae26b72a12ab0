import { describe, expect, it } from "vitest";
import { seriesOf } from "./series";
import { columnsOf } from "./tables";
import { colorOf, formatOf, num, passed, shown } from "./values";
import { startOf, valuesOf } from "./variables";

const thin = "\u2009";

describe("values", () => {
  it("have the units of the contract and of OpenTelemetry", () => {
    expect([
      formatOf("duration_us")(1500),
      formatOf("ms")(1500),
      formatOf("s")(0.02),
      formatOf("percent")(0.034),
      formatOf("bytes")(1536),
      formatOf("By/s")(2048),
      formatOf("{request}/s")(2),
      formatOf("{request}")(12_000),
      formatOf("%")(3),
      formatOf("Cel")(21),
      formatOf(undefined)(3),
      formatOf("duration_ms")(-5),
    ]).toEqual([
      `1.50${thin}ms`,
      `1.50${thin}s`,
      `20.0${thin}ms`,
      `3.4${thin}%`,
      `1.5${thin}KiB`,
      `2${thin}KiB/s`,
      `2${thin}/s`,
      "12k",
      `3${thin}%`,
      `21${thin}Cel`,
      "3",
      `-5.00${thin}ms`,
    ]);
    expect(shown({ prefix: "~", suffix: " left" }, "ms")(2)).toBe(`~2.00${thin}ms left`);
  });
  it("are numbers, or nothing", () => {
    expect([num("NaN"), num("12.5"), num(Number.NaN), num("1e3"), num("abc"), num(null), num("")]).toEqual([
      null,
      12.5,
      null,
      1000,
      null,
      null,
      null,
    ]);
  });
  it("have the color of the highest threshold that they reach, and no color that is none", () => {
    const t = [
      { value: 5, color: "red" },
      { value: 1, color: "amber" },
    ];
    expect([passed(0, t)?.color, passed(1, t)?.color, passed(9, t)?.color, passed(null, t)]).toEqual([
      undefined,
      "amber",
      "red",
      undefined,
    ]);
    expect([colorOf("red"), colorOf("#0f0"), colorOf("url(x)"), colorOf("expression(1)"), colorOf(undefined)]).toEqual([
      "var(--bad)",
      "#0f0",
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("series", () => {
  it("keep gaps, and name a single one by what it counts", () => {
    const at = (m: number): string => `2026-01-01T00:0${m}:00Z`;
    const data = { bucketSeconds: 60, series: [{ query: "A", name: "A", points: [{ timestamp: at(0), value: 1 }, { timestamp: at(3) }] }] };
    const got = seriesOf(data, {}, [{ name: "A", aggregation: "error_count" }]);
    expect(got.times).toHaveLength(4);
    expect(got.lines).toMatchObject([{ label: "error count", values: [1, null, null, 0] }]);
    expect(seriesOf(data, { chartPresentation: { fillNulls: 0 } }).lines[0]?.values).toEqual([1, 0, 0, 0]);
  });
});

describe("tables", () => {
  const table = {
    columns: [
      { name: "name", type: "String" },
      { name: "value", type: "Float64" },
    ],
    rows: [["cart", 1]],
  };
  it("name their columns by the query, unless the widget does", () => {
    expect(
      columnsOf(table, {}, [{ name: "A", aggregation: "p95_duration", groupBy: ["service.name"] }]).map((c) => [c.header, c.numeric]),
    ).toEqual([
      ["service.name", false],
      ["p95 duration", true],
    ]);
    expect(
      columnsOf(table, {
        columns: [
          { field: "value", header: "p95" },
          { field: "gone", header: "x" },
          { field: "name", header: "n", hidden: true },
        ],
      }).map((c) => c.header),
    ).toEqual(["p95"]);
  });
});

describe("variables", () => {
  it("take values that they may have", () => {
    const all = [
      { name: "a", type: "custom" as const, options: [{ value: "1" }, { value: "2" }] },
      { name: "b", type: "textbox" as const, includeAll: true },
    ];
    expect(valuesOf(all, (n) => ({ a: "3", b: "__all" })[n] ?? null)).toEqual({ b: "__all" });
    expect(valuesOf(all, (n) => ({ a: "2" })[n] ?? null)).toEqual({ a: "2" });
    expect([startOf(all[0]!), startOf(all[1]!), startOf({ ...all[1]!, defaultValue: "x" })]).toEqual(["1", "__all", "x"]);
  });
});
