import { expect, test } from "vitest";
import { block, count, cut, duration, line, percent, rate, slot, slots, stretch } from "./format";
import { whole } from "./histogram";
import { resolve, typed, windowOf } from "./time";

test("numbers", () => {
  expect([0, 9999, 12_345, 1_500_000, undefined].map((n) => count(n))).toEqual(["0", "9,999", "12.3k", "1.5M", "–"]);
  expect([0, 0.0005, 0.02, 1.234, 45.67, 812, 1820, 252_000, 7_200_000].map((n) => duration(n).replace(/\u2009/g, " "))).toEqual([
    "0 ms",
    "500 ns",
    "20 µs",
    "1.23 ms",
    "45.7 ms",
    "812 ms",
    "1.82 s",
    "4 min 12 s",
    "2 h 0 min",
  ]);
  expect([0, 0.0004, 0.018, 0.34].map((n) => percent(n).replace(/\u2009/g, " "))).toEqual(["0 %", "<0.1 %", "1.8 %", "34 %"]);
  expect(rate(0.05).replace(/\u2009/g, " ")).toBe("3 /min");
});

test("a service has one slot", () => {
  expect(slot("cart")).toBe(slot("cart"));
  expect(slot("")).toBeLessThan(10);
});

test("hostile text shows as text of one line, without codes that move or hide other text", () => {
  expect(line("\u001b[31mred\u001b[0m\nnext\u202Egnp.exe")).toBe("�[31mred�[0m nextgnp.exe");
  expect(line("x".repeat(5000)).length).toBe(2001);
  expect(block("a\nb\u0000\u0007")).toBe("a\nb��");
  expect(block("y".repeat(300_000))).toContain("100000 more characters");
});

test("texts are cut in characters, as limits count them", () => {
  expect(cut("a😀é", 3)).toEqual({ kept: "a😀é", left: 0 });
  expect(cut("a😀é", 2)).toEqual({ kept: "a😀", left: 1 });
  expect(cut("😀😀😀", 1)).toEqual({ kept: "😀", left: 2 });
  expect(cut("", 0)).toEqual({ kept: "", left: 0 });
  expect(line("😀".repeat(2000))).toBe("😀".repeat(2000));
  expect(line("😀".repeat(2001))).toBe(`${"😀".repeat(2000)}…`);
  expect(block("😀".repeat(6), 4)).toBe("😀😀😀😀\n… 2 more characters");
});

test("windows", () => {
  const now = Date.parse("2026-11-24T12:00:00Z");
  expect(windowOf({ from: "-6h", to: "now" }, now)).toEqual({ start: now - 216e5, end: now });
  expect(windowOf({ from: "nonsense", to: "now" }, now)).toEqual({ start: now - 36e5, end: now });
  expect(windowOf({ from: "now", to: "-1h" }, now)).toEqual({ start: now - 36e5, end: now });
  expect(resolve("2026-11-24T11:00:00Z", now)).toBe(now - 36e5);
  expect(typed("90m", now)).toEqual({ from: "-90m", to: "now" });
  expect(typed("2026-11-24T10:00:00Z..2026-11-24T11:00:00Z", now)).toEqual({
    from: "2026-11-24T10:00:00.000Z",
    to: "2026-11-24T11:00:00.000Z",
  });
  expect(typed("2026-11-24T10:00:00Z", now)).toEqual({ from: "2026-11-24T09:55:00.000Z", to: "2026-11-24T10:05:00.000Z" });
  expect(typed("soon", now)).toBeNull();
});

test("buckets that an answer leaves out are empty bars", () => {
  expect(whole([0, 30], 10, [{ name: "n", color: "c", values: [1, 4] }])).toEqual({
    times: [0, 10, 20, 30],
    stacks: [{ name: "n", color: "c", values: [1, 0, 0, 4] }],
  });
});

test("visible names have colors of their own", () => {
  const names = Array.from({ length: 10 }, (_, i) => `service-${i}`);
  const all = slots(names);
  expect(new Set(all.values()).size).toBe(10);
  expect(slots(["cart"]).get("cart")).toBe(slot("cart"));
  expect(slots([...names, "eleventh"]).get("eleventh")).toBeLessThan(10);
});

test("stretches of time", () => {
  expect([4000, 1_500_000, 3_600_000, 5_400_000, 260_000_000].map((n) => stretch(n).replace(/\u2009/g, " "))).toEqual([
    "4 s",
    "25 min",
    "1 h",
    "1 h 30 min",
    "3 d",
  ]);
});
