import { type ReactNode, useState } from "react";
import type { QueryDraft, TableColumn, WidgetDisplay, WidgetTable } from "../gen/api";
import { duration, line } from "../parts/format";
import { clock, exact, moment } from "../parts/time";
import { colorOf, formatOf, num, passed } from "./values";

/** Where the values of a table lead; a shared dashboard leads nowhere. */
export type Leads = { trace: (id: string, children: ReactNode) => ReactNode; service: (name: string, children: ReactNode) => ReactNode };

type Column = { field: string; header: string; at: number; of: TableColumn; numeric: boolean };

/** columnsOf are the columns that the widget names, or else those of the answer. */
export function columnsOf(table: WidgetTable | undefined, display: WidgetDisplay, queries: QueryDraft[] = []): Column[] {
  const sent = table?.columns ?? [];
  const rows = table?.rows ?? [];
  const index = new Map(sent.map((c, i) => [c.name ?? "", i]));
  const named = (display.columns ?? []).filter((c) => index.has(c.field ?? ""));
  const known: TableColumn[] = named.length ? named : sent.map((c) => ({ field: c.name ?? "", header: headOf(c.name ?? "", queries) }));
  return known
    .filter((c) => !c.hidden)
    .map((c) => {
      const at = index.get(c.field ?? "") ?? 0;
      const type = sent[at]?.type ?? "";
      return {
        field: c.field ?? "",
        header: c.header || c.field || "",
        at,
        of: c,
        numeric:
          /^(Nullable\()?(U?Int|Float|Decimal)/.test(type) ||
          type === "number" ||
          (rows.length > 0 && rows.every((r) => r[at] === null || typeof r[at] === "number")),
      };
    });
}

/** headOf names the columns of groups by what they hold. */
function headOf(name: string, queries: QueryDraft[]): string {
  const first = queries.find((q) => !q.hidden && q.enabled !== false);
  if (name === "name" && first?.groupBy?.length) return first.groupBy.join(", ");
  const of = name === "value" ? first : queries.find((q) => q.name === name);
  return of ? `${of.legend || (of.aggregation ?? "").replaceAll("_", " ")}` : name;
}

const text = (v: unknown): string => (v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));
const isTime = (v: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(v);

/** Table shows rows; a heading sorts them. */
export function Table({
  data,
  display,
  unit,
  leads,
  queries = [],
}: {
  data: WidgetTable | undefined;
  display: WidgetDisplay;
  unit: string | undefined;
  leads: Leads | null;
  queries?: QueryDraft[] | undefined;
}) {
  const columns = columnsOf(data, display, queries);
  const [sort, setSort] = useState<{ at: number; down: boolean } | null>(null);
  const rows = [...(data?.rows ?? [])];
  if (sort) {
    rows.sort((a, b) => {
      const [x, y] = [a[sort.at], b[sort.at]];
      const [m, n] = [num(x), num(y)];
      const order = m !== null && n !== null ? m - n : text(x).localeCompare(text(y));
      return sort.down ? -order : order;
    });
  }
  return (
    <div className="w-tablebox w-scroll" tabIndex={0} role="region" aria-label={display.title || "Table"}>
      <table className="data">
        <thead>
          <tr>
            {columns.map((c) => (
              <th
                key={c.field}
                scope="col"
                className={right(c) ? "num" : undefined}
                style={c.of.width ? { width: c.of.width } : undefined}
                aria-sort={sort?.at === c.at ? (sort.down ? "descending" : "ascending") : undefined}
              >
                <button
                  type="button"
                  onClick={() => setSort(sort?.at === c.at ? (sort.down ? { at: c.at, down: false } : null) : { at: c.at, down: true })}
                >
                  {line(c.header, 80)}
                  {sort?.at === c.at ? (sort.down ? " ↓" : " ↑") : ""}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, 1000).map((r, i) => (
            // biome-ignore lint: rows have no other name than their order
            <tr key={i}>
              {columns.map((c) => (
                <td key={c.field} className={right(c) ? "num" : undefined} {...shade(r[c.at], c)}>
                  {cell(r[c.at], c, unit, leads)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const right = (c: Column): boolean => (c.of.align ? c.of.align === "right" : c.numeric);

function shade(v: unknown, c: Column): { style?: { color: string | undefined; fontWeight: number } } {
  const t = passed(num(v), c.of.thresholds);
  return t ? { style: { color: colorOf(t.color), fontWeight: 600 } } : {};
}

function cell(v: unknown, c: Column, unit: string | undefined, leads: Leads | null): ReactNode {
  const t = text(v);
  if (t === "") return <span className="faint">–</span>;
  const n = num(v);
  if (n !== null && (c.numeric || c.of.unit)) return formatOf(c.of.unit ?? (/value/i.test(c.field) ? unit : undefined))(n);
  if (isTime(t)) return <span title={exact(t)}>{moment(Date.parse(t))}</span>;
  if (leads && /^(trace_?id)$/i.test(c.field) && /^[0-9a-f]{32}$/.test(t)) return leads.trace(t, <code>{t}</code>);
  if (leads && /^(service|service_?name|service\.name)$/i.test(c.field)) return leads.service(t, line(t, 200));
  return <span title={line(t, 500)}>{line(t, 300)}</span>;
}

const severe: Record<string, string> = { ERROR: "error", FATAL: "fatal", WARN: "warn", INFO: "info", DEBUG: "debug", TRACE: "trace" };

/** List shows the latest traces or log records, one line each. */
export function List({ data, display, leads }: { data: WidgetTable | undefined; display: WidgetDisplay; leads: Leads | null }) {
  const names = (data?.columns ?? []).map((c) => c.name ?? "");
  const at = (name: string): number => names.indexOf(name);
  const logs = at("body") >= 0;
  if (at("timestamp") < 0) return <Table data={data} display={display} unit={undefined} leads={leads} />;
  const usual = logs
    ? ["timestamp", "severity", "service_name", "body", "trace_id", "span_id"]
    : ["timestamp", "trace_id", "span_id", "service_name", "span_name", "duration_ms", "status_code", "has_error"];
  const more = names.map((n, i) => [n, i] as const).filter(([n]) => !usual.includes(n));
  return (
    <ul
      className={`w-loglist w-scroll ${logs ? "w-records" : "w-spans"}`}
      tabIndex={0}
      aria-label={display.title || (logs ? "Records" : "Traces")}
    >
      {(data?.rows ?? []).map((r, i) => {
        const get = (name: string): string => text(r[at(name)]);
        const bad = logs ? ["ERROR", "FATAL"].includes(get("severity").toUpperCase()) : r[at("has_error")] === true;
        const trace = get("trace_id");
        const rest = more.map(([n, c]) =>
          text(r[c]) ? (
            <span key={n} className="chip" title={n}>
              {line(text(r[c]), 60)}
            </span>
          ) : null,
        );
        const level = severe[get("severity").toUpperCase()] ?? "info";
        const main = logs ? line(get("body"), 400) : line(get("span_name"), 200);
        return (
          // biome-ignore lint: rows have no other name than their order
          <li key={i} className={bad ? "w-failing" : undefined}>
            <span className="faint" title={exact(get("timestamp"))}>
              {clock(Date.parse(get("timestamp")), true)}
            </span>
            {logs ? (
              <span className={`sev sev-${level}`}>{line(get("severity"), 8)}</span>
            ) : (
              <b className={bad ? "bad" : ""}>
                {bad ? "✖ " : ""}
                {duration(num(r[at("duration_ms")]) ?? undefined)}
              </b>
            )}
            <span className="clip">{line(get("service_name"), 60)}</span>
            <span className="clip grow">
              {leads && /^[0-9a-f]{32}$/.test(trace) ? leads.trace(trace, main) : main} {rest}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
