import { describe, expect, it } from "vitest";
import { eventsOf } from "./messages";
import { indexAt, largestChunk, planOf } from "./plan";

const chunk = (chunkSeq: number, isCheckpoint = false, byteSize = 100) => ({ chunkSeq, byteSize, isCheckpoint });
const most = { maxChunksPerRequest: 40, maxBytesPerRequest: 6e6 };

describe("planOf", () => {
  it("reads as much at once as an answer holds, in the order of the numbers", () => {
    const chunks = [chunk(2), chunk(0, true), chunk(1), chunk(3, false, 150)];
    const plan = planOf({ chunks, maxChunksPerRequest: 3, maxBytesPerRequest: 1000 });
    expect(plan.reads).toEqual([
      { from: 0, to: 2, bytes: 300 },
      { from: 3, to: 3, bytes: 150 },
    ]);
    expect(planOf({ chunks: [chunk(0, true), chunk(1), chunk(2)], maxChunksPerRequest: 9, maxBytesPerRequest: 200 }).reads).toHaveLength(2);
  });
  it("goes on at the next full picture after a gap", () => {
    const chunks = [chunk(0, true), chunk(2), chunk(3), chunk(4, true), chunk(5), chunk(5)];
    expect(planOf({ chunks, ...most })).toEqual({
      reads: [
        { from: 0, to: 0, bytes: 100 },
        { from: 4, to: 5, bytes: 200 },
      ],
      missing: 1,
      tooLarge: 0,
      useless: 2,
      bytes: 300,
    });
    const late = planOf({ chunks: [chunk(3), chunk(4, true)], ...most }); // the first parts were not received
    expect([late.missing, late.useless, late.reads.length]).toEqual([3, 1, 1]);
  });
  it("leaves out chunks that are too large, and those that need them", () => {
    const plan = planOf({ chunks: [chunk(0, true), chunk(1, true, largestChunk + 1), chunk(2), chunk(3, true)], ...most });
    expect([plan.tooLarge, plan.useless, plan.reads.map((r) => r.from)]).toEqual([1, 1, [0, 3]]);
  });
  it("reads nothing of a session without a recording", () => {
    expect(planOf({})).toEqual({ reads: [], missing: 0, tooLarge: 0, useless: 0, bytes: 0 });
  });
});

describe("indexAt", () => {
  it("finds the last time that is not after another", () => {
    const times = [10, 20, 20, 30];
    expect([9, 10, 19, 20, 29, 30, 99].map((t) => indexAt(times, t))).toEqual([-1, 0, 0, 2, 2, 3, 3]);
    expect(indexAt([], 5)).toBe(-1);
  });
});

describe("eventsOf", () => {
  it("takes arrays of events alone", () => {
    expect(eventsOf('[{"type":4,"timestamp":17,"data":{}}]')).toHaveLength(1);
    for (const bad of [
      "",
      "{}",
      "[1]",
      "[null]",
      '[{"type":"4","timestamp":17,"data":{}}]',
      '[{"type":4,"timestamp":1e999,"data":{}}]',
      '[{"type":4,"timestamp":17}]',
    ]) {
      expect(eventsOf(bad), bad).toBeNull();
    }
  });
});
