import { expect, test } from "vitest";
import { cell, chartCSV, type Line, range, tip, toggled } from "./chartdata";

const line = (label: string, ...values: Array<number | null>): Line => ({ label, color: "--s0", values });

test("a tooltip has the largest values, the nearest line, and the sum of the others", () => {
  const lines = Array.from({ length: 20 }, (_, i) => line(`l${i}`, i));
  const t = tip(lines, 0, 2.2);
  expect(t.rows.map((r) => r.line.label)).toEqual(["l19", "l18", "l17", "l16", "l15", "l14", "l13", "l12", "l11", "l10", "l9", "l2"]);
  expect(t.rows.filter((r) => r.nearest).map((r) => r.line.label)).toEqual(["l2"]);
  expect([t.more, t.rest]).toEqual([8, 0 + 1 + 3 + 4 + 5 + 6 + 7 + 8]);
  expect(tip([line("a", null), line("b", 0)], 0, null)).toEqual({
    rows: [{ line: line("b", 0), value: 0, nearest: false }],
    more: 0,
    rest: 0,
  });
});

test("a scale contains 0", () => {
  expect(range(2, 10, 1)).toEqual([0, 10.8]);
  expect(range(-10, -2, 1)).toEqual([-10.8, 0]);
  expect(range(null, null, 5)).toEqual([0, 5]);
});

test("CSV quotes, keeps gaps empty, and disarms formulas", () => {
  expect(chartCSV([0, 60_000], [line("a,b", 1, null), line("=1+2", -3, 4)])).toBe(
    'time,"a,b",\'=1+2\r\n1970-01-01T00:00:00.000Z,1,-3\r\n1970-01-01T00:01:00.000Z,,4',
  );
  expect([cell('say "hi"'), cell("-5.2"), cell("-cmd"), cell({ a: 1 }), cell(null)]).toEqual([
    '"say ""hi"""',
    "-5.2",
    "'-cmd",
    '"{""a"":1}"',
    "",
  ]);
});

test("a click in the legend isolates, a second one shows all, and a key hides one", () => {
  const all = ["a", "b", "c"];
  const alone = toggled(new Set(), "b", all, false);
  expect([...alone]).toEqual(["a", "c"]);
  expect(toggled(alone, "b", all, false).size).toBe(0);
  expect([...toggled(alone, "c", all, false)]).toEqual(["a", "b"]);
  expect([...toggled(new Set(), "a", all, true)]).toEqual(["a"]);
  expect(toggled(new Set(["a", "b"]), "c", all, true).size).toBe(0);
});
