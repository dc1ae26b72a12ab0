import { expect, test } from "vitest";
import { askedErrors, askedLogs, askedTraces, besides, language, problemOf } from "./text";

test("what the query language says stays as it was typed", () => {
  for (const text of [
    "service.name = cart OR duration > 250ms",
    'NOT (attr."my key" in ("a, b", c) OR a.b !exists)  AND x not in (1)',
    "attr.k contains 'it is (so)' and has_error",
    "duration >",
    'service.name = "open',
    "(a = 1",
    "a = soon, and",
  ])
    expect(language(text, "traces").where, text).toBe(text);
  expect(language("  ", "logs").where).toBe("");
});

test("what only the bar says is put into the query language", () => {
  const where = (text: string, bar: "traces" | "logs" | "errors"): string => language(text, bar).where;
  expect(where("service = cart card 'was \"declined\"' OR root = true", "traces")).toBe(
    'service = cart AND span.name contains "card was \\"declined\\"" OR root_only = true',
  );
  expect(where("NOT declined OR (a = 1 b = 2)", "logs")).toBe('NOT body contains "declined" OR (a = 1 AND b = 2)');
  expect(where("declined OR a = 1", "errors")).toBe(
    '(event.exception.message contains "declined" OR status.message contains "declined") OR a = 1',
  );
  expect(where("severity >= WARN OR a = 1", "logs")).toBe(
    '(severity_number >= 13 OR (NOT severity_number exists AND severity in ("WARN", "ERROR", "FATAL", "WARNING"))) OR a = 1',
  );
  expect(where("level < debug", "logs")).toBe('(severity_number < 5 OR (NOT severity_number exists AND severity in ("TRACE")))');
  expect(where('"a b"(c = 1)d = 2', "logs")).toBe('body contains "a b" AND (c = 1) AND d = 2');
  expect(where("severity > 12", "logs")).toBe("severity > 12");
});

test("a character of the language leads back to one of the bar", () => {
  const text = "root = true card OR duration > soon";
  const { where, back } = language(text, "traces");
  expect(back(where.indexOf("duration"))).toBe(text.indexOf("duration"));
  expect(back(where.indexOf("span.name"))).toBe(text.indexOf("card"));
  expect(back(where.length)).toBe(text.length);
  const error = { param: "where", message: `\`where\` cannot be read: at character ${where.indexOf("duration") + 1}: it is no duration` };
  expect(problemOf(error, back)).toEqual({ message: "It is no duration", at: text.indexOf("duration") });
  expect(problemOf({ ...error, param: "start_time" }, back)).toBeUndefined();
  expect(problemOf(null, back)).toBeUndefined();
});

test("pages ask with conditions where these say the text, and else in the query language", () => {
  expect(askedLogs("severity >= WARN card", "prod")).toMatchObject({
    filters: { deploymentEnvironment: "prod", minimumSeverity: 13, bodySearch: "card" },
  });
  expect(askedLogs("a = 1 OR b = 2", "prod")).toMatchObject({ filters: { deploymentEnvironment: "prod" }, where: "a = 1 OR b = 2" });
  expect(askedTraces("span.kind = Server", "")).toMatchObject({ filters: {}, where: "span.kind = Server" });
  expect(askedTraces("http.route = /cart", "")).not.toHaveProperty("where");
  expect(askedTraces("duration > soon", "").error?.message).toContain("duration");
  expect(askedErrors("card declined", "prod").filters).toEqual({ deploymentEnvironment: "prod", search: "card declined" });
  expect(askedErrors("NOT a = 1", "")).toMatchObject({ filters: {}, where: "NOT a = 1" });
});

test("values are offered that fit the other conditions", () => {
  const at = (text: string): string => besides(text.replace("|", ""), text.indexOf("|"), "traces");
  expect(at("service.name = |")).toBe("");
  expect(at("http.route = /a AND service.name = ca|")).toBe("http.route = /a");
  expect(at("http.route = | duration > 5ms NOT x = 1")).toBe("duration > 5ms AND NOT x = 1");
  expect(at("a = 1 OR b = 2 AND c = |")).toBe("b = 2");
  expect(at("a = 1 AND (b = 2 OR c = |)")).toBe("a = 1");
  expect(at("root = true AND c = |")).toBe("root_only = true");
});
