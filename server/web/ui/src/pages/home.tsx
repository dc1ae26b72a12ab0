import { type ReactNode, useEffect } from "react";
import { kindNames, peopleOf, stepsOf } from "../frame/cause";
import { href, Link } from "../frame/router";
import { times, useCall, useFrame } from "../frame/session";
import { Silence, Stale } from "../frame/silence";
import type { Incident, Release, Service as ServiceRow } from "../gen/api";
import { count, duration, line, percent, rate, stretch } from "../parts/format";
import { Load, Service } from "../parts/states";
import { ago, clock, exact, iso, moment } from "../parts/time";
import "./home.css";

const day = 86_400_000;

/** worse says how a service differs from its usual latency; 1 is as usual. A service with few spans has no verdict. */
export function worse(s: ServiceRow): number {
  const usual = s.baselineP95LatencyMs ?? 0;
  return usual > 0 && (s.spanCount ?? 0) >= 20 ? (s.p95LatencyMs ?? 0) / usual : 1;
}

/** Home answers one question: is anything wrong, since when, for whom, and what changed? */
export function Home() {
  const { window: w, env, now, org } = useFrame();
  const environment = env ? { deploymentEnvironment: env } : {};
  // The past day ends at a multiple of five minutes, so that coming back to this page asks nothing again.
  const end = Math.floor(now / 300_000) * 300_000;
  const today = times({ start: end - day, end });
  const services = useCall("ServicesService/ListServices", { ...times(w), limit: 100, ...environment });
  const alerts = useCall("AlertIncidentsService/ListAlertIncidents", { status: "open", limit: 8 });
  const incidents = useCall("DiagnosisService/SearchIncidents", { ...today, ...environment });
  const errors = useCall("ErrorIssuesService/ListErrorIssues", {
    limit: 8,
    kind: "error",
    actionable: "true",
    introducedAfter: today.startTime,
    ...environment,
  });
  const releases = useCall("ServicesService/SearchReleases", { ...today, limit: 50, ...environment });
  useEffect(() => {
    document.title = `Home · ${org.name} · svc`;
  }, [org.name]);
  const rows = services.data?.data ?? [];
  const bad = rows
    .map((s) => ({
      s,
      slow: worse(s) >= 1.5 && (s.p95LatencyMs ?? 0) >= 5 ? worse(s) : 0,
      failing: (s.errorRate ?? 0) >= 0.01 ? (s.errorRate ?? 0) : 0,
    }))
    .filter((r) => r.slow || r.failing)
    .sort((a, b) => b.failing * 20 + b.slow - (a.failing * 20 + a.slow));
  if (services.data && rows.length === 0 && !services.isPlaceholderData)
    return (
      <>
        <div className="pagehead">
          <h1>Home</h1>
        </div>
        <Silence signal="traces" path="" />
      </>
    );
  return (
    <>
      <div className="pagehead">
        <h1>Home</h1>
      </div>
      <Stale />
      <section className="panel" aria-labelledby="wrong">
        <header>
          <h2 id="wrong" className="grow">
            What went wrong in the past 24 hours
          </h2>
          <Link href={href("/incidents", { from: "-24h", to: undefined })}>Timeline</Link>
        </header>
        <Load
          of={incidents}
          lines={3}
          empty={(d) =>
            !d.data?.length &&
            (d.seriesCount ? (
              <Fine>Every service is like itself: {count(d.seriesCount)} series were compared with their past.</Fine>
            ) : (
              <p className="fine warn">Nothing could be compared: no service sent data in the past day.</p>
            ))
          }
        >
          {(d) => (
            <ul className="wrongs">
              {sorted(d.data ?? [])
                .slice(0, 6)
                .map((i) => (
                  <Wrong key={`${i.serviceName}${i.startTime}`} i={i} now={now} end={Date.parse(d.endTime ?? "")} />
                ))}
            </ul>
          )}
        </Load>
      </section>
      <div className="strips">
        <Strip title="Alerts that fire" to={href("/alerts")}>
          <Load of={alerts} empty={(d) => !d.data?.length && <Fine>No alert fires.</Fine>}>
            {(d) => (
              <ul className="list">
                {d.data?.map((i) => (
                  <li key={i.id}>
                    <span className={i.severity === "critical" ? "bad" : "warn"} title={i.severity}>
                      ●
                    </span>
                    <Link className="clip grow" href={href(`/alerts/incidents/${i.id}`)}>
                      {line(i.ruleName ?? "", 100)} {i.groupKey && <span className="faint">{line(i.groupKey, 40)}</span>}
                    </Link>
                    <span className="faint" title={exact(i.firstTriggeredAt)}>
                      {stretch(now - Date.parse(i.firstTriggeredAt ?? ""))}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Load>
        </Strip>
        <Strip title="Worse than usual" to={href("/services", { sort: "change" })}>
          <Load
            of={services}
            empty={() => bad.length === 0 && <Fine>Every service is as fast as usual, and none fails more than 1{"\u2009"}%.</Fine>}
          >
            {() => (
              <ul className="list">
                {bad.slice(0, 8).map(({ s, slow, failing }) => (
                  <li key={s.name}>
                    <Link className="clip grow" href={href(`/services/${encodeURIComponent(s.name ?? "")}`)}>
                      <Service name={line(s.name ?? "", 100)} />
                    </Link>
                    <span>
                      {failing > 0 && <span className="bad">{percent(failing)} fail</span>}
                      {failing > 0 && slow > 0 && ", "}
                      {slow > 0 && (
                        <>
                          p95 {duration(s.p95LatencyMs)} <span className="bad">×{slow.toFixed(1)}</span>
                        </>
                      )}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Load>
        </Strip>
        <Strip title="New errors" to={href("/errors", { tab: "new" })}>
          <Load of={errors} empty={(d) => !d.data?.length && <Fine>No new error in the past day, and none came back.</Fine>}>
            {(d) => (
              <ul className="list twofold">
                {d.data?.map((e) => (
                  <li key={e.id}>
                    <Link className="grow" href={href(`/errors/${e.id}`)} title={line(e.errorLabel || e.exceptionType || "error", 300)}>
                      <span className="clip">{line(e.errorLabel || e.exceptionType || "error", 120)}</span>
                      <span className="faint clip">{line(e.serviceName ?? "", 40)}</span>
                    </Link>
                    <span>
                      {e.workflowState === "regressed" && <span className="bad">back </span>}
                      {count(Math.round(e.estimatedOccurrenceCount ?? 0))} <span className="faint">{ago(e.firstSeenAt, now)}</span>
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Load>
        </Strip>
        <Strip title="Releases of the past day" to={href("/incidents", { from: "-24h", to: undefined })}>
          <Load of={releases} empty={(d) => begun(d.data).length === 0 && <p className="fine">No service changed its version.</p>}>
            {(d) => (
              <ul className="list">
                {begun(d.data)
                  .slice(0, 8)
                  .map((r) => (
                    <Released key={`${r.serviceName}${r.version}${r.deploymentEnvironment}`} r={r} />
                  ))}
              </ul>
            )}
          </Load>
        </Strip>
      </div>
      <section className="panel">
        <header>
          <h2 className="grow">Services</h2>
          <Link href={href("/services")}>All services</Link>
        </header>
        <Load of={services}>
          {() => (
            <div className="tiles">
              {rows.slice(0, 12).map((s) => (
                <Link key={s.name} className="tile" href={href(`/services/${encodeURIComponent(s.name ?? "")}`)}>
                  <b className="clip">
                    <Service name={line(s.name ?? "", 100)} />
                  </b>
                  <span>
                    <em title="Requests">{rate(s.throughput)}</em>
                    <em className={(s.errorRate ?? 0) >= 0.01 ? "bad" : ""}>{percent(s.errorRate ?? 0)} fail</em>
                    <em className={worse(s) >= 1.5 ? "warn" : ""}>p95 {duration(s.p95LatencyMs)}</em>
                  </span>
                </Link>
              ))}
            </div>
          )}
        </Load>
      </section>
    </>
  );
}

/** What lasts comes first, then the latest. */
const sorted = (all: Incident[]): Incident[] =>
  [...all].sort((a, b) => Number(Boolean(a.endTime)) - Number(Boolean(b.endTime)) || (b.startTime ?? "").localeCompare(a.startTime ?? ""));

/** begun are the releases that began in the window: a version before them ran in it. */
const begun = (all: Release[] | undefined): Release[] => (all ?? []).filter((r) => r.previous !== undefined && r.previous !== null);

function Wrong({ i, now, end }: { i: Incident; now: number; end: number }) {
  const from = Date.parse(i.startTime ?? "");
  const lasts = !i.endTime;
  const people = peopleOf(i);
  const steps = stepsOf(i, end).slice(0, 3);
  return (
    <li>
      <span className={lasts ? "since bad" : "since"} title={exact(i.startTime)}>
        <b>{lasts ? `since ${clock(from).slice(0, 5)}` : `${clock(from).slice(0, 5)}–${clock(Date.parse(i.endTime ?? "")).slice(0, 5)}`}</b>
        <span className="faint">{lasts ? `${stretch(now - from)}, lasts` : moment(from).slice(5, 10)}</span>
      </span>
      <div>
        <p>
          <Link
            className="main"
            href={href(`/services/${encodeURIComponent(i.serviceName ?? "")}`, {
              from: iso(from - 1_800_000),
              to: i.endTime ? iso(Date.parse(i.endTime) + 1_800_000) : "now",
            })}
          >
            <Service name={line(i.serviceName ?? "", 80)} />
          </Link>{" "}
          {line(i.cause?.statement ?? "", 400)}
        </p>
        <p className="faint">
          {kindNames[i.cause?.kind ?? ""] ?? ""}
          {people && (
            <>
              {" "}
              · <b>{people}</b>
            </>
          )}
          {(i.serviceNames?.length ?? 0) > 1 && (
            <>
              {" "}
              · also{" "}
              {i.serviceNames
                ?.slice(1, 4)
                .map((s) => line(s, 40))
                .join(", ")}
            </>
          )}
        </p>
      </div>
      <span className="row wrap next">
        {steps.map((s) => (
          <Link key={s.name} className="button small" href={s.href}>
            {s.name}
          </Link>
        ))}
      </span>
    </li>
  );
}

function Released({ r }: { r: Release }) {
  const p = r.previous ?? {};
  const slower = (p.p95LatencyMs ?? 0) > 0 ? (r.p95LatencyMs ?? 0) / (p.p95LatencyMs ?? 1) : 1;
  const fails = (r.errorRate ?? 0) - (p.errorRate ?? 0);
  return (
    <li>
      <Link
        className="clip grow"
        href={href(`/services/${encodeURIComponent(r.serviceName ?? "")}`, { tab: "releases", from: "-24h", to: undefined })}
      >
        {line(r.serviceName ?? "", 60)} {line(r.version ?? "", 40)}{" "}
        {r.deploymentEnvironment && r.deploymentEnvironment !== "production" && (
          <span className="faint">{line(r.deploymentEnvironment, 30)}</span>
        )}
      </Link>
      <span>
        {slower >= 1.3 && (
          <span className="bad" title={`p95 ${duration(r.p95LatencyMs)}, before ${duration(p.p95LatencyMs)}`}>
            ▲ p95 ×{slower.toFixed(1)}{" "}
          </span>
        )}
        {fails >= 0.01 && (
          <span className="bad" title={`${percent(r.errorRate)} fail, before ${percent(p.errorRate)}`}>
            ▲ {percent(r.errorRate)} fail{" "}
          </span>
        )}
        {r.state === "rolled_back" && <span className="warn">rolled back </span>}
        <span className="faint">{clock(Date.parse(r.firstSeen ?? "")).slice(0, 5)}</span>
      </span>
    </li>
  );
}

function Strip({ title, to, children }: { title: string; to: string; children: ReactNode }) {
  return (
    <section className="panel strip">
      <header>
        <h2 className="grow">{title}</h2>
        <Link href={to} aria-label={`${title}: all`}>
          All
        </Link>
      </header>
      {children}
    </section>
  );
}

const Fine = ({ children }: { children: ReactNode }) => (
  <p className="fine">
    <span className="good" aria-hidden="true">
      ✓
    </span>{" "}
    {children}
  </p>
);
