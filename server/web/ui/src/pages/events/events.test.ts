import { expect, test } from "vitest";
import { flow, nameOf } from "./layout";
import { asked, left, stepsOf, stepsText } from "./steps";

test("steps go through the address and back", () => {
  const steps = [
    { kind: "event" as const, value: "checkout completed: all" },
    { kind: "page" as const, value: "/cart" },
  ];
  expect(stepsOf(stepsText(steps))).toEqual(steps);
  expect(stepsOf("nonsense\nevent:a\npage:/b")).toEqual([
    { kind: "event", value: "a" },
    { kind: "page", value: "/b" },
  ]);
  expect(stepsOf(null)).toEqual([]);
  expect(stepsOf(Array.from({ length: 20 }, () => "event:a").join("\n")).length).toBe(10);
  expect(asked(steps[1]!)).toEqual({ kind: "page", pagePath: "/cart" });
});

test("the statement for leavers quotes names", () => {
  const sql = left({ kind: "event", value: "it's \\ here" }, { kind: "page", value: "/x" });
  expect(sql).toContain("Name = 'it\\'s \\\\ here'");
  expect(sql).toContain("PagePath = '/x'");
});

test("journeys are laid out by hop", () => {
  const f = flow("a", 10, [
    { hop: 1, fromNode: "a", toNode: "b", count: 6 },
    { hop: 1, fromNode: "a", toNode: "", count: 4 },
    { hop: 2, fromNode: "b", toNode: "c", count: 6 },
  ]);
  expect(f.hops).toBe(2);
  expect(f.nodes.map((n) => [n.hop, n.name, n.count])).toEqual([
    [0, "a", 10],
    [1, "b", 6],
    [1, "", 4],
    [2, "c", 6],
  ]);
  expect(f.ribbons.map((r) => [r.from.name, r.to.name, r.count])).toEqual([
    ["a", "b", 6],
    ["a", "", 4],
    ["b", "c", 6],
  ]);
  expect(f.ribbons[1]!.y1).toBeCloseTo(f.ribbons[0]!.y1 + f.ribbons[0]!.h);
  expect(flow("a", 0, []).ribbons).toEqual([]);
  expect(nameOf("$other")).toBe("(others)");
});
