import type { FunnelStep, Widget } from "../../gen/api";
import { DefaultPathBranches, DefaultPathHops, FunnelSteps, PathBranches, PathHops } from "../../gen/limits";
import { keysOf } from "../../parts/choices";
import { Field } from "../../parts/form";

type Put = (part: Partial<Widget>, kind?: string) => void;
const actors: Array<[string, string]> = [
  ["session", "sessions"],
  ["person", "people"],
  ["visitor", "visitors"],
  ["user", "users"],
];

const dimensions = keysOf<NonNullable<FunnelStep["dimension"]>>({
  country: 1,
  referrer_host: 1,
  utm_source: 1,
  utm_medium: 1,
  utm_campaign: 1,
  host: 1,
});

/** JourneyForm edits the steps of a funnel, or the anchor of paths. */
export function JourneyForm({ widget, onChange }: { widget: Widget; onChange: Put }) {
  const d = widget.display ?? {};
  if (widget.visualization === "paths") {
    const p = d.paths ?? { anchor: { kind: "page", pagePath: "/" } };
    const put = (part: Partial<typeof p>, kind?: string): void => onChange({ display: { ...d, paths: { ...p, ...part } } }, kind);
    return (
      <div className="w-stack">
        <Step step={p.anchor ?? {}} name="Anchor" onChange={(anchor, kind) => put({ anchor }, kind)} />
        <div className="formgrid">
          <Field label="Direction">
            {(c) => (
              <select
                {...c}
                className="field"
                value={p.direction ?? "after"}
                onChange={(e) => put({ direction: e.target.value as "after" })}
              >
                <option value="after">what comes after</option>
                <option value="before">what comes before</option>
              </select>
            )}
          </Field>
          <Field label="Steps">
            {(c) => (
              <input
                {...c}
                className="field"
                type="number"
                min={1}
                max={PathHops}
                value={p.depth ?? DefaultPathHops}
                onChange={(e) => put({ depth: Math.max(1, Math.min(PathHops, Number(e.target.value) || 1)) }, "depth")}
              />
            )}
          </Field>
          <Field label="Branches">
            {(c) => (
              <input
                {...c}
                className="field"
                type="number"
                min={1}
                max={PathBranches}
                value={p.branches ?? DefaultPathBranches}
                onChange={(e) => put({ branches: Math.max(1, Math.min(PathBranches, Number(e.target.value) || 1)) }, "branches")}
              />
            )}
          </Field>
          <Field label="Show">
            {(c) => (
              <select {...c} className="field" value={p.include ?? "all"} onChange={(e) => put({ include: e.target.value as "all" })}>
                <option value="all">events and pages</option>
                <option value="events">events</option>
                <option value="pages">pages</option>
              </select>
            )}
          </Field>
          <Field label="Follow">
            {(c) => (
              <select {...c} className="field" value={p.keyBy ?? "session"} onChange={(e) => put({ keyBy: e.target.value as "session" })}>
                {actors.map(([k, name]) => (
                  <option key={k} value={k}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      </div>
    );
  }
  const f = d.funnel ?? {};
  const steps = f.steps ?? [];
  const put = (part: Partial<typeof f>, kind?: string): void => onChange({ display: { ...d, funnel: { ...f, ...part } } }, kind);
  return (
    <div className="w-stack">
      {steps.map((s, i) => (
        // biome-ignore lint: steps have no other name than their order
        <Step
          key={i}
          step={s}
          name={`Step ${i + 1}`}
          onChange={(x, kind) => put({ steps: steps.map((y, n) => (n === i ? x : y)) }, kind && `${i} ${kind}`)}
          onRemove={steps.length > 1 ? () => put({ steps: steps.filter((_, n) => n !== i) }) : undefined}
        />
      ))}
      <div>
        <button
          type="button"
          className="button small"
          disabled={steps.length >= FunnelSteps}
          onClick={() => put({ steps: [...steps, { kind: "page", pagePath: "/" }] })}
        >
          + Step
        </button>
      </div>
      <div className="formgrid">
        <Field label="Follow">
          {(c) => (
            <select {...c} className="field" value={f.keyBy ?? "session"} onChange={(e) => put({ keyBy: e.target.value as "session" })}>
              {actors.map(([k, name]) => (
                <option key={k} value={k}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Within seconds" hint="From the first step to the last.">
          {(c) => (
            <input
              {...c}
              className="field"
              type="number"
              min={1}
              value={f.windowSeconds ?? ""}
              onChange={(e) => put({ windowSeconds: e.target.value === "" ? undefined : Math.max(1, Number(e.target.value)) }, "window")}
            />
          )}
        </Field>
        <Field label="Compare by" hint="country, or attribute:KEY">
          {(c) => (
            <input
              {...c}
              className="field"
              value={f.breakdownBy ?? ""}
              onChange={(e) => put({ breakdownBy: e.target.value.trim() || undefined }, "by")}
            />
          )}
        </Field>
        <Field label="Show">
          {(c) => (
            <select {...c} className="field" value={f.variant ?? "bars"} onChange={(e) => put({ variant: e.target.value as "bars" })}>
              <option value="bars">steps</option>
              <option value="dropoff">steps, and where people went instead</option>
            </select>
          )}
        </Field>
      </div>
    </div>
  );
}

function Step({
  step,
  name,
  onChange,
  onRemove,
}: {
  step: FunnelStep;
  name: string;
  onChange: (s: FunnelStep, kind?: string) => void;
  onRemove?: (() => void) | undefined;
}) {
  const event = step.kind === "event";
  return (
    <div className="row wrap" role="group" aria-label={name}>
      <span className="faint w64">{name}</span>
      <select
        className="field"
        aria-label={`Kind of ${name}`}
        value={step.kind ?? "page"}
        onChange={(e) =>
          onChange(
            e.target.value === "event"
              ? { kind: "event", eventName: "" }
              : e.target.value === "session"
                ? { kind: "session", dimension: "country", value: "" }
                : { kind: "page", pagePath: "/" },
          )
        }
      >
        <option value="page">page</option>
        <option value="event">event</option>
        {name === "Step 1" && <option value="session">session</option>}
      </select>
      {step.kind === "session" && (
        <select
          className="field"
          aria-label={`Dimension of ${name}`}
          value={step.dimension ?? "country"}
          onChange={(e) => onChange({ ...step, dimension: e.target.value as (typeof dimensions)[number] })}
        >
          {dimensions.map((x) => (
            <option key={x}>{x}</option>
          ))}
        </select>
      )}
      <input
        className="field grow mono"
        aria-label={event ? `Event of ${name}` : step.kind === "session" ? `Value of ${name}` : `Path of ${name}`}
        value={(event ? step.eventName : step.kind === "session" ? step.value : step.pagePath) ?? ""}
        onChange={(e) =>
          onChange(
            event
              ? { ...step, eventName: e.target.value }
              : step.kind === "session"
                ? { ...step, value: e.target.value }
                : { ...step, pagePath: e.target.value },
            "step",
          )
        }
      />
      {onRemove && (
        <button type="button" className="button small quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
          ×
        </button>
      )}
    </div>
  );
}
