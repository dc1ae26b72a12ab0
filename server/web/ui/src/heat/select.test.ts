import { expect, test } from "vitest";
import {
  areaOf,
  boxOf,
  columnsOf,
  conditionOf,
  gridOf,
  inside,
  ladder,
  rangeName,
  read,
  slowest,
  stepOf,
  sumOf,
  windowOf,
  written,
} from "./select";

const minute = 60_000;
const at = Date.parse("2026-11-28T14:00:00Z");
const window = { start: at, end: at + 10 * minute };
const answer = {
  bucketSeconds: 60,
  boundsMs: [250, 315, 400, 500],
  data: [
    {
      timestamp: "2026-11-28T14:01:00Z",
      cells: [
        { row: 0, count: 10, errorCount: 1 },
        { row: 2, count: 4 },
      ],
    },
    { timestamp: "2026-11-28T14:09:00Z", cells: [{ row: 1, count: 2.5, errorCount: 2.5 }] },
    { timestamp: "2026-11-28T15:09:00Z", cells: [{ row: 1, count: 7 }] },
  ],
};

test("the rows of durations", () => {
  expect(ladder).toHaveLength(122);
  expect(ladder.slice(0, 5)).toEqual([0, 0.001, 0.00125, 0.0016, 0.002]);
  expect(ladder.at(-1)).toBe(1e9);
});

test("cells lie in columns and rows", () => {
  const g = gridOf(answer, window);
  expect([g.columns, g.rows, g.most]).toEqual([10, 14, 10]);
  const row = g.bounds.indexOf(250);
  expect(g.counts[1 * g.rows + row]).toBe(10);
  expect(g.counts[1 * g.rows + g.bounds.indexOf(400)]).toBe(4);
  expect(g.errors[9 * g.rows + g.bounds.indexOf(315)]).toBe(2.5);
  expect(sumOf(g, { left: 0, right: 9, bottom: 0, top: 13 })).toEqual({ count: 16.5, errors: 3.5 });
  expect(gridOf({ bucketSeconds: 60 }, window).most).toBe(0);
});

test("a box is an area, and an address", () => {
  const g = gridOf(answer, window);
  const row = g.bounds.indexOf(250);
  const area = { left: 1, right: 2, bottom: row, top: row + 1 };
  const box = boxOf(g, area);
  expect(box).toEqual({ from: at + minute, to: at + 3 * minute, low: 250, high: 400 });
  expect(areaOf(g, box)).toEqual({ left: 1, right: 3, bottom: row, top: row + 2 });
  expect(read(written(box))).toEqual(box);
  expect(written(box)).toBe("2026-11-28T14:01:00Z..2026-11-28T14:03:00Z,250..400");
  expect(read(written({ ...box, low: 0.00315, high: null }))).toEqual({ ...box, low: 0.00315, high: null });
  expect(read(written({ ...box, failed: true }))).toEqual({ ...box, failed: true });
  expect(areaOf(g, { ...box, from: at - 9 * minute, to: at - minute })).toBeNull();
  for (const bad of [
    "",
    "x",
    "2026-11-28T14:03:00Z..2026-11-28T14:01:00Z,1..2",
    "2026-11-28T14:01:00Z..2026-11-28T14:03:00Z,2..1",
    `${written(box)}'`,
  ])
    expect(read(bad), bad).toBeNull();
});

test("conditions and windows of a box", () => {
  const box = { from: at, to: at + minute, low: 250, high: 1000 };
  expect(conditionOf(box)).toBe("duration >= 250ms AND duration < 1000ms");
  expect(conditionOf({ ...box, low: 0, high: null })).toBe("");
  expect(conditionOf({ ...box, low: 0, failed: true })).toBe("duration < 1000ms AND has_error = true");
  expect(windowOf(box, window)).toEqual({ startTime: "2026-11-28T14:00:00.000Z", endTime: "2026-11-28T14:00:59.999999999Z" });
  expect(rangeName(0, 0.001)).toBe("under 1\u2009µs");
  expect(rangeName(1000, null)).toBe("1\u2009s and longer");
});

test("a box does not reach beyond the window", () => {
  // "Last 7 days" begins and ends within columns of two hours.
  const week = { start: at + 7 * minute + 123, end: at + 7 * minute + 123 + 7 * 24 * 60 * minute };
  const g = gridOf({ ...answer, bucketSeconds: 7200, data: [{ timestamp: "2026-11-28T14:00:00Z", cells: [{ row: 2, count: 4 }] }] }, week);
  expect(g.columns).toBe(85);
  const whole = { left: 0, right: 84, bottom: 0, top: g.rows - 1 };
  const box = boxOf(g, whole);
  expect([box.from, box.to]).toEqual([week.start, week.end]);
  expect(slowest(g, 1)?.box).toMatchObject({ from: week.start, to: week.end });
  expect(areaOf(g, box)).toMatchObject({ left: 0, right: 85 });
  expect(read(written(box))).toEqual(box);
  expect(boxOf(g, { ...whole, left: 1, right: 83 })).toMatchObject({ from: at + 120 * minute, to: at + 84 * 120 * minute });

  // The end belongs to the window, so it belongs to a box that ends with it.
  const all = { startTime: "2026-11-28T14:07:00.123Z", endTime: "2026-12-05T14:07:00.123Z" };
  expect(windowOf(box, week)).toEqual(all);
  // The window of an address moves on; a box that it has may begin before it, or lie outside.
  expect(windowOf({ from: at, to: at + 85 * 120 * minute }, week)).toEqual(all);
  expect(windowOf({ from: at - minute, to: week.start }, week)).toBeNull();
  expect(inside({ ...box, from: at }, week)).toEqual(box);
});

test("the length of columns", () => {
  expect(stepOf({ start: at, end: at + 60 * minute }, 120)).toBe(30);
  expect(stepOf({ start: at + 1, end: at + 60 * minute }, 60)).toBe(60);
  expect(stepOf({ start: at, end: at + 7 * 24 * 60 * minute }, 120)).toBe(7200);
  expect(columnsOf({ start: at + 1, end: at + minute + 1 }, minute)).toEqual({ start: at, columns: 2 });
});

test("many rows are shown two by two, and spans without a duration do not stretch the plot", () => {
  const ms = ladder.slice(ladder.indexOf(0.1), ladder.indexOf(10_000) + 2);
  const data = [
    { timestamp: "2026-11-28T14:01:00Z", cells: ms.slice(1).map((_, row) => ({ row, count: 1, errorCount: row === 50 ? 1 : 0 })) },
  ];
  const g = gridOf({ bucketSeconds: 60, boundsMs: ms, data }, window);
  expect(g.bounds.slice(0, 4)).toEqual([0.1, 0.16, 0.25, 0.4]);
  for (const power of [1, 10, 100, 1000, 10_000]) expect(g.bounds).toContain(power);
  expect(sumOf(g, { left: 0, right: 9, bottom: 0, top: g.rows - 1 })).toEqual({ count: 51, errors: 1 });
  expect(g.counts[g.rows]).toBe(2);

  const low = gridOf(
    {
      bucketSeconds: 60,
      boundsMs: ladder.slice(0, ladder.indexOf(315) + 1),
      data: [
        {
          timestamp: "2026-11-28T14:01:00Z",
          cells: [
            { row: 0, count: 3 },
            { row: ladder.indexOf(250), count: 4 },
          ],
        },
      ],
    },
    window,
  );
  expect(low.bounds.slice(0, 3)).toEqual([0, 160, 200]);
  expect([low.counts[low.rows], low.counts[low.rows + low.bounds.indexOf(250)]]).toEqual([3, 4]);
});

test("the slowest part of all spans", () => {
  const g = gridOf(answer, window);
  const found = slowest(g, 0.3);
  expect(found?.share).toBeCloseTo(4 / 16.5);
  expect(found?.box).toEqual({ from: at, to: at + 10 * minute, low: 400, high: null });
  expect(slowest(g, 0.1)).toBeNull();
});
