import { lazy, Suspense, useEffect, useMemo } from "react";
import { change, href, Link, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import { count, line, rate, slots } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { exact, iso, stamp } from "../../parts/time";
import { Views } from "../../views/save";
import { Funnel } from "./funnel";
import { Paths } from "./paths";
import "../home.css";
import "./events.css";

const Chart = lazy(() => import("../../parts/chart"));
const measures = ["count", "rate", "sessions", "persons", "users", "visitors"] as const;
const groupings = ["event_name", "kind", "source", "host", "page_path", "service", "group"] as const;
const words: Record<string, string> = {
  count: "events",
  rate: "events per second",
  event_name: "event",
  page_path: "page",
  none: "no groups",
};

/** Events shows the actions of people: trends of events, funnels, and the paths between them. */
export default function Events({ part }: { part: string }) {
  const { org } = useFrame();
  useEffect(() => {
    document.title = `Events · ${org.name} · svc`;
  }, [org.name]);
  const tabs: Array<[string, string]> = [
    ["", "Trends"],
    ["funnels", "Funnels"],
    ["paths", "Paths"],
  ];
  return (
    <>
      <div className="pagehead">
        <h1>Events</h1>
        <span className="grow" />
        <Views page="events" />
      </div>
      <nav className="tabs" aria-label="Views of events">
        {tabs.map(([p, name]) => (
          <Link key={p} href={href(`/events${p ? `/${p}` : ""}`)} aria-current={part === p ? "page" : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      {part === "funnels" ? <Funnel /> : part === "paths" ? <Paths /> : <Trends />}
    </>
  );
}

/** Trends draws events over time, and lists them. */
function Trends() {
  const { window: w } = useFrame();
  const address = useAddress();
  const p = address.searchParams;
  const agg = measures.find((m) => m === p.get("agg")) ?? "count";
  const by = groupings.find((g) => g === p.get("by")) ?? (p.get("by") === "none" ? undefined : "event_name");
  const names = useMemo(() => (p.get("names") ?? "").split("\n").filter(Boolean).slice(0, 50), [p.get("names")]);
  const picked = names.length ? { eventNames: names } : {};
  const series = useCall("ProductEventAnalyticsService/QueryProductEventTimeseries", {
    ...times(w),
    aggregation: agg,
    seriesLimit: 20,
    ...picked,
    ...(by ? { groupBy: by } : {}),
  });
  const all = useCall("ProductEventAnalyticsService/QueryProductEventBreakdown", {
    ...times(w),
    aggregation: "count",
    groupBy: "event_name",
    limit: 100,
  });
  const latest = useCall("ProductEventsService/SearchProductEvents", {
    ...times(w),
    limit: 50,
    ...(names.length ? { filters: { names } } : {}),
  });
  const toggle = (name: string): void =>
    change({ names: (names.includes(name) ? names.filter((n) => n !== name) : [...names, name]).join("\n") || null });
  const d = series.data;
  const { at, lines } = useMemo(() => {
    const at = [...new Set((d?.series ?? []).flatMap((s) => (s.points ?? []).map((x) => Date.parse(x.timestamp ?? ""))))].sort(
      (a, b) => a - b,
    );
    const label = (g: string | undefined, other: boolean | undefined): string =>
      line(other ? "(other)" : g || (by ? "(none)" : (words[agg] ?? agg)), 80);
    const colors = slots((d?.series ?? []).map((s) => label(s.group, s.other)));
    const lines = (d?.series ?? []).map((s) => {
      const points = new Map((s.points ?? []).map((x) => [Date.parse(x.timestamp ?? ""), x.value ?? 0]));
      const name = label(s.group, s.other);
      return { label: name, color: s.other ? "--faint" : `--s${colors.get(name) ?? 0}`, values: at.map((t) => points.get(t) ?? 0) };
    });
    return { at, lines };
  }, [d, by, agg]);
  return (
    <>
      <section className="panel">
        <header className="wraphead">
          <h2 className="grow">Over time</h2>
          <select className="field" aria-label="Measure" value={agg} onChange={(e) => change({ agg: e.target.value })}>
            {measures.map((m) => (
              <option key={m} value={m}>
                {words[m] ?? m}
              </option>
            ))}
          </select>
          <select className="field" aria-label="Groups" value={by ?? "none"} onChange={(e) => change({ by: e.target.value })}>
            {[...groupings, "none"].map((g) => (
              <option key={g} value={g}>
                {words[g] ?? g}
              </option>
            ))}
          </select>
        </header>
        <div className="body">
          <Load of={series} empty={(x) => !x.series?.some((s) => s.points?.length) && <Nothing filtered={names.length > 0} />}>
            {(x) => (
              <>
                {x.warnings?.map((t) => (
                  <p key={t} className="notice">
                    {t}
                  </p>
                ))}
                {x.truncated && <p className="notice">The largest 20 groups are shown; the others are merged.</p>}
                <Suspense fallback={<div style={{ height: 240 }} />}>
                  <Chart
                    title="Events over time"
                    times={at}
                    lines={lines}
                    format={agg === "rate" ? rate : count}
                    height={240}
                    step={(x.bucketSeconds ?? 60) * 1000}
                    onBrush={(a, b) => change({ from: iso(a), to: iso(b) })}
                  />
                </Suspense>
              </>
            )}
          </Load>
        </div>
      </section>
      <div className="eventsgrid">
        <section className="panel">
          <header>
            <h2 className="grow">Events by name</h2>
            {names.length > 0 && (
              <button type="button" className="button small" onClick={() => change({ names: null })}>
                Show all
              </button>
            )}
          </header>
          <Load of={all} empty={(x) => !x.data?.length && <Nothing filtered={false} />}>
            {(x) => {
              const most = Math.max(1, ...(x.data ?? []).map((r) => r.value ?? 0));
              return (
                <ul className="eventnames">
                  {(x.data ?? [])
                    .filter((r) => !r.other)
                    .map((r) => (
                      <li key={r.name}>
                        <button type="button" aria-pressed={names.includes(r.name ?? "")} onClick={() => toggle(r.name ?? "")}>
                          <i style={{ width: `${((r.value ?? 0) / most) * 100}%` }} aria-hidden="true" />
                          <span className="clip grow">{line(r.name ?? "", 120)}</span>
                          <span className="faint">{count(r.value)}</span>
                        </button>
                        <Link
                          className="button small quiet"
                          href={href("/events/paths", { anchor: `event:${r.name}` })}
                          title="What people do afterwards"
                        >
                          paths
                        </Link>
                      </li>
                    ))}
                </ul>
              );
            }}
          </Load>
        </section>
        <section className="panel">
          <header>
            <h2>Latest events</h2>
          </header>
          <Load of={latest} empty={(x) => !x.data?.length && <Nothing filtered={names.length > 0} />}>
            {(x) => (
              <table className="data fold">
                <thead>
                  <tr>
                    <th scope="col">Event</th>
                    <th scope="col" className="w160">
                      Person
                    </th>
                    <th scope="col" className="w200">
                      Page
                    </th>
                    <th scope="col" className="w200">
                      Time
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {(x.data ?? []).map((e, i) => (
                    <tr key={`${e.timestamp}${i}`}>
                      <td>
                        {e.sessionId ? (
                          <Link className="main" href={href(`/replays/${encodeURIComponent(e.sessionId)}`)}>
                            {line(e.name ?? "", 120)}
                          </Link>
                        ) : (
                          <b>{line(e.name ?? "", 120)}</b>
                        )}{" "}
                        <span className="faint">
                          {e.kind === "custom" ? "" : e.kind} {line(e.serviceName ?? "", 40)}
                        </span>
                      </td>
                      <td className="faint">{line(e.userId || e.visitorId || e.groupId || "–", 60)}</td>
                      <td className="faint">{line(e.pagePath ?? "", 120)}</td>
                      <td className="faint" title={exact(e.timestamp)}>
                        {stamp(e.timestamp)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Load>
        </section>
      </div>
    </>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <Empty title={filtered ? "None of these events in this window" : "No product events in this window"}>
      {filtered ? (
        <button type="button" className="button" onClick={() => change({ names: null })}>
          Show all events
        </button>
      ) : (
        <p>
          Send them from the browser or the server. <Link href={href("/start")}>Get started</Link>
        </p>
      )}
    </Empty>
  );
}
