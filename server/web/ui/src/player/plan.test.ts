import { describe, expect, it } from "vitest";
import { eventsOf } from "./messages";
import { indexAt, largestChunk, planOf } from "./plan";

const chunk = (chunkSeq: number, byteSize = 100) => ({ chunkSeq, byteSize });

describe("planOf", () => {
  it("reads as much at once as an answer holds, in the order of the numbers", () => {
    const plan = planOf({ chunks: [chunk(2), chunk(0), chunk(1), chunk(3, 150)], maxChunksPerRequest: 3, maxBytesPerRequest: 1000 });
    expect(plan.reads).toEqual([
      { from: 0, to: 2, bytes: 300 },
      { from: 3, to: 3, bytes: 150 },
    ]);
    expect(planOf({ chunks: [chunk(0), chunk(1), chunk(2)], maxChunksPerRequest: 9, maxBytesPerRequest: 200 }).reads).toHaveLength(2);
  });
  it("leaves out chunks that are too large, and counts those that are missing", () => {
    const plan = planOf({
      chunks: [chunk(4), chunk(5, largestChunk + 1), chunk(6), chunk(9), chunk(9)],
      maxChunksPerRequest: 40,
      maxBytesPerRequest: 6e6,
    });
    expect(plan).toEqual({
      reads: [
        { from: 4, to: 4, bytes: 100 },
        { from: 6, to: 6, bytes: 100 },
        { from: 9, to: 9, bytes: 100 },
      ],
      missing: 2,
      tooLarge: 1,
      bytes: 300,
    });
  });
  it("reads nothing of a session without a recording", () => {
    expect(planOf({})).toEqual({ reads: [], missing: 0, tooLarge: 0, bytes: 0 });
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
