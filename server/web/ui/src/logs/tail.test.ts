import { describe, expect, it } from "vitest";
import type { Log } from "../gen/api";
import { merge, orderOf } from "./tail";

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
