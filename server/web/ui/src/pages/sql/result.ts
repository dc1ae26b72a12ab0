import type { SqlResult, SqlResultColumn } from "../../gen/api";
import type { NewWidget } from "../../parts/addtodashboard";
import type { Line } from "../../parts/chartdata";
import { line } from "../../parts/format";

export const isTime = (c: SqlResultColumn): boolean => /^(Nullable\()?(DateTime|Date)/.test(c.type ?? "");
export const isNumber = (c: SqlResultColumn): boolean => /^(LowCardinality\()?(Nullable\()?(U?Int|Float|Decimal)/.test(c.type ?? "");

/** text is a cell as a person reads it. */
export function text(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** number is the figure of a cell; integers of 64 bits come as text. */
export function number(value: unknown): number | null {
  if (typeof value === "boolean" || value === null || value === "") return null;
  const n = Number(value);
  return Number.isFinite(n) ? n : null;
}

/** widths are those of the columns, in characters, by the first rows. */
export function widths(r: SqlResult): number[] {
  return (r.columns ?? []).map((c, i) => {
    const longest = (r.rows ?? []).slice(0, 100).reduce((n, row) => Math.max(n, text(row[i]).length), Math.max((c.name ?? "").length, 4));
    return Math.min(48, longest + 2);
  });
}

/** sorted orders rows by a column: numbers by value, all others by text. */
export function sorted(rows: unknown[][], column: number, numeric: boolean, down: boolean): unknown[][] {
  const sign = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    if (numeric) return sign * ((number(a[column]) ?? Number.NEGATIVE_INFINITY) - (number(b[column]) ?? Number.NEGATIVE_INFINITY) || 0);
    return sign * text(a[column]).localeCompare(text(b[column]));
  });
}

export type Drawn =
  | { kind: "lines"; times: number[]; lines: Line[] }
  | { kind: "bars"; label: string; value: string; rows: Array<{ name: string; value: number }> }
  | { kind: "none"; why: string };

const mostLines = 20;

/** drawn is how a result can be drawn: lines over its first column of time, one for each number and each text; else bars by its first text. */
export function drawn(r: SqlResult): Drawn {
  const columns = r.columns ?? [];
  const rows = r.rows ?? [];
  const numbers = columns.flatMap((c, i) => (isNumber(c) ? [i] : []));
  const time = columns.findIndex(isTime);
  const names = columns.flatMap((c, i) => (!isNumber(c) && !isTime(c) ? [i] : []));
  if (rows.length === 0) return { kind: "none", why: "The statement returned no rows." };
  if (numbers.length === 0) return { kind: "none", why: "A chart needs a column with numbers." };
  if (time < 0) {
    const by = names[0];
    const value = numbers[0]!;
    return {
      kind: "bars",
      label: columns[by ?? value]?.name ?? "",
      value: columns[value]?.name ?? "",
      rows: rows
        .slice(0, 50)
        .map((row, i) => ({ name: by === undefined ? `row ${i + 1}` : text(row[by]), value: number(row[value]) ?? 0 })),
    };
  }
  const instant = (v: unknown): number => Date.parse(/^\d{4}-\d\d-\d\d$/.test(String(v)) ? `${v}T00:00:00Z` : String(v));
  const times = [...new Set(rows.map((row) => instant(row[time])))].filter((t) => !Number.isNaN(t)).sort((a, b) => a - b);
  const at = new Map(times.map((t, i) => [t, i]));
  const series = new Map<string, Array<number | null>>();
  for (const row of rows) {
    const i = at.get(instant(row[time]));
    if (i === undefined) continue;
    const group = names.map((n) => text(row[n])).join(", ");
    for (const n of numbers) {
      const label = [group, numbers.length > 1 || !group ? (columns[n]?.name ?? "") : ""].filter(Boolean).join(" ");
      if (!series.has(label)) {
        if (series.size >= mostLines) continue;
        series.set(
          label,
          times.map(() => null),
        );
      }
      series.get(label)![i] = number(row[n]);
    }
  }
  return {
    kind: "lines",
    times,
    lines: [...series].map(([label, values], i) => ({ label: line(label, 80), color: `--s${i % 10}`, values })),
  };
}

/** widgetOf is a widget of a statement. A statement of a widget must contain `$__orgFilter`, which is always true here. */
export function widgetOf(title: string, sql: string, lines: boolean): NewWidget {
  const bare = sql.trim().replace(/;\s*$/, "");
  const guarded = bare.includes("$__orgFilter") ? bare : `SELECT * FROM (\n${bare}\n) WHERE $__orgFilter`;
  const source = (displayType: "line" | "table"): NewWidget["dataSource"] => ({ kind: "raw_sql", displayType, sql: guarded });
  return lines
    ? { visualization: "chart", dataSource: source("line"), display: { title, chartId: "query-builder-line" } }
    : { visualization: "table", dataSource: source("table"), display: { title } };
}
