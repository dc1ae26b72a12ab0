import { useState } from "react";
import { change, href, Link, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { ProductEventFunnelStep, SearchProductEventFunnelRequest } from "../../gen/api";
import { FunnelSteps } from "../../gen/limits";
import { count, duration, line, percent } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { stamp } from "../../parts/time";
import { StepField } from "./names";
import { asked, left, type Step, stepsOf, stepsText } from "./steps";

const actors = ["person", "visitor", "user", "session"] as const;
const dimensions = ["country", "host", "referrer_host", "utm_source", "utm_medium", "utm_campaign"];
const windows: Array<[string, string]> = [
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "7 days"],
  ["2592000", "30 days"],
];

/** Funnel counts the people who take steps in order, and shows the step after which they leave and their next events. */
export function Funnel() {
  const { window: w } = useFrame();
  const address = useAddress();
  const p = address.searchParams;
  const steps = stepsOf(p.get("steps"));
  const whole = steps.filter((s) => s.value);
  const actor = actors.find((a) => a === p.get("key_by")) ?? "person";
  const within = windows.find(([s]) => s === p.get("within"))?.[0] ?? "86400";
  const by = p.get("by") ?? "";
  const request: SearchProductEventFunnelRequest = {
    ...times(w),
    steps: whole.map(asked),
    keyBy: actor,
    windowSeconds: Number(within),
    leavers: true,
    ...(by ? { breakdownBy: by } : {}),
  };
  const found = useCall("ProductEventsService/SearchProductEventFunnel", request, { enabled: whole.length > 0 });
  const set = (next: Step[]): void => change({ steps: stepsText(next) || null });
  return (
    <>
      <section className="panel">
        <header className="wraphead">
          <h2 className="grow">Steps</h2>
          <select className="field" aria-label="Who is counted" value={actor} onChange={(e) => change({ key_by: e.target.value })}>
            {actors.map((a) => (
              <option key={a}>{a}</option>
            ))}
          </select>
          <select
            className="field"
            aria-label="Time from the first step to the last"
            value={within}
            onChange={(e) => change({ within: e.target.value })}
          >
            {windows.map(([s, name]) => (
              <option key={s} value={s}>
                within {name}
              </option>
            ))}
          </select>
          <select className="field" aria-label="Breakdown" value={by} onChange={(e) => change({ by: e.target.value })}>
            <option value="">no breakdown</option>
            {dimensions.map((d) => (
              <option key={d}>{d}</option>
            ))}
          </select>
        </header>
        <ol className="steps">
          {steps.map((s, i) => (
            <li key={`${i}${s.kind}${s.value}`} className="row">
              <span className="letter">{i + 1}</span>
              <StepField step={s} label={`Step ${i + 1}`} onChange={(next) => set(steps.map((x, k) => (k === i ? next : x)))} />
              <button
                type="button"
                className="button small quiet"
                aria-label={`Move step ${i + 1} up`}
                disabled={i === 0}
                onClick={() => set(steps.map((x, k) => (k === i - 1 ? s : k === i ? steps[i - 1]! : x)))}
              >
                ↑
              </button>
              <button
                type="button"
                className="button small quiet"
                aria-label={`Remove step ${i + 1}`}
                onClick={() => set(steps.filter((_, k) => k !== i))}
              >
                ×
              </button>
            </li>
          ))}
          <li>
            <button
              type="button"
              className="button small"
              disabled={steps.length >= FunnelSteps}
              onClick={() => set([...steps, { kind: "event", value: "" }])}
            >
              + Step
            </button>
          </li>
        </ol>
      </section>
      {whole.length === 0 ? (
        <section className="panel">
          <Empty title="A funnel needs steps">
            <p>Add an event or a page that people reach first, and the ones that should follow.</p>
          </Empty>
        </section>
      ) : (
        <section className="panel">
          <Load of={found}>
            {(d) => (
              <>
                <header>
                  <h2 className="grow">
                    {percent(d.conversionRate)} of {count(d.steps?.[0]?.count)} {actor}s reach the last step
                  </h2>
                </header>
                {d.warnings?.map((t) => (
                  <p key={t} className="notice">
                    {t}
                  </p>
                ))}
                <div className="body funnel">
                  {(d.steps ?? []).map((s, i) => (
                    <One key={s.step ?? i} step={s} index={i} steps={whole} all={d.steps ?? []} actor={actor} />
                  ))}
                </div>
                {d.groups && d.groups.length > 0 && (
                  <table className="data">
                    <thead>
                      <tr>
                        <th scope="col">{line(d.breakdownBy ?? "", 60)}</th>
                        {whole.map((s, i) => (
                          <th key={`${i}${s.value}`} scope="col" className="num" title={s.value}>
                            {line(s.value, 24)}
                          </th>
                        ))}
                        <th scope="col" className="num w90">
                          Converted
                        </th>
                      </tr>
                    </thead>
                    <tbody>
                      {d.groups.map((g) => (
                        <tr key={g.group}>
                          <td>{g.group === "$other" ? "(others)" : line(g.group || "(none)", 100)}</td>
                          {(g.steps ?? []).map((s, i) => (
                            <td key={i} className="num">
                              {count(s.count)} <span className="faint">{percent(s.ofFirst)}</span>
                            </td>
                          ))}
                          <td className="num">
                            <b>{percent(g.conversionRate)}</b>
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                )}
              </>
            )}
          </Load>
        </section>
      )}
    </>
  );
}

function One({
  step: s,
  index,
  steps,
  all,
  actor,
}: {
  step: ProductEventFunnelStep;
  index: number;
  steps: Step[];
  all: ProductEventFunnelStep[];
  actor: string;
}) {
  const [open, setOpen] = useState(false);
  const next = steps[index + 1];
  const gone = all[index + 1]?.dropOff ?? 0;
  const none = (s.count ?? 0) === 0;
  return (
    <div className="funnelstep">
      <div className="row">
        <span className="letter">{index + 1}</span>
        <b className="clip grow">{line(steps[index]?.value ?? s.name ?? "", 120)}</b>
        {index > 0 && (
          <span className="faint">
            {percent(s.ofPrevious)} of the step before, median {duration(s.p50Ms)}, p90 {duration(s.p90Ms)}
          </span>
        )}
        <b className="num">{count(s.count)}</b>
      </div>
      <span className="bar big">
        <i style={{ width: `${(s.ofFirst ?? (index === 0 ? 1 : 0)) * 100}%` }} />
      </span>
      {none && <p className="warn">No {actor} reached this step in this window. Is its name right?</p>}
      {next && !none && gone > 0 && (
        <p className="faint">
          {count(gone)} left here
          {s.leavers && s.leavers.length > 0 && (
            <>, then: {s.leavers.map((l) => `${line(l.name || "(nothing)", 40)} ${count(l.count)}`).join(", ")}</>
          )}
          .{" "}
          <button type="button" className="button small" aria-expanded={open} onClick={() => setOpen(!open)}>
            Their sessions
          </button>
        </p>
      )}
      {open && next && steps[index] && <Leavers step={steps[index]} next={next} />}
    </div>
  );
}

/** Leavers lists the sessions with a step and without the next, and leads to their replays. */
function Leavers({ step, next }: { step: Step; next: Step }) {
  const { window: w } = useFrame();
  const found = useCall("SqlService/RunSql", { sql: left(step, next), ...times(w), maxRows: 50 });
  return (
    <Load of={found} empty={(d) => !d.rows?.length && <p className="fine">No session of the window has this step without the next one.</p>}>
      {(d) => (
        <ul className="leavers">
          {(d.rows ?? []).map(([id, at, user]) => (
            <li key={String(id)}>
              <Link href={href(`/replays/${encodeURIComponent(String(id))}`)}>
                <code>{line(String(id), 60)}</code>
              </Link>{" "}
              <span className="faint">
                {line(String(user ?? ""), 60)} {stamp(String(at))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Load>
  );
}
