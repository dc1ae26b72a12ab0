import { lazy, Suspense, useMemo, useState } from "react";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { AlertCheck, AlertCheckSummary, AlertRule } from "../../gen/api";
import { Confirm } from "../../parts/dialog";
import { FormError } from "../../parts/form";
import { count, line, slots, stretch } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, exact, iso, stamp } from "../../parts/time";
import { condition, formatOf, groupName, reason } from "./draft";
import { RuleState } from "./rules";

const Chart = lazy(() => import("../../parts/chart"));
const mutes: Array<[number, string]> = [
  [15, "Mute for 15 minutes"],
  [60, "Mute for 1 hour"],
  [480, "Mute for 8 hours"],
  [1440, "Mute for 1 day"],
  [10080, "Mute for 7 days"],
];

/** Rule is one rule: its condition, its checks over time, and its incidents. */
export function Rule({ id }: { id: string }) {
  const { now, org } = useFrame();
  const rule = useCall("AlertRulesService/GetAlertRule", { id });
  const mute = useAct("AlertRulesService/MuteAlertRule");
  const update = useAct("AlertRulesService/UpdateAlertRule");
  const remove = useAct("AlertRulesService/DeleteAlertRule", () => navigate(href("/alerts/rules")));
  const [asked, setAsked] = useState(false);
  const member = org.role === "org:member";
  return (
    <Load of={rule} lines={12}>
      {(r) => {
        const muted = r.mutedUntil && Date.parse(r.mutedUntil) > now;
        return (
          <div className="lay">
            <div className="pagehead">
              <h1>{line(r.name ?? "", 200)}</h1>
              <RuleState rule={r} now={now} />
              <span className="grow" />
              {!member && (
                <>
                  {muted ? (
                    <button type="button" className="button" onClick={() => mute.mutate({ id, minutes: 0 })}>
                      End the mute
                    </button>
                  ) : (
                    <Menu
                      label="Mute"
                      className="button"
                      items={mutes.map(([minutes, name]) => ({ name, act: () => mute.mutate({ id, minutes }) }))}
                    >
                      Mute ▾
                    </Menu>
                  )}
                  <button
                    type="button"
                    className="button"
                    onClick={() => update.mutate({ id, enabled: !r.enabled, updateMask: "enabled" })}
                  >
                    {r.enabled ? "Switch off" : "Switch on"}
                  </button>
                  <Link className="button" href={href("/alerts/rules/new", { rule: JSON.stringify(copyOf(r)) })}>
                    Copy
                  </Link>
                  <button type="button" className="button" onClick={() => setAsked(true)}>
                    Delete
                  </button>
                  <Link className="button primary" href={href(`/alerts/rules/${id}/edit`)}>
                    Edit
                  </Link>
                </>
              )}
            </div>
            <FormError error={mute.error ?? update.error ?? remove.error} />
            {r.lastEvaluationError && (
              <p className="panel fine bad" role="alert">
                ✖ The last evaluation failed: {line(reason(r.lastEvaluationError), 1000)}
              </p>
            )}
            <section className="panel stats" aria-label="Settings">
              <div className="stat">
                <b>{condition(r)}</b>
                <span>
                  over {r.windowMinutes} min, {r.consecutiveBreachesRequired} in a row
                  {Number(r.minimumSampleCount) > 0 ? `, with ${r.minimumSampleCount} samples at least` : ""}
                </span>
              </div>
              <div className="stat">
                <b className={r.severity === "critical" ? "bad" : "warn"}>{r.severity}</b>
                <span>severity</span>
              </div>
              <div className="stat">
                <b>
                  {r.serviceNames?.length
                    ? r.serviceNames.map((s) => line(s, 60)).join(", ")
                    : r.groupBy?.length
                      ? `each ${r.groupBy.map((g) => line(g, 60)).join(", ")}`
                      : "all"}
                </b>
                <span>{r.environments?.length ? `in ${r.environments.map((e) => line(e, 60)).join(", ")}` : "groups"}</span>
              </div>
              <div className="stat">
                <b>{count(r.destinationIds?.length ?? 0)}</b>
                <span>{r.destinationIds?.length === 1 ? "destination" : "destinations"}</span>
              </div>
            </section>
            {r.notes && <p className="panel fine notes">{line(r.notes, 4000)}</p>}
            <Checks rule={r} />
            {asked && (
              <Confirm
                title={`Delete ${line(r.name ?? "", 100)}?`}
                act="Delete"
                busy={remove.isPending}
                close={(yes) => (yes ? remove.mutate({ id }) : setAsked(false))}
              >
                <p>Its incidents and checks go with it. Open incidents get a last message.</p>
              </Confirm>
            )}
          </div>
        );
      }}
    </Load>
  );
}

function copyOf(r: AlertRule): Partial<AlertRule> {
  const {
    id: _id,
    object: _object,
    createdAt: _c,
    updatedAt: _u,
    createdBy: _cb,
    updatedBy: _ub,
    lastEvaluatedAt: _l,
    lastScheduledAt: _s,
    lastEvaluationError: _e,
    mutedUntil: _m,
    noDataBehavior: _n,
    ...rest
  } = r;
  return { ...rest, name: `${r.name} (copy)` };
}

const ranges: Array<[string, number]> = [
  ["3 h", 3],
  ["24 h", 24],
  ["7 d", 168],
  ["30 d", 720],
];

function Checks({ rule: r }: { rule: AlertRule }) {
  const { now } = useFrame();
  const address = useAddress();
  const hours = Number(address.searchParams.get("hours") ?? 24);
  const status = (["breached", "healthy", "skipped", "error"] as const).find((s) => s === address.searchParams.get("status"));
  const group = address.searchParams.get("group") ?? "";
  const end = Math.ceil(now / 60_000) * 60_000;
  const window = { since: iso(end - hours * 36e5), until: iso(end) };
  const only = group ? { groupKey: group } : {};
  const summary = useCall("AlertRulesService/SummarizeAlertRuleChecks", { id: r.id ?? "", ...window, ...only });
  const checks = useCall("AlertRulesService/ListAlertRuleChecks", {
    id: r.id ?? "",
    limit: 50,
    ...window,
    ...only,
    ...(status ? { status } : {}),
  });
  const incidents = useCall("AlertIncidentsService/ListAlertIncidents", { limit: 20, ruleId: r.id ?? "" });
  const bands = useMemo(
    () =>
      (incidents.data?.data ?? [])
        .filter((i) => !group || i.groupKey === group)
        .map((i) => ({ start: Date.parse(i.firstTriggeredAt ?? ""), end: i.resolvedAt ? Date.parse(i.resolvedAt) : end })),
    [incidents.data, group, end],
  );
  const totals = summary.data?.totals;
  return (
    <>
      <section className="panel">
        <header>
          <h2 className="grow">Checks</h2>
          {group && (
            <button type="button" className="button small" onClick={() => change({ group: null })}>
              {line(group, 60)} ×
            </button>
          )}
          {ranges.map(([name, h]) => (
            <button
              key={h}
              type="button"
              className="button small"
              aria-pressed={hours === h}
              onClick={() => change({ hours: h === 24 ? null : String(h) })}
            >
              {name}
            </button>
          ))}
        </header>
        <Load
          of={summary}
          lines={8}
          empty={(d) =>
            !d.points?.length && (
              <p className="fine">
                No checks in this time. A rule is evaluated once a minute,{" "}
                {r.enabled ? "the first time about a minute after its telemetry" : "while it is on"}.
              </p>
            )
          }
        >
          {(d) => <Values of={d} rule={r} bands={bands} start={end - hours * 36e5} end={end} />}
        </Load>
        {totals && Number(totals.total ?? 0) > 0 && (
          <div className="row wrap fine" role="group" aria-label="Results">
            {(
              [
                ["breached", totals.breached],
                ["healthy", totals.healthy],
                ["skipped", totals.skipped],
                ["error", totals.error],
              ] as const
            ).map(([name, n]) => (
              <button
                key={name}
                type="button"
                className="button small"
                aria-pressed={status === name}
                onClick={() => change({ status: status === name ? null : name })}
              >
                {name} {count(Number(n ?? 0))}
              </button>
            ))}
            <span className="faint">{count(Number(totals.transitions ?? 0))} opened or resolved</span>
          </div>
        )}
        <Load of={checks} empty={(d) => !d.data?.length && <p className="fine">No such check.</p>}>
          {(d) => <CheckTable checks={d.data ?? []} rule={r} />}
        </Load>
      </section>
      <section className="panel">
        <header>
          <h2 className="grow">Incidents</h2>
          <Link href={href("/alerts", { rule: r.id, state: "resolved" })}>All</Link>
        </header>
        <Load of={incidents} empty={(d) => !d.data?.length && <p className="fine">It has not fired yet.</p>}>
          {(d) => (
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col">Group</th>
                  <th scope="col" className="w90">
                    State
                  </th>
                  <th scope="col" className="num w110">
                    Last value
                  </th>
                  <th scope="col" className="w160">
                    Began
                  </th>
                  <th scope="col" className="w160">
                    Lasted
                  </th>
                </tr>
              </thead>
              <tbody>
                {d.data?.map((i) => (
                  <tr key={i.id}>
                    <td>
                      <Link className="main" href={href(`/alerts/incidents/${i.id}`)}>
                        {groupName(i.groupKey)}
                      </Link>
                    </td>
                    <td className={i.status === "open" ? "bad" : "faint"}>{i.status === "open" ? "● open" : "resolved"}</td>
                    <td className="num">{i.lastObservedValue === undefined ? "–" : formatOf(r)(i.lastObservedValue)}</td>
                    <td className="faint" title={exact(i.firstTriggeredAt)}>
                      {ago(i.firstTriggeredAt, now)}
                    </td>
                    <td className="faint">
                      {stretch((i.resolvedAt ? Date.parse(i.resolvedAt) : now) - Date.parse(i.firstTriggeredAt ?? ""))}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Load>
      </section>
    </>
  );
}

function Values({
  of: d,
  rule: r,
  bands,
  start,
  end,
}: {
  of: AlertCheckSummary;
  rule: AlertRule;
  bands: Array<{ start: number; end: number }>;
  start: number;
  end: number;
}) {
  const format = useMemo(() => formatOf(r), [r]);
  const times = useMemo(() => [...new Set((d.points ?? []).map((p) => Date.parse(p.bucket ?? "")))].sort((a, b) => a - b), [d]);
  const lines = useMemo(() => {
    const at = new Map(times.map((t, i) => [t, i]));
    const groups = new Map<string, Array<number | null>>();
    for (const p of d.points ?? []) {
      const values = groups.get(p.groupKey ?? "") ?? new Array<number | null>(times.length).fill(null);
      values[at.get(Date.parse(p.bucket ?? "")) ?? 0] = p.observedValue ?? null;
      groups.set(p.groupKey ?? "", values);
    }
    const named = [...groups].filter(([g]) => groups.size === 1 || g !== "__total__");
    const colors = slots(named.map(([g]) => g));
    return named.map(([g, values]) => ({ label: groupName(g), color: `--s${colors.get(g)}`, values }));
  }, [d, times]);
  const levels = useMemo(
    () =>
      r.baseline
        ? []
        : [
            { value: r.threshold ?? 0, label: format(r.threshold ?? 0) },
            ...(r.thresholdUpper === undefined ? [] : [{ value: r.thresholdUpper, label: format(r.thresholdUpper) }]),
          ],
    [r, format],
  );
  return (
    <div className="body">
      <Suspense fallback={<div style={{ height: 200 }} />}>
        <Chart
          title="Values of the checks"
          times={times}
          lines={lines}
          format={format}
          height={200}
          start={start}
          end={end}
          levels={levels}
          bands={bands}
          least={r.threshold || 1}
        />
      </Suspense>
    </div>
  );
}

const words: Record<string, string> = { no_data: "no data", below_min_samples: "too few samples", no_value: "no value" };

/** CheckTable lists checks, the newest first. */
export function CheckTable({ checks, rule }: { checks: AlertCheck[]; rule: AlertRule | undefined }) {
  return (
    <table className="data fold">
      <thead>
        <tr>
          <th scope="col" className="w200">
            Time
          </th>
          <th scope="col">Group</th>
          <th scope="col" className="w160">
            Result
          </th>
          <th scope="col" className="num w110">
            Value
          </th>
          <th scope="col" className="num w110">
            Threshold
          </th>
          <th scope="col" className="num w90">
            Samples
          </th>
          <th scope="col" className="w110">
            Incident
          </th>
        </tr>
      </thead>
      <tbody>
        {checks.map((c) => {
          const format = formatOf(rule ?? { signalType: c.signalType ?? "" });
          return (
            <tr key={`${c.timestamp}${c.groupKey}`}>
              <td className="faint" title={exact(c.timestamp)}>
                {stamp(c.timestamp).slice(0, 19)}
              </td>
              <td>
                {groupName(c.groupKey)} {c.errorMessage && <span className="bad">{line(c.errorMessage, 300)}</span>}
              </td>
              <td className={c.status === "breached" || c.status === "error" ? "bad" : c.status === "healthy" ? "good" : "faint"}>
                {c.status === "breached" ? "● in breach" : c.status === "healthy" ? "✓ healthy" : c.status}
                {c.skipReason ? `: ${words[c.skipReason] ?? c.skipReason}` : ""}
              </td>
              <td className="num">{c.observedValue === undefined ? "–" : format(c.observedValue)}</td>
              <td className="num faint">{format(c.threshold ?? 0)}</td>
              <td className="num faint">{count(c.sampleCount)}</td>
              <td>
                {c.incidentId && c.incidentTransition !== "none" ? (
                  <Link href={href(`/alerts/incidents/${c.incidentId}`)}>{c.incidentTransition}</Link>
                ) : (
                  ""
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export const NotFound = ({ what }: { what: string }) => (
  <Empty title={`There is no such ${what}`}>
    <Link className="button" href={href("/alerts")}>
      Alerts
    </Link>
  </Empty>
);
