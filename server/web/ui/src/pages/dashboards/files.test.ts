import { describe, expect, it } from "vitest";
import { tilesOf } from "./changes";
import { documentOf } from "./documents";
import { formOf, kinds, reformed, started } from "./kinds";

describe("an imported file", () => {
  it("is an export or a Perses dashboard, or says why not", () => {
    expect(documentOf('{"kind":"Dashboard","metadata":{},"spec":{}}')).toMatchObject({ kind: "perses" });
    expect(documentOf('{"id":"dash_1","name":"A","widgets":[],"time_range":{},"created_at":"x"}')).toEqual({
      kind: "svc",
      document: { name: "A", widgets: [], time_range: {} },
    });
    for (const bad of ["{", "[]", "null", "{}", '{"name":"A"}']) expect(documentOf(bad)).toMatch(/^This is/);
  });
});

describe("forms of a widget", () => {
  it("keep the query when one becomes another", () => {
    for (const { id } of kinds) expect(started(id).visualization).toBeTruthy();
    const line = { id: "w", layout: {}, ...started("line") };
    const pie = reformed(line, "pie");
    expect([formOf(pie), pie.dataSource?.resultShape, pie.dataSource?.queries?.[0]?.aggregation]).toEqual([
      "pie",
      "breakdown",
      "p95_duration",
    ]);
    expect(formOf(reformed(pie, "bar"))).toBe("bar");
    const ungrouped = { ...line, dataSource: { ...line.dataSource, queries: [{ ...line.dataSource!.queries![0]!, groupBy: [] }] } };
    expect(reformed(ungrouped, "heatmap").dataSource?.queries?.[0]?.groupBy).toEqual(["service.name"]);
    expect(reformed(line, "markdown").display?.markdown?.content).toBeTruthy();
    expect(reformed({ id: "s", layout: {}, ...started("sql") }, "pie").dataSource).toMatchObject({ kind: "raw_sql", displayType: "pie" });
  });
});

describe("the sketch of a dashboard", () => {
  it("has each section and tab below what stands before", () => {
    const at = (id: string, sectionId?: string, tabId?: string) =>
      ({ id, visualization: "stat" as const, layout: { x: 0, y: 5, w: 3, h: 2 }, sectionId, tabId }) as never;
    const got = tilesOf({
      widgets: [at("a"), at("b", "s", "two"), at("c", "s", "one"), at("d", "gone")],
      sections: [{ id: "s", tabs: [{ id: "one" }, { id: "two" }] }],
    });
    expect(got.map((t) => t.y)).toEqual([0, 2, 4, 6]);
  });
});
