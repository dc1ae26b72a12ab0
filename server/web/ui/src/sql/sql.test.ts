import { expect, test } from "vitest";
import { complete, inText, type Table } from "./complete";
import { place } from "./place";

const tables: Table[] = [
  {
    name: "spans",
    description: "One row for each span. More.",
    columns: [
      { name: "ServiceName", type: "LowCardinality(String)" },
      { name: "DurationNano", type: "UInt64" },
    ],
  },
  { name: "logs", description: "", columns: [{ name: "Body", type: "String" }] },
];
const labels = (sql: string, at = sql.length): string[] => complete(sql, at, tables)?.offers.map((o) => o.label) ?? [];

test("tables after FROM and JOIN", () => {
  expect(labels("SELECT 1 FROM ")).toEqual(["spans", "logs"]);
  expect(labels("SELECT 1 FROM spans JOIN lo")).toEqual(["spans", "logs"]);
  expect(labels("SELECT 1 FROM spans, ")).toEqual(["spans", "logs"]);
});

test("columns of the tables of the statement, and macros", () => {
  const sql = "SELECT  FROM logs";
  expect(labels(sql, 7)).toContain("Body");
  expect(labels(sql, 7)).not.toContain("DurationNano");
  expect(labels("SELECT s. FROM spans AS s", 9)).toEqual(["ServiceName", "DurationNano"]);
  expect(complete("SELECT 1 FROM logs WHERE $__ti", 30, tables)).toMatchObject({ from: 25 });
  expect(labels("SELECT 1 FROM logs WHERE $__ti")).toContain("$__timeFilter(Timestamp)");
});

test("nothing inside of strings and comments", () => {
  expect(complete("SELECT 'a ", 10, tables)).toBeNull();
  expect(inText("SELECT 'it\\'s' ", 15)).toBe(false);
  expect(inText("-- words\nSELECT", 15)).toBe(false);
  expect(inText("/* FROM ", 8)).toBe(true);
});

test("an error lies at its line and column, or at the name that it quotes", () => {
  expect(place("SELECT count( FROM spans", "The statement cannot be parsed at line 1, column 13: `( FROM`")).toEqual({ from: 12, to: 13 });
  expect(place("SELECT 1,\n  nope(2)", "at line 2, column 3")).toEqual({ from: 12, to: 16 });
  expect(place("SELECT ServiceNam FROM spans", "`ServiceNam` is not a column. Did you mean `ServiceName`?")).toEqual({ from: 7, to: 17 });
  expect(place("SELECT ServiceName FROM spans", "`ServiceNam` is not a column.")).toBeNull();
  expect(place("SELECT", "at line 9, column 1")).toBeNull();
});
