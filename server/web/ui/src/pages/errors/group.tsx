import { useEffect, useMemo } from "react";
import { block, count, duration, line } from "../../parts/format";
import { Histogram } from "../../parts/histogram";
import { Copy, Empty, Load } from "../../parts/states";
import { ago, iso, stamp } from "../../parts/time";
import { change, href, Link } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { ErrorEventCount, ErrorEventDetail } from "../../gen/api";
import { Sources } from "./source";
import "../home.css";
import "../trace.css";

/** ErrorGroup is one group of errors: the stack first, then when, where and in which traces. */
export default function ErrorGroup({ fingerprint }: { fingerprint: string }) {
  const { window: w, env, now, org } = useFrame();
  const found = useCall("ErrorEventsService/GetErrorEvent", {
    fingerprint,
    ...times(w),
    sampleLimit: 20,
    ...(env ? { deploymentEnvironment: env } : {}),
  });
  const label = found.data?.errorLabel;
  useEffect(() => {
    document.title = `${line(label ?? "Error", 60)} · ${org.name} · svc`;
  }, [label, org.name]);
  if (found.error?.status === 404 && !found.data) {
    return (
      <Empty title="This error did not occur in this window">
        <Link className="button" href={href(`/errors/${fingerprint}`, { from: "-7d", to: undefined })}>
          Last 7 days
        </Link>
      </Empty>
    );
  }
  return (
    <Load of={found} lines={12}>
      {(d) => (
        <div style={{ display: "grid", gap: 12 }}>
          <div className="pagehead">
            <h1 className="bad">✖ {line(d.errorLabel || d.exceptionType || "error", 300)}</h1>
            <span className="faint">
              {count(Math.round(d.estimatedCount ?? 0))} times · {count(d.affectedTracesCount ?? 0)} traces · first {ago(d.firstSeen, now)}{" "}
              · last {ago(d.lastSeen, now)}
            </span>
          </div>
          {d.sampleMessage !== d.errorLabel && (
            <p className="message" tabIndex={0}>
              {block(d.sampleMessage ?? "", 4000)}
            </p>
          )}
          <section className="panel">
            <header>
              <h2>When</h2>
            </header>
            <div className="body">
              <Over d={d} />
            </div>
          </section>
          <div className="grid">
            <section className="panel">
              <header>
                <h2 className="grow">Stack</h2>
                {d.stacktrace && <Copy text={d.stacktrace} />}
              </header>
              <div className="body">
                {d.stacktrace ? (
                  <pre className="stack" tabIndex={0} aria-label="Stack trace">
                    {block(d.stacktrace, 50_000)}
                  </pre>
                ) : (
                  <p className="faint">No span of this group recorded an exception with a stack trace.</p>
                )}
              </div>
              <Sources detail={d} />
            </section>
            <section className="panel">
              <header>
                <h2>Where</h2>
              </header>
              <Shares title="Version" of={d.versions} />
              <Shares title="Environment" of={d.environments} />
              <p className="fine">
                Services:{" "}
                {(d.services ?? []).map((s, i) => (
                  <span key={s}>
                    {i > 0 && ", "}
                    <Link href={href(`/services/${encodeURIComponent(s)}`)}>{line(s, 80)}</Link>
                  </span>
                ))}
              </p>
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
            </section>
          </div>
          <section className="panel">
            <header>
              <h2>Traces</h2>
            </header>
            <table className="data fold">
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
                {d.sampleTraces?.map((t) => (
                  <tr key={`${t.traceId}${t.spanId}`}>
                    <td>
                      <Link className="main" href={href(`/traces/${t.traceId}`, { span: t.spanId })}>
                        {line(t.spanName ?? "", 200)}
                      </Link>{" "}
                      <span className="faint">{line(t.exceptionMessage ?? "", 300)}</span>
                    </td>
                    <td>{line(t.serviceName ?? "", 80)}</td>
                    <td className="num">{duration(t.durationMs ?? 0)}</td>
                    <td className="faint">{stamp(t.timestamp)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </div>
      )}
    </Load>
  );
}

function Over({ d }: { d: ErrorEventDetail }) {
  const points = d.timeseries ?? [];
  const at = useMemo(() => points.map((p) => Date.parse(p.bucket ?? "")), [points]);
  const step = (d.bucketSeconds ?? 60) * 1000;
  return (
    <Histogram
      title="Occurrences over time"
      times={at}
      step={step}
      stacks={[{ name: "occurrences", color: "--bad", values: points.map((p) => p.estimatedCount ?? 0) }]}
      onBrush={(a, b) => change({ from: iso(a), to: iso(b) })}
    />
  );
}

function Shares({ title, of }: { title: string; of: ErrorEventCount[] | undefined }) {
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
