import type { WidgetDisplay, WidgetHeatmap } from "../gen/api";
import { line } from "../parts/format";
import { clock, moment } from "../parts/time";
import { Hidden } from "./shapes";
import { formatOf, num, shown } from "./values";

/** Scales of one hue go from the ground of the theme to their color; the others are fixed. */
const hues: Record<string, string> = { amber: "--warn", blues: "--info", reds: "--bad" };
const scales: Record<string, string[]> = {
  viridis: ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"],
  magma: ["#000004", "#51127c", "#b73779", "#fc8961", "#fcfdbf"],
  cividis: ["#00224e", "#434e6c", "#7d7c78", "#bcae6c", "#fee838"],
};

/** tint is the color of a share of the greatest value. */
export function tint(scale: string | undefined, share: number): string {
  const part = Math.max(0, Math.min(1, share));
  const stops = scales[scale ?? ""];
  if (!stops) return `color-mix(in srgb, var(${hues[scale ?? "amber"] ?? "--warn"}) ${Math.round(8 + part * 92)}%, var(--soft))`;
  const at = part * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return `color-mix(in srgb, ${stops[i + 1]} ${Math.round((at - i) * 100)}%, ${stops[i]})`;
}

const most = { x: 240, y: 60 };

/** Heatmap draws values over two dimensions. Times come in order, other columns as they were sent, rows by their sum. */
export function Heatmap({ data, display, unit }: { data: WidgetHeatmap | undefined; display: WidgetDisplay; unit: string | undefined }) {
  const cells = data?.cells ?? [];
  const time = cells.every((c) => /^\d{4}-\d\d-\d\dT/.test(c.x ?? ""));
  let xs = [...new Set(cells.map((c) => c.x ?? ""))];
  if (time) xs.sort();
  const sums = new Map<string, number>();
  for (const c of cells) sums.set(c.y ?? "", (sums.get(c.y ?? "") ?? 0) + (num(c.value) ?? 0));
  let ys = [...sums.keys()];
  if (ys.every((y) => num(y) !== null)) ys.sort((a, b) => Number(b) - Number(a));
  else ys.sort((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0));
  const left = xs.length > most.x || ys.length > most.y;
  xs = xs.slice(-most.x);
  ys = ys.slice(0, most.y);
  const column = new Map(xs.map((x, i) => [x, i]));
  const row = new Map(ys.map((y, i) => [y, i]));
  const greatest = Math.max(...cells.map((c) => num(c.value) ?? 0), 1e-12);
  const log = display.heatmap?.scaleType === "log";
  const share = (v: number): number => (log ? Math.log1p(Math.max(0, v)) / Math.log1p(greatest) : v / greatest);
  const format = shown(display, unit);
  const named = (x: string): string => (time ? moment(Date.parse(x)) : line(x, 60));
  const axis = display.yAxis?.unit ? formatOf(display.yAxis.unit) : null;
  const rowName = (y: string): string => (axis && num(y) !== null ? axis(Number(y)) : line(y, 80) || "(empty)");
  return (
    <figure className="w-heat" aria-label={display.title || "Heatmap"}>
      <div className="rows faint">
        {ys.map((y) => (
          <span key={y} className="clip" title={rowName(y)}>
            {rowName(y)}
          </span>
        ))}
      </div>
      <svg viewBox={`0 0 ${Math.max(1, xs.length) * 10} ${Math.max(1, ys.length) * 10}`} preserveAspectRatio="none" aria-hidden="true">
        {cells.map((c) => {
          const x = column.get(c.x ?? "");
          const y = row.get(c.y ?? "");
          const v = num(c.value ?? 0) ?? 0;
          if (x === undefined || y === undefined || v === 0) return null;
          return (
            <rect
              key={`${c.x}|${c.y}`}
              x={x * 10 + 0.3}
              y={y * 10 + 0.5}
              width={9.4}
              height={9}
              style={{ fill: tint(display.heatmap?.colorScale, share(v)) }}
            >
              <title>{`${named(c.x ?? "")}, ${rowName(c.y ?? "")}: ${format(v)}`}</title>
            </rect>
          );
        })}
      </svg>
      <div className="w-ends">
        <span className="faint">{xs[0] === undefined ? "" : time ? clock(Date.parse(xs[0])).slice(0, 5) : line(xs[0], 30)}</span>
        <span className="w-scale faint">
          {format(0)}{" "}
          <span className="w-steps">
            {[0, 0.2, 0.4, 0.6, 0.8, 1].map((s) => (
              <i key={s} style={{ background: tint(display.heatmap?.colorScale, s) }} />
            ))}
          </span>{" "}
          {format(greatest)}
          {log ? ", logarithmic" : ""}
          {left ? " · a part of the rows and columns" : ""}
        </span>
        <span className="faint">
          {xs.at(-1) === undefined ? "" : time ? clock(Date.parse(xs.at(-1)!)).slice(0, 5) : line(xs.at(-1)!, 30)}
        </span>
      </div>
      <Hidden
        title={display.title || "Heatmap"}
        heads={["Column", "Row", "Value"]}
        rows={cells.map((c) => [named(c.x ?? ""), rowName(c.y ?? ""), format(num(c.value) ?? 0)])}
      />
    </figure>
  );
}
