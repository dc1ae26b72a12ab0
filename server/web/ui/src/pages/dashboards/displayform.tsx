import type { Threshold, Widget, WidgetDisplay } from "../../gen/api";
import { DashboardText, HistogramBins } from "../../gen/limits";
import { Field } from "../../parts/form";
import { rangeName } from "../../grid/tile";
import { atMost } from "../../parts/length";

type Put = (part: Partial<Widget>, kind?: string) => void;
const units: Array<[string, string]> = [
  ["", "as the data"],
  ["number", "number"],
  ["percent", "percent of a ratio"],
  ["duration_ns", "nanoseconds"],
  ["duration_us", "microseconds"],
  ["duration_ms", "milliseconds"],
  ["duration_s", "seconds"],
  ["bytes", "bytes"],
  ["requests_per_sec", "requests a second"],
  ["short", "short"],
  ["none", "none"],
];
const colors = ["green", "amber", "red", "blue", "purple", "gray"];
const ranges = ["", "15m", "1h", "6h", "24h", "7d", "30d"];

/** DisplayForm edits the unit, the thresholds, the axes and the window of a widget. */
export function DisplayForm({ widget, form, onChange }: { widget: Widget; form: string; onChange: Put }) {
  const d = widget.display ?? {};
  const show = (part: Partial<WidgetDisplay>, kind?: string): void => onChange({ display: { ...d, ...part } }, kind);
  const chart = ["line", "area", "bar"].includes(form);
  const marks = chart || ["stat", "gauge", "hbar"].includes(form);
  const number = (v: string): number | undefined => (v.trim() === "" || Number.isNaN(Number(v)) ? undefined : Number(v));
  const own = widget.timeRange?.type === "relative" ? (widget.timeRange.value ?? "") : widget.timeRange?.type ? "absolute" : "";
  return (
    <>
      <div className="formgrid">
        {form !== "list" && (
          <Field label="Unit">
            {(c) => (
              <select {...c} className="field" value={d.unit ?? ""} onChange={(e) => show({ unit: e.target.value || undefined })}>
                {(units.some(([u]) => u === (d.unit ?? "")) ? units : [...units, [d.unit ?? "", d.unit ?? ""] as [string, string]]).map(
                  ([u, name]) => (
                    <option key={u} value={u}>
                      {name}
                    </option>
                  ),
                )}
              </select>
            )}
          </Field>
        )}
        <Field label="Window">
          {(c) => (
            <select
              {...c}
              className="field"
              value={own}
              onChange={(e) =>
                onChange({ timeRange: e.target.value ? { type: "relative", value: e.target.value } : undefined } as Partial<Widget>)
              }
            >
              {ranges.map((r) => (
                <option key={r} value={r}>
                  {r === "" ? "of the dashboard" : `last ${r}`}
                </option>
              ))}
              {own === "absolute" && <option value="absolute">{rangeName(widget)}</option>}
              {own !== "absolute" && !ranges.includes(own) && <option value={own}>last {own}</option>}
            </select>
          )}
        </Field>
        {chart && (
          <Field label="Legend">
            {(c) => (
              <select
                {...c}
                className="field"
                value={d.chartPresentation?.legend ?? "visible"}
                onChange={(e) => show({ chartPresentation: { ...d.chartPresentation, legend: e.target.value as "visible" } })}
              >
                <option value="visible">below</option>
                <option value="right">right</option>
                <option value="hidden">hidden</option>
              </select>
            )}
          </Field>
        )}
        {chart && (
          <Field label="Line">
            {(c) => (
              <select
                {...c}
                className="field"
                value={d.curveType ?? "linear"}
                onChange={(e) => show({ curveType: e.target.value as "linear" })}
              >
                <option value="linear">straight</option>
                <option value="monotone">smooth</option>
              </select>
            )}
          </Field>
        )}
        {(form === "stat" || form === "gauge" || chart) && (
          <Field label="Before the value">
            {(c) => (
              <input
                {...c}
                className="field"
                {...atMost(DashboardText)}
                value={d.prefix ?? ""}
                onChange={(e) => show({ prefix: e.target.value || undefined }, "prefix")}
              />
            )}
          </Field>
        )}
        {(form === "stat" || form === "gauge" || chart) && (
          <Field label="After the value">
            {(c) => (
              <input
                {...c}
                className="field"
                {...atMost(DashboardText)}
                value={d.suffix ?? ""}
                onChange={(e) => show({ suffix: e.target.value || undefined }, "suffix")}
              />
            )}
          </Field>
        )}
        {form === "gauge" && (
          <Field label="Begins at">
            {(c) => (
              <input
                {...c}
                className="field"
                inputMode="decimal"
                defaultValue={d.gauge?.min ?? ""}
                onChange={(e) => show({ gauge: { ...d.gauge, min: number(e.target.value) } }, "min")}
              />
            )}
          </Field>
        )}
        {form === "gauge" && (
          <Field label="Ends at">
            {(c) => (
              <input
                {...c}
                className="field"
                inputMode="decimal"
                defaultValue={d.gauge?.max ?? ""}
                onChange={(e) => show({ gauge: { ...d.gauge, max: number(e.target.value) } }, "max")}
              />
            )}
          </Field>
        )}
        {form === "gauge" && (
          <Field label="Style">
            {(c) => (
              <select
                {...c}
                className="field"
                value={d.gauge?.style ?? "radial"}
                onChange={(e) => show({ gauge: { ...d.gauge, style: e.target.value as "radial" } })}
              >
                <option value="radial">arc</option>
                <option value="bar">bar</option>
              </select>
            )}
          </Field>
        )}
        {chart && (
          <Field label="Axis from">
            {(c) => (
              <input
                {...c}
                className="field"
                inputMode="decimal"
                placeholder="by the data"
                defaultValue={d.yAxis?.min ?? ""}
                onChange={(e) => show({ yAxis: { ...d.yAxis, min: number(e.target.value) } }, "ymin")}
              />
            )}
          </Field>
        )}
        {chart && (
          <Field label="Axis to">
            {(c) => (
              <input
                {...c}
                className="field"
                inputMode="decimal"
                placeholder="by the data"
                defaultValue={d.yAxis?.max ?? ""}
                onChange={(e) => show({ yAxis: { ...d.yAxis, max: number(e.target.value) } }, "ymax")}
              />
            )}
          </Field>
        )}
        {form === "heatmap" && (
          <Field label="Colors">
            {(c) => (
              <select
                {...c}
                className="field"
                value={d.heatmap?.colorScale ?? "amber"}
                onChange={(e) => show({ heatmap: { ...d.heatmap, colorScale: e.target.value as "amber" } })}
              >
                {["amber", "blues", "reds", "viridis", "magma", "cividis"].map((s) => (
                  <option key={s}>{s}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        {form === "heatmap" && (
          <Field label="Scale">
            {(c) => (
              <select
                {...c}
                className="field"
                value={d.heatmap?.scaleType ?? "linear"}
                onChange={(e) => show({ heatmap: { ...d.heatmap, scaleType: e.target.value as "linear" } })}
              >
                <option value="linear">linear</option>
                <option value="log">logarithmic</option>
              </select>
            )}
          </Field>
        )}
        {form === "histogram" && (
          <Field label="Ranges">
            {(c) => (
              <input
                {...c}
                className="field"
                type="number"
                min={1}
                max={HistogramBins}
                placeholder="by the data"
                value={d.histogram?.bucketCount ?? ""}
                onChange={(e) => show({ histogram: { ...d.histogram, bucketCount: number(e.target.value) } }, "buckets")}
              />
            )}
          </Field>
        )}
      </div>
      <div className="row wrap">
        {chart && (
          <label className="row w-check">
            <input type="checkbox" checked={d.stacked === true} onChange={(e) => show({ stacked: e.target.checked })} /> Stacked
          </label>
        )}
        {chart && (
          <label className="row w-check">
            <input
              type="checkbox"
              checked={d.yAxis?.logScale === true}
              onChange={(e) => show({ yAxis: { ...d.yAxis, logScale: e.target.checked } })}
            />{" "}
            Logarithmic
          </label>
        )}
        {chart && (
          <label className="row w-check">
            <input
              type="checkbox"
              checked={d.yAxis?.fitYAxisToData === true}
              onChange={(e) => show({ yAxis: { ...d.yAxis, fitYAxisToData: e.target.checked } })}
            />{" "}
            Axis fits the data
          </label>
        )}
        {chart && (
          <label className="row w-check">
            <input
              type="checkbox"
              checked={d.chartPresentation?.showPoints === true}
              onChange={(e) => show({ chartPresentation: { ...d.chartPresentation, showPoints: e.target.checked } })}
            />{" "}
            Points
          </label>
        )}
        {chart && (
          <label className="row w-check">
            <input
              type="checkbox"
              checked={d.chartPresentation?.seriesStats === true}
              onChange={(e) => show({ chartPresentation: { ...d.chartPresentation, seriesStats: e.target.checked } })}
            />{" "}
            Figures in the legend
          </label>
        )}
        {form === "stat" && (
          <label className="row w-check">
            <input
              type="checkbox"
              checked={d.sparkline?.enabled === true}
              onChange={(e) => show({ sparkline: { ...d.sparkline, enabled: e.target.checked } })}
            />{" "}
            Small chart
          </label>
        )}
        {form === "pie" && (
          <label className="row w-check">
            <input
              type="checkbox"
              checked={d.pie?.donut !== false}
              onChange={(e) => show({ pie: { ...d.pie, donut: e.target.checked } })}
            />{" "}
            Hole
          </label>
        )}
      </div>
      {marks && (
        <Thresholds
          all={d.thresholds ?? []}
          onChange={(thresholds, kind) => show({ thresholds: thresholds.length ? thresholds : undefined }, kind)}
        />
      )}
    </>
  );
}

function Thresholds({ all, onChange }: { all: Threshold[]; onChange: (all: Threshold[], kind?: string) => void }) {
  const set = (i: number, part: Partial<Threshold>, kind?: string): void =>
    onChange(
      all.map((t, n) => (n === i ? { ...t, ...part } : t)),
      kind,
    );
  return (
    <fieldset className="w-plainset">
      <legend>Thresholds</legend>
      {all.map((t, i) => (
        // biome-ignore lint: thresholds have no other name than their order
        <div key={i} className="row wrap">
          <input
            className="field w110"
            aria-label={`Value of threshold ${i + 1}`}
            inputMode="decimal"
            defaultValue={t.value ?? 0}
            onChange={(e) => {
              const v = Number(e.target.value);
              if (e.target.value.trim() !== "" && !Number.isNaN(v)) set(i, { value: v }, `threshold ${i}`);
            }}
          />
          <select
            className="field"
            aria-label={`Color of threshold ${i + 1}`}
            value={t.color ?? ""}
            onChange={(e) => set(i, { color: e.target.value })}
          >
            {(colors.includes(t.color ?? "") ? colors : [t.color ?? "", ...colors]).map((c) => (
              <option key={c}>{c}</option>
            ))}
          </select>
          <input
            className="field grow"
            aria-label={`Meaning of threshold ${i + 1}`}
            placeholder="meaning"
            value={t.label ?? ""}
            onChange={(e) => set(i, { label: e.target.value || undefined }, `label ${i}`)}
          />
          <button
            type="button"
            className="button small quiet"
            aria-label={`Remove threshold ${i + 1}`}
            onClick={() => onChange(all.filter((_, n) => n !== i))}
          >
            ×
          </button>
        </div>
      ))}
      <div>
        <button type="button" className="button small" onClick={() => onChange([...all, { value: 0, color: "red" }])}>
          + Threshold
        </button>
      </div>
    </fieldset>
  );
}
