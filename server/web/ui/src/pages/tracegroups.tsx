import { useId, useState } from "react";
import { change, useAddress } from "../frame/router";
import { times, useCall, useFrame } from "../frame/session";
import type { QueryBreakdownResponse, QueryRow } from "../gen/api";
import { BreakdownRows } from "../gen/limits";
import { isOneOf } from "../parts/choices";
import { count, duration, line, percent } from "../parts/format";
import { Load } from "../parts/states";
import { withCondition } from "../where/parse";
import "../heat/heat.css";
import { NoRoots, NothingMatches } from "./traces";

/** The columns: the aggregation of each, and how a value is shown. */
const columns = {
  count: { name: "Spans", aggregation: "count", show: (n: number) => count(Math.round(n)) },
  errors: { name: "Failed", aggregation: "error_rate", show: percent },
  p50: { name: "p50", aggregation: "p50_duration", show: duration },
  p95: { name: "p95", aggregation: "p95_duration", show: duration },
  p99: { name: "p99", aggregation: "p99_duration", show: duration },
} as const;
type Column = keyof typeof columns;
const names = Object.keys(columns) as Column[];

/** Fields that people group by, with the name of each in the query language. */
const usual: Array<[string, string]> = [
  ["Service", "service.name"],
  ["Operation", "span.name"],
  ["Status", "status"],
  ["Route", "http.route"],
  ["HTTP status", "http.status_code"],
  ["Version", "service.version"],
  ["Environment", "deployment.environment"],
  ["Host", "resource.host.name"],
];
const language: Record<string, string> = { status: "status.code" };
const ofRows = new Set(usual.map(([, field]) => field));

/** nameOf is a field as the bar and the query language have it: an attribute, unless it is known. */
const nameOf = (text: string): string =>
  ofRows.has(text) || /^(attr|resource)\./.test(text) || text === "http.method" ? text : `attr.${text}`;

/** Groups shows spans or traces by the values of a field. A column sorts them, and a click on a value narrows the filter. */
export default function Groups({ q, of: spans, submit }: { q: string; of: string; submit: (q: string) => void }) {
  const { window: w } = useFrame();
  const address = useAddress();
  const get = (name: string): string => address.searchParams.get(name) ?? "";
  const field = nameOf(get("group") || "service.name");
  const roots = get("root") === "1";
  const [of = "", direction = ""] = get("sort").split(":");
  const sort: Column = isOneOf(names, of) ? of : "count";
  const up = direction === "asc";
  const where = [spans, ...(roots ? ["root_only = true"] : [])].filter(Boolean).join(" AND ");
  // The first query decides which groups come, and in what order.
  const order = [sort, ...names.filter((n) => n !== sort)];
  const found = useCall("QueryService/QueryBreakdown", {
    ...times(w),
    queries: order.map((n) => ({
      name: n,
      source: "traces" as const,
      aggregation: columns[n].aggregation,
      groupBy: [language[field] ?? field],
      limit: BreakdownRows,
      ...(where ? { where } : {}),
      ...(n === sort && up ? { order: { by: "value" as const, direction: "asc" as const } } : {}),
    })),
  });
  const narrow = (value: string): void => submit(value === "" ? withNone(q, field) : withCondition(q, field, "=", value));
  return (
    <section className="panel">
      <header className="boxhead">
        <h2 className="grow">
          {roots ? "Root spans" : "Spans"} by {line(field, 80)}
        </h2>
        <div className="row" role="group" aria-label="Spans to count">
          <button type="button" className="button small" aria-pressed={!roots} onClick={() => change({ root: null })}>
            All spans
          </button>
          <button type="button" className="button small" aria-pressed={roots} onClick={() => change({ root: "1" })}>
            Root spans, one a trace
          </button>
        </div>
      </header>
      <GroupBy field={field} sort={sort} />
      <Load of={found} lines={10} empty={(d) => !d.data?.length && (roots ? <NoRoots /> : <NothingMatches q={q} what="trace" />)}>
        {(d) => <Rows d={d} field={field} order={order} sort={sort} up={up} onPick={narrow} />}
      </Load>
    </section>
  );
}

/** sortOf is a column as the address has it. */
const sortOf = (column: string): string | null => (column === "count" ? null : column);

/** withNone narrows to the spans without a field. */
const withNone = (q: string, field: string): string => {
  const condition = `NOT ${field} exists`;
  return q.includes(condition) ? q : q.trim() ? `${q.trim()} AND ${condition}` : condition;
};

/** GroupBy chooses the field: a usual one, or any attribute of the window. */
function GroupBy({ field, sort }: { field: string; sort: Column }) {
  const { window: w } = useFrame();
  const id = useId();
  const [asked, setAsked] = useState(false);
  const keys = useCall("AttributesService/ListAttributeKeys", { ...times(w), signal: "traces", limit: 100 }, { enabled: asked });
  const choose = (value: string): void => {
    const text = value.trim();
    if (text) change({ group: text === "service.name" ? null : text });
  };
  return (
    <form
      className="row wrap groupby"
      onSubmit={(e) => {
        e.preventDefault();
        choose(String(new FormData(e.currentTarget).get("field") ?? ""));
      }}
    >
      <span className="faint">Group by</span>
      {usual.map(([name, value]) => (
        <button key={value} type="button" className="button small" aria-pressed={field === value} onClick={() => choose(value)}>
          {name}
        </button>
      ))}
      <input
        key={field}
        className="field mono"
        name="field"
        aria-label="Attribute to group by"
        placeholder="any attribute"
        list={id}
        spellCheck={false}
        autoComplete="off"
        defaultValue={ofRows.has(field) ? "" : field}
        onFocus={() => setAsked(true)}
        onChange={(e) => {
          // A choice of the list comes as one change.
          if ((keys.data?.data ?? []).some((k) => named(k) === e.target.value)) choose(e.target.value);
        }}
      />
      {/* a phone has no heads of columns */}
      <select className="field sortby" aria-label="Sort by" value={sort} onChange={(e) => change({ sort: sortOf(e.target.value) })}>
        {names.map((n) => (
          <option key={n} value={n}>
            most {columns[n].name}
          </option>
        ))}
      </select>
      <datalist id={id}>
        {(keys.data?.data ?? []).map((k) => (
          <option key={named(k)} value={named(k)} />
        ))}
      </datalist>
    </form>
  );
}

const named = (k: { key?: string; scope?: string }): string => `${k.scope === "resource" ? "resource" : "attr"}.${k.key}`;

type RowsProps = { d: QueryBreakdownResponse; field: string; order: Column[]; sort: Column; up: boolean; onPick: (value: string) => void };

function Rows({ d, field, order, sort, up, onPick }: RowsProps) {
  const at = (n: Column): number => order.indexOf(n);
  const value = (r: QueryRow, n: Column): number | undefined => r.values?.[at(n)]?.value ?? undefined;
  const rows = (d.data ?? []).filter((r) => !r.other);
  const rest = (d.data ?? []).find((r) => r.other);
  const total = (d.data ?? []).reduce((sum, r) => sum + (value(r, "count") ?? 0), 0);
  const most = Object.fromEntries(names.map((n) => [n, Math.max(1e-12, ...rows.map((r) => value(r, n) ?? 0))])) as Record<Column, number>;
  const head = (n: Column) => (
    <th key={n} scope="col" className="num" aria-sort={sort === n ? (up ? "ascending" : "descending") : undefined}>
      <button type="button" onClick={() => change({ sort: sort === n && !up ? `${n}:asc` : sortOf(n) })}>
        {columns[n].name}
        {sort === n ? (up ? " ↑" : " ↓") : ""}
      </button>
    </th>
  );
  const figures = (r: QueryRow) =>
    names.flatMap((n) => {
      const v = value(r, n);
      const failing = n === "errors" && (v ?? 0) > 0;
      const cell = (
        <td key={n} className={`num ${failing ? "bad" : n === "errors" ? "faint" : ""}`}>
          <span className="label">{columns[n].name} </span>
          {v === undefined ? "–" : columns[n].show(v)}
          {!r.other && v !== undefined && (
            <span className="bar" aria-hidden="true">
              <i
                style={{
                  width: `${(v / most[n]) * 100}%`,
                  background: n === "errors" ? "var(--bad)" : n === "count" ? "var(--s1)" : "var(--s2)",
                }}
              />
            </span>
          )}
        </td>
      );
      if (n !== "count") return [cell];
      return [
        cell,
        <td key="share" className="num faint">
          <span className="label">share </span>
          {percent((v ?? 0) / Math.max(total, 1e-12))}
        </td>,
      ];
    });
  return (
    <>
      {(d.warnings ?? []).map((text) => (
        <p key={text} className="notice" role="status">
          {line(text, 300)}
        </p>
      ))}
      <table className="data fold groups">
        <thead>
          <tr>
            <th scope="col">{line(field, 80)}</th>
            {names.flatMap((n) =>
              n === "count"
                ? [
                    head(n),
                    <th key="share" scope="col" className="num">
                      Share
                    </th>,
                  ]
                : [head(n)],
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => {
            const text = r.group?.[0] ?? "";
            return (
              <tr key={text}>
                <td>
                  <button
                    type="button"
                    className="value clip"
                    title={`Only ${line(text || "spans without it", 200)}`}
                    onClick={() => onPick(text)}
                  >
                    {text === "" ? <i className="faint">without it</i> : line(text, 300)}
                  </button>
                </td>
                {figures(r)}
              </tr>
            );
          })}
          {rest && (
            <tr>
              <td className="faint">all other values</td>
              {figures(rest)}
            </tr>
          )}
        </tbody>
      </table>
      <p className="fine">
        {rest
          ? `The first ${count(rows.length)} values by ${columns[sort].name}; the others are summed up in the last row.`
          : `${count(rows.length)} ${rows.length === 1 ? "value" : "values"}, ${count(Math.round(total))} spans. `}
        Counts and percentiles are corrected for sampling.
      </p>
    </>
  );
}
