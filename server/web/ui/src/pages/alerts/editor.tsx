import { useState } from "react";
import { href, Link, navigate, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { AlertRuleTestResult } from "../../gen/api";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Load } from "../../parts/states";
import { begin, changeOf, cleaned, type Draft, draftOf, formatOf, onServices, signals } from "./draft";
import { templates } from "./templates";
import { Preview, usePreview } from "./preview";
import { What } from "./what";
import { When } from "./when";
import { Message, Whom } from "./whom";

/** NewRule is the editor of a rule that does not exist yet. The address can hold its start. */
export function NewRule() {
  const { env } = useFrame();
  const start = useAddress().searchParams.get("rule");
  return <Editor key={start} start={begin(start, env)} fresh={!start} />;
}

export function EditRule({ id }: { id: string }) {
  const rule = useCall("AlertRulesService/GetAlertRule", { id }, { keep: false });
  const [first] = useState(() => Date.now());
  return (
    <Load of={rule} lines={12}>
      {(r) => <Editor key={`${id}${first}`} start={draftOf(r)} id={id} />}
    </Load>
  );
}

const shown = [
  "name",
  "notes",
  "title",
  "body",
  "threshold",
  "threshold_upper",
  "window_minutes",
  "raw_query_sql",
  "where_clause",
  "aggregation",
  "value_field",
  "metric_name",
  "group_by",
  "query_builder_draft",
  "notification_template",
  "service_names",
  "environments",
  "resolve_threshold",
  "comparator",
  "minimum_sample_count",
  "destination_ids",
  "target",
  "apdex_threshold_ms",
  "consecutive_breaches_required",
  "consecutive_healthy_required",
  "renotify_interval_minutes",
  "formulas",
];

function Editor({ start, id, fresh = false }: { start: Draft; id?: string; fresh?: boolean }) {
  const { org } = useFrame();
  const [draft, setDraft] = useState(start);
  const [tested, setTested] = useState<{ of: Draft; result: AlertRuleTestResult; sent: boolean } | null>(null);
  const set = (patch: Partial<Draft>): void => setDraft((d) => ({ ...d, ...patch }));
  const [hours, setHours] = useState(24);
  const preview = usePreview(draft, hours);
  const done = (r: { id?: string }): void => navigate(href(`/alerts/rules/${r.id}`));
  const create = useAct("AlertRulesService/CreateAlertRule", done);
  const update = useAct("AlertRulesService/UpdateAlertRule", done);
  const test = useAct("AlertRulesService/TestAlertRule", (result, request) =>
    setTested({ of: draft, result, sent: request.sendNotification ?? false }),
  );
  const error = create.error ?? update.error ?? test.error ?? preview.error;
  const member = org.role === "org:member";
  const save = (): void => (id ? update.mutate(changeOf(id, draft)) : create.mutate(cleaned(draft)));
  const run = (sendNotification: boolean): void => {
    create.reset();
    update.reset();
    test.mutate({ rule: { ...cleaned(draft), name: draft.name?.trim() || "Preview" }, sendNotification });
  };
  const part = { draft, set, error };
  return (
    <form
      className="ruleform"
      onSubmit={(e) => {
        e.preventDefault();
        save();
      }}
      onKeyDown={(e) => {
        if ((e.metaKey || e.ctrlKey) && e.key === "Enter") {
          e.preventDefault();
          save();
        }
      }}
    >
      <div className="pagehead">
        <h1 className="grow">{id ? line(start.name ?? "", 200) : "New alert rule"}</h1>
        <button type="button" className="button" disabled={member || test.isPending} onClick={() => run(false)}>
          Test now
        </button>
        <button
          type="button"
          className="button"
          disabled={member || test.isPending || !draft.destinationIds?.length}
          title={draft.destinationIds?.length ? undefined : "Choose a destination first"}
          onClick={() => run(true)}
        >
          Send a test
        </button>
        <Link className="button" href={href(id ? `/alerts/rules/${id}` : "/alerts/rules")}>
          Cancel
        </Link>
        <button type="submit" className="button primary" disabled={member || create.isPending || update.isPending}>
          {id ? "Save the rule" : "Create the rule"}
        </button>
      </div>
      {member && (
        <p className="notice" role="status">
          You are a member. An administrator can create and change rules; you can try one on the chart.
        </p>
      )}
      <FormError error={error} fields={shown} />
      {tested?.of === draft && <TestResult of={tested.result} sent={tested.sent} draft={draft} />}
      {fresh && (
        <div className="row wrap" role="group" aria-label="Begin with">
          <span className="faint">Begin with</span>
          {templates.map((t) => (
            <button
              key={t.name}
              type="button"
              className="button small"
              title={t.about}
              onClick={() =>
                setDraft({
                  ...begin(JSON.stringify(t.rule), ""),
                  ...(draft.environments?.length && onServices(t.rule.signalType) ? { environments: draft.environments } : {}),
                  destinationIds: draft.destinationIds ?? [],
                })
              }
            >
              {t.name}
            </button>
          ))}
        </div>
      )}
      <Preview of={preview} draft={draft} hours={hours} setHours={setHours} onThreshold={set} />
      <div className="halves">
        <What {...part} replace={setDraft} />
        <When {...part} />
        <Whom {...part} />
        <Message {...part} />
      </div>
    </form>
  );
}

function TestResult({ of, sent, draft }: { of: AlertRuleTestResult; sent: boolean; draft: Draft }) {
  const breached = of.status === "breached";
  const format = draft.burn ? formatOf(draft) : (signals[draft.signalType ?? "error_rate"]?.format ?? String);
  return (
    <p className="panel tested" role="status">
      <b className={breached ? "bad" : of.status === "healthy" ? "good" : "warn"}>
        {breached ? "● In breach now" : of.status === "healthy" ? "✓ Healthy now" : "Skipped now"}
      </b>
      {of.value !== undefined && (
        <span>
          value {format(of.value)}, {of.sampleCount} samples
        </span>
      )}
      {of.reason && <span className="faint">{line(of.reason, 300)}</span>}
      {sent && <span className="good">A test message was sent.</span>}
    </p>
  );
}
