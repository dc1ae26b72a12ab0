import { type KeyboardEvent, type PointerEvent, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { count, percent } from "../parts/format";
import { paint, useTheme } from "../parts/paint";
import { clock, moment } from "../parts/time";
import { offset, useZone } from "../parts/zone";
import { type Area, areaOf, type Box, boundName, boxOf, type Grid, rangeName, sumOf, timeName } from "./select";
import "./heat.css";

type Cell = { x: number; y: number };
const gutter = { left: 58, right: 10, top: 6, bottom: 20 };

const around = (a: Cell, b: Cell): Area => ({
  left: Math.min(a.x, b.x),
  right: Math.max(a.x, b.x),
  bottom: Math.min(a.y, b.y),
  top: Math.max(a.y, b.y),
});

/**
 * HeatPlot draws the cells of a grid: the stronger the color, the more spans, and the red part of a cell failed. A box is drawn by the
 * mouse or by the keyboard; a table holds the sums of the columns for screen readers.
 */
export function HeatPlot({ grid, box, onBox }: { grid: Grid; box: Box | null; onBox: (box: Box | null) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const zone = useZone();
  const id = useId();
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [over, setOver] = useState<Cell | null>(null);
  const [drag, setDrag] = useState<{ from: Cell; to: Cell } | null>(null);
  const [cursor, setCursor] = useState<{ from: Cell; to: Cell } | null>(null);
  useLayoutEffect(() => {
    const element = frame.current!;
    const look = (): void => setSize({ width: element.clientWidth, height: element.clientHeight });
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  // biome-ignore lint: another grid has other cells
  useEffect(() => {
    setDrag(null);
    setCursor(null);
    setOver(null);
  }, [grid.start, grid.step, grid.columns, grid.rows, grid.bounds[0]]);
  const plot = {
    width: Math.max(1, size.width - gutter.left - gutter.right),
    height: Math.max(1, size.height - gutter.top - gutter.bottom),
  };
  const [cw, ch] = [plot.width / grid.columns, plot.height / grid.rows];

  // biome-ignore lint: the theme decides the colors
  useEffect(() => {
    const element = canvas.current;
    if (!element || size.width === 0) return;
    const scale = devicePixelRatio || 1;
    element.width = Math.round(size.width * scale);
    element.height = Math.round(size.height * scale);
    const to = element.getContext("2d");
    if (to) {
      to.scale(scale, scale);
      draw(to, grid, size, (token) => paint(frame.current!, token));
    }
  }, [grid, size, theme, zone]);

  const cellAt = (e: PointerEvent): Cell => {
    const r = canvas.current!.getBoundingClientRect();
    const inside = (n: number, most: number): number => Math.min(most - 1, Math.max(0, Math.floor(n)));
    return {
      x: inside((e.clientX - r.left - gutter.left) / cw, grid.columns),
      y: grid.rows - 1 - inside((e.clientY - r.top - gutter.top) / ch, grid.rows),
    };
  };
  const finish = (from: Cell, to: Cell, coarse: boolean): void => {
    let area = around(from, to);
    if (coarse && from.x === to.x && from.y === to.y) {
      area = {
        left: Math.max(0, area.left - 1),
        right: Math.min(grid.columns - 1, area.right + 1),
        bottom: Math.max(0, area.bottom - 1),
        top: Math.min(grid.rows - 1, area.top + 1),
      };
    }
    onBox(sumOf(grid, area).count > 0 ? boxOf(grid, area) : null);
  };
  const press = (e: KeyboardEvent): void => {
    const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const move = moves[e.key];
    if (e.metaKey || e.ctrlKey || e.altKey) return;
    if (move) {
      const now = cursor ?? densest(grid);
      const to = {
        x: Math.min(grid.columns - 1, Math.max(0, now.to.x + (cursor ? move[0] : 0))),
        y: Math.min(grid.rows - 1, Math.max(0, now.to.y + (cursor ? move[1] : 0))),
      };
      setCursor({ from: e.shiftKey ? now.from : to, to });
      setOver(null);
    } else if (e.key === "Enter" && cursor) finish(cursor.from, cursor.to, false);
    else if (e.key === "Escape" && (cursor || box)) {
      setCursor(null);
      if (!cursor) onBox(null);
    } else return;
    e.preventDefault();
  };

  const shownArea = drag ? around(drag.from, drag.to) : cursor ? around(cursor.from, cursor.to) : null;
  const held = box && !drag ? areaOf(grid, box) : null;
  const here = shownArea ?? (over ? around(over, over) : null);
  const style = (a: { left: number; right: number; bottom: number; top: number }) => ({
    left: gutter.left + a.left * cw,
    width: (a.right - a.left) * cw,
    top: gutter.top + (grid.rows - a.top) * ch,
    height: (a.top - a.bottom) * ch,
  });
  const whole = (a: Area) => style({ left: a.left, right: a.right + 1, bottom: a.bottom, top: a.top + 1 });
  return (
    <figure className="heat">
      {/* biome-ignore lint: a plot with keys of its own is an application */}
      <div
        ref={frame}
        className="heatplot"
        role="application"
        aria-roledescription="heatmap"
        aria-label="Spans by start and duration"
        aria-describedby={id}
        tabIndex={0}
        onKeyDown={press}
        onBlur={() => setCursor(null)}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          e.currentTarget.setPointerCapture(e.pointerId);
          setCursor(null);
          setDrag({ from: cellAt(e), to: cellAt(e) });
        }}
        onPointerMove={(e) => {
          const cell = cellAt(e);
          setOver(cell);
          if (drag) setDrag({ from: drag.from, to: cell });
        }}
        onPointerLeave={() => setOver(null)}
        onPointerCancel={() => setDrag(null)}
        onPointerUp={(e) => {
          if (drag) finish(drag.from, cellAt(e), e.pointerType === "touch");
          setDrag(null);
        }}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {held && <i className="heatbox held" style={style(held)} />}
        {shownArea && <i className="heatbox" style={whole(shownArea)} />}
        {!shownArea && over && <i className="heatcell" style={whole(around(over, over))} />}
      </div>
      <figcaption className="legend">{here ? <Shown grid={grid} area={here} /> : <Scale most={grid.most} />}</figcaption>
      <p className="sr" role="status">
        {cursor &&
          Object.values(partsOf(grid, around(cursor.from, cursor.to)))
            .filter(Boolean)
            .join(", ")}
      </p>
      <p id={id} className="sr">
        Arrows move between cells, Shift and arrows draw a box, Enter chooses it, Escape removes it.
      </p>
      <Table grid={grid} />
    </figure>
  );
}

/** densest is the cell with the most spans, where the keyboard begins. */
function densest(g: Grid): { from: Cell; to: Cell } {
  const at = Math.max(0, g.counts.indexOf(g.most));
  const cell = { x: Math.floor(at / g.rows), y: at % g.rows };
  return { from: cell, to: cell };
}

/** partsOf describes an area. */
function partsOf(grid: Grid, area: Area): { time: string; durations: string; spans: string; failed: string } {
  const b = boxOf(grid, area);
  const sum = sumOf(grid, area);
  return {
    time: timeName(b.from, b.to, grid.step),
    durations: rangeName(b.low, b.high),
    spans: `${count(sum.count)} spans`,
    failed: sum.errors > 0 ? `${count(sum.errors)} failed (${percent(sum.errors / sum.count)})` : "",
  };
}

function Shown({ grid, area }: { grid: Grid; area: Area }) {
  const p = partsOf(grid, area);
  return (
    <>
      <span>{p.time}</span>
      <span>{p.durations}</span>
      <b>{p.spans}</b>
      {p.failed && <span className="bad">✖ {p.failed}</span>}
    </>
  );
}

function Scale({ most }: { most: number }) {
  return (
    <>
      <span className="heatscale">
        1 <i aria-hidden="true" /> {count(most)} spans in a cell
      </span>
      <span>
        <i className="dot" style={{ background: "var(--bad)" }} /> the part that failed
      </span>
    </>
  );
}

function Table({ grid: g }: { grid: Grid }) {
  const rows = useMemo(() => {
    const out: Array<[string, number, number, string]> = [];
    for (let x = 0; x < g.columns; x++) {
      const filled = Array.from({ length: g.rows }, (_, y) => y).filter((y) => (g.counts[x * g.rows + y] ?? 0) > 0);
      if (filled.length === 0) continue;
      const [low, high] = [filled[0]!, filled.at(-1)!];
      const sum = sumOf(g, { left: x, right: x, bottom: low, top: high });
      out.push([moment(g.start + x * g.step), sum.count, sum.errors, rangeName(g.bounds[low] ?? 0, g.bounds[high + 1] ?? null)]);
    }
    return out;
  }, [g]);
  return (
    <div className="sr">
      <table>
        <caption>Spans over time by duration</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Spans</th>
            <th scope="col">Failed</th>
            <th scope="col">Durations</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([time, spans, failed, durations], i) => (
            // biome-ignore lint: two columns can have one name in an hour that a clock repeats
            <tr key={i}>
              <th scope="row">{time}</th>
              <td>{count(spans)}</td>
              <td>{count(failed)}</td>
              <td>{durations}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** draw paints the axes and the cells. */
function draw(to: CanvasRenderingContext2D, g: Grid, size: { width: number; height: number }, color: (token: string) => string): void {
  const [ink, rule, bad, fill] = [color("--faint"), color("--line"), color("--bad"), color("--s1")];
  const plot = { width: size.width - gutter.left - gutter.right, height: size.height - gutter.top - gutter.bottom };
  const [cw, ch] = [plot.width / g.columns, plot.height / g.rows];
  const y = (row: number): number => gutter.top + plot.height - row * ch;
  to.clearRect(0, 0, size.width, size.height);
  to.font = "11px system-ui, sans-serif";
  to.lineWidth = 1;
  to.textBaseline = "middle";
  to.textAlign = "right";
  let above = Number.POSITIVE_INFINITY;
  for (let i = 0; i <= g.rows; i++) {
    const b = g.bounds[i];
    // Powers of ten have lines; other round bounds have names only where there is room.
    const power = b !== null && b !== undefined && b > 0 && Math.abs(Math.log10(b) - Math.round(Math.log10(b))) < 1e-6;
    if (b === null || b === undefined || (b === 0 && i > 0) || !(power || (ch > 7 && [2, 5].includes(lead(b))) || b === 0)) continue;
    if (above - y(i) < 13) continue;
    above = y(i);
    if (power) {
      to.strokeStyle = rule;
      to.beginPath();
      to.moveTo(gutter.left, Math.round(y(i)) + 0.5);
      to.lineTo(gutter.left + plot.width, Math.round(y(i)) + 0.5);
      to.stroke();
    }
    to.fillStyle = ink;
    to.fillText(boundName(b), gutter.left - 6, Math.max(gutter.top + 4, y(i)));
  }
  to.textAlign = "center";
  const every = tick(g, cw);
  const shift = offset(g.start);
  for (let ms = Math.ceil((g.start + shift) / every) * every - shift; ms < g.start + g.columns * g.step; ms += every) {
    const x = gutter.left + ((ms - g.start) / g.step) * cw;
    if (x < gutter.left + 14 || x > gutter.left + plot.width - 14) continue;
    to.strokeStyle = rule;
    to.beginPath();
    to.moveTo(Math.round(x) + 0.5, gutter.top + plot.height);
    to.lineTo(Math.round(x) + 0.5, gutter.top + plot.height + 4);
    to.stroke();
    to.fillStyle = ink;
    const text = every >= 86_400_000 ? moment(ms).slice(5, 10) : every % 60_000 ? clock(ms) : clock(ms).slice(0, 5);
    to.fillText(text, x, gutter.top + plot.height + 12);
  }
  const gap = cw > 5 && ch > 5 ? 1 : 0;
  const [top, topErrors] = [Math.log1p(g.most), Math.log1p(g.mostErrors)];
  for (let col = 0; col < g.columns; col++)
    for (let row = 0; row < g.rows; row++) {
      const n = g.counts[col * g.rows + row] ?? 0;
      if (n <= 0) continue;
      const part = Math.min(1, (g.errors[col * g.rows + row] ?? 0) / n);
      const [left, right] = [Math.round(gutter.left + col * cw), Math.round(gutter.left + (col + 1) * cw) - gap];
      const [high, low] = [Math.round(y(row + 1)), Math.round(y(row)) - gap];
      const strength = 0.18 + 0.82 * (Math.log1p(n) / top);
      const failed = part > 0 ? Math.max(Math.min(ch > 9 ? 3 : 2, low - high), Math.round((low - high) * part)) : 0;
      to.globalAlpha = strength;
      to.fillStyle = fill;
      to.fillRect(left, high, Math.max(1, right - left), low - high - failed);
      if (failed > 0) {
        // A failure must be visible even if it is one span.
        to.globalAlpha = 0.5 + 0.5 * (Math.log1p(g.errors[col * g.rows + row] ?? 0) / topErrors);
        to.fillStyle = bad;
        to.fillRect(left, low - failed, Math.max(1, right - left), failed);
      }
    }
  to.globalAlpha = 1;
}

const lead = (b: number): number => Math.round(b / 10 ** Math.floor(Math.log10(b) + 1e-9));

/** tick is the distance of the names of times. */
function tick(g: Grid, cw: number): number {
  const usual = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800].map(
    (s) => s * 1000,
  );
  return usual.find((t) => (t / g.step) * cw >= 58) ?? 604_800_000;
}
