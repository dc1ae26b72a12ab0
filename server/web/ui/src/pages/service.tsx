import { lazy, Suspense, useEffect, useMemo } from "react";
import { count, duration, line, percent, rate, slot } from "../parts/format";
import { Empty, Load } from "../parts/states";
import { ago, iso } from "../parts/time";
import { isFree } from "../frame/keys";
import { change, href, Link, useAddress } from "../frame/router";
import { AlertOnThis } from "../frame/alertthis";
import { times, useCall, useFrame } from "../frame/session";
import type { ServiceMap } from "../gen/api";
import type { Mark } from "../parts/overlay";
import { graphOf, serviceId } from "./map/graph";
import { ServiceLogs, ServiceMetrics, ServiceReleases, useMarks } from "./servicetabs";
import "./home.css";
import "./service.css";

const Chart = lazy(() => import("../parts/chart"));
const tabs = ["overview", "operations", "errors", "dependencies", "releases", "logs", "metrics"] as const;

const zoom = (start: number, end: number): void => change({ from: iso(start), to: iso(end) });

/** Service shows one service: how much, how fast, how often it fails, whom it calls, and what was released. */
export default function Service({ name }: { name: string }) {
  const { window: w, env, org } = useFrame();
  const address = useAddress();
  const tab = tabs.find((t) => t === address.searchParams.get("tab")) ?? "overview";
  const environment = env ? { deploymentEnvironment: env } : {};
  const overview = useCall("ServicesService/GetServiceOverview", { name, ...times(w), ...environment });
  const services = useCall("ServicesService/ListServices", { ...times(w), limit: 100, ...environment });
  const releases = useCall("ServicesService/ListServiceReleases", { name, ...times(w), ...environment });
  const apdex = useCall("ServicesService/GetServiceApdex", { name, ...times(w), ...environment });
  const marks = useMarks(name);
  const me = services.data?.data?.find((s) => s.name === name);
  const latest = [...(releases.data?.data ?? [])].sort((a, b) => (b.firstSeen ?? "").localeCompare(a.firstSeen ?? ""))[0];
  useEffect(() => {
    document.title = `${line(name, 80)} · ${org.name} · svc`;
  }, [name, org.name]);
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if (!isFree(e)) return;
      const t = tabs[Number(e.key) - 1];
      if (t) change({ tab: t === "overview" ? null : t });
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
  if (overview.error?.status === 404) {
    return (
      <Empty title={`${line(name, 100)} sent no spans${env ? ` from ${env}` : ""} in this window`}>
        <div className="row">
          <Link className="button" href={href(`/services/${encodeURIComponent(name)}`, { from: "-24h", to: undefined })}>
            Last 24 hours
          </Link>
          <Link className="button" href={href("/services")}>
            All services
          </Link>
        </div>
      </Empty>
    );
  }
  return (
    <>
      <div className="pagehead">
        <h1>
          <i className="dot" style={{ background: `var(--s${slot(name)})` }} aria-hidden="true" /> {line(name, 300)}
        </h1>
        {latest && (
          <span className="chip" title={latest.firstSeen}>
            {line(latest.version ?? "", 40)}
          </span>
        )}
        <span className="grow" />
        <Link
          className="button"
          href={href("/difference", {
            where: `service.name = ${quoted(name)}`,
            selected: (me?.errorRate ?? 0) >= 0.01 ? "has_error = true" : undefined,
          })}
        >
          What is different
        </Link>
        <Link className="button" href={href("/traces", { q: `service.name = ${quoted(name)}` })}>
          Traces
        </Link>
        <Link className="button" href={href("/logs", { q: `service.name = ${quoted(name)}` })}>
          Logs
        </Link>
      </div>
      <section className="panel stats" aria-label="Figures of the window">
        <div className="stat">
          <b>{rate(me?.throughput)}</b>
          <span>rate</span>
        </div>
        <div className="stat">
          <b className={(me?.errorRate ?? 0) >= 0.01 ? "bad" : ""}>{percent(me ? (me.errorRate ?? 0) : undefined)}</b>
          <span>errors</span>
        </div>
        <div className="stat">
          <b>{duration(me?.p50LatencyMs)}</b>
          <span>p50</span>
        </div>
        <div className="stat">
          <b>{duration(me?.p95LatencyMs)}</b>
          <span>p95{me?.baselineP95LatencyMs ? `, usual ${duration(me.baselineP95LatencyMs)}` : ""}</span>
        </div>
        <div className="stat">
          <b>{duration(me?.p99LatencyMs)}</b>
          <span>p99</span>
        </div>
        <div className="stat">
          <b>{apdex.data?.apdexScore === undefined ? "–" : apdex.data.apdexScore.toFixed(2)}</b>
          <span>Apdex, {duration(apdex.data?.apdexThresholdMs)}</span>
        </div>
      </section>
      <nav className="tabs" aria-label="Parts of the service">
        {tabs.map((t) => (
          <Link
            key={t}
            href={href(`/services/${encodeURIComponent(name)}`, { tab: t === "overview" ? undefined : t })}
            aria-current={t === tab ? "page" : undefined}
          >
            {t[0]!.toUpperCase() + t.slice(1)}
          </Link>
        ))}
      </nav>
      {tab === "overview" && (
        <>
          <Load
            of={overview}
            empty={(d) =>
              !d.points?.length && (
                <Empty title="This service sent no spans in this window">
                  <Link className="button" href={href(`/services/${encodeURIComponent(name)}`, { from: "-24h", to: undefined })}>
                    Last 24 hours
                  </Link>
                </Empty>
              )
            }
          >
            {(d) => <Charts name={name} points={d.points ?? []} step={d.bucketSeconds ?? 60} marks={marks} />}
          </Load>
          <Operations name={name} most={8} />
        </>
      )}
      {tab === "operations" && <Operations name={name} most={100} />}
      {tab === "errors" && <Errors name={name} />}
      {tab === "dependencies" && <Dependencies name={name} />}
      {tab === "releases" && <ServiceReleases name={name} />}
      {tab === "logs" && <ServiceLogs name={name} />}
      {tab === "metrics" && <ServiceMetrics name={name} />}
    </>
  );
}

const quoted = (v: string): string => `"${v.replace(/["\\]/g, "\\$&")}"`;
const perSecond = (n: number): string => rate(n);

type Point = {
  timestamp?: string;
  estimatedSpanCount?: number;
  errorRate?: number;
  p50LatencyMs?: number;
  p95LatencyMs?: number;
  p99LatencyMs?: number;
};

function Charts({ name, points, step, marks }: { name: string; points: Point[]; step: number; marks: Mark[] }) {
  const at = useMemo(() => points.map((p) => Date.parse(p.timestamp ?? "")), [points]);
  const traffic = useMemo(
    () => [{ label: "requests", color: "--s0", values: points.map((p) => (p.estimatedSpanCount ?? 0) / step) }],
    [points, step],
  );
  const failures = useMemo(() => [{ label: "errors", color: "--bad", values: points.map((p) => p.errorRate ?? 0) }], [points]);
  const latency = useMemo(
    () => [
      { label: "p99", color: "--s5", values: points.map((p) => p.p99LatencyMs ?? 0) },
      { label: "p95", color: "--s2", values: points.map((p) => p.p95LatencyMs ?? 0) },
      { label: "p50", color: "--s0", values: points.map((p) => p.p50LatencyMs ?? 0) },
    ],
    [points],
  );
  return (
    <div className="grid">
      <section className="panel">
        <header>
          <h2 className="grow">Rate</h2>
          <AlertOnThis rule={{ signalType: "throughput", serviceNames: [name], name: `Traffic of ${name}` }} />
        </header>
        <div className="body">
          <Draw>
            <Chart title="Rate" times={at} lines={traffic} format={perSecond} marks={marks} onBrush={zoom} />
          </Draw>
        </div>
      </section>
      <section className="panel">
        <header>
          <h2 className="grow">Errors</h2>
          <AlertOnThis rule={{ signalType: "error_rate", serviceNames: [name], name: `Errors of ${name}` }} />
        </header>
        <div className="body">
          <Draw>
            <Chart title="Share of errors" times={at} lines={failures} format={percent} least={0.05} marks={marks} onBrush={zoom} />
          </Draw>
        </div>
      </section>
      <section className="panel">
        <header>
          <h2 className="grow">Latency</h2>
          <AlertOnThis rule={{ signalType: "p95_latency", serviceNames: [name], name: `Latency of ${name}` }} />
        </header>
        <div className="body">
          <Draw>
            <Chart title="Latency" times={at} lines={latency} format={duration} marks={marks} onBrush={zoom} />
          </Draw>
        </div>
      </section>
    </div>
  );
}

const Draw = ({ children }: { children: React.ReactNode }) => <Suspense fallback={<div style={{ height: 160 }} />}>{children}</Suspense>;

function Operations({ name, most }: { name: string; most: number }) {
  const { window: w, env } = useFrame();
  const found = useCall("ServicesService/ListServiceOperations", {
    name,
    ...times(w),
    limit: most,
    orderBy: "total_duration",
    ...(env ? { deploymentEnvironment: env } : {}),
  });
  const total = (found.data?.data ?? []).reduce((sum, o) => sum + (o.avgLatencyMs ?? 0) * (o.estimatedSpanCount ?? 0), 0) || 1;
  return (
    <section className="panel">
      <header>
        <h2>Operations</h2>
      </header>
      <Load of={found} empty={(d) => !d.data?.length && <Empty title="No operations in this window" />}>
        {(d) => (
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col">Operation</th>
                <th scope="col" className="num w90">
                  Rate
                </th>
                <th scope="col" className="num w80">
                  Errors
                </th>
                <th scope="col" className="num w90">
                  p50
                </th>
                <th scope="col" className="num w90">
                  p95
                </th>
                <th scope="col" className="num w90">
                  p99
                </th>
                <th scope="col" className="w160">
                  Time in all
                </th>
              </tr>
            </thead>
            <tbody>
              {d.data?.map((o) => (
                <tr key={o.name}>
                  <td>
                    <Link
                      className="main"
                      href={href("/traces", { q: `service.name = ${quoted(name)} AND span.name = ${quoted(o.name ?? "")}` })}
                    >
                      {line(o.name ?? "", 300)}
                    </Link>
                  </td>
                  <td className="num">{rate(o.throughput)}</td>
                  <td className={`num ${(o.errorRate ?? 0) >= 0.01 ? "bad" : "faint"}`}>{percent(o.errorRate ?? 0)}</td>
                  <td className="num">{duration(o.p50LatencyMs ?? 0)}</td>
                  <td className="num">{duration(o.p95LatencyMs ?? 0)}</td>
                  <td className="num">{duration(o.p99LatencyMs ?? 0)}</td>
                  <td>
                    <span className="bar" title={percent(((o.avgLatencyMs ?? 0) * (o.estimatedSpanCount ?? 0)) / total)}>
                      <i style={{ width: `${(((o.avgLatencyMs ?? 0) * (o.estimatedSpanCount ?? 0)) / total) * 100}%` }} />
                    </span>
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

function Errors({ name }: { name: string }) {
  const { window: w, env, now } = useFrame();
  const found = useCall("ErrorEventsService/SearchErrorEvents", {
    ...times(w),
    limit: 50,
    filters: { serviceName: name, ...(env ? { deploymentEnvironment: env } : {}) },
  });
  return (
    <section className="panel">
      <Load of={found} empty={(d) => !d.data?.length && <Empty title="No errors in this window" />}>
        {(d) => (
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col">Error</th>
                <th scope="col" className="num w80">
                  Count
                </th>
                <th scope="col" className="num w80">
                  Traces
                </th>
                <th scope="col" className="w110">
                  Last seen
                </th>
              </tr>
            </thead>
            <tbody>
              {d.data?.map((e) => (
                <tr key={e.fingerprintHash}>
                  <td>
                    <Link className="main" href={href(`/errors/${e.fingerprintHash}`)}>
                      {line(e.errorLabel || "error", 200)}
                    </Link>{" "}
                    <span className="faint">{line(e.sampleMessage ?? "", 300)}</span>
                  </td>
                  <td className="num">{count(e.estimatedCount ?? 0)}</td>
                  <td className="num">{count(e.affectedTracesCount ?? 0)}</td>
                  <td className="faint">{ago(e.lastSeen, now)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Load>
    </section>
  );
}

function Dependencies({ name }: { name: string }) {
  const { window: w, env } = useFrame();
  const found = useCall("ServiceMapService/GetServiceMap", {
    ...times(w),
    serviceName: name,
    ...(env ? { deploymentEnvironment: env } : {}),
  });
  return (
    <Load of={found}>
      {(d) => (
        <div className="grid">
          <Edges title="Callers" rows={rowsOf(d, name, "from")} />
          <Edges title="Calls" rows={rowsOf(d, name, "to")} />
        </div>
      )}
    </Load>
  );
}

type Edge = { id: string; name: string; service: boolean; calls: number; errorRate: number; average: number };

/** rowsOf are the callers of a service, or the services and peers that it calls. */
function rowsOf(map: ServiceMap, name: string, side: "from" | "to"): Edge[] {
  const graph = graphOf(map);
  const id = serviceId(name);
  return graph.edges
    .filter((e) => (side === "from" ? e.to : e.from) === id)
    .map((e) => {
      const node = graph.nodes.find((n) => n.id === e[side]);
      return { ...e, id: e[side], name: node?.name ?? e[side], service: node?.kind === "service" };
    });
}

function Edges({ title, rows }: { title: string; rows: Edge[] }) {
  return (
    <section className="panel">
      <header>
        <h2>{title}</h2>
      </header>
      {rows.length === 0 ? (
        <p className="fine">None in this window.</p>
      ) : (
        <table className="data">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" className="num">
                Calls
              </th>
              <th scope="col" className="num">
                Errors
              </th>
              <th scope="col" className="num">
                Average
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((e) => (
              <tr key={e.id}>
                <td>
                  {e.service ? (
                    <Link className="main" href={href(`/services/${encodeURIComponent(e.name)}`)}>
                      {line(e.name, 100)}
                    </Link>
                  ) : (
                    line(e.name, 100)
                  )}
                </td>
                <td className="num">{count(Math.round(e.calls))}</td>
                <td className={`num ${e.errorRate >= 0.01 ? "bad" : "faint"}`}>{percent(e.errorRate)}</td>
                <td className="num">{duration(e.average)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
