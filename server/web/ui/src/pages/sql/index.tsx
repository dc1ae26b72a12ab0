import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, call } from "../../api/client";
import { change, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { SqlResult } from "../../gen/api";
import { SQLMemory, SQLResult, SQLRows, SQLRowsRead, SQLTime } from "../../gen/limits";
import { AddToDashboard, type NewWidget } from "../../parts/addtodashboard";
import { csv } from "../../parts/chartdata";
import { bytes, count, digits, duration, lasts, line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Copy, Waiting } from "../../parts/states";
import type { Table } from "../../sql/complete";
import type { Editor } from "../../sql/sqleditor";
import { place } from "../../sql/place";
import { Views } from "../../views/save";
import { Drawing } from "./drawing";
import { Grid } from "./grid";
import { drawn, widgetOf } from "./result";
import { Schema } from "./schema";
import { fresh, packed, readHistory, readTabs, remembered, type Tabs, unpacked } from "./tabs";
import "./sql.css";

const SqlEditor = lazy(() => import("../../sql/sqleditor"));
const first =
  "SELECT\n  ServiceName,\n  sum(SampleRate) AS calls,\n  round(quantileTDigestWeighted(0.95)(DurationNano, toUInt64(round(SampleRate * 16))) / 1e6, 1) AS p95_ms\nFROM spans\nWHERE $__timeFilter(Timestamp) AND IsEntry\nGROUP BY ServiceName\nORDER BY calls DESC\n";

type Outcome = { sql: string; result?: SqlResult; error?: ApiError; stopped?: number };

/** Sql runs statements over the telemetry: a tree of tables, an editor with completion, the cost, and the result as a grid or a chart. */
export default function Sql() {
  const { window: w, org } = useFrame();
  const address = useAddress();
  const store = `sql:${org.id}`;
  const [tabs, setTabs] = useState<Tabs>(() => {
    const one = fresh(first);
    return readTabs(localStorage.getItem(store)) ?? { list: [one], at: one.id };
  });
  const [history, setHistory] = useState(() => readHistory(localStorage.getItem(`${store}:history`)));
  const back = useRef(-1);
  const [outcomes, setOutcomes] = useState<Record<string, Outcome>>({});
  const [running, setRunning] = useState<{ tab: string; since: number } | null>(null);
  const [view, setView] = useState<"grid" | "chart" | "expanded">("grid");
  const stop = useRef<AbortController>(null) as { current: AbortController | null };
  const editor = useRef<Editor>(null) as { current: Editor | null };
  const tables = useCall("SqlService/ListSqlTables", {});
  const known = useMemo(
    (): Table[] =>
      (tables.data?.data ?? []).map((t) => ({
        name: t.name ?? "",
        description: t.description ?? "",
        columns: (t.columns ?? []).map((c) => ({ name: c.name ?? "", type: c.type ?? "" })),
      })),
    [tables.data],
  );
  const tab = tabs.list.find((t) => t.id === tabs.at) ?? tabs.list[0]!;
  const outcome = outcomes[tab.id];
  useEffect(() => {
    document.title = `SQL · ${org.name} · svc`;
  }, [org.name]);
  // A link brings statements of its own: in its fragment, or one as a parameter.
  const asked = address.searchParams.get("sql");
  useEffect(() => {
    const z = /^#z=(.+)$/.exec(location.hash)?.[1];
    if (z) void unpacked(z).then((t) => t && setTabs(t));
    else if (asked) {
      setTabs((t) =>
        t.list.some((x) => x.sql === asked)
          ? { ...t, at: t.list.find((x) => x.sql === asked)!.id }
          : ((one) => ({ list: [...t.list, one].slice(-20), at: one.id }))(fresh(asked, t.list.length + 1)),
      );
      change({ sql: null }, true); // so that the same link opens it again
    }
  }, [asked]);
  useEffect(() => {
    localStorage.setItem(store, JSON.stringify(tabs));
    const wait = setTimeout(
      () =>
        void packed(tabs).then(
          (z) =>
            z.length < 30_000 &&
            location.pathname.endsWith("/sql") &&
            window.history.replaceState(null, "", `${location.pathname}${location.search}#z=${z}`),
        ),
      400,
    );
    return () => clearTimeout(wait);
  }, [tabs, store]);
  useEffect(() => () => stop.current?.abort(), []);
  const write = (text: string): void => setTabs((t) => ({ ...t, list: t.list.map((x) => (x.id === tab.id ? { ...x, sql: text } : x)) }));
  const [adding, setAdding] = useState<NewWidget | null>(null);
  const run = useCallback(async (): Promise<void> => {
    if (stop.current || !tab.sql.trim()) return;
    const leave = new AbortController();
    stop.current = leave;
    const since = Date.now();
    setRunning({ tab: tab.id, since });
    const sql = tab.sql;
    const next = remembered(history, sql);
    back.current = -1;
    setHistory(next);
    localStorage.setItem(`${store}:history`, JSON.stringify(next));
    let outcome: Outcome;
    try {
      outcome = {
        sql,
        result: await call("SqlService/RunSql", { sql, ...times(w), maxRows: SQLRows }, { org: org.id ?? "", signal: leave.signal }),
      };
    } catch (e) {
      outcome = leave.signal.aborted
        ? { sql, stopped: Date.now() - since }
        : { sql, error: e instanceof ApiError ? e : new ApiError(String(e), 0, "It failed", "", "", false, "", "") };
    }
    stop.current = null;
    setRunning(null);
    setOutcomes((all) => ({ ...all, [tab.id]: outcome }));
  }, [tab, w, org.id, history, store]);
  const older = (up: boolean): string | null => {
    const to = back.current + (up ? 1 : -1);
    if (to < -1 || to >= history.length) return null;
    back.current = to;
    return to === -1 ? "" : (history[to] ?? null);
  };
  const error = useMemo(
    () => (outcome?.error && outcome.sql === tab.sql ? place(tab.sql, outcome.error.message) : null),
    [outcome, tab.sql],
  );
  const close = (id: string): void =>
    setTabs((t) => {
      const list = t.list.filter((x) => x.id !== id);
      const kept = list.length ? list : [fresh("", 1)];
      return { list: kept, at: t.at === id ? kept[0]!.id : t.at };
    });
  const r = outcome?.result;
  return (
    <>
      <div className="pagehead">
        <h1>SQL</h1>
        <span className="grow" />
        <Views page="sql" parameters={{ sql: tab.sql }} />
      </div>
      <div className="sqlpage">
        <Schema
          of={tables}
          onPick={(text) => editor.current?.insert(text)}
          onExample={(sql) => setTabs((t) => ((one) => ({ list: [...t.list, one], at: one.id }))(fresh(sql, t.list.length + 1)))}
        />
        <div className="sqlmain">
          <section className="panel">
            <div className="sqltabs" role="group" aria-label="Statements">
              {tabs.list.map((t) => (
                <span key={t.id} className="sqltab" data-here={t.id === tab.id ? "" : undefined}>
                  <button type="button" aria-pressed={t.id === tab.id} className="clip" onClick={() => setTabs({ ...tabs, at: t.id })}>
                    {line(t.name, 30)}
                  </button>
                  {tabs.list.length > 1 && (
                    <button type="button" aria-label={`Close ${line(t.name, 30)}`} onClick={() => close(t.id)}>
                      ×
                    </button>
                  )}
                </span>
              ))}
              <button
                type="button"
                className="button small quiet"
                aria-label="New statement"
                onClick={() => setTabs((t) => ((one) => ({ list: [...t.list, one].slice(-20), at: one.id }))(fresh("", t.list.length + 1)))}
              >
                +
              </button>
            </div>
            <div className="sqlbox">
              <Suspense fallback={<Waiting lines={6} />}>
                <SqlEditor
                  key={tab.id}
                  value={tab.sql}
                  label={`SQL of ${tab.name}`}
                  tables={known}
                  error={error}
                  onChange={write}
                  onRun={() => void run()}
                  onHistory={older}
                  editor={(e) => {
                    editor.current = e;
                  }}
                />
              </Suspense>
            </div>
            <div className="sqlbar">
              {running ? (
                <Running since={running.since} stop={() => stop.current?.abort()} />
              ) : (
                <button type="button" className="button primary" onClick={() => void run()}>
                  Run <kbd>⌘⏎</kbd>
                </button>
              )}
              {history.length > 0 && (
                <Menu
                  label="History"
                  items={history.slice(0, 15).map((h, i) => ({ name: `${i + 1}. ${line(h.trim(), 70)}`, act: () => write(h) }))}
                >
                  History
                </Menu>
              )}
              <span className="grow faint limits">
                Up to {lasts(SQLTime)}, {bytes(SQLMemory.bytes)} of memory, {count(SQLRowsRead)} rows read, {digits(SQLRows)} rows and{" "}
                {bytes(SQLResult.bytes)} returned. Statements only read. Macros stand for the window of the page.
              </span>
            </div>
          </section>
          <section className="panel" aria-live="polite">
            {!outcome && (
              <div className="state">
                <h2>No result yet</h2>
                <p>Run the statement. The tables are on the left; Ctrl Space completes.</p>
              </div>
            )}
            {outcome?.stopped !== undefined && (
              <div className="state">
                <h2>Stopped</h2>
                <p>You stopped the statement after {duration(outcome.stopped)}. The server ended it.</p>
              </div>
            )}
            {outcome?.error && (
              <div className="state failed" role="alert">
                <h2>{outcome.error.title}</h2>
                <p>{outcome.error.message}</p>
                {error && (
                  <p>
                    <button type="button" className="button small" onClick={() => editor.current?.focus()}>
                      It is underlined in the statement
                    </button>
                  </p>
                )}
                {outcome.error.requestId && <Copy text={outcome.error.requestId} label="Copy the request id" />}
              </div>
            )}
            {r && (
              <>
                <header className="sqlhead">
                  {(["grid", "chart", "expanded"] as const).map((v) => (
                    <button key={v} type="button" className="button small" aria-pressed={view === v} onClick={() => setView(v)}>
                      {v === "grid" ? "Grid" : v === "chart" ? "Chart" : "Expanded statement"}
                    </button>
                  ))}
                  <button type="button" className="button small" onClick={() => download(r)}>
                    CSV
                  </button>
                  <button
                    type="button"
                    className="button small"
                    onClick={() => setAdding(widgetOf(tab.name, outcome.sql, view === "chart" && drawn(r).kind === "lines"))}
                  >
                    Add to dashboard
                  </button>
                  <span className="grow" />
                  <span className="faint" role="status">
                    {count(r.rowCount ?? 0)} rows · {duration(r.statistics?.elapsedMs ?? 0)} · {count(r.statistics?.rowsRead ?? 0)} rows
                    read · {bytes(r.statistics?.bytesRead ?? 0)}
                  </span>
                </header>
                {outcome.sql !== tab.sql && <p className="notice">The statement has changed since this result.</p>}
                {r.truncated && (
                  <p className="notice">
                    The statement has more rows than the {count(r.rowCount)} that are shown. Aggregate, or add a LIMIT.
                  </p>
                )}
                {r.warnings?.map((t) => (
                  <p key={t} className="notice">
                    {t}
                  </p>
                ))}
                {view === "grid" &&
                  ((r.rows ?? []).length ? (
                    <Grid result={r} />
                  ) : (
                    <div className="state">
                      <h2>No rows</h2>
                      <p>{r.usesWindow ? "The statement has no rows in the window of the page." : "The statement has no rows."}</p>
                    </div>
                  ))}
                {view === "chart" && <Drawing result={r} />}
                {view === "expanded" && (
                  <pre className="expanded" tabIndex={0} aria-label="Statement with its macros expanded">
                    {r.expandedSql}
                  </pre>
                )}
              </>
            )}
          </section>
        </div>
      </div>
      {adding && <AddToDashboard widget={adding} close={() => setAdding(null)} />}
    </>
  );
}

/** Running counts the seconds. Stop ends the call, and the server ends the statement. */
function Running({ since, stop }: { since: number; stop: () => void }) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const id = setInterval(() => set(Date.now()), 100);
    return () => clearInterval(id);
  }, []);
  return (
    <>
      <button type="button" className="button danger" onClick={stop}>
        Stop
      </button>
      <span className="faint mono">{((now - since) / 1000).toFixed(1)} s</span>
    </>
  );
}

function download(r: SqlResult): void {
  const text = csv([(r.columns ?? []).map((c) => c.name), ...(r.rows ?? [])]);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = "result.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
