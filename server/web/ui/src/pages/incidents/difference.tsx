import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { CauseTabs } from "../../frame/cause";
import { AddFinding } from "../../frame/finding";
import { change, href, Link, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { Difference as Answer, DifferenceValue, ExplainDifferenceRequest } from "../../gen/api";
import { SearchWindow } from "../../gen/limits";
import { errorOf, Field } from "../../parts/form";
import { count, line, percent } from "../../parts/format";
import { Empty, Failed, Load } from "../../parts/states";
import { iso, moment } from "../../parts/time";
import { inside, windowOf } from "../../heat/select";
import { conditionOf, withPart } from "./sides";
import "../home.css";
import "./incidents.css";
import "./difference.css";

const Chart = lazy(() => import("../../parts/chart"));

type Signal = "traces" | "logs" | "sessions";
const signals: Record<Signal, string> = { traces: "spans", logs: "log records", sessions: "sessions" };
const signalOf = (text: string): Signal => (text in signals ? (text as Signal) : "traces");

/** Difference compares two selections of spans, log records or sessions, and shows the values that set them apart. */
export default function Difference() {
  const { window: w, env, org } = useFrame();
  const address = useAddress();
  const get = (name: string): string => address.searchParams.get(name) ?? "";
  const signal = signalOf(get("signal"));
  const where = get("where");
  const [selected, other] = [get("selected"), get("other")];
  const brush = get("bfrom") && get("bto") ? { start: Date.parse(get("bfrom")), end: Date.parse(get("bto")) } : null;
  const scope = [where, env ? `deployment.environment = "${env.replace(/["\\]/g, "\\$&")}"` : ""].filter(Boolean).join(" AND ");
  const start = Math.max(w.start, w.end - SearchWindow);
  // A box of the heatmap stands against the rest of the window, not against other spans of its own time.
  const box = brush !== null && get("rest") === "1";
  const part = box ? inside({ from: brush.start, to: brush.end }, { start, end: w.end }) : null;
  const outside = box && !part;
  const request: ExplainDifferenceRequest = {
    signal,
    ...(scope ? { where: scope } : {}),
    ...(selected ? { selected } : {}),
    ...(other ? { other } : {}),
    ...(box
      ? { ...(part && windowOf(part, { start, end: w.end })), otherStartTime: iso(start), otherEndTime: iso(w.end) }
      : brush
        ? { startTime: iso(brush.start), endTime: iso(brush.end), ...(selected ? {} : before(brush, start)) }
        : { startTime: iso(start), endTime: iso(w.end) }),
  };
  const ready = Boolean(selected || brush);
  const found = useCall("DiagnosisService/ExplainDifference", request, { enabled: ready && !outside });
  useEffect(() => {
    document.title = `What is different · ${org.name} · svc`;
  }, [org.name]);
  const time = brush ? `${moment(part?.from ?? brush.start).slice(11)}–${moment(part?.to ?? brush.end).slice(11)}` : "";
  const names = box
    ? [[time, selected].filter(Boolean).join(", "), other || "the rest of the window"]
    : brush && !selected
      ? [time, "before it"]
      : [selected || "selected", other || "everything else"];
  return (
    <>
      <div className="pagehead">
        <h1>What is different</h1>
      </div>
      <CauseTabs at="difference" />
      <Sides
        key={`${signal}|${where}|${selected}|${other}`}
        signal={signal}
        where={where}
        selected={selected}
        other={other}
        error={found.error}
      />
      {signal !== "sessions" && <Times signal={signal} scope={scope} selected={selected} brush={brush} />}
      {!ready ? (
        <div className="panel">
          <Empty title="Choose a side to explain">
            <p>Failed requests, slow ones, or a time that you mark on the chart. Everything else of the window is the other side.</p>
          </Empty>
        </div>
      ) : outside ? (
        <div className="panel">
          <Nothing d={{}} />
        </div>
      ) : found.error && !found.data ? (
        <div className="panel">
          <Failed error={found.error} retry={() => void found.refetch()} />
        </div>
      ) : (
        <section className="panel">
          <Load of={found} lines={8} empty={(d) => !d.data?.length && <Nothing d={d} />}>
            {(d) => <Values d={d} names={names} signal={signal} where={where} request={request} />}
          </Load>
        </section>
      )}
    </>
  );
}

/** before is the time in front of a marked part, as long as it or to the begin of the window. */
function before(brush: { start: number; end: number }, start: number): { otherStartTime: string; otherEndTime: string } {
  const from = Math.min(Math.max(start, brush.start - 6 * (brush.end - brush.start)), brush.start - 60_000);
  return { otherStartTime: iso(from), otherEndTime: iso(brush.start - 1) };
}

function Sides({
  signal,
  where,
  selected,
  other,
  error,
}: {
  signal: string;
  where: string;
  selected: string;
  other: string;
  error: Parameters<typeof errorOf>[0];
}) {
  const [form, setForm] = useState({ where, selected, other });
  const run = (patch: Partial<typeof form> = {}): void =>
    change({
      ...form,
      ...patch,
      bfrom: patch.selected ? null : new URL(location.href).searchParams.get("bfrom"),
      bto: patch.selected ? null : new URL(location.href).searchParams.get("bto"),
      rest: patch.selected ? null : new URL(location.href).searchParams.get("rest"),
    });
  const presets: Array<[string, string, string]> =
    signal === "logs"
      ? [
          ["Errors and the rest", "severity >= ERROR", ""],
          ["Warnings and the rest", "severity >= WARN", ""],
        ]
      : signal === "sessions"
        ? [
            ["With errors and without", "has_error = true", ""],
            ["Left after one page and not", "page_views <= 1", ""],
            ["New visitors and known ones", "new_visitor = true", ""],
          ]
        : [
            ["Failed and not", "has_error = true", ""],
            ["Slower than 500 ms and not", "duration > 500ms", ""],
            ["Slower than 2 s and not", "duration > 2s", ""],
          ];
  return (
    <form
      className="panel sides"
      onSubmit={(e) => {
        e.preventDefault();
        run();
      }}
    >
      <div className="row wrap" role="group" aria-label="Usual sides">
        <select
          className="field"
          aria-label="Signal"
          value={signal}
          onChange={(e) =>
            change({
              signal: e.target.value === "traces" ? null : e.target.value,
              where: null,
              selected: null,
              other: null,
              bfrom: null,
              bto: null,
              rest: null,
            })
          }
        >
          {Object.entries(signals).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        {presets.map(([name, text]) => (
          <button
            key={name}
            type="button"
            className="button small"
            aria-pressed={selected === text}
            onClick={() => run({ selected: text, other: "" })}
          >
            {name}
          </button>
        ))}
      </div>
      <div className="formgrid">
        <Field label="Of" error={errorOf(error, "where")} hint="Both sides; empty is everything.">
          {(c) => (
            <input
              {...c}
              className="field mono"
              data-bar=""
              spellCheck={false}
              value={form.where}
              placeholder="service.name = cart"
              onChange={(e) => setForm({ ...form, where: e.target.value })}
            />
          )}
        </Field>
        <Field label="Explain" error={errorOf(error, "selected")}>
          {(c) => (
            <input
              {...c}
              className="field mono"
              spellCheck={false}
              value={form.selected}
              placeholder="has_error = true"
              onChange={(e) => setForm({ ...form, selected: e.target.value })}
            />
          )}
        </Field>
        <Field label="Against" error={errorOf(error, "other")}>
          {(c) => (
            <input
              {...c}
              className="field mono"
              spellCheck={false}
              value={form.other}
              placeholder="everything else"
              onChange={(e) => setForm({ ...form, other: e.target.value })}
            />
          )}
        </Field>
      </div>
      <div className="row">
        <span className="grow" />
        {(where || selected || other) && (
          <button
            type="button"
            className="button quiet"
            onClick={() => change({ where: null, selected: null, other: null, bfrom: null, bto: null, rest: null })}
          >
            Clear
          </button>
        )}
        <button type="submit" className="button primary">
          Compare
        </button>
      </div>
    </form>
  );
}

/** Times shows both sides over time. A part that is marked becomes the side to explain. */
function Times({
  signal,
  scope,
  selected,
  brush,
}: {
  signal: "traces" | "logs";
  scope: string;
  selected: string;
  brush: { start: number; end: number } | null;
}) {
  const { window: w } = useFrame();
  const join = (...parts: string[]): string =>
    parts
      .filter(Boolean)
      .map((p) => (parts.length > 1 && / or /i.test(p) ? `(${p})` : p))
      .join(" AND ");
  const series = useCall("QueryService/QueryTimeseries", {
    ...times(w),
    queries: [
      { name: "A", source: signal, aggregation: "count", ...(scope ? { where: scope } : {}) },
      ...(selected ? [{ name: "B", source: signal, aggregation: "count", where: join(scope, selected) }] : []),
    ],
  });
  const drawn = useMemo(() => {
    const all = series.data?.series ?? [];
    const at = [...new Set(all.flatMap((s) => (s.points ?? []).map((p) => Date.parse(p.timestamp ?? ""))))].sort((a, b) => a - b);
    const of = (name: string): number[] => {
      const values = new Map((all.find((s) => s.query === name)?.points ?? []).map((p) => [Date.parse(p.timestamp ?? ""), p.value ?? 0]));
      return at.map((t) => values.get(t) ?? 0);
    };
    return {
      at,
      lines: [
        { label: "all", color: "--s1", values: of("A") },
        ...(selected ? [{ label: "to explain", color: "--bad", values: of("B") }] : []),
      ],
    };
  }, [series.data, selected]);
  const bands = useMemo(() => (brush ? [{ ...brush, color: "--accent" }] : []), [brush?.start, brush?.end]);
  return (
    <section className="panel">
      <header>
        <h2 className="grow">{signal === "logs" ? "Log records" : "Spans"} over time</h2>
        <span className="faint">mark a part to explain it</span>
        {brush && (
          <button type="button" className="button small" onClick={() => change({ bfrom: null, bto: null, rest: null })}>
            {moment(brush.start).slice(11)}–{moment(brush.end).slice(11)} ×
          </button>
        )}
      </header>
      <Load of={series} lines={4} empty={() => drawn.at.length === 0 && <p className="fine">Nothing matches in this window.</p>}>
        {() => (
          <div className="body">
            <Suspense fallback={<div style={{ height: 110 }} />}>
              <Chart
                title="Both sides over time"
                times={drawn.at}
                lines={drawn.lines}
                format={count}
                height={110}
                bands={bands}
                onBrush={(a, b) => change({ bfrom: iso(a), bto: iso(b), rest: null })}
              />
            </Suspense>
          </div>
        )}
      </Load>
    </section>
  );
}

function Nothing({ d }: { d: Answer }) {
  if (!d.selected?.count)
    return (
      <Empty title="The side to explain is empty">
        <p>Nothing in this window matches it. Widen the window, or change the condition.</p>
      </Empty>
    );
  if (!d.other?.count)
    return (
      <Empty title="The other side is empty">
        <p>Everything of the window is on the side to explain.</p>
      </Empty>
    );
  return (
    <Empty title="Nothing sets the sides apart">
      <p>
        {count(d.selected.count)} and {count(d.other.count)} rows have the same values, as far as chance tells.
      </p>
    </Empty>
  );
}

function Values({
  d,
  names,
  signal,
  where,
  request,
}: {
  d: Answer;
  names: string[];
  signal: Signal;
  where: string;
  request: ExplainDifferenceRequest;
}) {
  const part = (side: Answer["selected"]): string =>
    `${count(Math.round(side?.count ?? 0))}${(side?.readShare ?? 1) < 1 ? `, ${percent(side?.readShare)} of them read` : ""}`;
  return (
    <>
      <header className="versus">
        <span>
          <i className="dot" style={{ background: "var(--bad)" }} /> <b>{line(names[0] ?? "", 80)}</b>{" "}
          <span className="faint">{part(d.selected)}</span>
        </span>
        <span>
          <i className="dot" style={{ background: "var(--s1)" }} /> <b>{line(names[1] ?? "", 80)}</b>{" "}
          <span className="faint">{part(d.other)}</span>
        </span>
      </header>
      <ol className="values">
        {d.data?.map((v) => (
          <Value key={`${v.key}${v.value}`} v={v} signal={signal} where={where} request={request} />
        ))}
      </ol>
      {(d.notCompared ?? []).length > 0 && <p className="fine">Not compared: {d.notCompared?.map((t) => line(t, 160)).join("; ")}</p>}
    </>
  );
}

function Value({ v, signal, where, request }: { v: DifferenceValue; signal: Signal; where: string; request: ExplainDifferenceRequest }) {
  const condition = conditionOf(v.key ?? "", v.value ?? "", signal === "sessions");
  const words =
    v.lift === undefined || v.lift === null
      ? "every one of them has it"
      : v.lift >= 1
        ? `×${count(Math.round(v.lift * 10) / 10)}`
        : "rarer here";
  const window = { from: request.startTime, to: request.endTime };
  return (
    <li>
      <div className="name">
        <code>{line(v.key ?? "", 120)}</code> <b>{line(v.value ?? "", 200)}</b>
      </div>
      <div className="pair">
        <span className="bar">
          <i style={{ width: `${(v.selectedShare ?? 0) * 100}%`, background: "var(--bad)" }} />
        </span>
        <span className="num">{percent(v.selectedShare ?? 0)}</span>
        <span className="bar">
          <i style={{ width: `${(v.otherShare ?? 0) * 100}%`, background: "var(--s1)" }} />
        </span>
        <span className="num faint">{percent(v.otherShare ?? 0)}</span>
      </div>
      <div className="lift">
        <b>{words}</b>{" "}
        <span className="faint">
          {percent(v.rateWith ?? 0)} with it, {percent(v.rateWithout ?? 0)} without
        </span>
      </div>
      <div className="row wrap acts">
        {signal !== "sessions" && (
          <Link
            className="button small"
            href={href(`/${signal}`, { ...window, q: withPart(withPart(where, request.selected ?? ""), condition) })}
          >
            Show
          </Link>
        )}
        <button type="button" className="button small" onClick={() => change({ where: withPart(where, condition) })}>
          Only these
        </button>
        <button type="button" className="button small" onClick={() => change({ where: withPart(where, `NOT ${condition}`) })}>
          Without these
        </button>
        <AddFinding
          finding={{
            text: `${v.key} = ${v.value}: ${percent(v.selectedShare ?? 0)} of “${request.selected ?? "the marked time"}” and ${percent(v.otherShare ?? 0)} of the rest`,
            value: Math.round((v.selectedShare ?? 0) * 1000) / 10,
            unit: "%",
            call: "explainDifference",
            request: { ...request },
          }}
        />
      </div>
      {(v.sameRows ?? []).length > 0 && (
        <p className="faint same">
          On the same rows:{" "}
          {v.sameRows
            ?.slice(0, 6)
            .map((s) => line(s, 120))
            .join(", ")}
        </p>
      )}
    </li>
  );
}
