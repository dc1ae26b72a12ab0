import { useEffect, useMemo } from "react";
import { count, duration, line, percent, rate } from "../parts/format";
import { Empty, Load, Service } from "../parts/states";
import { change, href, Link, navigate, useAddress } from "../frame/router";
import { times, useCall, useFrame } from "../frame/session";
import type { Service as Row } from "../gen/api";
import { Views } from "../views/save";
import { worse } from "./home";
import { Spark } from "./spark";
import "./home.css";

const columns: Array<{ key: string; name: string; of: (s: Row) => number | string }> = [
  { key: "name", name: "Service", of: (s) => s.name ?? "" },
  { key: "rate", name: "Rate", of: (s) => s.throughput ?? 0 },
  { key: "errors", name: "Errors", of: (s) => s.errorRate ?? 0 },
  { key: "p50", name: "p50", of: (s) => s.p50LatencyMs ?? 0 },
  { key: "p95", name: "p95", of: (s) => s.p95LatencyMs ?? 0 },
  { key: "p99", name: "p99", of: (s) => s.p99LatencyMs ?? 0 },
  { key: "change", name: "p95 against usual", of: (s) => worse(s) },
];

/** Services is the table of all services of the window, the busiest first. */
export default function Services() {
  const { window: w, env, org } = useFrame();
  const address = useAddress();
  const filter = address.searchParams.get("q") ?? "";
  const sort = address.searchParams.get("sort") ?? "rate";
  const found = useCall("ServicesService/ListServices", { ...times(w), limit: 100, ...(env ? { deploymentEnvironment: env } : {}) });
  const series = useCall("QueryService/QueryTimeseries", {
    ...times(w),
    queries: [
      {
        name: "A",
        source: "traces",
        aggregation: "count",
        groupBy: ["service.name"],
        seriesLimit: 100,
        ...(env ? { where: `deployment.environment = "${env.replace(/["\\]/g, "\\$&")}"` } : {}),
      },
    ],
  });
  useEffect(() => {
    document.title = `Services · ${org.name} · svc`;
  }, [org.name]);
  const sparks = useMemo(
    () => new Map((series.data?.series ?? []).map((s) => [s.group?.[0] ?? "", (s.points ?? []).map((p) => p.value ?? 0)])),
    [series.data],
  );
  const rows = useMemo(() => {
    const down = !sort.startsWith("-");
    const column = columns.find((c) => c.key === sort.replace("-", "")) ?? columns[1]!;
    return (found.data?.data ?? [])
      .filter((s) => (s.name ?? "").toLowerCase().includes(filter.toLowerCase()))
      .sort((a, b) => {
        const [x, y] = [column.of(a), column.of(b)];
        const order = typeof x === "string" ? x.localeCompare(String(y)) : Number(y) - x;
        return down ? order : -order;
      });
  }, [found.data, filter, sort]);
  return (
    <>
      <div className="pagehead">
        <h1>Services</h1>
        <span className="faint">{found.data?.data?.length ?? ""}</span>
        <span className="grow" />
        <input
          className="field"
          data-bar=""
          type="search"
          aria-label="Filter services by name"
          placeholder="Filter by name"
          value={filter}
          onChange={(e) => change({ q: e.target.value || null }, true)}
        />
        <Views page="services" />
      </div>
      <section className="panel">
        <Load
          of={found}
          empty={(d) =>
            !d.data?.length && (
              <Empty title={env ? `No service sent spans from ${env} in this window` : "No service sent spans in this window"}>
                <div className="row">
                  <Link className="button" href={href("/services", { from: "-24h", to: undefined })}>
                    Last 24 hours
                  </Link>
                  <Link className="button" href={href("/start")}>
                    Get started
                  </Link>
                </div>
              </Empty>
            )
          }
        >
          {(d) => (
            <>
              {d.hasMore && <p className="notice">The busiest {d.data?.length} are shown. Choose an environment to see others.</p>}
              {rows.length === 0 && (
                <Empty title={`No service has “${line(filter, 60)}” in its name`}>
                  <button type="button" className="button" onClick={() => change({ q: null })}>
                    Show all
                  </button>
                </Empty>
              )}
              <table className="data fold" hidden={rows.length === 0}>
                <thead>
                  <tr>
                    {columns.map((c) => (
                      <th
                        key={c.key}
                        scope="col"
                        className={c.key === "name" ? "" : c.key === "change" ? "num w160" : "num w90"}
                        aria-sort={sort.replace("-", "") === c.key ? (sort.startsWith("-") ? "ascending" : "descending") : undefined}
                      >
                        <button type="button" onClick={() => change({ sort: sort === c.key ? `-${c.key}` : c.key }, true)}>
                          {c.name}
                          {sort.replace("-", "") === c.key ? (sort.startsWith("-") ? " ↑" : " ↓") : ""}
                        </button>
                      </th>
                    ))}
                    <th scope="col" className="w160">
                      Traffic
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((s) => {
                    const to = href(`/services/${encodeURIComponent(s.name ?? "")}`);
                    const factor = worse(s);
                    return (
                      // biome-ignore lint: the link in the first cell is the way for the keyboard
                      <tr key={s.name} onClick={(e) => !(e.target as Element).closest("a") && navigate(to)}>
                        <td>
                          <Link className="main" href={to}>
                            <Service name={line(s.name ?? "", 200)} />
                          </Link>{" "}
                          <span className="faint">{(s.serviceNamespaces ?? []).map((n) => line(n, 60)).join(", ")}</span>
                        </td>
                        <td
                          className="num"
                          title={`${count(s.spanCount)} spans${s.hasSampling ? `, sampled: each stands for ${s.samplingWeight?.toFixed(1)}` : ""}`}
                        >
                          {rate(s.throughput)}
                        </td>
                        <td className={`num ${(s.errorRate ?? 0) >= 0.01 ? "bad" : (s.errorRate ?? 0) > 0 ? "" : "faint"}`}>
                          {percent(s.errorRate ?? 0)}
                        </td>
                        <td className="num">{duration(s.p50LatencyMs ?? 0)}</td>
                        <td className="num">{duration(s.p95LatencyMs ?? 0)}</td>
                        <td className="num">{duration(s.p99LatencyMs ?? 0)}</td>
                        <td
                          className={`num ${factor >= 1.5 ? "bad" : "faint"}`}
                          title={s.baselineP95LatencyMs ? undefined : "Nothing is usual yet: the time before the window has too few spans."}
                        >
                          {s.baselineP95LatencyMs ? `×${factor.toFixed(2)} of ${duration(s.baselineP95LatencyMs)}` : "–"}
                        </td>
                        <td>
                          <Spark values={sparks.get(s.name ?? "") ?? []} label={`Traffic of ${s.name}`} />
                        </td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </>
          )}
        </Load>
      </section>
    </>
  );
}
