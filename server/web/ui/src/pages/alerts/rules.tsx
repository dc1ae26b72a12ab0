import { useState } from "react";
import { href, Link, navigate } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import { LargestPage } from "../../gen/limits";
import { FormError } from "../../parts/form";
import { count, line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { ago, moment } from "../../parts/time";
import type { AlertRule } from "../../gen/api";
import { condition, reason } from "./draft";

/** stateOf says how a rule is: on, off, muted, or broken. */
export function RuleState({ rule: r, now }: { rule: AlertRule; now: number }) {
  if (r.lastEvaluationError)
    return (
      <span className="bad" title={line(r.lastEvaluationError, 500)}>
        ✖ fails: {line(reason(r.lastEvaluationError), 80)}
      </span>
    );
  if (!r.enabled) return <span className="faint">○ off</span>;
  if (r.mutedUntil && Date.parse(r.mutedUntil) > now)
    return <span className="warn">● muted until {moment(Date.parse(r.mutedUntil)).slice(5)}</span>;
  return <span className="good">✓ on</span>;
}

/** Rules lists all rules; the broken ones stand first. */
export function Rules() {
  const { now, org } = useFrame();
  const [search, setSearch] = useState("");
  const rules = useCall("AlertRulesService/ListAlertRules", { limit: LargestPage });
  const open = useCall("AlertIncidentsService/ListAlertIncidents", { limit: LargestPage, status: "open" });
  const update = useAct("AlertRulesService/UpdateAlertRule");
  const firing = new Map<string, number>();
  for (const i of open.data?.data ?? []) firing.set(i.ruleId ?? "", (firing.get(i.ruleId ?? "") ?? 0) + 1);
  const text = search.toLowerCase();
  const weight = (r: AlertRule): number => (r.lastEvaluationError ? 2 : 0) + (firing.has(r.id ?? "") ? 1 : 0);
  const rows = (rules.data?.data ?? [])
    .filter((r) => `${r.name} ${(r.serviceNames ?? []).join(" ")} ${(r.tags ?? []).join(" ")}`.toLowerCase().includes(text))
    .sort((a, b) => weight(b) - weight(a));
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Rules</h2>
        <input
          className="field"
          type="search"
          data-bar=""
          aria-label="Filter rules"
          placeholder="Name, service, tag"
          value={search}
          onChange={(e) => setSearch(e.target.value)}
        />
      </header>
      <FormError error={update.error} />
      <Load
        of={rules}
        empty={(d) =>
          !d.data?.length && (
            <Empty title="No alert rules yet">
              <p>Choose what to watch, drag the threshold on the chart of the past day, and see how often it would have fired.</p>
              <Link className="button primary" href={href("/alerts/rules/new")}>
                New rule
              </Link>
            </Empty>
          )
        }
      >
        {(d) => (
          <>
            <table className="data fold rows">
              <thead>
                <tr>
                  <th scope="col">Rule</th>
                  <th scope="col">Condition</th>
                  <th scope="col" className="w90">
                    Severity
                  </th>
                  <th scope="col" className="num w90">
                    Fires
                  </th>
                  <th scope="col" className="w110">
                    Checked
                  </th>
                  <th scope="col" className="w200">
                    State
                  </th>
                  <th scope="col" className="w110">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((r) => (
                  // biome-ignore lint: the link in the first cell is the way for the keyboard
                  <tr key={r.id} onClick={(e) => !(e.target as Element).closest("a, button") && navigate(href(`/alerts/rules/${r.id}`))}>
                    <td>
                      <Link className="main" href={href(`/alerts/rules/${r.id}`)}>
                        {line(r.name ?? "", 200)}
                      </Link>{" "}
                      <span className="faint">{(r.serviceNames ?? []).map((s) => line(s, 60)).join(", ")}</span>
                    </td>
                    <td className="faint">
                      {condition(r)} in {r.windowMinutes} min
                    </td>
                    <td className={r.severity === "critical" ? "bad" : "warn"}>● {r.severity}</td>
                    <td className={`num ${firing.has(r.id ?? "") ? "bad" : "faint"}`}>{count(firing.get(r.id ?? "") ?? 0)}</td>
                    <td className="faint">{ago(r.lastEvaluatedAt, now)}</td>
                    <td>
                      <RuleState rule={r} now={now} />
                    </td>
                    <td>
                      <button
                        type="button"
                        className="button small"
                        disabled={org.role === "org:member" || update.isPending}
                        aria-label={`${r.enabled ? "Switch off" : "Switch on"}: ${line(r.name ?? "", 80)}`}
                        onClick={() => update.mutate({ id: r.id ?? "", enabled: !r.enabled, updateMask: "enabled" })}
                      >
                        {r.enabled ? "Switch off" : "Switch on"}
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {rows.length === 0 && <p className="fine">No rule matches.</p>}
            {d.hasMore && <p className="notice">The first {LargestPage} rules are shown.</p>}
          </>
        )}
      </Load>
    </section>
  );
}
