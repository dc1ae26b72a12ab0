import { expect, test } from "vitest";
import { excess } from "./length";

test("characters are code points", () => {
  expect(excess("🙂".repeat(10), { characters: 10 })).toBe("");
  expect(excess("🙂".repeat(11), { characters: 10 })).toBe("At most 10 characters. This text has 11.");
  expect(excess("a".repeat(2001), { characters: 2000 })).toBe("At most 2,000 characters. This text has 2,001.");
});

test("bytes are those of UTF-8", () => {
  expect(excess("é".repeat(5), { bytes: 10 })).toBe("");
  expect(excess("é".repeat(5) + "a", { bytes: 10 })).toBe("At most 10 bytes. This text has 11.");
  expect(excess("€€€", { bytes: 9 })).toBe("");
  expect(excess("🙂🙂a", { bytes: 8 })).toBe("At most 8 bytes. This text has 9.");
  expect(excess("", { bytes: 0 })).toBe("");
});
