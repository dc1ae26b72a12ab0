import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { Link } from "../frame/router";
import "./chart.css";
import { chartCSV, type Line, range, tip as tipOf, toggled } from "./chartdata";
import { Menu, type MenuItem } from "./menu";
import { drawBands, drawLevels, handles, type Mark, near, type Overlay } from "./overlay";
import { css, paint, useTheme } from "./paint";
import { clock, moment } from "./time";
import { plotDate, useZone } from "./zone";

export type { Line } from "./chartdata";
/** A bucket of a chart, and the line; all lines when it is null. */
export type Place = { start: number; end: number; line: Line | null };

type Props = {
  title: string;
  /** Milliseconds, ascending. */
  times: number[];
  lines: Line[];
  format: (n: number) => string;
  height?: number;
  bars?: boolean;
  /** The top of the scale while all values are 0. */
  least?: number;
  /** Length of a bucket in milliseconds; the distance of two times when it is left out. */
  step?: number;
  /** The window of the axis of time; that of the times when it is left out. */
  start?: number;
  end?: number;
  onBrush?: (start: number, end: number) => void;
  /** Called while a level is dragged, and at the end of it. */
  onLevel?: (index: number, value: number, done: boolean) => void;
  /** The address of the records behind a place. */
  records?: (place: Place) => string;
  /** Further acts of the page for the menu of the chart. */
  actions?: MenuItem[];
  /** The legend is left out when the page has one of its own. */
  legend?: boolean;
} & Overlay;

/**
 * Chart draws lines over time. The crosshair is that of all charts of the page, a brush selects a window, a click keeps the tooltip, and a
 * click in the legend isolates a line. A table holds the same figures: for screen readers always, for all people by the menu.
 */
export default function Chart({
  title,
  times,
  lines,
  format,
  height = 160,
  bars = false,
  least = 1,
  step: given,
  start,
  end,
  onBrush,
  onLevel,
  marks,
  bands,
  levels,
  records,
  actions = [],
  legend = lines.length > 1,
}: Props) {
  const figure = useRef<HTMLElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plotted = useRef<uPlot | null>(null);
  const theme = useTheme();
  const zone = useZone();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [asBars, setBars] = useState(bars);
  const [table, setTable] = useState(false);
  const [pinned, setPinned] = useState<number | null>(null);
  const [said, setSaid] = useState("");
  const step = given ?? (times.length > 1 ? times[1]! - times[0]! : 60_000);
  const acts = useRef({ onBrush, onLevel, hidden });
  acts.current = { onBrush, onLevel, hidden };
  const over = useRef({ marks: marks ?? [], bands: bands ?? [], levels: levels ?? [] });
  const place = useRef(() => {}); // puts the handles of the levels at their values
  useEffect(() => setPinned(null), [times, lines]);
  // biome-ignore lint: the theme decides the colors
  useEffect(() => {
    const element = box.current;
    if (!element || times.length === 0) return;
    const grid = { stroke: paint(element, "--line"), width: 1 };
    const ink = paint(element, "--faint");
    const font = "11px system-ui, sans-serif";
    const long = (end ?? times.at(-1) ?? 0) - (start ?? times[0] ?? 0) > 86_400_000;
    const colors = new Map<string, string>();
    const color = (token: string): string => {
      const known = colors.get(token) ?? paint(element, token);
      colors.set(token, known);
      return known;
    };
    let frozen = 0; // the top of the scale while a level is dragged
    let here = false; // the pointer is over this chart, and not over another one of the page
    let from = Number.NaN; // where the pointer went down on the plot
    const plot = new uPlot(
      {
        width: Math.max(80, element.clientWidth),
        height,
        cursor: { y: false, sync: { key: "page" }, drag: { x: onBrush !== undefined, y: false, setScale: false }, focus: { prox: -1 } },
        focus: { alpha: 0.25 },
        select: { show: true, left: 0, top: 0, width: 0, height: 0 },
        legend: { show: false },
        tzDate: plotDate,
        padding: [8, 18, 0, 0],
        scales: {
          ...(start !== undefined && end !== undefined ? { x: { range: [start / 1000, end / 1000] as [number, number] } } : {}),
          y: {
            range: (_u, min, max) =>
              frozen
                ? [Math.min(0, min ?? 0), frozen]
                : range(min, Math.max(max ?? 0, ...over.current.levels.map((l) => l.value * 1.1)), least),
          },
        },
        axes: [
          {
            stroke: ink,
            grid,
            ticks: grid,
            font,
            values: (_u, at) => at.map((s) => (long ? moment(s * 1000).slice(5) : clock(s * 1000).slice(0, 5))),
            space: long ? 90 : 56,
            size: 28,
          },
          { stroke: ink, grid, ticks: { show: false }, font, size: 62, values: (_u, at) => at.map(format), space: 32 },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            label: line.label,
            show: !acts.current.hidden.has(line.label),
            stroke: paint(element, line.color),
            width: 1.5,
            points: { show: times.length < 3 },
            ...(line.dashed ? { dash: [4, 4] } : {}),
            ...(asBars ? { fill: paint(element, line.color), paths: uPlot.paths.bars!({ size: [0.8, 40] }) } : {}),
          })),
        ],
        hooks: {
          setSelect: [
            (u) => {
              if (here && u.select.width > 4)
                acts.current.onBrush?.(u.posToVal(u.select.left, "x") * 1000, u.posToVal(u.select.left + u.select.width, "x") * 1000);
            },
          ],
          setCursor: [
            (u) =>
              follow(
                u,
                here ? tip.current : null,
                lines.filter((l) => !acts.current.hidden.has(l.label)),
                format,
                over.current.marks,
              ),
          ],
          drawClear: [(u) => drawBands(u, over.current.bands, color)],
          draw: [(u) => drawLevels(u, over.current.levels, over.current.marks, color)],
        },
      },
      [times.map((t) => t / 1000), ...lines.map((l) => l.values)],
      element,
    );
    plotted.current = plot;
    plot.over.addEventListener("pointerenter", () => {
      here = true;
    });
    plot.over.addEventListener("pointerleave", () => {
      here = false;
      if (tip.current) tip.current.hidden = true;
    });
    plot.over.addEventListener("pointerdown", (e) => {
      here = true;
      from = e.clientX;
    });
    plot.over.addEventListener("pointerup", (e) => {
      if (Math.abs(e.clientX - from) < 4) setPinned(plot.cursor.idx ?? null);
      from = Number.NaN;
    });
    const moved = (index: number, value: number, done: boolean): void => {
      frozen = done ? 0 : (plot.scales.y?.max ?? 0);
      acts.current.onLevel?.(index, value, done);
    };
    place.current = acts.current.onLevel ? handles(plot, () => over.current.levels, moved).place : () => {};
    place.current();
    const resize = new ResizeObserver(() => {
      if (element.clientWidth === 0) return;
      plot.setSize({ width: element.clientWidth, height });
      place.current();
    });
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
      plotted.current = null;
    };
  }, [times, lines, theme, zone, height, asBars, least, format, start, end]);
  useEffect(() => {
    over.current = { marks: marks ?? [], bands: bands ?? [], levels: levels ?? [] };
    plotted.current?.setData(plotted.current.data);
    place.current();
  }, [marks, bands, levels]);
  useEffect(() => {
    lines.forEach((l, i) => {
      const shown = !hidden.has(l.label);
      if (plotted.current && plotted.current.series[i + 1]?.show !== shown) plotted.current.setSeries(i + 1, { show: shown });
    });
  }, [hidden, lines]);
  const say = (text: string): void => {
    setSaid(text);
    setTimeout(() => setSaid(""), 1500);
  };
  const items: MenuItem[] = [
    { name: table ? "As chart" : "As table", act: () => setTable(!table) },
    { name: asBars ? "As lines" : "As bars", act: () => setBars(!asBars) },
    { name: "Copy as CSV", act: () => void navigator.clipboard?.writeText(chartCSV(times, lines)).then(() => say("Copied")) },
    { name: "Save as image", act: () => save(plotted.current, title) },
    ...actions,
  ];
  const shown = lines.filter((l) => !hidden.has(l.label));
  return (
    // biome-ignore lint: the key belongs to the whole figure
    <figure
      ref={figure}
      className="chart"
      aria-label={title}
      onKeyDown={(e) => {
        if (e.key === "T") setTable(!table);
        else if (e.key === "Escape" && pinned !== null) setPinned(null);
      }}
    >
      <Menu label={`Menu of the chart ${title}`} items={items} className="button small quiet">
        {said || "⋯"}
      </Menu>
      <div ref={box} className="plot" style={{ height }} aria-hidden="true" hidden={table} />
      <div ref={tip} className="tip" hidden />
      {pinned !== null && times[pinned] !== undefined && !table && (
        <Pinned
          plot={plotted.current}
          index={pinned}
          time={times[pinned]}
          step={step}
          lines={shown}
          format={format}
          records={records}
          close={() => setPinned(null)}
        />
      )}
      <div
        className={table ? "chartscroll" : "sr"}
        tabIndex={table ? 0 : undefined}
        role={table ? "group" : undefined}
        aria-label={table ? `${title}, as a table` : undefined}
      >
        {/* a table takes the width of its content, whatever its style says */}
        <table className={table ? "data" : undefined}>
          <caption className="sr">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {shown.map((l) => (
                <th key={l.label} scope="col" className="num">
                  {l.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.slice(table ? -1000 : -60).map((t, i) => (
              <tr key={t}>
                <th scope="row">
                  {records && table ? <Link href={records({ start: t, end: t + step, line: null })}>{moment(t)}</Link> : moment(t)}
                </th>
                {shown.map((l) => {
                  const v = l.values[Math.max(0, times.length - (table ? 1000 : 60)) + i];
                  return (
                    <td key={l.label} className="num">
                      {v === null || v === undefined ? (table ? "–" : "no data") : format(v)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
        {marks && marks.length > 0 && (
          <ul>
            {marks.map((m) => (
              <li key={`${m.at}${m.label}`}>
                {moment(m.at)} {m.label}
              </li>
            ))}
          </ul>
        )}
      </div>
      {legend && (
        <div className="chartlegend" role="group" aria-label={`Lines of ${title}`}>
          {lines.map((l, i) => (
            <button
              key={l.label}
              type="button"
              aria-pressed={!hidden.has(l.label)}
              title={`${l.label}: a click shows it alone, with ⌘ or Ctrl it goes`}
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
              onPointerEnter={() => plotted.current?.setSeries(i + 1, { focus: true })}
              onPointerLeave={() => plotted.current?.setSeries(null as never, { focus: false })}
            >
              <i className="dot" style={{ background: `var(${l.color})` }} />
              <span className="clip">{l.label}</span>
            </button>
          ))}
        </div>
      )}
    </figure>
  );
}

type PinnedProps = {
  plot: uPlot | null;
  index: number;
  time: number;
  step: number;
  lines: Line[];
  format: (n: number) => string;
  records: Props["records"];
  close: () => void;
};

/** Pinned is the tooltip that stays. Each line of it leads to its records. */
function Pinned({ plot, index, time, step, lines, format, records, close }: PinnedProps) {
  const rows = tipOf(lines, index, null, 50).rows;
  const left = plot?.valToPos(time / 1000, "x") ?? 0;
  const width = plot?.over.clientWidth ?? 0;
  return (
    <div
      className="tip pinned"
      role="group"
      aria-label={`Figures of ${moment(time)}`}
      style={left > width / 2 ? { right: width - left + 26, top: 8 } : { left: left + 74, top: 8 }}
    >
      <div>
        <span className="faint">{moment(time)}</span>
        {records && <Link href={records({ start: time, end: time + step, line: null })}>Records</Link>}
        <button type="button" className="button small quiet" aria-label="Close" onClick={close}>
          ×
        </button>
      </div>
      {rows.map(({ line, value }) => (
        <div key={line.label}>
          <i className="dot" style={{ background: `var(${line.color})` }} />
          <span>
            {records && lines.length > 1 ? <Link href={records({ start: time, end: time + step, line })}>{line.label}</Link> : line.label}
          </span>
          <b>{format(value)}</b>
        </div>
      ))}
    </div>
  );
}

/** follow fills the tooltip as the pointer moves, without React: it runs for each move. */
export function follow(u: uPlot, tip: HTMLDivElement | null, lines: Line[], format: (n: number) => string, marks: Mark[] = []): void {
  if (!tip) return;
  const i = u.cursor.idx;
  const over = u.cursor.left !== undefined && u.cursor.left >= 0;
  tip.hidden = i === null || i === undefined || !over;
  if (tip.hidden || i === null || i === undefined) return;
  const found = tipOf(lines, i, u.cursor.top === undefined ? null : u.posToVal(u.cursor.top, "y"));
  const part = (tag: string, text: string, name = ""): HTMLElement => {
    const e = document.createElement(tag);
    e.textContent = text;
    e.className = name;
    return e;
  };
  tip.replaceChildren(
    part("div", moment((u.data[0]?.[i] ?? 0) * 1000), "faint"),
    ...found.rows.map(({ line, value, nearest }) => {
      const row = part("div", "", nearest ? "near" : "");
      const dot = part("i", "", "dot");
      dot.style.background = css(line.color);
      row.append(dot, part("span", line.label), part("b", format(value)));
      return row;
    }),
    ...(found.more > 0 ? [part("div", `${found.more} more, ${format(found.rest)} in all`, "faint")] : []),
    ...near(u, marks).map((m) => part("div", `▾ ${clock(m.at).slice(0, 5)} ${m.label}`)),
  );
  const left = u.cursor.left ?? 0;
  tip.style.left = left > u.over.clientWidth / 2 ? "" : `${left + 74}px`;
  tip.style.right = left > u.over.clientWidth / 2 ? `${u.over.clientWidth - left + 26}px` : "";
  tip.style.top = "8px";
}

/** save gives the picture of a chart to the person as a file. */
function save(plot: uPlot | null, title: string): void {
  if (!plot) return;
  const copy = document.createElement("canvas");
  copy.width = plot.ctx.canvas.width;
  copy.height = plot.ctx.canvas.height;
  const to = copy.getContext("2d");
  if (!to) return;
  to.fillStyle = paint(plot.root, "--back");
  to.fillRect(0, 0, copy.width, copy.height);
  to.drawImage(plot.ctx.canvas, 0, 0);
  const link = document.createElement("a");
  link.download = `${title}.png`;
  link.href = copy.toDataURL("image/png");
  link.click();
}
