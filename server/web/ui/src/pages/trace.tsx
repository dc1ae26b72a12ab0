import { useEffect, useMemo, useRef, useState } from "react";
import { block, count, duration, line, slot } from "../parts/format";
import { Copy, Empty, Failed, Load, Waiting } from "../parts/states";
import { exact, stamp } from "../parts/time";
import { change, href, Link, useAddress } from "../frame/router";
import { useCall, useFrame } from "../frame/session";
import { LargestPage } from "../gen/limits";
import type { TraceSkeleton } from "../gen/api";
import { FlameGraph } from "../trace/flamegraph";
import { build } from "../trace/tree";
import { Waterfall } from "../trace/waterfall";
import { withCondition } from "../where/parse";
import { Fields, Record } from "./logs";
import { TraceReplays } from "./tracereplays";
import { useSkeleton } from "./traceskeleton";
import { CriticalPath, Operations } from "./traceviews";
import "../parts/lists.css";
import "./logs.css";
import "./trace.css";

const views = { waterfall: "Waterfall", flame: "Flame graph", path: "Critical path", operations: "Operations", logs: "Logs" } as const;
type View = keyof typeof views;

/** Trace answers one question: why was it slow, or why did it fail? */
export default function Trace({ id }: { id: string }) {
  const { org } = useFrame();
  const address = useAddress();
  const loaded = useSkeleton(id);
  const { skeleton, spans, names, services } = loaded;
  const tree = useMemo(() => build(spans), [spans]);
  const asked = address.searchParams.get("view") ?? "";
  const view: View = asked in views ? (asked as View) : "waterfall";
  const find = address.searchParams.get("find") ?? "";
  const only = address.searchParams.has("errors");
  const selected = address.searchParams.get("span") ?? "";
  const root = tree.spans[0];
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = `${root ? line(names[root.name ?? 0] ?? "", 60) : "Trace"} · ${org.name} · svc`;
  }, [root, names, org.name]);
  const matches = useMemo(() => {
    if (!find && !only) return null;
    const text = find.toLowerCase();
    const set = new Set<number>();
    tree.spans.forEach((s, i) => {
      if (only && !s.hasError) return;
      if (
        !text ||
        (names[s.name ?? 0] ?? "").toLowerCase().includes(text) ||
        (services[s.service ?? 0] ?? "").toLowerCase().includes(text) ||
        s.id === text
      )
        set.add(i);
    });
    return set;
  }, [tree, names, services, find, only]);
  const select = (span: string): void => change({ span }, true);
  const step = (direction: 1 | -1): void => {
    const list = [...(matches ?? [])];
    const here = tree.spans.findIndex((s) => s.id === selected);
    const next = direction > 0 ? list.find((i) => i > here) : list.reverse().find((i) => i < here);
    if (next !== undefined) select(tree.spans[next]!.id ?? "");
  };
  if (loaded.error && !skeleton) {
    return loaded.error.status === 404 || loaded.error.status === 400 ? (
      <Empty title="This server does not have the trace">
        <p className="mono">{line(id, 100)}</p>
        <p>{loaded.error.message}</p>
        <p>It may be older than the retention, sampled away, or in another organization. A trace that was just sent takes some seconds.</p>
        <button type="button" className="button" onClick={loaded.again}>
          Look again
        </button>
      </Empty>
    ) : (
      <Failed error={loaded.error} retry={loaded.again} />
    );
  }
  if (!skeleton) return <Waiting lines={12} />;
  const total = skeleton.spanCount ?? spans.length;
  return (
    <>
      <div className="pagehead">
        <h1>{root ? line(names[root.name ?? 0] ?? "", 300) : "Trace"}</h1>
        <span className="faint">
          {duration(skeleton.durationMs ?? 0)} · {count(total)} spans · {skeleton.serviceCount ?? services.length} services ·{" "}
          <span className={skeleton.errorCount ? "bad" : ""}>{count(skeleton.errorCount ?? 0)} errors</span> ·{" "}
          <span title={exact(skeleton.startTime)}>{stamp(skeleton.startTime)}</span>
        </span>
        <span className="grow" />
        <TraceReplays id={id} skeleton={skeleton} />
        <code className="clip">{line(id, 40)}</code>
        <Copy text={id} label="Copy id" />
        <Copy text={`${location.origin}/traces/${id}`} label="Copy link" />
      </div>
      {(loaded.more || spans.length < total) && (
        <p className="notice panel" role="status">
          {count(spans.length)} of {count(total)} spans {loaded.more ? "loaded so far …" : "loaded"}
        </p>
      )}
      {loaded.error && (
        <p className="notice panel" role="alert">
          A part is missing: {loaded.error.message}
        </p>
      )}
      <div className="row wrap">
        <nav className="tabs views" aria-label="Views">
          {(Object.keys(views) as View[]).map((v) => (
            <Link
              key={v}
              href={href(`/traces/${id}`, { span: selected, ...(v === "waterfall" ? {} : { view: v }) })}
              aria-current={v === view ? "page" : undefined}
            >
              {views[v]}
            </Link>
          ))}
        </nav>
        <input
          ref={input}
          className="field"
          data-bar=""
          type="search"
          aria-label="Find spans by name, service or id"
          placeholder="Find name, service, id"
          value={find}
          onChange={(e) => change({ find: e.target.value }, true)}
          onKeyDown={(e) => e.key === "Enter" && step(e.shiftKey ? -1 : 1)}
        />
        {matches && (
          <span className="faint" role="status">
            {count(matches.size)} found
          </span>
        )}
        <button type="button" className="button" disabled={!matches?.size} aria-label="Previous match" onClick={() => step(-1)}>
          ‹
        </button>
        <button type="button" className="button" disabled={!matches?.size} aria-label="Next match" onClick={() => step(1)}>
          ›
        </button>
        <button type="button" className="button" aria-pressed={only} onClick={() => change({ errors: only ? null : "1" }, true)}>
          Errors
        </button>
      </div>
      <div className="legend">
        {services.slice(0, 16).map((s) => (
          <span key={s}>
            <i className="dot" style={{ background: `var(--s${slot(s)})` }} /> {line(s, 60)}
          </span>
        ))}
        {services.length > 16 && <span>{services.length - 16} more</span>}
        {tree.orphans > 0 && <span className="warn">{tree.orphans} spans without their parent</span>}
      </div>
      <div className={`tracebody${selected ? " withspan" : ""}`}>
        {view === "logs" ? (
          <TraceLogs id={id} skeleton={skeleton} />
        ) : (
          <section className="panel">
            {view === "waterfall" && (
              <Waterfall tree={tree} names={names} services={services} selected={selected} matches={matches} onSelect={select} />
            )}
            {view === "flame" && (
              <FlameGraph tree={tree} names={names} services={services} selected={selected} matches={matches} onSelect={select} />
            )}
            {view === "path" && <CriticalPath id={id} start={skeleton.startTime} selected={selected} onSelect={select} />}
            {view === "operations" && (
              <Operations id={id} tree={tree} names={names} services={services} partial={loaded.more} onSelect={select} />
            )}
          </section>
        )}
        {selected && <Details key={selected} trace={id} span={selected} start={skeleton.startTime} total={skeleton.durationMs ?? 0} />}
      </div>
    </>
  );
}

function around(skeleton: { startTime?: string; endTime?: string }): { startTime: string; endTime: string } {
  const at = (text: string | undefined, add: number): string => new Date(Date.parse(text ?? "") + add).toISOString();
  return { startTime: at(skeleton.startTime, -60_000), endTime: at(skeleton.endTime, 60_000) };
}

function TraceLogs({ id, skeleton, span }: { id: string; skeleton: TraceSkeleton; span?: string }) {
  const [open, setOpen] = useState<string | null>(null);
  const found = useCall("LogsService/SearchLogs", {
    ...around(skeleton),
    limit: LargestPage,
    filters: { traceId: id, ...(span ? { spanId: span } : {}) },
  });
  return (
    <section className="panel">
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length && (
            <Empty title={span ? "No logs of this span" : "No logs of this trace"}>
              <p>Records join a trace by the trace id that the logging library adds.</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <div className="logs">
            {[...(d.data ?? [])].reverse().map((l) => (
              <div key={l.id}>
                <button
                  type="button"
                  className={`log sev-${(l.severityText ?? "").toLowerCase().replace(/[^a-z]/g, "")}`}
                  aria-expanded={open === l.id}
                  onClick={() => setOpen(open === l.id ? null : (l.id ?? null))}
                >
                  <span className="faint" title={exact(l.timestamp)}>
                    {stamp(l.timestamp).slice(11)}
                  </span>
                  <span className="sev">{line(l.severityText ?? "", 8)}</span>
                  <span className="clip">{line(l.serviceName ?? "", 60)}</span>
                  <span className="clip">{line(l.body ?? "", 600)}</span>
                </button>
                {open === l.id && <Record log={l} onFilter={(f, v) => change({ q: withCondition("", f, "=", v) })} />}
              </div>
            ))}
            {d.hasMore && <p className="notice">The first {LargestPage} records are shown.</p>}
          </div>
        )}
      </Load>
    </section>
  );
}

function Details({ trace, span, start, total }: { trace: string; span: string; start: string | undefined; total: number }) {
  const found = useCall("TracesService/GetSpan", { traceId: trace, spanId: span, ...(start ? { timestamp: start } : {}) }, { keep: false });
  return (
    <aside className="panel details" aria-label="Span">
      <Load of={found}>
        {(s) => (
          <>
            <header>
              <h2 className="grow clip" title={line(s.name ?? "", 500)}>
                {line(s.name ?? "", 300)}
              </h2>
              <button type="button" className="button small quiet" aria-label="Close the span" onClick={() => change({ span: null }, true)}>
                ✕
              </button>
            </header>
            <div className="body detailbody">
              <div className="row wrap">
                <Link className="chip" href={href(`/services/${encodeURIComponent(s.serviceName ?? "")}`)}>
                  <i className="dot" style={{ background: `var(--s${slot(s.serviceName ?? "")})` }} /> {line(s.serviceName ?? "", 80)}
                </Link>
                <span className="chip">{s.kind}</span>
                <span className={`chip ${s.statusCode === "Error" ? "bad" : ""}`}>
                  {s.statusCode === "Error" ? "✖ " : ""}
                  {s.statusCode}
                </span>
                <span className="chip">
                  {duration(s.durationMs ?? 0)}
                  {total > 0 ? `, ${(((s.durationMs ?? 0) / total) * 100).toFixed(0)} %` : ""}
                </span>
                <Copy text={span} label="Copy id" />
                <Link className="button small" href={href("/logs", { q: `trace_id = ${trace} AND span_id = ${span}` })}>
                  Logs
                </Link>
              </div>
              {s.statusMessage && (
                <p className="bad message" tabIndex={0}>
                  {block(s.statusMessage, 4000)}
                </p>
              )}
              {(s.events ?? []).map((e, i) => (
                // biome-ignore lint: events have no id
                <section key={i} className="event">
                  <h3>
                    {e.name === "exception" ? (
                      <span className="bad">✖ {line(e.attributes?.["exception.type"] ?? "exception", 200)}</span>
                    ) : (
                      line(e.name ?? "", 200)
                    )}{" "}
                    <span className="faint" title={exact(e.timestamp)}>
                      {stamp(e.timestamp).slice(11)}
                    </span>
                  </h3>
                  {e.attributes?.["exception.message"] && (
                    <p className="message" tabIndex={0}>
                      {block(e.attributes["exception.message"], 4000)}
                    </p>
                  )}
                  {e.attributes?.["exception.stacktrace"] && (
                    <pre className="stack" tabIndex={0} aria-label="Stack trace">
                      {block(e.attributes["exception.stacktrace"], 50_000)}
                    </pre>
                  )}
                  <Fields
                    title="Event"
                    map={Object.fromEntries(
                      Object.entries(e.attributes ?? {}).filter(([k]) => !/^exception\.(type|message|stacktrace)$/.test(k)),
                    )}
                    prefix="event."
                  />
                </section>
              ))}
              <Fields title="Attributes" map={s.attributes ?? {}} prefix="attr." />
              {(s.links ?? []).length > 0 && (
                <section>
                  <h3 className="faint">Links {s.links?.length}</h3>
                  {s.links?.map((l) => (
                    <p key={`${l.traceId}${l.spanId}`}>
                      <Link className="mono" href={href(`/traces/${l.traceId}`, { span: l.spanId })}>
                        {l.traceId}
                      </Link>
                    </p>
                  ))}
                </section>
              )}
              <Fields title="Resource" map={s.resourceAttributes ?? {}} prefix="resource." />
              <p className="faint">
                {line(s.scopeName ?? "", 200)} {line(s.scopeVersion ?? "", 50)}
              </p>
            </div>
          </>
        )}
      </Load>
    </aside>
  );
}
