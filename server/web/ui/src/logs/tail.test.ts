import { describe, expect, it } from "vitest";
import type { Log } from "../gen/api";
import { merge, nearest, orderOf } from "./tail";

const log = (id: string, ms: number): Log => ({ id, timestamp: new Date(ms).toISOString() });
const ids = (rows: Log[]): string => rows.map((l) => l.id).join("");

describe("merge", () => {
  it("keeps each record once, in the order of time, and leaves out the oldest", () => {
    const first = merge([], [log("c", 30), log("a", 10), log("a", 10)]);
    expect([ids(first.rows), first.added]).toEqual(["ac", 2]);
    const late = merge(first.rows, [log("b", 20), log("c", 30), log("d", 40)], 3);
    expect([ids(late.rows), late.added]).toEqual(["bcd", 2]);
    expect(merge(late.rows, [log("d", 40)]).rows).toBe(late.rows);
  });
  it("tells nanoseconds apart", () => {
    const a = { id: "a", timestamp: "2026-01-01T00:00:00.100000002Z" };
    const b = { id: "b", timestamp: "2026-01-01T00:00:00.1Z" };
    const c = { id: "c", timestamp: "2026-01-01T00:00:00Z" };
    expect(ids(merge([], [a, b, c]).rows)).toBe("cba");
    expect(orderOf(b) < orderOf(a)).toBe(true);
  });
});

describe("nearest", () => {
  /** A page holds 100 records, the latest ones. */
  const source = (times: number[]) => {
    let reads = 0;
    const read = (ms: number) => {
      reads++;
      const rows = times
        .filter((t) => t <= ms)
        .map((t) => log(`${t}`, t))
        .reverse();
      return Promise.resolve({ rows: rows.slice(0, 100), more: rows.length > 100 });
    };
    return { read, reads: () => reads };
  };
  it("finds the next records, however dense they are", async () => {
    for (const gap of [0.001, 0.2, 7, 400, 90_000]) {
      const times = Array.from({ length: 5000 }, (_, i) => 1 + i * gap);
      const s = source(times);
      const rows = await nearest(s.read, 10, 3_600_000);
      const got = rows
        .map((l) => Number(l.id))
        .sort((a, b) => a - b)
        .slice(0, 10);
      if (gap >= 0.2) expect(got, `${gap}`).toEqual(times.slice(0, 10));
      expect(s.reads()).toBeLessThan(25);
    }
  });
  it("gives what there is", async () => {
    expect(await nearest(source([]).read, 10, 60_000)).toEqual([]);
    expect(await nearest(source([50_000]).read, 10, 60_000)).toHaveLength(1);
    expect(await nearest(source([70_000]).read, 10, 60_000)).toHaveLength(0);
  });
});
