import { lazy, Suspense, useEffect, useMemo } from "react";
import { href, Link } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import type { AlertCheck, AlertDelivery, AlertIncident, AlertRule } from "../../gen/api";
import { AlertCheckRetention } from "../../gen/limits";
import { lasts, line, stretch } from "../../parts/format";
import { Load } from "../../parts/states";
import { ago, clock, exact, iso, stamp } from "../../parts/time";
import { condition, formatOf, groupName, onServices } from "./draft";
import { CheckTable, NotFound } from "./rule";

const Chart = lazy(() => import("../../parts/chart"));
const minute = 60_000;

/** Incident is one time in which a rule fired: the chart of that time, what happened, who got a message, and where to look next. */
export function Incident({ id }: { id: string }) {
  const { now, org } = useFrame();
  const found = useCall("AlertIncidentsService/GetAlertIncident", { id });
  const ruleId = found.data?.ruleId ?? "";
  const rule = useCall("AlertRulesService/GetAlertRule", { id: ruleId }, { enabled: ruleId !== "" });
  const name = found.data?.ruleName;
  useEffect(() => {
    document.title = `${line(name ?? "Incident", 60)} · ${org.name} · svc`;
  }, [name, org.name]);
  if (found.error?.status === 404 && !found.data) return <NotFound what="incident" />;
  return (
    <Load of={found} lines={12}>
      {(i) => {
        const from = Date.parse(i.firstTriggeredAt ?? "");
        const to = i.resolvedAt ? Date.parse(i.resolvedAt) : now;
        return (
          <div className="lay">
            <div className="pagehead">
              <h1>{line(i.ruleName ?? "", 200)}</h1>
              {i.groupKey && <span className="chip">{line(i.groupKey, 100)}</span>}
              <b className={i.status === "open" ? (i.severity === "critical" ? "bad" : "warn") : "good"}>
                {i.status === "open" ? `● ${i.severity}, fires` : "✓ resolved"}
              </b>
              <span className="grow" />
              <Link className="button" href={href(`/alerts/rules/${ruleId}`)}>
                Rule
              </Link>
            </div>
            <section className="panel stats" aria-label="Figures">
              <div className="stat">
                <b>{ago(i.firstTriggeredAt, now)}</b>
                <span title={exact(i.firstTriggeredAt)}>began {stamp(i.firstTriggeredAt).slice(0, 19)}</span>
              </div>
              <div className="stat">
                <b>{stretch(to - from)}</b>
                <span>{i.resolvedAt ? "lasted" : "so far"}</span>
              </div>
              <div className="stat">
                <b>{i.lastObservedValue === undefined ? "–" : formatOf(rule.data ?? i)(i.lastObservedValue)}</b>
                <span>last value; fires when {condition(rule.data ?? i)}</span>
              </div>
              {i.holdReason && (
                <div className="stat">
                  <b className="warn">held</b>
                  <span>
                    {line(i.holdReason, 100)} since {ago(i.heldSince, now)}
                  </span>
                </div>
              )}
            </section>
            {rule.data?.notes && <p className="panel fine notes">{line(rule.data.notes, 4000)}</p>}
            <Next incident={i} rule={rule.data} from={from} to={to} />
            {ruleId && <Over incident={i} rule={rule.data} from={from} to={to} />}
            {ruleId && <Groups incident={i} />}
          </div>
        );
      }}
    </Load>
  );
}

/** Next leads to the records of the time of the incident. */
function Next({ incident: i, rule: r, from, to }: { incident: AlertIncident; rule: AlertRule | undefined; from: number; to: number }) {
  const window = { from: iso(from - 10 * minute), to: iso(Math.max(to, from + minute) + 5 * minute) };
  const service =
    r && onServices(r.signalType) && i.groupKey && (r.serviceNames?.length || r.groupBy?.join() === "service.name") ? i.groupKey : "";
  const where = service ? `service.name = "${service.replace(/["\\]/g, "\\$&")}"` : "";
  const bad =
    i.signalType === "error_rate"
      ? "has_error = true"
      : i.signalType?.endsWith("latency") && r
        ? `duration > ${Math.round(r.threshold ?? 0)}ms`
        : "";
  const q = [where, bad].filter(Boolean).join(" AND ");
  return (
    <nav className="row wrap" aria-label="Where to look next">
      <Link className="button" href={href("/traces", { ...window, q })}>
        {bad === "has_error = true" ? "Failed traces" : bad ? "Slow traces" : "Traces"}
      </Link>
      <Link className="button" href={href("/logs", { ...window, q: [where, "severity >= WARN"].filter(Boolean).join(" AND ") })}>
        Logs
      </Link>
      {service && (
        <Link className="button" href={href(`/services/${encodeURIComponent(service)}`, window)}>
          Service
        </Link>
      )}
      <Link className="button" href={href("/incidents", { ...window, ...(service ? { service } : {}) })}>
        Cause
      </Link>
      {bad && (
        <Link className="button" href={href("/difference", { ...window, where, selected: bad })}>
          What is different
        </Link>
      )}
      {i.errorIssueId && (
        <Link className="button" href={href(`/errors/${i.errorIssueId}`)}>
          Issue
        </Link>
      )}
      <Link
        className="button"
        href={href("/investigations", {
          new: `${i.ruleName ?? ""}${i.groupKey ? ` in ${i.groupKey}` : ""}`,
          ...(i.errorIssueId ? { issue: i.errorIssueId } : {}),
        })}
      >
        Investigate
      </Link>
    </nav>
  );
}

function Over({ incident: i, rule: r, from, to }: { incident: AlertIncident; rule: AlertRule | undefined; from: number; to: number }) {
  // Groups of rules without groups have the empty key, which selects all of them.
  const margin = Math.max(20 * minute, Math.min((to - from) / 4, 120 * minute));
  const window = { since: iso(from - margin), until: iso(to + margin) };
  const group = i.groupKey ? { groupKey: i.groupKey } : {};
  const summary = useCall("AlertRulesService/SummarizeAlertRuleChecks", { id: i.ruleId ?? "", ...window, ...group });
  const checks = useCall("AlertRulesService/ListAlertRuleChecks", {
    id: i.ruleId ?? "",
    limit: 100,
    since: iso(from - 5 * minute),
    until: iso(to + 2 * minute),
    ...group,
  });
  const deliveries = useCall("AlertDeliveriesService/ListAlertDeliveries", { limit: 100, incidentId: i.id ?? "" });
  const format = useMemo(() => formatOf(r ?? i), [r, i]);
  const points = summary.data?.points ?? [];
  const times = useMemo(() => points.map((p) => Date.parse(p.bucket ?? "")), [summary.data]);
  const lines = useMemo(
    () => [{ label: groupName(i.groupKey), color: "--s1", values: points.map((p) => p.observedValue ?? null) }],
    [summary.data, i.groupKey],
  );
  const bands = useMemo(() => [{ start: from, end: to }], [from, to]);
  const levels = useMemo(
    () =>
      r?.baseline
        ? []
        : [
            { value: i.threshold ?? 0, label: format(i.threshold ?? 0) },
            ...(i.thresholdUpper === undefined ? [] : [{ value: i.thresholdUpper, label: format(i.thresholdUpper) }]),
          ],
    [i, r, format],
  );
  return (
    <>
      <section className="panel">
        <header>
          <h2>At the time</h2>
        </header>
        <Load
          of={summary}
          lines={8}
          empty={() =>
            points.length === 0 && <p className="fine">The checks of that time are gone; they are kept for {lasts(AlertCheckRetention)}.</p>
          }
        >
          {() => (
            <div className="body">
              <Suspense fallback={<div style={{ height: 190 }} />}>
                <Chart
                  title="Value of the rule at the time of the incident"
                  times={times}
                  lines={lines}
                  format={format}
                  height={190}
                  start={from - margin}
                  end={to + margin}
                  bands={bands}
                  levels={levels}
                  least={i.threshold || 1}
                />
              </Suspense>
            </div>
          )}
        </Load>
      </section>
      <div className="grid">
        <section className="panel">
          <header>
            <h2>Timeline</h2>
          </header>
          <Load of={deliveries}>
            {(d) => <Timeline incident={i} checks={checks.data?.data ?? []} deliveries={d.data ?? []} format={format} />}
          </Load>
        </section>
      </div>
      <section className="panel">
        <header>
          <h2>Checks</h2>
        </header>
        <Load of={checks} empty={(d) => !d.data?.length && <p className="fine">No checks are kept of that time.</p>}>
          {(d) => <CheckTable checks={(d.data ?? []).slice(0, 30)} rule={r} />}
        </Load>
      </section>
    </>
  );
}

const events: Record<string, string> = { trigger: "it opened", resolve: "it resolved", renotify: "a reminder", test: "a test" };

function Timeline({
  incident: i,
  checks,
  deliveries,
  format,
}: {
  incident: AlertIncident;
  checks: AlertCheck[];
  deliveries: AlertDelivery[];
  format: (n: number) => string;
}) {
  type Entry = { at: string | undefined; key: string; body: React.ReactNode };
  const mine = checks.filter((c) => c.incidentId === i.id && (c.incidentTransition === "opened" || c.incidentTransition === "resolved"));
  const entries: Entry[] = [
    ...mine.map((c) => ({
      at: c.timestamp,
      key: `c${c.timestamp}`,
      body: (
        <>
          <b className={c.incidentTransition === "opened" ? "bad" : "good"}>
            {c.incidentTransition === "opened" ? "● opened" : "✓ resolved"}
          </b>
          {c.observedValue !== undefined && <span>at {format(c.observedValue)}</span>}
        </>
      ),
    })),
    ...(mine.some((c) => c.incidentTransition === "opened")
      ? []
      : [{ at: i.firstTriggeredAt, key: "first", body: <b className="bad">● opened</b> }]),
    ...deliveries.map((d) => ({
      at: d.attemptedAt ?? d.scheduledAt,
      key: d.id ?? "",
      body: (
        <>
          <b className={d.status === "failed" ? "bad" : d.status === "success" ? "good" : "faint"}>
            {d.status === "success" ? "✓ sent" : d.status === "failed" ? "✖ failed" : d.status}
          </b>
          <span>
            to {line(d.destinationName ?? "", 60)}: {events[d.eventType ?? ""] ?? d.eventType}
            {(d.attemptNumber ?? 1) > 1 ? `, attempt ${d.attemptNumber}` : ""}
          </span>
          {d.errorMessage && <span className="bad">{line(d.errorMessage, 200)}</span>}
        </>
      ),
    })),
  ].sort((a, b) => (a.at ?? "").localeCompare(b.at ?? ""));
  return (
    <>
      <ol className="timeline">
        {entries.map((e) => (
          <li key={e.key}>
            <time className="faint" dateTime={e.at} title={exact(e.at)}>
              {clock(Date.parse(e.at ?? ""))}
            </time>
            <div>{e.body}</div>
          </li>
        ))}
      </ol>
      {deliveries.length === 0 && <p className="fine">No message was sent: the rule has no destination, or it was muted.</p>}
    </>
  );
}

function Groups({ incident: i }: { incident: AlertIncident }) {
  const { now } = useFrame();
  const others = useCall("AlertIncidentsService/ListAlertIncidents", { ruleId: i.ruleId ?? "", limit: 100 });
  const at = Date.parse(i.firstTriggeredAt ?? "");
  const end = i.resolvedAt ? Date.parse(i.resolvedAt) : now;
  const together = (others.data?.data ?? []).filter(
    (o) => o.id !== i.id && Date.parse(o.firstTriggeredAt ?? "") < end && (o.resolvedAt ? Date.parse(o.resolvedAt) : now) > at,
  );
  if (together.length === 0) return null;
  return (
    <section className="panel">
      <header>
        <h2>Other groups of the rule at the same time</h2>
      </header>
      <ul className="list">
        {together.map((o) => (
          <li key={o.id}>
            <Link className="clip grow" href={href(`/alerts/incidents/${o.id}`)}>
              {groupName(o.groupKey)}
            </Link>
            <span className={o.status === "open" ? "bad" : "faint"}>
              {o.status}, {ago(o.firstTriggeredAt, now)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
