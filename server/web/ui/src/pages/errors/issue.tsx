import { useEffect, useState } from "react";
import { AlertOnThis } from "../../frame/alertthis";
import { isFree } from "../../frame/keys";
import { href, Link, useAddress } from "../../frame/router";
import { times, useAct, useCall, useFrame } from "../../frame/session";
import type { ErrorIssueDetail } from "../../gen/api";
import { FormError } from "../../parts/form";
import { block, count, line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { ago, exact, moment, spanName } from "../../parts/time";
import { Acts } from "./acts";
import { Grouping } from "./grouping";
import { History } from "./history";
import { Occurrences } from "./occurrences";
import { PullRequests } from "./pulls";
import { severityColor, type State, stateColor, stateNames, titleOf, useEach, usePeople } from "./work";

/** Issue is one error that people work on: the stack first, then when and where, then what was done about it. */
export function Issue({ id }: { id: string }) {
  const { window: w, now, org, span } = useFrame();
  const own = useAddress().searchParams.has("from");
  const seconds = Math.max(60, Math.ceil((w.end - w.start) / 1000 / 80 / 60) * 60);
  const found = useCall("ErrorIssuesService/GetErrorIssue", {
    id,
    sampleLimit: 25,
    ...(own ? { ...times(w), bucketSeconds: Math.min(seconds, 86_400) } : { bucketSeconds: 1200 }),
  });
  const people = usePeople();
  const each = useEach();
  const title = found.data ? titleOf(found.data) : "";
  useEffect(() => {
    document.title = `${line(title || "Error", 60)} · ${org.name} · svc`;
  }, [title, org.name]);
  useKeys();
  if (found.error?.status === 404 && !found.data)
    return (
      <Empty title="There is no such issue">
        <Link className="button" href={href("/errors")}>
          Errors
        </Link>
      </Empty>
    );
  return (
    <Load of={found} lines={12}>
      {(i) => (
        <div className="lay issuepage">
          <div className="pagehead">
            <h1 className="bad">{line(titleOf(i), 300)}</h1>
            <span className="grow" />
            {i.kind === "error" && <AlertOnThis className="button" rule={alertOf(i)} />}
            {i.kind === "alert" && typeof i.sourceRef?.alert_rule_id === "string" && (
              <Link className="button" href={href(`/alerts/rules/${encodeURIComponent(i.sourceRef.alert_rule_id)}`)}>
                Alert rule
              </Link>
            )}
            <Link className="button" href={href("/investigations", { new: titleOf(i), issue: i.id })}>
              Investigate
            </Link>
          </div>
          {i.exceptionMessage && i.exceptionMessage !== i.errorLabel && (
            <p className="message" tabIndex={0}>
              {block(i.exceptionMessage, 4000)}
            </p>
          )}
          <section className="panel bulk" aria-label="State of the issue">
            <b className={stateColor(i.workflowState)}>{stateNames[i.workflowState as State] ?? i.workflowState}</b>
            {i.hasOpenIncident && <span className="bad">● occurs now</span>}
            {i.severity && (
              <span
                className={severityColor(i.severity)}
                title={i.severitySource === "manual" ? "A person chose it" : `Chosen by ${i.severitySource}`}
              >
                {i.severity}
              </span>
            )}
            <span className="faint">{i.assignedActor ? `assigned to ${line(people.nameOf(i.assignedActor), 60)}` : "not assigned"}</span>
            {i.snoozeUntil && <span className="warn">snoozed until {moment(Date.parse(i.snoozeUntil))}</span>}
            {i.archivedAt && <span className="faint">archived {ago(i.archivedAt, now)}</span>}
            <Lease issue={i} people={people} />
            <span className="grow" />
            <Acts issues={[i]} people={people} each={each} />
          </section>
          <FormError error={each.error} />
          <section className="panel stats" aria-label="Figures">
            <div className="stat">
              <b>{count(Math.round(i.estimatedOccurrenceCount ?? i.occurrenceCount ?? 0))}</b>
              <span>times since the first</span>
            </div>
            <div className="stat">
              <b>{ago(i.firstSeenAt, now)}</b>
              <span title={exact(i.firstSeenAt)}>first seen</span>
            </div>
            <div className="stat">
              <b>{ago(i.lastSeenAt, now)}</b>
              <span title={exact(i.lastSeenAt)}>last seen</span>
            </div>
            {i.serviceName && (
              <div className="stat">
                <b>
                  <Link href={href(`/services/${encodeURIComponent(i.serviceName ?? "")}`)}>{line(i.serviceName ?? "", 80)}</Link>
                </b>
                <span>service</span>
              </div>
            )}
            {(i.regressionCount ?? 0) > 0 && (
              <div className="stat">
                <b className="bad">{i.regressionCount}×</b>
                <span>came back, last {ago(i.lastRegressedAt, now)}</span>
              </div>
            )}
            {(i.resolvedVersions ?? []).length > 0 && (
              <div className="stat">
                <b>
                  {i.resolvedVersions
                    ?.slice(0, 3)
                    .map((v) => line(v, 30))
                    .join(", ")}
                </b>
                <span>ran when it was done</span>
              </div>
            )}
          </section>
          {i.kind === "error" && <Occurrences issue={i} spanText={own ? spanName(span) : ""} />}
          <div className="halves">
            <History issue={i} people={people} />
            <div className="lay">
              {i.kind === "error" && <Grouping issue={i} />}
              <PullRequests issue={i} people={people} />
            </div>
          </div>
        </div>
      )}
    </Load>
  );
}

const quoted = (v: string): string => `"${v.replace(/["\\]/g, "\\$&")}"`;

function alertOf(i: ErrorIssueDetail) {
  const where = [
    `service.name = ${quoted(i.serviceName ?? "")}`,
    ...(i.exceptionType ? [`exception.type = ${quoted(i.exceptionType)}`] : ["has_error = true"]),
  ].join(" AND ");
  return { name: line(titleOf(i), 120), threshold: 10, query: { dataSource: "traces" as const, aggregation: "count", whereClause: where } };
}

/** Lease says who works on the issue now, and lets a person begin or stop. */
function Lease({ issue: i, people }: { issue: ErrorIssueDetail; people: ReturnType<typeof usePeople> }) {
  const { now } = useFrame();
  const claim = useAct("ErrorIssueWorkflowService/ClaimErrorIssue");
  const release = useAct("ErrorIssueWorkflowService/ReleaseErrorIssue");
  const [shown, setShown] = useState(false);
  const held = i.leaseHolder && Date.parse(i.leaseExpiresAt ?? "") > now;
  const mine = held && i.leaseHolder?.userId === people.me && i.leaseHolder?.type === "user";
  const error = claim.error ?? release.error;
  if (["done", "cancelled", "wontfix"].includes(i.workflowState ?? "")) return null;
  return (
    <>
      {held && (
        <span title={exact(i.leaseExpiresAt)}>{mine ? "you work on it" : `${line(people.nameOf(i.leaseHolder), 60)} works on it`}</span>
      )}
      {mine && (
        <button type="button" className="button small" onClick={() => release.mutate({ id: i.id ?? "" })}>
          Release
        </button>
      )}
      {!held && (
        <button
          type="button"
          className="button small"
          onClick={() => {
            setShown(true);
            claim.mutate({ id: i.id ?? "" });
          }}
        >
          Claim
        </button>
      )}
      {shown && error && (
        <span className="bad" role="alert">
          {error.message}
        </span>
      )}
    </>
  );
}

function useKeys(): void {
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if (!isFree(e)) return;
      const label = { s: "State", a: "Assign" }[e.key];
      if (!label) return;
      e.preventDefault();
      document.querySelector<HTMLElement>(`[data-acts] [aria-label="${label}"]`)?.click();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}
