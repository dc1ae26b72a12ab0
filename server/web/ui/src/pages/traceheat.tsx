import { useEffect, useMemo, useState } from "react";
import { change, href, Link, useAddress } from "../frame/router";
import { useCall, useFrame } from "../frame/session";
import type { Difference, DifferenceValue, ExplainDifferenceRequest, TraceDistribution, WidgetTable } from "../gen/api";
import { ListRows, SearchWindow } from "../gen/limits";
import { HeatPlot } from "../heat/plot";
import {
  type Box,
  boundName,
  conditionOf,
  type Grid,
  gridOf,
  inside,
  rangeName,
  read,
  slowest,
  stepOf,
  timeName,
  windowOf,
  written,
} from "../heat/select";
import { DurationBar } from "../parts/durationbar";
import { count, lasts, line, percent } from "../parts/format";
import { Load, Service } from "../parts/states";
import { clock, exact, iso, type Window } from "../parts/time";
import { withCondition } from "../where/parse";
import { NoRoots, NothingMatches } from "./traces";

/** `of` are the spans of the filter `q`, in the query language. */
type Props = { q: string; of: string; submit: (q: string) => void };

/** Heat shows durations over time. A box on them becomes a selection: what sets its spans apart, and their traces. */
export default function Heat({ q, of: spans, submit }: Props) {
  const { window: whole, env } = useFrame();
  const address = useAddress();
  const roots = address.searchParams.get("root") === "1";
  const box = useMemo(() => read(address.searchParams.get("sel") ?? ""), [address.searchParams.get("sel")]);
  const w = useMemo(() => ({ start: Math.max(whole.start, whole.end - SearchWindow), end: whole.end }), [whole.start, whole.end]);
  const where = [spans, ...(roots ? ["root_only = true"] : [])].filter(Boolean).join(" AND ");
  const step = stepOf(w, useNarrow() ? 62 : 130);
  const found = useCall("TracesService/QueryTraceDistribution", {
    startTime: iso(w.start),
    endTime: iso(w.end),
    bucketSeconds: step,
    ...(where ? { where } : {}),
  });
  const pick = (b: Box | null): void => change({ sel: b ? written(b) : null });
  return (
    <>
      <section className="panel">
        <header className="boxhead">
          <h2 className="grow">Duration over time</h2>
          <div className="row" role="group" aria-label="Spans to count">
            <button type="button" className="button small" aria-pressed={!roots} onClick={() => change({ root: null })}>
              All spans
            </button>
            <button type="button" className="button small" aria-pressed={roots} onClick={() => change({ root: "1" })}>
              Root spans, one a trace
            </button>
          </div>
        </header>
        <div className="body">
          <Load of={found} lines={11} empty={(d) => !d.data?.length && (roots ? <NoRoots /> : <NothingMatches q={q} what="trace" />)}>
            {(d) => (
              <Plot d={d} w={windowOfAnswer(d)} env={env} where={where} roots={roots} cut={w.start > whole.start} box={box} onBox={pick} />
            )}
          </Load>
        </div>
      </section>
      {box && (found.data?.data?.length ?? 0) > 0 && (
        <Selected box={box} w={windowOfAnswer(found.data!)} where={where} q={q} submit={submit} step={step * 1000} />
      )}
    </>
  );
}

/** The window of an answer, which can be an earlier one while a new one loads. */
const windowOfAnswer = (d: TraceDistribution): Window => ({ start: Date.parse(d.startTime ?? ""), end: Date.parse(d.endTime ?? "") });

type PlotProps = {
  d: TraceDistribution;
  w: Window;
  env: string;
  where: string;
  roots: boolean;
  cut: boolean;
  box: Box | null;
  onBox: (b: Box | null) => void;
};

function Plot({ d, w, env, where, roots, cut, box, onBox }: PlotProps) {
  const grid = useMemo(() => gridOf(d, w), [d]);
  const [all, received] = [d.count ?? 0, d.receivedCount ?? 0];
  return (
    <>
      <p className="heatsub">
        <span>
          <b>{count(Math.round(all))}</b> {roots ? "root spans" : "spans"}
        </span>
        {d.errorCount ? (
          <Link
            className="bad"
            href={href("/difference", { where, selected: "has_error = true" })}
            title="What is different in the failed spans"
          >
            ✖ {count(Math.round(d.errorCount))} failed ({percent(d.errorCount / Math.max(all, 1e-9))})
          </Link>
        ) : (
          <span>none failed</span>
        )}
        <span>{timeName(w.start, w.end, 60_000)}</span>
        <span>{env ? `environment ${line(env, 60)}` : "all environments"}</span>
        <span>{lasts(grid.step)} a column</span>
        {Math.abs(all - received) > 0.5 && (
          <span className="chip" title="The figures are corrected for sampling">
            sampled: {count(received)} received
          </span>
        )}
        {cut && <span className="chip">the last {lasts(SearchWindow)} of the window</span>}
      </p>
      <HeatPlot grid={grid} box={box} onBox={onBox} />
      {!box && <Hint grid={grid} onBox={onBox} />}
    </>
  );
}

/** Hint says what a box is for, and offers the usual ones. */
function Hint({ grid, onBox }: { grid: Grid; onBox: (b: Box) => void }) {
  const slow = useMemo(() => slowest(grid, 0.05), [grid]);
  return (
    <div className="row wrap heathint">
      <span className="faint grow">Draw a box to see what sets its spans apart: with the mouse, or by arrows, Shift and Enter.</span>
      {slow && (
        <button type="button" className="button small" onClick={() => onBox(slow.box)}>
          Explain the slowest {percent(slow.share)}: {boundName(slow.box.low)} and longer
        </button>
      )}
    </div>
  );
}

/** Selected explains the spans of a box and lists their traces. */
function Selected({
  box: drawn,
  w,
  where,
  q,
  submit,
  step,
}: {
  box: Box;
  w: Window;
  where: string;
  q: string;
  submit: (q: string) => void;
  step: number;
}) {
  const box = inside(drawn, w) ?? drawn;
  const times = windowOf(box, w);
  const inBox = conditionOf(box);
  const request: ExplainDifferenceRequest = {
    signal: "traces",
    ...times,
    ...(where ? { where } : {}),
    ...(inBox ? { selected: inBox } : {}),
    otherStartTime: iso(w.start),
    otherEndTime: iso(w.end),
  };
  const found = useCall("DiagnosisService/ExplainDifference", request, { enabled: times !== null });
  const name = `${timeName(box.from, box.to, step)}, ${rangeName(box.low, box.high)}`;
  const page = href("/difference", {
    where,
    selected: inBox,
    bfrom: iso(box.from),
    bto: iso(box.to),
    rest: "1",
  });
  const limits = [
    ...(box.low > 0 ? [["duration", ">=", `${box.low}ms`]] : []),
    ...(box.high === null ? [] : [["duration", "<", `${box.high}ms`]]),
  ];
  return (
    <>
      <section className="panel selected" aria-label="The box">
        <header className="boxhead">
          <h2>{name}</h2>
          <span className="grow faint">
            {times &&
              found.data &&
              !found.isPlaceholderData &&
              `${count(Math.round(found.data.selected?.count ?? 0))} ${box.failed ? "failed spans" : "spans"} in the box`}
          </span>
          <button
            type="button"
            className="button small"
            aria-pressed={box.failed === true}
            onClick={() => change({ sel: written({ ...box, failed: !box.failed }) })}
          >
            Only what failed
          </button>
          <Link className="button small" href={page}>
            What is different, in full
          </Link>
          <button type="button" className="button small" onClick={() => change({ from: iso(box.from), to: iso(box.to), sel: null })}>
            Zoom to this time
          </button>
          {limits.length > 0 && (
            <button
              type="button"
              className="button small"
              onClick={() => submit(limits.reduce((text, [f, op, v]) => withCondition(text, f!, op!, v!), q))}
            >
              Filter for these durations
            </button>
          )}
          <button type="button" className="button small" aria-label="Remove the box" onClick={() => change({ sel: null })}>
            ×
          </button>
        </header>
      </section>
      <div className="heatbelow">
        <section className="panel" aria-label="What is different">
          <header>
            <h2 className="grow">What is different</h2>
            <span className="faint legend">
              <span>
                <i className="dot" style={{ background: "var(--accent)" }} /> {box.failed ? "failed in the box" : "in the box"}
              </span>
              <span>
                <i className="dot" style={{ background: "var(--edge)" }} /> the rest of the window
              </span>
            </span>
          </header>
          {times ? (
            <Load of={found} lines={6} empty={(d) => !d.data?.length && <Alike d={d} />}>
              {(d) => <Contrasts d={d} q={q} submit={submit} />}
            </Load>
          ) : (
            <Alike d={{}} />
          )}
        </section>
        {times && <Spans times={times} where={[where, inBox].filter(Boolean).join(" AND ")} />}
      </div>
    </>
  );
}

function Alike({ d }: { d: Difference }) {
  if (!d.selected?.count) return <p className="fine">No span of this window lies in the box.</p>;
  if (!d.other?.count) return <p className="fine">All spans of the window lie in the box.</p>;
  return (
    <p className="fine">
      Nothing sets the {count(Math.round(d.selected.count))} spans in the box apart from the {count(Math.round(d.other.count))} others, as
      far as chance tells.
    </p>
  );
}

function Contrasts({ d, q, submit }: { d: Difference; q: string; submit: (q: string) => void }) {
  const part = Math.min(d.selected?.readShare ?? 1, d.other?.readShare ?? 1);
  return (
    <>
      <ol className="contrast">
        {d.data?.slice(0, 8).map((v) => (
          <Contrast key={`${v.key}=${v.value}`} v={v} q={q} submit={submit} />
        ))}
      </ol>
      {part < 1 && <p className="fine">Estimates: of the larger side {percent(part)} were read.</p>}
    </>
  );
}

/** fieldOf is the name that the bar has for a key of a difference, and whether it takes NOT; null when the bar cannot say it. */
export function fieldOf(key: string): { field: string; negatable: boolean } | null {
  const named: Record<string, string> = { name: "span.name", "deployment.environment.name": "deployment.environment" };
  if (["kind", "status.message"].includes(key) || /[\s"=<>!()]/.test(key)) return null;
  if (named[key]) return { field: named[key], negatable: false };
  const plain = ["service.name", "service.version"].includes(key) || key.startsWith("resource.");
  return { field: plain ? key : `attr.${key}`, negatable: true };
}

function Contrast({ v, q, submit }: { v: DifferenceValue; q: string; submit: (q: string) => void }) {
  const to = fieldOf(v.key ?? "");
  const lift = v.lift ?? null;
  const words =
    lift === null
      ? "all of them have it"
      : lift > 1000
        ? "over ×1,000 as likely"
        : lift >= 1
          ? `×${count(lift < 10 ? Math.round(lift * 10) / 10 : Math.round(lift))} as likely`
          : "rarer";
  return (
    <li>
      <div className="name">
        <code className="faint">{line(v.key ?? "", 120)}</code> <b>{line(v.value ?? "", 160)}</b>
        <div className="row wrap">
          <span className="faint">{words}</span>
          {to && (
            <button type="button" className="button small quiet" onClick={() => submit(withCondition(q, to.field, "=", v.value ?? ""))}>
              Only these
            </button>
          )}
          {to?.negatable && (
            <button
              type="button"
              className="button small quiet"
              onClick={() => submit(withCondition(q, `NOT ${to.field}`, "=", v.value ?? ""))}
            >
              Without
            </button>
          )}
        </div>
      </div>
      <div className="versusbars">
        <span className="bar">
          <i style={{ width: `${(v.selectedShare ?? 0) * 100}%`, background: "var(--accent)" }} />
        </span>
        <span className="num">{percent(v.selectedShare ?? 0)}</span>
        <span className="bar">
          <i style={{ width: `${(v.otherShare ?? 0) * 100}%`, background: "var(--edge)" }} />
        </span>
        <span className="num faint">{percent(v.otherShare ?? 0)}</span>
      </div>
    </li>
  );
}

/** Spans lists the traces of a box, each with its latest span in the box. */
function Spans({ times, where }: { times: { startTime: string; endTime: string }; where: string }) {
  const found = useCall("DashboardDataService/PreviewDashboardWidget", {
    widget: {
      id: "box",
      visualization: "list",
      dataSource: {
        kind: "query",
        resultShape: "list",
        limit: ListRows,
        queries: [
          { id: "a", name: "A", enabled: true, dataSource: "traces", aggregation: "count", ...(where ? { whereClause: where } : {}) },
        ],
      },
      display: {},
      layout: { x: 0, y: 0, w: 4, h: 4 },
    },
    timeRange: { type: "absolute", ...times },
    emptyRangeFallback: false,
  });
  const rows = found.data?.table?.rows ?? [];
  return (
    <section className="panel" aria-label="Traces in the box">
      <header>
        <h2 className="grow">
          {rows.length ? `${count(rows.length)}${rows.length >= ListRows ? "+" : ""} traces in the box, latest first` : "Traces in the box"}
        </h2>
      </header>
      <Load of={found} lines={6} empty={(d) => !d.table?.rows?.length && <p className="fine">No trace has a span in the box.</p>}>
        {(d) => <Listed table={d.table ?? {}} />}
      </Load>
    </section>
  );
}

function Listed({ table }: { table: WidgetTable }) {
  const [all, setAll] = useState(false);
  const at = (name: string): number => (table.columns ?? []).findIndex((c) => c.name === name);
  const rows = table.rows ?? [];
  const text = (row: unknown[], name: string): string => String(row[at(name)] ?? "");
  const longest = Math.max(1e-6, ...rows.map((r) => Number(text(r, "duration_ms"))));
  return (
    <>
      <table className="data fold rows">
        <thead>
          <tr>
            <th scope="col">Span</th>
            <th scope="col" className="w200">
              Duration
            </th>
            <th scope="col" className="w90">
              Started
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, all ? rows.length : 20).map((r) => {
            const [trace, failed, ms] = [text(r, "trace_id"), text(r, "has_error") === "true", Number(text(r, "duration_ms"))];
            return (
              <tr key={trace}>
                <td>
                  <Link className="main" href={href(`/traces/${trace}`, { span: text(r, "span_id") })}>
                    {line(text(r, "span_name") || "(no name)", 200)}
                  </Link>{" "}
                  {failed && <span className="bad">✖ error</span>}{" "}
                  <span className="faint">
                    <Service name={line(text(r, "service_name"), 80)} />
                  </span>
                </td>
                <td>
                  <DurationBar ms={ms} longest={longest} failed={failed} />
                </td>
                <td className="faint" title={exact(text(r, "timestamp"))}>
                  {clock(Date.parse(text(r, "timestamp")))}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {!all && rows.length > 20 && (
        <p className="fine">
          <button type="button" className="button" onClick={() => setAll(true)}>
            Show all {count(rows.length)}
          </button>
        </p>
      )}
    </>
  );
}

/** useNarrow tells whether the screen is that of a phone. */
function useNarrow(): boolean {
  const [narrow, set] = useState(() => matchMedia("(max-width: 760px)").matches);
  useEffect(() => {
    const media = matchMedia("(max-width: 760px)");
    const look = (): void => set(media.matches);
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, []);
  return narrow;
}
