import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { type ApiError, call } from "../api/client";
import { block, count, line, percent } from "../parts/format";
import { Histogram } from "../parts/histogram";
import { Copy, Load, Unread } from "../parts/states";
import { clock, exact, iso, stamp } from "../parts/time";
import { isFree } from "../frame/keys";
import { change, href, Link, useAddress } from "../frame/router";
import { times, useCall, useFrame } from "../frame/session";
import type { Log, LogFilters, SearchLogsResponse } from "../gen/api";
import { Context } from "../logs/context";
import { Tail } from "../logs/tailview";
import { Views } from "../views/save";
import { WhereBar } from "../where/bar";
import { withCondition } from "../where/parse";
import { askedLogs, problemOf } from "../where/text";
import { Facets, More, NothingMatches, useRows } from "./traces";
import "./home.css";
import "../parts/lists.css";
import "./logs.css";

const fields = ["service.name", "severity", "body", "trace_id", "span_id"];
const levels: Array<[string, string]> = [
  ["FATAL", "--fatal"],
  ["ERROR", "--bad"],
  ["WARN", "--warn"],
  ["INFO", "--s6"],
  ["DEBUG", "--faint"],
  ["TRACE", "--edge"],
];
const zoom = (start: number, end: number): void => change({ from: iso(start), to: iso(end) });

/** The level of a record: that of its number, else of its text. */
export function level(l: Log): string {
  const n = l.severityNumber ?? 0;
  if (n >= 21) return "fatal";
  if (n >= 17) return "error";
  if (n >= 13) return "warn";
  if (n >= 9) return "info";
  if (n >= 5) return "debug";
  if (n >= 1) return "trace";
  const text = (l.severityText ?? "").toLowerCase();
  return levels.find(([s]) => text.startsWith(s.toLowerCase()))?.[0].toLowerCase() ?? "none";
}

/** Logs is for reading: a filter, a histogram by severity, the records, and each record in full in its place. */
export default function Logs() {
  const { window: w, env, org } = useFrame();
  const address = useAddress();
  const q = address.searchParams.get("q") ?? "";
  const view = address.searchParams.get("view") === "patterns" ? "patterns" : "list";
  const live = address.searchParams.has("live") && view === "list";
  const wrapped = address.searchParams.has("wrap");
  const { filters, where, back } = useMemo(() => askedLogs(q, env), [q, env]);
  const series = useCall(
    "LogsService/QueryLogTimeseries",
    { ...times(w), aggregation: "count", groupBy: "severity", filters, where },
    { enabled: !live },
  );
  const facets = useCall("LogsService/SearchLogFacets", { ...times(w), filters, where }, { enabled: !live || where !== undefined });
  const error = problemOf(facets.error, back);
  useEffect(() => {
    document.title = `Logs · ${org.name} · svc`;
  }, [org.name]);
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if (e.key !== "l" || !isFree(e)) return;
      change({ live: live ? null : "1", view: null });
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [live]);
  const submit = (text: string): void => change({ q: text });
  const filter = (field: string, value: string): void => submit(withCondition(q, field, "=", value));
  return (
    <>
      <div className="pagehead">
        <h1>Logs</h1>
        <span className="grow" />
        <button
          type="button"
          className="button"
          aria-pressed={live}
          aria-keyshortcuts="l"
          onClick={() => change({ live: live ? null : "1", view: null })}
        >
          Live
        </button>
        <button
          type="button"
          className="button"
          aria-pressed={view === "patterns"}
          onClick={() => change({ view: view === "patterns" ? null : "patterns", live: null })}
        >
          Patterns
        </button>
        <button type="button" className="button" aria-pressed={wrapped} onClick={() => change({ wrap: wrapped ? null : "1" }, true)}>
          Wrap
        </button>
        <Views page="logs" />
      </div>
      <WhereBar
        value={q}
        signal="logs"
        builtin={fields}
        error={error}
        placeholder='severity >= WARN AND service.name = cart "text"'
        onSubmit={submit}
      />
      {!live && !error && (
        <section className="panel">
          <div className="body">
            <Load of={series}>{(d) => <Levels series={d.series ?? []} step={(d.bucketSeconds ?? 60) * 1000} />}</Load>
          </div>
        </section>
      )}
      {error ? (
        <Unread />
      ) : (
        <div className={live ? "" : "withfacets"}>
          {!live && (
            <Facets
              of={facets}
              fields={{ severity: "severity", service: "service.name", deployment_environment: "resource.deployment.environment.name" }}
              onPick={filter}
            />
          )}
          {live ? (
            <Tail filters={filters} where={where} enabled={!error}>
              {(l, open, toggle) => <Row log={l} open={open} selected={false} wrapped={wrapped} onToggle={toggle} onFilter={filter} />}
            </Tail>
          ) : view === "list" ? (
            <List q={q} filters={filters} where={where} enabled={!error} wrapped={wrapped} onFilter={filter} />
          ) : (
            <Patterns filters={filters} where={where} onPick={(text) => change({ q: withWords(q, text), view: null })} />
          )}
        </div>
      )}
    </>
  );
}

/** The longest fixed part of a pattern finds its records. */
function withWords(q: string, template: string): string {
  const part =
    template
      .split(/<[^>]*>|\*/)
      .map((p) => p.trim())
      .sort((a, b) => b.length - a.length)[0] ?? "";
  return part ? `${q} "${part.replace(/["\\]/g, "\\$&")}"`.trim() : q;
}

type Series = Array<{ group?: string; points?: Array<{ timestamp?: string; value?: number }> }>;

function Levels({ series, step }: { series: Series; step: number }) {
  const at = useMemo(
    () => [...new Set(series.flatMap((s) => (s.points ?? []).map((p) => Date.parse(p.timestamp ?? ""))))].sort((a, b) => a - b),
    [series],
  );
  const stacks = useMemo(() => {
    const named = new Map(levels.map(([name, color]) => [name, { name: name.toLowerCase(), color, values: at.map(() => 0) }]));
    const other = { name: "other", color: "--s7", values: at.map(() => 0) };
    const index = new Map(at.map((t, i) => [t, i]));
    for (const s of series) {
      const into = named.get((s.group ?? "").toUpperCase().replace(/^WARNING$/, "WARN")) ?? other;
      for (const p of s.points ?? []) {
        const i = index.get(Date.parse(p.timestamp ?? ""));
        if (i !== undefined) into.values[i] = (into.values[i] ?? 0) + (p.value ?? 0);
      }
    }
    return [...named.values(), other].filter((s) => s.values.some((v) => v > 0));
  }, [series, at]);
  if (at.length === 0) return <p className="faint">No records in this window.</p>;
  return <Histogram title="Records over time by severity" times={at} step={step} stacks={stacks} onBrush={zoom} />;
}

function List({
  q,
  filters,
  where,
  enabled,
  wrapped,
  onFilter,
}: {
  q: string;
  filters: LogFilters;
  where: string | undefined;
  enabled: boolean;
  wrapped: boolean;
  onFilter: (field: string, value: string) => void;
}) {
  const { window: w, org } = useFrame();
  const [open, setOpen] = useState<string | null>(null);
  const [at, setAt] = useState(-1);
  const list = useInfiniteQuery<SearchLogsResponse, ApiError, { pages: SearchLogsResponse[] }, unknown[], string>({
    queryKey: [org.id, "logs", times(w), filters, where],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      call(
        "LogsService/SearchLogs",
        { ...times(w), limit: 100, filters, where, ...(pageParam ? { cursor: pageParam } : {}) },
        { org: org.id ?? "", signal },
      ),
    getNextPageParam: (p) => (p.hasMore ? p.nextCursor : undefined),
    placeholderData: (before) => before,
    enabled,
  });
  const rows = list.data?.pages.flatMap((p) => p.data ?? []) ?? [];
  useRows(rows.length, at, setAt, () => setOpen(open === rows[at]?.id ? null : (rows[at]?.id ?? null)));
  const [context, setContext] = useState<string | null>(null);
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      const id = rows[at]?.id ?? open;
      if (e.key !== "v" || !id || !isFree(e)) return;
      setOpen(id);
      setContext(context === id && open === id ? null : id);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  return (
    <section className="panel">
      <header>
        <h2 className="grow">
          {rows.length
            ? `${count(rows.length)}${list.hasNextPage ? "+" : ""} ${rows.length === 1 ? "record" : "records, newest first"}`
            : "Records"}
        </h2>
        <span className="faint">j k move, Enter opens, v shows the context</span>
      </header>
      <Load of={list} empty={() => rows.length === 0 && <NothingMatches q={q} what="record" why={list.data?.pages[0]?.warnings} />}>
        {() => (
          <div className="logs">
            {rows.map((l, i) => (
              <Row
                key={l.id}
                log={l}
                open={open === l.id}
                selected={i === at}
                wrapped={wrapped}
                onToggle={() => setOpen(open === l.id ? null : (l.id ?? null))}
                onFilter={onFilter}
                context={{ shown: context === l.id, turn: () => setContext(context === l.id ? null : (l.id ?? null)) }}
              />
            ))}
            <More list={list} />
          </div>
        )}
      </Load>
    </section>
  );
}

function Row({
  log: l,
  open,
  selected,
  wrapped,
  onToggle,
  onFilter,
  context,
}: RecordProps & {
  open: boolean;
  selected: boolean;
  wrapped: boolean;
  onToggle: () => void;
  onFilter: (field: string, value: string) => void;
}) {
  const lv = level(l);
  return (
    <>
      <button
        type="button"
        className={`log sev-${lv}${wrapped ? " wrapped" : ""}`}
        aria-expanded={open}
        {...(selected ? { "data-at": "" } : {})}
        onClick={onToggle}
      >
        <span className="faint" title={exact(l.timestamp)}>
          {clock(Date.parse(l.timestamp ?? ""), true)}
        </span>
        <span className={`sev sev-${lv}`}>{line(l.severityText || lv, 8)}</span>
        <span className="clip">{line(l.serviceName ?? "", 60)}</span>
        <span className="clip">{wrapped ? block(l.body ?? "", 4000) : line(l.body ?? "", 600)}</span>
      </button>
      {open && <Record log={l} onFilter={onFilter} {...(context ? { context } : {})} />}
    </>
  );
}

/** Near is a record in the context of another. A click shows all its fields. */
function Near({ log: l, here }: { log: Log; here: boolean }) {
  const [open, setOpen] = useState(false);
  const row = (
    <>
      <span className="faint" title={exact(l.timestamp)}>
        {clock(Date.parse(l.timestamp ?? ""), true)}
      </span>
      <span className={`sev sev-${level(l)}`}>{line(l.severityText || level(l), 8)}</span>
      <span className="clip">{line(l.serviceName ?? "", 60)}</span>
      <span className="clip">{line(l.body ?? "", 600)}</span>
    </>
  );
  if (here) return <p className={`log sev-${level(l)}`}>{row}</p>; // its fields stand below
  return (
    <>
      <button type="button" className={`log sev-${level(l)}`} aria-expanded={open} onClick={() => setOpen(!open)}>
        {row}
      </button>
      {open && (
        <div className="record">
          <Whole log={l} />
        </div>
      )}
    </>
  );
}

/** Whole is the text of a record with all its fields. */
function Whole({ log: l, onFilter }: { log: Log; onFilter?: (field: string, value: string) => void }) {
  const of = onFilter ? { onFilter } : {};
  return (
    <>
      <pre tabIndex={0} aria-label="Text of the record">
        {block(l.body ?? "")}
      </pre>
      <Fields title="Attributes" map={l.logAttributes ?? {}} prefix="attr." {...of} />
      <Fields title="Resource" map={l.resourceAttributes ?? {}} prefix="resource." {...of} />
    </>
  );
}

type RecordProps = {
  log: Log;
  onFilter: (field: string, value: string) => void;
  /** Whether the context of the record is shown, where a list decides that; else the record does. */
  context?: { shown: boolean; turn: () => void };
};

/** Record is one record in full. */
export function Record({ log: l, onFilter, context }: RecordProps) {
  const [own, setOwn] = useState(false);
  const [around, turn] = context ? [context.shown, context.turn] : [own, () => setOwn(!own)];
  return (
    <div className="record">
      <div className="row wrap">
        <b className={`sev sev-${level(l)}`}>{line(l.severityText || level(l), 20)}</b>
        <span title={exact(l.timestamp)}>{stamp(l.timestamp)}</span>
        <span className="grow" />
        <button type="button" className="button small" aria-pressed={around} aria-keyshortcuts={context ? "v" : undefined} onClick={turn}>
          Context
        </button>
        {l.traceId && (
          <Link className="button small" href={href(`/traces/${l.traceId}`, l.spanId ? { span: l.spanId } : {})}>
            Trace
          </Link>
        )}
        {l.serviceName && (
          <Link className="button small" href={href(`/services/${encodeURIComponent(l.serviceName)}`)}>
            Service
          </Link>
        )}
        <Copy text={l.body ?? ""} label="Copy text" />
        <Copy text={JSON.stringify(l, null, 2)} label="Copy JSON" />
      </div>
      {around && <Context log={l}>{(near, here) => <Near log={near} here={here} />}</Context>}
      <Whole log={l} onFilter={onFilter} />
    </div>
  );
}

/** Fields lists attributes; a click makes one a condition. Only the first 200 are shown until a person asks for more. */
export function Fields({
  title,
  map,
  prefix,
  onFilter,
}: {
  title: string;
  map: Record<string, string>;
  prefix: string;
  onFilter?: (field: string, value: string) => void;
}) {
  const [all, setAll] = useState(false);
  const entries = Object.entries(map).sort(([a], [b]) => a.localeCompare(b));
  if (entries.length === 0) return null;
  return (
    <section>
      <h3 className="faint">
        {title} {entries.length}
      </h3>
      <dl className="fields">
        {(all ? entries : entries.slice(0, 200)).map(([key, value]) => (
          <div key={key} style={{ display: "contents" }}>
            <dt>{line(key, 300)}</dt>
            <dd>
              <Value text={value} />
              {onFilter && value.length < 500 && (
                <button
                  type="button"
                  className="button small quiet"
                  aria-label={`Filter for ${line(key, 100)}`}
                  onClick={() => onFilter(prefix + key, value)}
                >
                  filter
                </button>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {!all && entries.length > 200 && (
        <button type="button" className="button small" onClick={() => setAll(true)}>
          Show all {entries.length}
        </button>
      )}
    </section>
  );
}

function Patterns({ filters, where, onPick }: { filters: LogFilters; where: string | undefined; onPick: (template: string) => void }) {
  const { window: w } = useFrame();
  const found = useCall("LogsService/SearchLogPatterns", { ...times(w), filters, where, baseline: "previous", maxPatterns: 100 });
  return (
    <section className="panel">
      <header>
        <h2>Patterns</h2>
      </header>
      <Load of={found} empty={(d) => !d.data?.length && <NothingMatches q="" what="pattern" />}>
        {(d) => (
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col">Pattern</th>
                <th scope="col" className="num w90">
                  Records
                </th>
                <th scope="col" className="num w80">
                  Share
                </th>
                <th scope="col" className="w160">
                  Services
                </th>
              </tr>
            </thead>
            <tbody>
              {d.data?.map((p) => (
                <tr key={p.template}>
                  <td>
                    {p.isNew && <span className="chip warn">new</span>}{" "}
                    <button
                      type="button"
                      className="button small quiet mono clip"
                      title={line(p.sample ?? "", 500)}
                      onClick={() => onPick(p.template ?? "")}
                    >
                      {line(p.template ?? "", 400)}
                    </button>
                  </td>
                  <td className="num">{count(Math.round(p.estimatedCount ?? p.count ?? 0))}</td>
                  <td className="num">{percent(p.share)}</td>
                  <td className="faint">
                    {Object.keys(p.serviceCounts ?? {})
                      .slice(0, 3)
                      .map((s) => line(s, 40))
                      .join(", ")}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Load>
    </section>
  );
}

/** Value shows a value; a long one is cut until a person asks for all of it. */
function Value({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const shown = block(text, all ? 200_000 : 1000);
  return (
    <span>
      {shown}
      {!all && text.length > 1000 && (
        <>
          {" "}
          <button type="button" className="button small long" onClick={() => setAll(true)}>
            Show all
          </button>
        </>
      )}
    </span>
  );
}
