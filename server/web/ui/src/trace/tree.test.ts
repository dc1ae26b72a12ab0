import { expect, test } from "vitest";
import { build, visible } from "./tree";

const span = (id: string, parentSpanId: string | undefined, offsetMs: number, hasError = false) => ({
  id,
  ...(parentSpanId ? { parentSpanId } : {}),
  offsetMs,
  durationMs: 10,
  hasError,
});

test("children follow their parent in order of time", () => {
  const t = build([span("c", "a", 5), span("b", "a", 2, true), span("a", undefined, 0), span("d", "b", 3)]);
  expect(t.spans.map((s) => s.id)).toEqual(["a", "b", "d", "c"]);
  expect([...t.depth]).toEqual([0, 1, 2, 1]);
  expect([...t.end]).toEqual([4, 3, 3, 4]);
  expect([...t.errors]).toEqual([1, 1, 0, 0]);
  expect([...visible(t, new Set(["b"]))]).toEqual([0, 1, 3]);
});

test("orphans, spans of one id, and circles keep every span once", () => {
  const t = build([span("x", "gone", 1), span("p", "q", 2), span("q", "p", 3), span("s", "s", 4), span("s", undefined, 5)]);
  expect(t.spans.length).toBe(5);
  expect(t.orphans).toBe(2);
});

test("a trace of 100,000 spans is built within its budget", () => {
  const spans = Array.from({ length: 100_000 }, (_, i) => span(String(i), i ? String((i - 1) >> 1) : undefined, i / 100));
  const began = performance.now();
  const t = build(spans);
  expect(t.spans.length).toBe(100_000);
  expect(performance.now() - began).toBeLessThan(1500);
});

test("a chain of 50,000 spans does not overflow", () => {
  const t = build(Array.from({ length: 50_000 }, (_, i) => span(String(i), i ? String(i - 1) : undefined, i)));
  expect(t.depth[49_999]).toBe(49_999);
});
