import { useInfiniteQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { type ApiError, call } from "../api/client";
import { DurationBar } from "../parts/durationbar";
import { count, duration, line } from "../parts/format";
import { Histogram } from "../parts/histogram";
import { Empty, Load, Service, Unread, Waiting } from "../parts/states";
import { isOneOf } from "../parts/choices";
import { exact, iso, stamp } from "../parts/time";
import { change, href, Link, navigate, useAddress } from "../frame/router";
import { times, useCall, useFrame } from "../frame/session";
import type { SearchTracesResponse, TraceFilters } from "../gen/api";
import { isFree } from "../frame/keys";
import { Silence } from "../frame/silence";
import { Views } from "../views/save";
import { WhereBar } from "../where/bar";
import { hasOr, quoted, traceWhere, withCondition } from "../where/parse";
import { askedTraces, problemOf } from "../where/text";
import "./home.css";
import "../parts/lists.css";
import "./logs.css";

const Chart = lazy(() => import("../parts/chart"));
const Heat = lazy(() => import("./traceheat"));
const Groups = lazy(() => import("./tracegroups"));
const Spans = lazy(() => import("./tracespans"));
const views = { traces: "List", spans: "Spans", groups: "Groups", heat: "Heatmap" };
type View = keyof typeof views;
const order = Object.keys(views) as View[];
const fields = [
  "service.name",
  "span.name",
  "duration",
  "has_error",
  "status",
  "root",
  "http.method",
  "http.route",
  "http.status_code",
  "trace_id",
];
const zoom = (start: number, end: number): void => change({ from: iso(start), to: iso(end) });

/** Traces finds the slow and the failed: one filter and window, shown as traces, as spans, as groups, or as a heatmap. */
export default function Traces() {
  const { window: w, env, org } = useFrame();
  const address = useAddress();
  const q = address.searchParams.get("q") ?? "";
  const named = address.searchParams.get("view") ?? "";
  const view: View = isOneOf(order, named) ? named : "traces";
  const asked = useMemo(() => askedTraces(q, env), [q, env]);
  const { filters, where } = asked;
  // The facets of the list are asked for in every view, where the server has to read the text.
  const facets = useCall("TracesService/SearchTraceFacets", { ...times(w), filters, where }, { enabled: where !== undefined });
  const error = asked.error ?? problemOf(facets.error, asked.back);
  useEffect(() => {
    document.title = `Traces · ${org.name} · svc`;
  }, [org.name]);
  const show = (v: View): string | null => (v === "traces" ? null : v);
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      const v = order[Number(e.key) - 1];
      if (v && isFree(e)) change({ view: show(v) });
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const submit = (text: string): void => change({ q: text });
  const of = where
    ? [env ? `deployment.environment = ${quoted(env)}` : "", `(${where})`].filter(Boolean).join(" AND ")
    : traceWhere(q, env).where;
  return (
    <>
      <div className="pagehead">
        <h1>Traces</h1>
        <span className="grow" />
        <Views page="traces" />
      </div>
      <nav className="tabs" aria-label="Views">
        {order.map((v, i) => (
          <Link key={v} href={viewed(v)} aria-current={v === view ? "page" : undefined} aria-keyshortcuts={String(i + 1)}>
            {views[v]} <kbd aria-hidden="true">{i + 1}</kbd>
          </Link>
        ))}
      </nav>
      <WhereBar
        value={q}
        signal="traces"
        builtin={fields}
        error={error}
        placeholder="service.name = cart AND duration > 250ms AND has_error = true"
        onSubmit={submit}
      />
      {error ? (
        <Unread />
      ) : view === "traces" ? (
        <List q={q} filters={filters} where={where} submit={submit} />
      ) : (
        <Suspense fallback={<Waiting lines={11} />}>
          {view === "spans" ? (
            <Spans q={q} filters={filters} where={where} />
          ) : view === "heat" ? (
            <Heat q={q} of={of} submit={submit} />
          ) : (
            <Groups q={q} of={of} submit={submit} />
          )}
        </Suspense>
      )}
    </>
  );
}

/** viewed is the address of a view, with all that the page has in its address. */
function viewed(view: View): string {
  const target = new URL(location.href);
  if (view === "traces") target.searchParams.delete("view");
  else target.searchParams.set("view", view);
  return target.pathname + target.search;
}

type ListProps = { q: string; filters: TraceFilters; where: string | undefined; submit: (q: string) => void };

/** List shows counts and latency over time, facets, and the traces. */
function List({ q, filters, where, submit }: ListProps) {
  const { window: w } = useFrame();
  const counts = useCall("TracesService/QueryTraceTimeseries", {
    ...times(w),
    aggregation: "count",
    groupBy: "status_code",
    filters,
    where,
  });
  const p95 = useCall("TracesService/QueryTraceTimeseries", { ...times(w), aggregation: "p95_duration", filters, where });
  const facets = useCall("TracesService/SearchTraceFacets", { ...times(w), filters, where });
  const list = useTraces(filters, where);
  const [at, setAt] = useState(-1);
  const rows = list.data?.pages.flatMap((p) => p.data ?? []) ?? [];
  useRows(rows.length, at, setAt, () => rows[at] && navigate(href(`/traces/${rows[at].id}`)));
  const longest = Math.max(1, ...rows.map((r) => r.durationMs ?? 0));
  return (
    <>
      <div className="grid two">
        <section className="panel">
          <header>
            <h2 className="grow">Spans</h2>
          </header>
          <div className="body">
            <Load of={counts} empty={(d) => !d.series?.length && <p className="faint">No spans.</p>}>
              {(d) => <Counts series={d.series ?? []} step={(d.bucketSeconds ?? 60) * 1000} />}
            </Load>
          </div>
        </section>
        <section className="panel">
          <header>
            <h2>p95 of duration</h2>
          </header>
          <div className="body">
            <Load of={p95} empty={(d) => !d.series?.[0]?.points?.length && <p className="faint">No spans.</p>}>
              {(d) => <Latency points={d.series?.[0]?.points ?? []} />}
            </Load>
          </div>
        </section>
      </div>
      <div className="withfacets">
        <Facets
          of={facets}
          fields={{
            service: "service.name",
            span_name: "span.name",
            status_code: "status",
            http_method: "http.method",
            http_status_code: "http.status_code",
            deployment_environment: "resource.deployment.environment.name",
          }}
          onPick={(f, v) => submit(withCondition(q, f, "=", v))}
        />
        <section className="panel">
          <header>
            <h2 className="grow">{rows.length ? `${count(rows.length)}${list.hasNextPage ? "+" : ""} traces, newest first` : "Traces"}</h2>
          </header>
          <Load of={list} empty={() => rows.length === 0 && <NothingMatches q={q} what="trace" why={list.data?.pages[0]?.warnings} />}>
            {() => (
              <>
                <table className="data fold rows">
                  <thead>
                    <tr>
                      <th scope="col">Root</th>
                      <th scope="col" className="w200">
                        Duration
                      </th>
                      <th scope="col" className="w200">
                        Started
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((t, i) => (
                      // biome-ignore lint: the link in the first cell is the way for the keyboard
                      <tr
                        key={t.id}
                        aria-selected={i === at}
                        onClick={(e) => !(e.target as Element).closest("a") && navigate(href(`/traces/${t.id}`))}
                      >
                        <td>
                          <Link className="main" href={href(`/traces/${t.id}`)}>
                            {line(t.rootSpanName || "(root span is missing)", 300)}
                          </Link>{" "}
                          <span className="faint">
                            <Service name={line(t.rootServiceName ?? "", 100)} />
                          </span>{" "}
                          {t.rootHasError && <span className="bad">✖ error</span>}{" "}
                          {t.httpStatusCode && <span className="faint">{line(t.httpStatusCode, 10)}</span>}
                        </td>
                        <td>
                          <DurationBar ms={t.durationMs ?? 0} longest={longest} failed={t.rootHasError} />
                        </td>
                        <td className="faint" title={exact(t.startTime)}>
                          {stamp(t.startTime)}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                <More list={list} />
              </>
            )}
          </Load>
        </section>
      </div>
    </>
  );
}

function useTraces(filters: TraceFilters, where: string | undefined) {
  const { window: w, org } = useFrame();
  return useInfiniteQuery<SearchTracesResponse, ApiError, { pages: SearchTracesResponse[] }, unknown[], string>({
    queryKey: [org.id, "traces", times(w), filters, where],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      call(
        "TracesService/SearchTraces",
        { ...times(w), limit: 100, filters, where, ...(pageParam ? { cursor: pageParam } : {}) },
        { org: org.id ?? "", signal },
      ),
    getNextPageParam: (p) => (p.hasMore ? p.nextCursor : undefined),
    placeholderData: (before) => before,
  });
}

export function More({ list }: { list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown } }) {
  if (!list.hasNextPage) return <p className="fine">That is all of this window.</p>;
  return (
    <p className="fine">
      <button type="button" className="button" disabled={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
        {list.isFetchingNextPage ? "Loading …" : "Load 100 more"}
      </button>
    </p>
  );
}

/** useRows moves through a list by j and k, and opens a row by Enter. */
export function useRows(n: number, at: number, setAt: (i: number) => void, open: () => void): void {
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if (
        e.metaKey ||
        e.ctrlKey ||
        e.altKey ||
        (e.target as Element).matches?.("input, textarea, select, a, button") ||
        document.querySelector("dialog[open]")
      )
        return;
      if (e.key === "j") setAt(Math.min(at + 1, n - 1));
      else if (e.key === "k") setAt(Math.max(at - 1, 0));
      else if (e.key === "Enter" && at >= 0) open();
      else return;
      e.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
  useEffect(() => {
    if (at >= 0) document.querySelector('tr[aria-selected="true"], [data-at]')?.scrollIntoView({ block: "nearest" });
  }, [at]);
}

/** NoRoots says why root spans alone can be none where there are spans. */
export function NoRoots() {
  return (
    <Empty title="No root span matches in this window">
      <p>A root span has no parent. Those of these traces may not have been received, or the filter names a service that others call.</p>
      <button type="button" className="button primary" onClick={() => change({ root: null })}>
        Count all spans
      </button>
    </Empty>
  );
}

/** NothingMatches is an empty list. `why` are the warnings of its answer: names that the window does not have, with the nearest ones. */
export function NothingMatches({ q, what, why }: { q: string; what: "trace" | "span" | "record" | "pattern"; why?: string[] | undefined }) {
  const ofTraces = what === "trace" || what === "span";
  if (!q) return <Silence signal={ofTraces ? "traces" : "logs"} path={ofTraces ? "/traces" : "/logs"} />;
  const shorter = q.includes(" AND ") && !/[()]/.test(q) && !hasOr(q) ? q.slice(0, q.lastIndexOf(" AND ")) : "";
  return (
    <Empty title={`No ${what} matches in this window`}>
      {why?.map((w) => (
        <p key={w}>{line(w, 500)}</p>
      ))}
      <div className="row wrap">
        <button type="button" className="button" onClick={() => change({ q: shorter })}>
          {shorter ? "Drop the last condition" : "Drop the filter"}
        </button>
        <button type="button" className="button" onClick={() => change({ from: "-24h", to: null })}>
          Last 24 hours
        </button>
      </div>
    </Empty>
  );
}

type Series = Array<{ group?: string; points?: Array<{ timestamp?: string; value?: number }> }>;

function Counts({ series, step }: { series: Series; step: number }) {
  const at = useMemo(
    () => [...new Set(series.flatMap((s) => (s.points ?? []).map((p) => Date.parse(p.timestamp ?? ""))))].sort((a, b) => a - b),
    [series],
  );
  const stacks = useMemo(() => {
    const total = (name: string, test: (g: string) => boolean, color: string) => {
      const values = new Map<number, number>();
      for (const s of series)
        if (test(s.group ?? ""))
          for (const p of s.points ?? [])
            values.set(Date.parse(p.timestamp ?? ""), (values.get(Date.parse(p.timestamp ?? "")) ?? 0) + (p.value ?? 0));
      return { name, color, values: at.map((t) => values.get(t) ?? 0) };
    };
    return [total("error", (g) => g === "Error", "--bad"), total("ok", (g) => g !== "Error", "--s0")];
  }, [series, at]);
  return <Histogram title="Spans over time" times={at} step={step} stacks={stacks} height={110} onBrush={zoom} />;
}

function Latency({ points }: { points: Array<{ timestamp?: string; value?: number }> }) {
  const at = useMemo(() => points.map((p) => Date.parse(p.timestamp ?? "")), [points]);
  const lines = useMemo(() => [{ label: "p95", color: "--s2", values: points.map((p) => p.value ?? 0) }], [points]);
  return (
    <Suspense fallback={<div style={{ height: 132 }} />}>
      <Chart title="p95 of duration" times={at} lines={lines} format={duration} height={132} onBrush={zoom} />
    </Suspense>
  );
}

type FacetsProps = {
  of: Parameters<typeof Load<{ data?: Array<{ facetType?: string; name?: string; count?: number }> }>>[0]["of"];
  fields: Record<string, string>;
  onPick: (field: string, value: string) => void;
};

/** Facets lists the values of the window with their counts; a click makes one a condition. */
export function Facets({ of, fields: names, onPick }: FacetsProps) {
  return (
    <aside className="panel facets" aria-label="Values">
      <Load of={of} empty={(d) => !d.data?.length && <p className="fine">No values.</p>}>
        {(d) => (
          <>
            {Object.entries(names).map(([type, field]) => {
              const values = (d.data ?? []).filter((f) => f.facetType === type && f.name).slice(0, 8);
              if (values.length === 0) return null;
              const most = Math.max(...values.map((v) => v.count ?? 0), 1);
              return (
                <details key={type} open>
                  <summary>{field.replace(/^resource\./, "")}</summary>
                  <ul>
                    {values.map((v) => (
                      <li key={v.name}>
                        <button
                          type="button"
                          onClick={() => onPick(field, v.name ?? "")}
                          title={`Add ${field} = ${line(v.name ?? "", 80)}`}
                        >
                          <i style={{ width: `${((v.count ?? 0) / most) * 100}%` }} aria-hidden="true" />
                          <span className="clip grow">{line(v.name ?? "", 120)}</span>
                          <span className="faint">{count(v.count)}</span>
                        </button>
                      </li>
                    ))}
                  </ul>
                </details>
              );
            })}
          </>
        )}
      </Load>
    </aside>
  );
}
