import { expect, test } from "vitest";
import { conditionOf, withPart } from "./sides";

test("a value becomes a condition of the query language", () => {
  expect(conditionOf("cart.currency", 'a"b')).toBe('attr.cart.currency = "a\\"b"');
  expect(conditionOf("resource.host.name", "node-1")).toBe('resource.host.name = "node-1"');
  expect(conditionOf("resource.service.name", "cart")).toBe('service.name = "cart"');
  expect(conditionOf("name", "GET /")).toBe('span.name = "GET /"');
  expect(conditionOf("browser.name", "Firefox", true)).toBe('browser.name = "Firefox"');
  expect(conditionOf("kind", "Server")).toBe('span.kind = "Server"');
});

test("conditions are joined once", () => {
  expect(withPart("", "a = 1")).toBe("a = 1");
  expect(withPart("a = 1", "b = 2")).toBe("a = 1 AND b = 2");
  expect(withPart("a = 1 AND b = 2", "b = 2")).toBe("a = 1 AND b = 2");
  expect(withPart("a = 1", "")).toBe("a = 1");
});
