import { describe, expect, it } from "vitest";
import { batches } from "./batch";

describe("batches", () => {
  it("sends asks of one kind together, in parts, and gives each its answer", async () => {
    const sent: number[][] = [];
    const ask = batches<number, string>(
      async (all) => {
        sent.push(all);
        return all.map((n) => `a${n}`);
      },
      (n) => (n < 10 ? "small" : "large"),
      4,
      1,
    );
    expect(await Promise.all([1, 2, 3, 4, 5, 10].map(ask))).toEqual(["a1", "a2", "a3", "a4", "a5", "a10"]);
    expect(sent.sort()).toEqual([[1, 2, 3, 4], [10], [5]].sort());
  });
  it("gives a failure to those whom it concerns", async () => {
    const ask = batches<number, string>(
      async (all) => {
        if (all.includes(1)) throw new Error("no");
        return [];
      },
      String,
      4,
      1,
    );
    await expect(ask(1)).rejects.toThrow("no");
    await expect(ask(2)).rejects.toThrow("incomplete");
  });
});
