import { useState } from "react";
import { href, Link } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type {
  AlertDestination,
  ErrorEscalationPolicy,
  ErrorEscalationRule,
  ErrorNotificationPolicy,
  ReplaceErrorNotificationPolicyRequest,
} from "../../gen/api";
import { IssueQuiet, ReplaceErrorNotificationPolicyRequest_min_occurrence_count } from "../../gen/limits";
import { errorOf, Field, FormError } from "../../parts/form";
import { lasts, line } from "../../parts/format";
import { Load } from "../../parts/states";
import { severities } from "./work";

const events: Array<[keyof ReplaceErrorNotificationPolicyRequest, string]> = [
  ["notifyOnFirstSeen", "an error occurs for the first time"],
  ["notifyOnRegression", "an error comes back after it was done"],
  ["notifyOnResolve", `an error has stopped for ${lasts(IssueQuiet)}`],
  ["notifyOnTransitionInReview", "an issue is in review"],
  ["notifyOnTransitionDone", "an issue is done"],
  ["notifyOnClaim", "somebody begins to work on an issue"],
];

/** Policies says which changes of issues are sent, and to whom. */
export function Policies() {
  const destinations = useCall("AlertDestinationsService/ListAlertDestinations", { limit: 100 });
  const notification = useCall("ErrorIssuePoliciesService/GetErrorNotificationPolicy", {});
  const escalation = useCall("ErrorIssuePoliciesService/GetErrorEscalationPolicy", {});
  const all = destinations.data?.data ?? [];
  return (
    <div className="halves">
      <Load of={notification} lines={8}>
        {(p) => <Notification key={p.updatedAt} of={p} destinations={all} />}
      </Load>
      <Load of={escalation} lines={8}>
        {(p) => <Escalation key={p.updatedAt} of={p} destinations={all} />}
      </Load>
    </div>
  );
}

function Targets({ all, chosen, set }: { all: AlertDestination[]; chosen: string[]; set: (ids: string[]) => void }) {
  if (all.length === 0)
    return (
      <p>
        There is no destination yet. <Link href={href("/alerts/destinations", { new: "webhook" })}>Create one</Link>
      </p>
    );
  return (
    <fieldset className="choice">
      <legend>To</legend>
      {all.map((d) => (
        <label key={d.id}>
          <input
            type="checkbox"
            checked={chosen.includes(d.id ?? "")}
            onChange={(e) => set(e.target.checked ? [...chosen, d.id ?? ""] : chosen.filter((x) => x !== d.id))}
          />{" "}
          {line(d.name ?? "", 80)} <span className="faint">{d.type}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Notification({ of, destinations }: { of: ErrorNotificationPolicy; destinations: AlertDestination[] }) {
  const { org } = useFrame();
  const [p, setP] = useState(of);
  const set = (patch: Partial<ErrorNotificationPolicy>): void => setP({ ...p, ...patch });
  const save = useAct("ErrorIssuePoliciesService/ReplaceErrorNotificationPolicy");
  const member = org.role === "org:member";
  return (
    <form
      className="panel"
      onSubmit={(e) => {
        e.preventDefault();
        const { updatedAt: _at, updatedBy: _by, ...rest } = p;
        save.mutate(rest as ReplaceErrorNotificationPolicyRequest);
      }}
    >
      <header>
        <h2 className="grow">Messages about issues</h2>
        <label className="tick">
          <input type="checkbox" checked={p.enabled ?? false} disabled={member} onChange={(e) => set({ enabled: e.target.checked })} /> on
        </label>
      </header>
      <fieldset className="body part plain" disabled={member || !p.enabled}>
        <legend className="sr">Messages about issues</legend>
        <fieldset className="choice column">
          <legend>Send a message when</legend>
          {events.map(([key, name]) => (
            <label key={key}>
              <input
                type="checkbox"
                checked={Boolean(p[key as keyof ErrorNotificationPolicy])}
                onChange={(e) => set({ [key]: e.target.checked })}
              />{" "}
              {name}
            </label>
          ))}
        </fieldset>
        <Field label="After this number of occurrences" error={errorOf(save.error, "min_occurrence_count")}>
          {(c) => (
            <input
              {...c}
              className="field"
              type="number"
              {...ReplaceErrorNotificationPolicyRequest_min_occurrence_count}
              value={p.minOccurrenceCount ?? 1}
              onChange={(e) => set({ minOccurrenceCount: Number(e.target.value) })}
            />
          )}
        </Field>
        <Field label="Severity of the messages">
          {(c) => (
            <select
              {...c}
              className="field"
              value={p.severity ?? "warning"}
              onChange={(e) => set({ severity: e.target.value as NonNullable<typeof p.severity> })}
            >
              <option>warning</option>
              <option>critical</option>
            </select>
          )}
        </Field>
        <Targets all={destinations} chosen={p.destinationIds ?? []} set={(destinationIds) => set({ destinationIds })} />
      </fieldset>
      <Foot member={member} busy={save.isPending} done={save.isSuccess}>
        <FormError error={save.error} fields={["min_occurrence_count"]} />
      </Foot>
    </form>
  );
}

function Escalation({ of, destinations }: { of: ErrorEscalationPolicy; destinations: AlertDestination[] }) {
  const { org } = useFrame();
  const [enabled, setEnabled] = useState(of.enabled ?? false);
  const [rules, setRules] = useState<ErrorEscalationRule[]>(of.rules ?? []);
  const save = useAct("ErrorIssuePoliciesService/ReplaceErrorEscalationPolicy");
  const member = org.role === "org:member";
  const set = (n: number, patch: Partial<ErrorEscalationRule>): void => setRules(rules.map((r, i) => (i === n ? { ...r, ...patch } : r)));
  const free = severities.find((s) => !rules.some((r) => r.severity === s));
  return (
    <form
      className="panel"
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate({ enabled, rules });
      }}
    >
      <header>
        <h2 className="grow">Escalation</h2>
        <label className="tick">
          <input type="checkbox" checked={enabled} disabled={member} onChange={(e) => setEnabled(e.target.checked)} /> on
        </label>
      </header>
      <fieldset className="body part plain" disabled={member || !enabled}>
        <legend className="sr">Escalation</legend>
        <p className="faint">A message is sent when the severity of an issue rises to one of these, once for each issue and severity.</p>
        {rules.map((r, n) => (
          // biome-ignore lint: a rule has no other name than its place
          <fieldset key={n} className="query">
            <legend>Rule {n + 1}</legend>
            <div className="formgrid">
              <Field label="Severity" error={errorOf(save.error, `rules[${n}].severity`)}>
                {(c) => (
                  <select {...c} className="field" value={r.severity} onChange={(e) => set(n, { severity: e.target.value as "high" })}>
                    {severities.map((s) => (
                      <option key={s}>{s}</option>
                    ))}
                  </select>
                )}
              </Field>
              <Field label="When an agent chose it, with confidence">
                {(c) => (
                  <select
                    {...c}
                    className="field"
                    value={r.minConfidence ?? "low"}
                    onChange={(e) => set(n, { minConfidence: e.target.value as "high" })}
                  >
                    {["low", "medium", "high"].map((s) => (
                      <option key={s}>{s}</option>
                    ))}
                  </select>
                )}
              </Field>
            </div>
            <Targets all={destinations} chosen={r.destinationIds ?? []} set={(destinationIds) => set(n, { destinationIds })} />
            <button type="button" className="button small" onClick={() => setRules(rules.filter((_, i) => i !== n))}>
              Remove
            </button>
          </fieldset>
        ))}
        {free && (
          <div className="row">
            <button
              type="button"
              className="button small"
              onClick={() =>
                setRules([
                  ...rules,
                  { severity: free, destinationIds: destinations[0] ? [destinations[0].id ?? ""] : [], minConfidence: "medium" },
                ])
              }
            >
              Add a rule
            </button>
          </div>
        )}
      </fieldset>
      <Foot member={member} busy={save.isPending} done={save.isSuccess}>
        <FormError error={save.error} />
      </Foot>
    </form>
  );
}

function Foot({ member, busy, done, children }: { member: boolean; busy: boolean; done: boolean; children: React.ReactNode }) {
  return (
    <div className="body row wrap">
      {children}
      {done && (
        <span className="good" role="status">
          ✓ saved
        </span>
      )}
      <span className="grow" />
      {member ? (
        <span className="faint">An administrator can change this.</span>
      ) : (
        <button type="submit" className="button primary" disabled={busy}>
          {busy ? "Saving …" : "Save"}
        </button>
      )}
    </div>
  );
}
