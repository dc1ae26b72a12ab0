import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import type { WidgetDisplay } from "../gen/api";
import { follow } from "../parts/chart";
import { toggled } from "../parts/chartdata";
import { drawLevels } from "../parts/overlay";
import { paint, useTheme } from "../parts/paint";
import { clock, moment } from "../parts/time";
import { plotDate, useZone } from "../parts/zone";
import { type Drawn, stacked } from "./series";
import { colorOf, type Format } from "./values";

type Props = {
  title: string;
  times: number[];
  lines: Drawn[];
  format: Format;
  display: WidgetDisplay;
  kind: "line" | "area" | "bar";
  onBrush?: ((start: number, end: number) => void) | undefined;
};

/** TimeChart draws the series of a widget as lines, areas or bars, with its axes, thresholds and legend. It fills its box. */
export default function TimeChart({ title, times, lines, format, display, kind, onBrush }: Props) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const visible = useMemo(() => lines.filter((l) => !hidden.has(l.label)), [lines, hidden]);
  const legend = display.chartPresentation?.legend ?? "visible";
  return (
    <figure className={`w-timechart ${legend}`} aria-label={title}>
      <Plot times={times} lines={visible} format={format} display={display} kind={kind} onBrush={onBrush} />
      {legend !== "hidden" && (
        <div className="keys-of">
          {lines.map((l) => (
            <button
              key={l.label}
              type="button"
              className="w-key"
              aria-pressed={!hidden.has(l.label)}
              title="Click shows it alone, Ctrl or ⌘ click hides it"
              onClick={(e) =>
                setHidden(
                  toggled(
                    hidden,
                    l.label,
                    lines.map((x) => x.label),
                    e.metaKey || e.ctrlKey,
                  ),
                )
              }
            >
              <i className="dot" style={{ background: l.color }} /> <span className="clip">{l.label}</span>
              {display.chartPresentation?.seriesStats && <span className="faint">{figures(l.values, format)}</span>}
            </button>
          ))}
        </div>
      )}
      <Figures title={title} times={times} lines={lines} format={format} />
    </figure>
  );
}

function figures(values: Array<number | null>, format: Format): string {
  const all = values.filter((v): v is number => v !== null);
  if (all.length === 0) return "no data";
  return `avg ${format(all.reduce((a, b) => a + b, 0) / all.length)}, max ${format(Math.max(...all))}, last ${format(all.at(-1)!)}`;
}

/** The same figures as a table, for screen readers. */
function Figures({ title, times, lines, format }: { title: string; times: number[]; lines: Drawn[]; format: Format }) {
  const from = Math.max(0, times.length - 40);
  return (
    <div className="sr">
      {/* a table takes the width of its content, whatever its style says */}
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {lines.map((l) => (
              <th key={l.label} scope="col">
                {l.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.slice(from).map((t, i) => (
            <tr key={t}>
              <th scope="row">{moment(t)}</th>
              {lines.map((l) => {
                const v = l.values[from + i];
                return <td key={l.label}>{typeof v === "number" ? format(v) : "no data"}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const faded = (color: string, alpha: number): string => {
  const rgb = /^rgba?\(([^)]+)\)$/.exec(color)?.[1]?.split(",").slice(0, 3).join(",");
  return rgb ? `rgba(${rgb},${alpha})` : color;
};

/** reach is the range of the vertical axis. */
export function reach(display: WidgetDisplay, least: number, most: number, log: boolean): [number, number] {
  const a = display.yAxis ?? {};
  const marks = (display.thresholds ?? []).map((t) => t.value ?? 0);
  const top = Math.max(most, a.softMax ?? -Infinity);
  const low = Math.min(least, a.softMin ?? Infinity);
  if (log) return [a.min && a.min > 0 ? a.min : Math.max(low, 1e-9), a.max ?? (Math.max(top, low * 10) || 1)];
  const span = top - low || Math.abs(top) || 1;
  const bottom = a.fitYAxisToData ? low - span * 0.08 : Math.min(0, low < 0 ? low - span * 0.08 : 0);
  const upper = top + span * 0.08;
  // A threshold near the values is in sight. One far above them would flatten the lines.
  const near = Math.max(...marks.filter((m) => m <= upper * 2), -Infinity);
  const end = a.max ?? Math.max(upper, near * 1.05, bottom + (top === 0 && low === 0 ? 1 : 0));
  return [a.min ?? bottom, end > (a.min ?? bottom) ? end : (a.min ?? bottom) + 1];
}

function Plot({ times, lines, format, display, kind, onBrush }: Omit<Props, "title">) {
  const box = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const zone = useZone();
  const brushed = useRef(onBrush);
  brushed.current = onBrush;
  // biome-ignore lint: the theme decides the colors
  useEffect(() => {
    const element = box.current;
    if (!element || times.length === 0) return;
    const color = (css: string): string => (css.startsWith("var(") ? paint(element, css.slice(4, -1)) : css);
    const grid = { stroke: paint(element, "--line"), width: 1 };
    const ink = paint(element, "--faint");
    const font = "11px system-ui, sans-serif";
    const long = (times.at(-1) ?? 0) - (times[0] ?? 0) > 86_400_000;
    const log = display.yAxis?.logScale === true;
    const stack = display.stacked === true && lines.length > 1;
    // A line that is drawn first lies below. Stacked lines are drawn from the highest sum to the lowest.
    const sums = stack ? stacked(lines) : lines.map((l) => (log ? l.values.map((v) => (v !== null && v > 0 ? v : null)) : l.values));
    const order = lines.map((_, i) => (stack ? lines.length - 1 - i : i));
    const paths =
      kind === "bar"
        ? uPlot.paths.bars!({ size: [0.8, 40] })
        : display.curveType === "monotone"
          ? uPlot.paths.spline!()
          : uPlot.paths.linear!();
    const levels = (display.thresholds ?? []).map((t) => ({
      value: t.value ?? 0,
      label: t.label ?? "",
      color: colorOf(t.color) ?? "var(--bad)",
    }));
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: Math.max(60, element.clientHeight),
        cursor: { y: false, sync: { key: "page" }, drag: { x: onBrush !== undefined, y: false, setScale: false } },
        select: { show: true, left: 0, top: 0, width: 0, height: 0 },
        legend: { show: false },
        tzDate: plotDate,
        padding: [8, 14, 0, 0],
        scales: { y: { distr: log ? 3 : 1, range: (_u, min, max) => reach(display, min ?? 0, max ?? 0, log) } },
        axes: [
          {
            show: display.xAxis?.visible !== false,
            stroke: ink,
            grid,
            ticks: grid,
            font,
            values: (_u, at) => at.map((s) => (long ? moment(s * 1000).slice(5) : clock(s * 1000).slice(0, 5))),
            space: long ? 90 : 56,
            size: 26,
            ...(display.xAxis?.label ? { label: display.xAxis.label, labelSize: 18, labelFont: font } : {}),
          },
          {
            show: display.yAxis?.visible !== false,
            stroke: ink,
            grid,
            ticks: { show: false },
            font,
            size: 58,
            values: (_u, at) => at.map((v) => (v === null ? "" : format(v))),
            space: 28,
            ...(display.yAxis?.label ? { label: display.yAxis.label, labelSize: 18, labelFont: font } : {}),
          },
        ],
        series: [
          {},
          ...order.map((i) => {
            const l = lines[i]!;
            const stroke = color(l.color);
            const fill = kind === "bar" ? faded(stroke, 0.85) : kind === "area" || stack ? faded(stroke, stack ? 0.45 : 0.18) : undefined;
            return {
              label: l.label,
              stroke,
              width: kind === "bar" ? 0 : 1.5,
              paths,
              points: { show: display.chartPresentation?.showPoints === true || times.length < 3 },
              ...(l.dashed ? { dash: [4, 4] } : fill ? { fill } : {}),
            };
          }),
        ],
        hooks: {
          setSelect: [
            (u) => {
              if (u.select.width > 4)
                brushed.current?.(u.posToVal(u.select.left, "x") * 1000, u.posToVal(u.select.left + u.select.width, "x") * 1000);
            },
          ],
          setCursor: [
            (u) => {
              if (display.chartPresentation?.tooltip !== "hidden") follow(u, tip.current, lines, format);
            },
          ],
          draw: [(u) => drawLevels(u, levels, [], color)],
        },
      },
      [times.map((t) => t / 1000), ...order.map((i) => sums[i]!)],
      element,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: Math.max(60, element.clientHeight) }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [times, lines, theme, zone, display, kind, format, onBrush === undefined]);
  return (
    <div className="w-plot">
      <div ref={box} aria-hidden="true" />
      <div ref={tip} className="tip" hidden />
    </div>
  );
}
