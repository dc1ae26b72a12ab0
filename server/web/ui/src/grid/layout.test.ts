import { describe, expect, it } from "vitest";
import { appended, arrange, bounded, compact, freshId, type Place, placeOf, vacant } from "./layout";

const of = (o: Record<string, [number, number, number, number]>): Map<string, Place> =>
  new Map(Object.entries(o).map(([id, [x, y, w, h]]) => [id, { x, y, w, h }]));
const plain = (m: Map<string, Place>): Record<string, number[]> =>
  Object.fromEntries([...m].sort().map(([id, p]) => [id, [p.x, p.y, p.w, p.h]]));

describe("the grid", () => {
  it("makes room below a moved widget, and closes gaps", () => {
    const start = of({ a: [0, 0, 6, 2], b: [6, 0, 6, 2], c: [0, 2, 12, 4] });
    expect(plain(arrange(start, "c", { x: 0, y: 0, w: 12, h: 4 }))).toEqual({ a: [0, 4, 6, 2], b: [6, 4, 6, 2], c: [0, 0, 12, 4] });
    expect(plain(arrange(start, "a", { x: 0, y: 9, w: 6, h: 2 }))).toEqual({ a: [0, 6, 6, 2], b: [6, 0, 6, 2], c: [0, 2, 12, 4] });
    expect(plain(arrange(start, "a", { x: 0, y: 0, w: 8, h: 2 }))).toEqual({ a: [0, 0, 8, 2], b: [6, 2, 6, 2], c: [0, 4, 12, 4] });
    expect(plain(compact(of({ a: [0, 3, 4, 1], b: [0, 9, 4, 1] })))).toEqual({ a: [0, 0, 4, 1], b: [0, 1, 4, 1] });
  });
  it("never lets widgets overlap or leave the grid", () => {
    let seed = 7;
    const any = (n: number): number => (seed = (seed * 16_807) % 2_147_483_647) % n;
    for (let n = 0; n < 60; n++) {
      const places = new Map<string, Place>();
      for (let i = 0; i < 12; i++) {
        const w = 1 + any(12);
        places.set(`w${i}`, { x: any(13 - w), y: any(10), w, h: 1 + any(5) });
      }
      const id = `w${any(12)}`;
      const w = 1 + any(12);
      const all = [...arrange(places, id, { x: any(13 - w), y: any(12), w, h: 1 + any(4) }).values()];
      expect(all).toHaveLength(12);
      for (const [i, a] of all.entries()) {
        expect(a.x >= 0 && a.x + a.w <= 12 && a.y >= 0).toBe(true);
        for (const b of all.slice(i + 1)) expect(a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h).toBe(false);
      }
    }
  });
  it("finds a place and an identifier for a new widget", () => {
    expect(vacant(of({ a: [0, 0, 6, 4] }).values(), 6, 4)).toEqual({ x: 6, y: 0, w: 6, h: 4 });
    expect(vacant(of({ a: [0, 0, 12, 4] }).values(), 6, 4)).toEqual({ x: 0, y: 4, w: 6, h: 4 });
    expect(freshId("Error Rate %", ["error-rate", "error-rate-2"])).toBe("error-rate-3");
    expect(freshId("☃", [])).toBe("widget");
    const added = appended([{ id: "p95", layout: { x: 0, y: 0, w: 12, h: 2 } }], { visualization: "stat", display: { title: "p95" } });
    expect([added.id, added.layout]).toEqual(["p95-2", { x: 0, y: 2, w: 3, h: 2 }]);
  });
  it("reads layouts of any origin, and holds bounds", () => {
    expect(placeOf({ x: 40, y: -2, w: 99, h: 0.4 })).toEqual({ x: 0, y: 0, w: 12, h: 1 });
    expect(placeOf(undefined)).toEqual({ x: 0, y: 0, w: 1, h: 1 });
    expect(bounded({ x: 11, y: 0, w: 1, h: 1 }, { minW: 3, minH: 2 })).toEqual({ x: 9, y: 0, w: 3, h: 2 });
  });
});
