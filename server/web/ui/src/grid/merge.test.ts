import { describe, expect, it } from "vitest";
import type { Widget } from "../gen/api";
import { changedFields, type Definition, definitionOf, differences, merge, same } from "./merge";

const w = (id: string, title: string, x = 0): Widget => ({
  id,
  visualization: "stat",
  dataSource: { kind: "query" },
  display: { title },
  layout: { x, y: 0, w: 3, h: 2 },
});
const of = (widgets: Widget[], more: Partial<Definition> = {}): Definition => definitionOf({ name: "Board", widgets, ...more });
const titles = (d: Definition): string[] => (d.widgets ?? []).map((x) => `${x.id} ${x.display?.title}`).sort();

describe("merge", () => {
  const base = of([w("a", "A"), w("b", "B"), w("c", "C")]);
  it("takes what either side changed", () => {
    const got = merge(
      base,
      of([w("a", "A mine"), w("b", "B"), w("c", "C"), w("m", "M")], { name: "Mine" }),
      of([w("a", "A"), w("b", "B theirs"), w("t", "T")], { tags: ["x"] }),
    );
    expect(titles(got.definition)).toEqual(["a A mine", "b B theirs", "m M", "t T"]);
    expect([got.definition.name, got.definition.tags, got.conflicts, got.both]).toEqual(["Mine", ["x"], [], []]);
  });
  it("asks only when both changed the content of one widget", () => {
    const mine = of([w("a", "mine"), w("b", "B", 6)]);
    const theirs = of([w("a", "theirs"), w("b", "B", 3), w("c", "C changed")]);
    const got = merge(base, mine, theirs);
    expect(got.conflicts.map((c) => c.key)).toEqual(["a", "c"]);
    expect(titles(got.definition)).toEqual(["a mine", "b B"]);
    expect(got.definition.widgets?.find((x) => x.id === "b")?.layout?.x).toBe(6);
    expect(
      titles(
        merge(
          base,
          mine,
          theirs,
          new Map([
            ["a", "theirs"],
            ["c", "theirs"],
          ]),
        ).definition,
      ),
    ).toEqual(["a theirs", "b B", "c C changed"]);
    expect(merge(base, of([w("a", "same")]), of([w("a", "same")])).conflicts).toEqual([]);
  });
  it("keeps a move of one side and the content of the other", () => {
    const got = merge(base, of([w("a", "A", 9), w("b", "B"), w("c", "C")]), of([w("a", "A theirs"), w("b", "B"), w("c", "C")]));
    expect(got.definition.widgets?.[0]).toMatchObject({ display: { title: "A theirs" }, layout: { x: 9 } });
  });
  it("names other fields that both changed, and leaves no widget in a section that is gone", () => {
    const section = { id: "s", title: "S" };
    const before = of([{ ...w("a", "A"), sectionId: "s" }], { sections: [section] });
    const got = merge(before, { ...before, name: "Mine" }, { ...before, name: "Theirs", sections: [], widgets: [] });
    expect([got.definition.name, got.both, got.definition.widgets]).toEqual(["Mine", ["name"], []]);
    const moved = merge(before, { ...before, widgets: [{ ...w("a", "Mine"), sectionId: "s" }] }, { ...before, sections: [] });
    expect(moved.definition.widgets?.[0]?.sectionId).toBeUndefined();
  });
  it("calls nothing a change that is none", () => {
    expect(same({ a: 1, b: undefined }, { b: null, a: 1 })).toBe(true);
    expect(changedFields(of([w("a", "A")]), of([w("a", "B")]))).toEqual(["widgets"]);
    expect(differences(base, base)).toEqual([]);
    expect(differences(base, of([w("a", "A!"), w("n", "N")], { name: "New" })).map((d) => `${d.kind} ${d.name}`)).toEqual([
      "changed The dashboard itself",
      "changed A!",
      "added N (stat)",
      "removed B (stat)",
      "removed C (stat)",
    ]);
  });
});
