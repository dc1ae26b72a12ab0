import { useEffect, useMemo, useState } from "react";
import { change, href, Link } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import type { ErrorEventCount, ErrorEventDetail, ErrorIssueDetail } from "../../gen/api";
import { count, duration, line } from "../../parts/format";
import { Histogram } from "../../parts/histogram";
import { Load } from "../../parts/states";
import { exact, iso, stamp } from "../../parts/time";
import { Sources, Suspects } from "./source";
import { Stack } from "./stacktrace";

/** Occurrences shows the stack, when and where the error occurs, and its samples. */
export function Occurrences({ issue: i, spanText }: { issue: ErrorIssueDetail; spanText: string }) {
  const { env } = useFrame();
  const groups = i.grouping ?? [];
  const [picked, setPicked] = useState("");
  const fingerprint = groups.some((g) => g.fingerprintHash === picked) ? picked : (i.fingerprintHash ?? "");
  const detail = useCall(
    "ErrorEventsService/GetErrorEvent",
    {
      fingerprint,
      startTime: i.startTime ?? "",
      endTime: i.endTime ?? "",
      sampleLimit: 20,
      ...(env ? { deploymentEnvironment: env } : {}),
    },
    { enabled: i.kind === "error" && fingerprint !== "" },
  );
  const frames = groups.find((g) => g.fingerprintHash === fingerprint)?.frames ?? [];
  return (
    <>
      <div className="issueparts">
        <section className="panel">
          <header>
            <h2 className="grow">Stack</h2>
            {groups.length > 1 && (
              <select className="field" aria-label="Group" value={fingerprint} onChange={(e) => setPicked(e.target.value)}>
                {groups.map((g, n) => (
                  <option key={g.fingerprintHash} value={g.fingerprintHash}>
                    group {n + 1}, {count(g.occurrenceCount)} times
                  </option>
                ))}
              </select>
            )}
          </header>
          {detail.error && !detail.data ? (
            <p className="fine">
              No span of this group recorded a stack in this window. The samples below come from logs, or the window has none.
            </p>
          ) : (
            <Load of={detail} lines={6}>
              {(d) => (
                <>
                  <Stack text={d.stacktrace ?? ""} why={frames} />
                  <Sources detail={d} />
                </>
              )}
            </Load>
          )}
        </section>
        <div className="lay">
          <section className="panel">
            <header>
              <h2 className="grow">When</h2>
              <span className="faint">{spanText || "the day of the last occurrence"}</span>
            </header>
            <div className="body">
              <When issue={i} />
            </div>
          </section>
          <section className="panel">
            <header>
              <h2>Where</h2>
            </header>
            {detail.data && <Where d={detail.data} />}
            {!detail.data && (
              <Shares title="Environment" of={(i.environments ?? []).map((e) => ({ name: e.name ?? "", estimatedCount: e.count ?? 0 }))} />
            )}
          </section>
          <Suspects issue={i} />
        </div>
      </div>
      <Samples issue={i} detail={detail.data} />
    </>
  );
}

function When({ issue: i }: { issue: ErrorIssueDetail }) {
  const points = i.timeseries ?? [];
  const at = useMemo(() => points.map((p) => Date.parse(p.bucket ?? "")), [points]);
  if (points.length === 0) return <p className="faint">No occurrence in this window.</p>;
  return (
    <Histogram
      title="Occurrences over time"
      times={at}
      step={(i.bucketSeconds ?? 3600) * 1000}
      stacks={[{ name: "occurrences", color: "--bad", values: points.map((p) => Math.round(p.count ?? 0)) }]}
      onBrush={(a, b) => change({ from: iso(a), to: iso(b) })}
    />
  );
}

function Where({ d }: { d: ErrorEventDetail }) {
  return (
    <>
      <Shares title="Version" of={d.versions} />
      <Shares title="Environment" of={d.environments} />
      {(d.relatedErrors ?? []).length > 0 && (
        <p className="fine">
          In the same traces:{" "}
          {d.relatedErrors?.map((r) => (
            <span key={r.fingerprintHash}>
              <Link href={href(`/errors/${r.fingerprintHash}`)}>{line(r.errorLabel ?? "", 80)}</Link>{" "}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

export function Shares({ title, of }: { title: string; of: ErrorEventCount[] | undefined }) {
  if (!of?.length) return null;
  const total = of.reduce((sum, v) => sum + (v.estimatedCount ?? 0), 0) || 1;
  return (
    <table className="data">
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col" className="num w80">
            Count
          </th>
          <th scope="col">
            <span className="sr">Share</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {of.slice(0, 8).map((v) => (
          <tr key={v.name}>
            <td>{line(v.name || "(none)", 100)}</td>
            <td className="num">{count(Math.round(v.estimatedCount ?? 0))}</td>
            <td>
              <span className="bar">
                <i style={{ width: `${((v.estimatedCount ?? 0) / total) * 100}%`, background: "var(--bad)" }} />
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Sample = { traceId: string; spanId: string; name: string; service: string; message: string; ms: number; at: string };

/** Samples are single occurrences. The arrows move through them, Enter opens the trace. */
function Samples({ issue: i, detail }: { issue: ErrorIssueDetail; detail: ErrorEventDetail | undefined }) {
  const [at, setAt] = useState(0);
  const all: Sample[] = detail?.sampleTraces?.length
    ? detail.sampleTraces.map((t) => ({
        traceId: t.traceId ?? "",
        spanId: t.spanId ?? "",
        name: t.spanName ?? "",
        service: t.serviceName ?? "",
        message: t.exceptionMessage ?? "",
        ms: t.durationMs ?? 0,
        at: t.timestamp ?? "",
      }))
    : (i.sampleTraces ?? []).map((t) => ({
        traceId: t.traceId ?? "",
        spanId: t.spanId ?? "",
        name: "trace",
        service: t.serviceName ?? "",
        message: t.exceptionMessage ?? "",
        ms: (t.durationMicros ?? 0) / 1000,
        at: t.timestamp ?? "",
      }));
  useEffect(() => setAt(0), [i.id]);
  if (all.length === 0) return null;
  const move = (to: number): void => {
    const next = Math.min(all.length - 1, Math.max(0, to));
    setAt(next);
    document.querySelectorAll<HTMLElement>(".samples a.main")[next]?.focus();
  };
  return (
    <section className="panel samples">
      <header>
        <h2 className="grow">Samples</h2>
        <span className="faint">{all.length} newest, ↑ ↓ move</span>
      </header>
      {/* biome-ignore lint: the links of the rows have the focus, the arrows move between them */}
      <table
        className="data fold"
        onKeyDown={(e) => {
          const d = { ArrowDown: 1, ArrowUp: -1 }[e.key];
          if (d) {
            e.preventDefault();
            move(at + d);
          }
        }}
      >
        <thead>
          <tr>
            <th scope="col">Span</th>
            <th scope="col" className="w160">
              Service
            </th>
            <th scope="col" className="num w90">
              Duration
            </th>
            <th scope="col" className="w200">
              Time
            </th>
          </tr>
        </thead>
        <tbody>
          {all.map((t, n) => (
            <tr key={`${t.traceId}${t.spanId}${t.at}`} aria-selected={n === at}>
              <td>
                {t.traceId ? (
                  <Link className="main" href={href(`/traces/${t.traceId}`, { span: t.spanId })} onFocus={() => setAt(n)}>
                    {line(t.name, 200)}
                  </Link>
                ) : (
                  "without a trace"
                )}{" "}
                <span className="faint">{line(t.message, 300)}</span>
              </td>
              <td>{line(t.service, 80)}</td>
              <td className="num">{t.ms ? duration(t.ms) : "–"}</td>
              <td className="faint" title={exact(t.at)}>
                {stamp(t.at)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
