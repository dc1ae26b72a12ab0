import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import { LargestPage } from "../../gen/limits";
import { line, stretch } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { condition, formatOf, groupName, reason } from "./draft";

/** Incidents lists what fires, and what fired. */
export function Incidents() {
  const { now } = useFrame();
  const address = useAddress();
  const status = address.searchParams.get("state") === "resolved" ? "resolved" : "open";
  const severity = (["critical", "warning"] as const).find((s) => s === address.searchParams.get("severity"));
  const ruleId = address.searchParams.get("rule") ?? "";
  const found = useCall("AlertIncidentsService/ListAlertIncidents", {
    limit: LargestPage,
    status,
    ...(severity ? { severity } : {}),
    ...(ruleId ? { ruleId } : {}),
  });
  const rules = useCall("AlertRulesService/ListAlertRules", { limit: LargestPage });
  const broken = (rules.data?.data ?? []).filter((r) => r.enabled && r.lastEvaluationError);
  return (
    <>
      {broken.length > 0 && (
        <section className="panel" aria-label="Rules that cannot be evaluated">
          {broken.map((r) => (
            <p key={r.id} className="fine bad">
              ✖ <Link href={href(`/alerts/rules/${r.id}`)}>{line(r.name ?? "", 100)}</Link> cannot be evaluated:{" "}
              {line(reason(r.lastEvaluationError), 300)}
            </p>
          ))}
        </section>
      )}
      <section className="panel">
        <header>
          <h2 className="grow">Incidents</h2>
          <button type="button" className="button small" aria-pressed={status === "open"} onClick={() => change({ state: null })}>
            open
          </button>
          <button type="button" className="button small" aria-pressed={status === "resolved"} onClick={() => change({ state: "resolved" })}>
            resolved
          </button>
          <select className="field" aria-label="Severity" value={severity ?? ""} onChange={(e) => change({ severity: e.target.value })}>
            <option value="">all severities</option>
            <option value="critical">critical</option>
            <option value="warning">warning</option>
          </select>
          {ruleId && (
            <button type="button" className="button small" onClick={() => change({ rule: null })}>
              all rules
            </button>
          )}
        </header>
        <Load
          of={found}
          empty={(d) =>
            !d.data?.length &&
            (rules.data && !rules.data.data?.length ? (
              <Empty title="No rule watches yet">
                <p>A rule tells you when something is wrong, before somebody else does.</p>
                <div className="row">
                  <Link className="button primary" href={href("/alerts/rules/new")}>
                    New rule
                  </Link>
                  <Link className="button" href={href("/alerts/destinations")}>
                    Destinations
                  </Link>
                </div>
              </Empty>
            ) : (
              <p className="fine">
                {status === "open" ? (
                  <>
                    <span className="good" aria-hidden="true">
                      ✓
                    </span>{" "}
                    No alert fires.
                  </>
                ) : (
                  "No incident was resolved yet."
                )}
              </p>
            ))
          }
        >
          {(d) => (
            <>
              <table className="data fold rows">
                <thead>
                  <tr>
                    <th scope="col">Rule</th>
                    <th scope="col" className="w160">
                      Group
                    </th>
                    <th scope="col" className="w90">
                      Severity
                    </th>
                    <th scope="col" className="num w110">
                      Value
                    </th>
                    <th scope="col" className="w110">
                      Began
                    </th>
                    <th scope="col" className="w160">
                      {status === "open" ? "State" : "Lasted"}
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {d.data?.map((i) => (
                    // biome-ignore lint: the link in the first cell is the way for the keyboard
                    <tr key={i.id} onClick={(e) => !(e.target as Element).closest("a") && navigate(href(`/alerts/incidents/${i.id}`))}>
                      <td>
                        <Link className="main" href={href(`/alerts/incidents/${i.id}`)}>
                          {line(i.ruleName ?? "", 200)}
                        </Link>{" "}
                        <span className="faint">{condition(i)}</span>
                      </td>
                      <td>{groupName(i.groupKey)}</td>
                      <td className={i.severity === "critical" ? "bad" : "warn"}>● {i.severity}</td>
                      <td className="num">{i.lastObservedValue === undefined ? "–" : formatOf(i)(i.lastObservedValue)}</td>
                      <td className="faint" title={exact(i.firstTriggeredAt)}>
                        {ago(i.firstTriggeredAt, now)}
                      </td>
                      <td className="faint" title={exact(i.resolvedAt)}>
                        {i.resolvedAt
                          ? stretch(Date.parse(i.resolvedAt) - Date.parse(i.firstTriggeredAt ?? ""))
                          : i.holdReason
                            ? `held: ${line(i.holdReason, 60)}`
                            : "fires"}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {d.hasMore && <p className="notice">The newest {LargestPage} are shown. Choose a rule or a severity to see others.</p>}
            </>
          )}
        </Load>
      </section>
    </>
  );
}
