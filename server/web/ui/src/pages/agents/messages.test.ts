import { expect, test } from "vitest";
import { containers, money, partsOf, pretty } from "./messages";

test("messages with parts, with contents, and plain text", () => {
  expect(
    partsOf(
      '[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"tool_call","name":"find","arguments":{"a":1}}]}]',
      "user",
    ),
  ).toEqual([
    { role: "user", kind: "text", text: "hi" },
    { role: "assistant", kind: "call", text: 'find {\n  "a": 1\n}' },
  ]);
  expect(partsOf('[{"role":"tool","parts":[{"type":"tool_call_response","response":"ok"}]}]', "user")).toEqual([
    { role: "tool", kind: "answer", text: "ok" },
  ]);
  expect(partsOf('{"role":"user","content":"hello"}', "x")).toEqual([{ role: "user", kind: "text", text: "hello" }]);
  expect(partsOf("just <b>text</b>", "assistant")).toEqual([{ role: "assistant", kind: "text", text: "just <b>text</b>" }]);
  expect(partsOf("[]", "user")).toEqual([{ role: "user", kind: "text", text: "[]" }]);
  expect(partsOf(" ", "user")).toEqual([]);
  expect(partsOf('{"role":"user","parts":[7]}', "user")[0]?.kind).toBe("json");
});

test("arguments and costs", () => {
  expect(pretty('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect([pretty("no json"), pretty(null), pretty("12")]).toEqual(["no json", "", "12"]);
  expect([money(undefined), money(0.00123), money(0.5), money(12)]).toEqual(["–", "$0.0012", "$0.500", "$12.00"]);
});

test("an agent contains the calls below it", () => {
  const spans = [
    { spanId: "a", hasTokens: true },
    { spanId: "b", parentSpanId: "a", hasTokens: true },
    { spanId: "c", parentSpanId: "b" },
    { spanId: "d", parentSpanId: "gone", input: "x" },
  ];
  expect([...containers(spans)]).toEqual(["a"]);
  expect(containers([{ spanId: "a", parentSpanId: "a", hasTokens: true }]).size).toBe(1);
});
