import { expect, test } from "vitest";
import { boxes, hit, layOut } from "./flame";
import { compare, operationsOf, ownTimes } from "./operations";
import { build } from "./tree";

const span = (id: string, parent: string | undefined, offsetMs: number, durationMs: number, name = 0) => ({
  id,
  ...(parent ? { parentSpanId: parent } : {}),
  offsetMs,
  durationMs,
  name,
  service: 0,
});

// a runs for 100 ms; b and c overlap in it, d is a child of c and outlives it.
const tree = build([span("a", undefined, 0, 100), span("b", "a", 10, 40, 1), span("c", "a", 30, 40, 1), span("d", "c", 60, 30, 2)]);

test("spans lie below their parents, and not over each other", () => {
  const f = layOut(tree);
  const rowOf = (id: string) => f.row[tree.spans.findIndex((s) => s.id === id)];
  expect(["a", "b", "c", "d"].map(rowOf)).toEqual([0, 1, 2, 3]);
  const wide = build(Array.from({ length: 500 }, (_, i) => span(`${i}`, i ? "0" : undefined, 0, 10)));
  expect(layOut(wide).rows.length).toBeLessThanOrEqual(66);
});

test("only spans in sight become boxes, and narrow ones share a pixel", () => {
  const f = layOut(tree);
  expect(boxes(f, 1, 0, 100, 1000)).toEqual([{ span: 1, x: 100, width: 400 }]);
  expect(boxes(f, 1, 60, 100, 1000)).toEqual([]);
  const many = build(Array.from({ length: 10_000 }, (_, i) => span(`${i}`, undefined, i, 0.5)));
  expect(boxes(layOut(many), 0, 0, 10_000, 800).length).toBeLessThanOrEqual(800);
  expect(hit(f, 0, 50, 0)).toBe(0);
  expect(hit(f, 1, 99, 0)).toBe(-1);
});

test("own time is the time without children", () => {
  expect([...ownTimes(tree)]).toEqual([40, 40, 30, 30]);
  const late = build([span("a", undefined, 0, 10), span("b", "a", 5, 50)]); // ends after its parent
  expect([...ownTimes(late)]).toEqual([5, 50]);
});

test("operations are summed, and two traces compared", () => {
  const all = operationsOf(tree, ["a", "b", "d"], ["shop"]);
  expect(all.map((o) => [o.name, o.count, o.total, o.own, o.slowest])).toEqual([
    ["b", 2, 80, 70, "b"],
    ["a", 1, 100, 40, "a"],
    ["d", 1, 30, 30, "d"],
  ]);
  const other = operationsOf(build([span("a", undefined, 0, 300)]), ["a"], ["shop"]);
  expect(compare(all, other).map((c) => [c.name, c.difference])).toEqual([
    ["a", -260],
    ["b", 70],
    ["d", 30],
  ]);
});

test("100,000 spans are laid out, summed and drawn within their budget", () => {
  const large = build(Array.from({ length: 100_000 }, (_, i) => span(`${i}`, i ? `${(i - 1) >> 3}` : undefined, i / 100, 5 + (i % 7))));
  let began = performance.now();
  const f = layOut(large);
  operationsOf(large, ["a"], ["shop"]);
  expect(performance.now() - began).toBeLessThan(1500);
  began = performance.now();
  let drawn = 0;
  for (let r = 0; r < f.rows.length; r++) drawn += boxes(f, r, 0, large.duration, 1200).length;
  expect(performance.now() - began).toBeLessThan(200);
  expect(drawn).toBeLessThan(f.rows.length * 1300);
});
