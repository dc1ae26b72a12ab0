import { useMemo } from "react";
import { Markers } from "./servicemarkers";
import { href, Link } from "../frame/router";
import { times, useCall, useFrame } from "../frame/session";
import type { Release } from "../gen/api";
import type { Mark } from "../parts/overlay";
import { count, duration, line, percent } from "../parts/format";
import { Empty, Load } from "../parts/states";
import { ago, exact, stamp } from "../parts/time";

const quoted = (v: string): string => `"${v.replace(/["\\]/g, "\\$&")}"`;

/** useMarks are the releases and markers of a service in the window, as lines on each chart. */
export function useMarks(name: string): Mark[] {
  const { window: w, env } = useFrame();
  const environment = env ? { deploymentEnvironment: env } : {};
  const releases = useCall("ServicesService/SearchReleases", { ...times(w), serviceName: name, limit: 50, ...environment });
  const markers = useCall("MarkersService/ListMarkers", { ...times(w), serviceName: name, limit: 50, ...environment });
  return useMemo(
    () => [
      ...begun(releases.data?.data).map((r) => ({
        at: Date.parse(r.firstSeen ?? ""),
        label: line(r.version ?? "", 40),
        color: r.state === "rolled_back" ? "--bad" : "--info",
      })),
      ...(markers.data?.data ?? []).map((m) => ({
        at: Date.parse(m.occurredAt ?? ""),
        label: `${m.kind}: ${line(m.title ?? "", 60)}`,
        color: "--warn",
      })),
    ],
    [releases.data, markers.data],
  );
}

/** begun are the releases that began in the window. */
const begun = (all: Release[] | undefined): Release[] => (all ?? []).filter((r) => r.previous !== undefined && r.previous !== null);

/** ServiceReleases sets each version beside the one before it, and shows what else was changed. */
export function ServiceReleases({ name }: { name: string }) {
  const { window: w, env, now } = useFrame();
  const environment = env ? { deploymentEnvironment: env } : {};
  const found = useCall("ServicesService/SearchReleases", { ...times(w), serviceName: name, limit: 100, ...environment });
  const markers = useCall("MarkersService/ListMarkers", { ...times(w), serviceName: name, limit: 50, ...environment });
  return (
    <>
      <section className="panel">
        <header>
          <h2>Versions</h2>
        </header>
        <Load
          of={found}
          empty={(d) =>
            !d.data?.length && (
              <Empty title="No versions in this window">
                <p>Set the resource attribute service.version, and releases show here.</p>
              </Empty>
            )
          }
        >
          {(d) => (
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col">Version</th>
                  <th scope="col" className="w110">
                    Environment
                  </th>
                  <th scope="col" className="w110">
                    State
                  </th>
                  <th scope="col" className="w160">
                    First seen
                  </th>
                  <th scope="col" className="num w90">
                    Requests
                  </th>
                  <th scope="col" className="num w160">
                    Errors, before
                  </th>
                  <th scope="col" className="num w200">
                    p95, before
                  </th>
                  <th scope="col" className="w110">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {d.data?.map((r) => (
                  <One key={`${r.version}${r.deploymentEnvironment}`} r={r} name={name} now={now} />
                ))}
              </tbody>
            </table>
          )}
        </Load>
      </section>
      <section className="panel">
        <header>
          <h2>Other changes</h2>
        </header>
        <Load of={markers}>{(d) => <Markers all={d.data ?? []} service={name} environment={env ?? ""} now={now} />}</Load>
      </section>
    </>
  );
}

function One({ r, name, now }: { r: Release; name: string; now: number }) {
  const p = r.previous;
  const version = `resource.service.version = ${quoted(r.version ?? "")}`;
  const slower = p?.p95LatencyMs ? (r.p95LatencyMs ?? 0) / p.p95LatencyMs : 1;
  const fails = (r.errorRate ?? 0) - (p?.errorRate ?? r.errorRate ?? 0);
  return (
    <tr>
      <td>
        <Link className="main" href={href("/traces", { q: `service.name = ${quoted(name)} AND ${version}` })}>
          {line(r.version ?? "", 100)}
        </Link>{" "}
        <span className="faint">{r.commitSha && line(r.commitSha, 12)}</span>
      </td>
      <td className="faint">{line(r.deploymentEnvironment || "–", 60)}</td>
      <td className={r.state === "rolled_back" ? "bad" : r.state === "current" ? "good" : "faint"}>{r.state?.replace("_", " ")}</td>
      <td className="faint" title={`${exact(r.firstSeen)}, ${ago(r.firstSeen, now)}`}>
        {stamp(r.firstSeen).slice(0, 16)}
      </td>
      <td className="num">{count(Math.round(r.estimatedSpanCount ?? 0))}</td>
      <td className="num">
        <span className={fails >= 0.01 ? "bad" : ""}>{percent(r.errorRate ?? 0)}</span>{" "}
        {p && <span className="faint">{percent(p.errorRate ?? 0)}</span>}
      </td>
      <td className="num">
        <span className={slower >= 1.3 ? "bad" : slower <= 0.77 ? "good" : ""}>
          {duration(r.p95LatencyMs ?? 0)}
          {slower >= 1.3 && ` ×${slower.toFixed(1)}`}
        </span>{" "}
        {p && <span className="faint">{duration(p.p95LatencyMs ?? 0)}</span>}
      </td>
      <td>
        {p && (
          <Link
            className="button small"
            href={href("/difference", {
              where: `service.name = ${quoted(name)}`,
              selected: version,
              other: `resource.service.version = ${quoted(p.version ?? "")}`,
            })}
          >
            Compare
          </Link>
        )}
      </td>
    </tr>
  );
}

/** ServiceLogs are the kinds of log records of a service: what is new, and how often. */
export function ServiceLogs({ name }: { name: string }) {
  const { window: w, env } = useFrame();
  const found = useCall("LogsService/SearchLogPatterns", {
    ...times(w),
    maxPatterns: 50,
    baseline: "previous",
    filters: { serviceName: name, ...(env ? { deploymentEnvironment: env } : {}) },
  });
  const q = `service.name = ${quoted(name)}`;
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Patterns of log records</h2>
        <Link href={href("/logs", { q })}>All log records</Link>
      </header>
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length && (
            <Empty title="This service sent no log records in this window">
              <Link className="button" href={href("/logs")}>
                Logs
              </Link>
            </Empty>
          )
        }
      >
        {(d) => (
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col">Pattern</th>
                <th scope="col" className="num w90">
                  Count
                </th>
                <th scope="col" className="num w110">
                  Before
                </th>
                <th scope="col" className="w110">
                  <span className="sr">New</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {d.data?.map((p) => (
                <tr key={p.template}>
                  <td className="mono" title={line(p.sample ?? "", 400)}>
                    {line(p.template ?? "", 300)}
                  </td>
                  <td className="num">{count(Math.round(p.estimatedCount ?? p.count ?? 0))}</td>
                  <td className="num faint">{count(Math.round(p.baselineEstimatedCount ?? p.baselineCount ?? 0))}</td>
                  <td>{p.isNew && <b className="warn">new</b>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Load>
    </section>
  );
}

/** ServiceMetrics lists the metrics that a service sends. */
export function ServiceMetrics({ name }: { name: string }) {
  const { window: w } = useFrame();
  const found = useCall("MetricsService/ListMetrics", { ...times(w), serviceName: name, limit: 100 });
  return (
    <section className="panel">
      <header>
        <h2>Metrics</h2>
      </header>
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length && (
            <Empty title="This service sent no metrics in this window">
              <Link className="button" href={href("/metrics")}>
                Metrics
              </Link>
            </Empty>
          )
        }
      >
        {(d) => (
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col">Metric</th>
                <th scope="col" className="w160">
                  Type
                </th>
                <th scope="col" className="w110">
                  Unit
                </th>
                <th scope="col" className="num w110">
                  Points
                </th>
              </tr>
            </thead>
            <tbody>
              {d.data?.map((m) => (
                <tr key={`${m.name}${m.type}`}>
                  <td>
                    <Link className="main" href={href("/metrics", { m: m.name })}>
                      {line(m.name ?? "", 200)}
                    </Link>{" "}
                    <span className="faint">{line(m.description ?? "", 200)}</span>
                  </td>
                  <td className="faint">{m.type?.replaceAll("_", " ")}</td>
                  <td className="faint">{line(m.unit ?? "", 40)}</td>
                  <td className="num">{count(m.dataPointCount ?? 0)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Load>
    </section>
  );
}
