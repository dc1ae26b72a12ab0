import { expect, test } from "vitest";
import { Heights } from "./heights";

const keys = (n: number): string[] => Array.from({ length: n }, (_, i) => `k${i}`);

test("rows of one height", () => {
  const h = new Heights(24);
  h.rows(keys(10_000));
  expect(h.total).toBe(240_000);
  expect([h.at(0), h.at(23.9), h.at(24), h.at(120_000), h.at(1e9)]).toEqual([0, 0, 1, 5000, 9999]);
  const [first, last] = h.visible(120_000, 900);
  expect(first).toBe(4994);
  expect(last - first).toBeLessThanOrEqual(60);
  expect(h.top(last)).toBeGreaterThanOrEqual(120_900);
});

test("a row that was measured moves those below, also when rows come before it", () => {
  const h = new Heights(24);
  h.rows(keys(3));
  expect(h.measure("k1", 300)).toBe(true);
  expect(h.measure("k1", 300.2)).toBe(false);
  h.rows(keys(3));
  expect([h.top(1), h.top(2), h.total]).toEqual([24, 324, 348]);
  h.rows(["new", ...keys(3)]);
  expect([h.top(2), h.top(3)]).toEqual([48, 348]);
  h.measure("k1", 24);
  h.rows(keys(3));
  expect(h.total).toBe(72);
});

test("an empty list", () => {
  const h = new Heights(24);
  h.rows([]);
  expect([h.total, h.at(100), ...h.visible(0, 900)]).toEqual([0, 0, 0, 0]);
});
