import {
  AlertBaseline,
  AlertBurn_period_days,
  CreateAlertRuleRequest_consecutive_breaches_required,
  CreateAlertRuleRequest_consecutive_healthy_required,
  CreateAlertRuleRequest_minimum_sample_count,
  CreateAlertRuleRequest_renotify_interval_minutes,
  CreateAlertRuleRequest_window_minutes,
} from "../../gen/limits";
import { errorOf, Field } from "../../parts/form";
import { lasts } from "../../parts/format";
import { comparators, type Draft, isOneSided, isRange, signals } from "./draft";
import type { Part } from "./what";

type NumberOf = {
  label: string;
  name: string;
  value: number | undefined;
  unit?: string;
  scale?: number;
  min?: number;
  max?: number;
  hint?: string | undefined;
  error: string;
  set: (n: number | undefined) => void;
};

function NumberField({ label, value, unit = "", scale = 1, min, max, hint, error, set }: NumberOf) {
  return (
    <Field label={unit ? `${label}, ${unit}` : label} hint={hint} error={error}>
      {(c) => (
        <input
          {...c}
          className="field"
          type="number"
          step="any"
          min={min}
          max={max}
          value={value === undefined ? "" : Number((value * scale).toPrecision(12))}
          onChange={(e) => set(e.target.value === "" ? undefined : Number(e.target.value) / scale)}
        />
      )}
    </Field>
  );
}

/** When is the second part of a rule: the condition, and how long it must hold. */
export function When({ draft: d, set, error }: Part) {
  const kind = signals[d.signalType ?? "error_rate"];
  const way = d.burn ? "burn" : d.baseline ? "baseline" : "fixed";
  const scaled = d.burn ? { unit: "×", scale: 1 } : { unit: kind.unit, scale: kind.scale };
  const resolvable = way !== "baseline" && isOneSided(d.comparator);
  return (
    <section className="panel" aria-labelledby="when">
      <header>
        <h2 id="when">
          <span className="step">2</span> When
        </h2>
      </header>
      <div className="body part">
        <fieldset className="choice">
          <legend>Compared with</legend>
          <label>
            <input
              type="radio"
              name="way"
              checked={way === "fixed"}
              onChange={() => set({ burn: undefined, baseline: undefined, threshold: kind.threshold })}
            />{" "}
            a threshold
          </label>
          <label>
            <input
              type="radio"
              name="way"
              checked={way === "baseline"}
              onChange={() => set({ burn: undefined, baseline: { sensitivity: "normal" }, resolveThreshold: undefined })}
            />{" "}
            its own past
          </label>
          {d.signalType === "error_rate" && (
            <label>
              <input
                type="radio"
                name="way"
                checked={way === "burn"}
                onChange={() =>
                  set({ baseline: undefined, burn: { target: 0.999, periodDays: 30 }, comparator: "gte", threshold: 1, windowMinutes: 60 })
                }
              />{" "}
              an objective
            </label>
          )}
        </fieldset>
        {way === "burn" && (
          <div className="formgrid">
            <NumberField
              name="target"
              label="Objective"
              unit="%"
              scale={100}
              value={d.burn?.target}
              error={errorOf(error, "target")}
              set={(target) => set({ burn: { ...d.burn, target: target ?? 0.999 } })}
            />
            <NumberField
              name="period_days"
              label="Period"
              unit="days"
              {...AlertBurn_period_days}
              value={d.burn?.periodDays}
              error={errorOf(error, "period_days")}
              set={(periodDays) => set({ burn: { ...d.burn, periodDays } })}
              hint="1 is the speed at which the errors of the long window use up their share of the budget."
            />
          </div>
        )}
        {way === "baseline" && (
          <Field
            label="Sensitivity"
            hint={`Against the same hour of the last ${lasts(AlertBaseline)}. A breach is also further from it than the value below.`}
          >
            {(c) => (
              <select
                {...c}
                className="field"
                value={d.baseline?.sensitivity}
                onChange={(e) => set({ baseline: { sensitivity: e.target.value as "low" | "normal" | "high" } })}
              >
                <option value="low">low: 6 deviations, 3 times</option>
                <option value="normal">normal: 4 deviations, twice</option>
                <option value="high">high: 3 deviations, 1.5 times</option>
              </select>
            )}
          </Field>
        )}
        <div className="formgrid">
          <Field label="The value" error={errorOf(error, "comparator")}>
            {(c) => (
              <select
                {...c}
                className="field"
                value={d.comparator}
                onChange={(e) => set(compared(d, e.target.value as NonNullable<Draft["comparator"]>))}
              >
                {comparators.map(([key, name]) => (
                  <option key={key} value={key}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <NumberField
            name="threshold"
            label={way === "baseline" ? "Least distance" : "Threshold"}
            {...scaled}
            value={d.threshold}
            error={errorOf(error, "threshold")}
            hint={way === "baseline" ? undefined : "Or drag the line on the chart."}
            set={(threshold) => set({ threshold })}
          />
          {isRange(d.comparator) && (
            <NumberField
              name="threshold_upper"
              label="Upper threshold"
              {...scaled}
              value={d.thresholdUpper}
              error={errorOf(error, "threshold_upper")}
              set={(thresholdUpper) => set({ thresholdUpper })}
            />
          )}
        </div>
        <div className="formgrid">
          <NumberField
            name="window_minutes"
            label="Over the last"
            unit="minutes"
            {...CreateAlertRuleRequest_window_minutes}
            value={d.windowMinutes}
            error={errorOf(error, "window_minutes")}
            set={(windowMinutes) => set({ windowMinutes: windowMinutes ?? 0 })}
          />
          <NumberField
            name="consecutive_breaches_required"
            label="Opens after"
            unit="minutes in breach"
            {...CreateAlertRuleRequest_consecutive_breaches_required}
            value={d.consecutiveBreachesRequired}
            error={errorOf(error, "consecutive_breaches_required")}
            set={(n) => set({ consecutiveBreachesRequired: n })}
          />
          <NumberField
            name="consecutive_healthy_required"
            label="Resolves after"
            unit="healthy minutes"
            {...CreateAlertRuleRequest_consecutive_healthy_required}
            value={d.consecutiveHealthyRequired}
            error={errorOf(error, "consecutive_healthy_required")}
            set={(n) => set({ consecutiveHealthyRequired: n })}
          />
          {resolvable && (
            <NumberField
              name="resolve_threshold"
              label="Healthy only beyond"
              {...scaled}
              value={d.resolveThreshold}
              error={errorOf(error, "resolve_threshold")}
              hint="Empty: the threshold itself."
              set={(resolveThreshold) => set({ resolveThreshold })}
            />
          )}
          <NumberField
            name="minimum_sample_count"
            label="With at least"
            unit="samples"
            {...CreateAlertRuleRequest_minimum_sample_count}
            value={Number(d.minimumSampleCount ?? 0)}
            error={errorOf(error, "minimum_sample_count")}
            set={(n) => set({ minimumSampleCount: String(Math.round(n ?? 0)) })}
          />
          <NumberField
            name="renotify_interval_minutes"
            label="Reminds every"
            unit="minutes"
            {...CreateAlertRuleRequest_renotify_interval_minutes}
            value={d.renotifyIntervalMinutes}
            error={errorOf(error, "renotify_interval_minutes")}
            set={(n) => set({ renotifyIntervalMinutes: n })}
          />
        </div>
        <label className="tick">
          <input type="checkbox" checked={d.alertOnNoData ?? false} onChange={(e) => set({ alertOnNoData: e.target.checked })} /> A group
          that sends nothing is in breach, too
        </label>
      </div>
    </section>
  );
}

function compared(d: Draft, to: NonNullable<Draft["comparator"]>): Partial<Draft> {
  const low = d.threshold ?? 0;
  return {
    comparator: to,
    thresholdUpper: isRange(to) ? (d.thresholdUpper ?? (low > 0 ? low * 2 : 1)) : undefined,
    resolveThreshold: undefined,
  };
}
