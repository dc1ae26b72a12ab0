import type { TraceDistribution } from "../gen/api";
import { duration } from "../parts/format";
import { clock, date, iso, moment, type Window } from "../parts/time";

/**
 * A box on the heatmap: times in milliseconds, `to` exclusive; durations in milliseconds, `high` exclusive, null without an end; all its
 * spans, or those that failed.
 */
export type Box = { from: number; to: number; low: number; high: number | null; failed?: boolean };

/** Columns and rows of a box, all of them inclusive. Row 0 holds the shortest durations. */
export type Area = { left: number; right: number; bottom: number; top: number };

/** Grid holds the cells of an answer by column and row, with empty rows around them, so that few cells do not fill the plot. */
export type Grid = {
  /** The window that the cells are of. The first and the last column can reach beyond it. */
  window: Window;
  start: number;
  step: number;
  columns: number;
  /** The bounds of the rows, one more than there are rows. The last is null when the row has no end. */
  bounds: Array<number | null>;
  rows: number;
  counts: Float64Array;
  errors: Float64Array;
  most: number;
  mostErrors: number;
};

const steps = ["1", "1.25", "1.6", "2", "2.5", "3.15", "4", "5", "6.3", "8"];
/** ladder are the durations, in milliseconds, at which rows begin. The server has the same. */
export const ladder: number[] = [0, ...Array.from({ length: 12 }, (_, i) => steps.map((s) => Number(`${s}e${i - 3}`))).flat(), 1e9];
/** The fewest rows of a plot, and the number from which two are shown as one. */
const [fewest, most] = [14, 44];

const rowOf = (ms: number): number => {
  const i = ladder.findIndex((b) => b > ms * (1 + 1e-9));
  return (i < 0 ? ladder.length : i) - 1;
};

/** columnsOf are the first column of a window and the number of columns. The end of a window does not begin a column. */
export function columnsOf(w: Window, step: number): { start: number; columns: number } {
  const start = Math.floor(w.start / step) * step;
  const last = Math.floor(w.end / step) * step;
  return { start, columns: Math.max(1, (last - start) / step + (last === w.end && last > start ? 0 : 1)) };
}

/** boundsOf are the bounds of the rows that show the rows from `first` to `last` of the ladder. */
function boundsOf(first: number, last: number, filled: ReadonlySet<number>): Array<number | null> {
  let [from, to] = [first, last];
  while (to - from + 1 < fewest && (from > 0 || to < ladder.length - 1)) {
    if (to < ladder.length - 1) to++;
    if (to - from + 1 < fewest && from > 0) from--;
  }
  // Spans without a duration must not stretch the plot down to a microsecond: their row reaches up to the others.
  const next = [...filled].filter((i) => i > 0).sort((x, y) => x - y)[0];
  const lowest = from === 0 && next !== undefined && next > 4 ? next - 2 : null;
  const coarse = to - (lowest ?? from) >= most;
  const at = (i: number): boolean => i === from || i === to + 1 || !coarse || i % 2 === 1;
  const out: Array<number | null> = [];
  for (let i = from; i <= to + 1; i++) {
    if (lowest !== null && i > 0 && i < lowest) continue;
    if (at(i)) out.push(ladder[i] ?? null);
  }
  return out;
}

/** gridOf places the cells of an answer. Many rows are shown two by two. */
export function gridOf(d: TraceDistribution, w: Window): Grid {
  const step = (d.bucketSeconds ?? 60) * 1000;
  const { start, columns } = columnsOf(w, step);
  const sent = d.boundsMs ?? [];
  const lowest = sent.length > 1 ? rowOf(sent[0]!) : rowOf(1);
  const filled = new Set((d.data ?? []).flatMap((c) => (c.cells ?? []).map((cell) => (cell.row ?? 0) + lowest)));
  const bounds = boundsOf(lowest, sent.length > 1 ? lowest + sent.length - 2 : lowest, filled);
  const rows = bounds.length - 1;
  const shown = ladder.map((ms) => bounds.findLastIndex((b) => b !== null && b <= ms * (1 + 1e-9)));
  const counts = new Float64Array(columns * rows);
  const errors = new Float64Array(columns * rows);
  for (const column of d.data ?? []) {
    const x = Math.round((Date.parse(column.timestamp ?? "") - start) / step);
    if (!(x >= 0 && x < columns)) continue;
    for (const c of column.cells ?? []) {
      const at = x * rows + Math.min(rows - 1, shown[(c.row ?? 0) + lowest] ?? 0);
      counts[at] = (counts[at] ?? 0) + (c.count ?? 0);
      errors[at] = (errors[at] ?? 0) + (c.errorCount ?? 0);
    }
  }
  const greatest = (list: Float64Array): number => list.reduce((a, b) => Math.max(a, b), 0);
  return { window: w, start, step, columns, bounds, rows, counts, errors, most: greatest(counts), mostErrors: greatest(errors) };
}

/** slowest is the box with the longest durations of the whole grid that holds at most this share of the spans; null without one. */
export function slowest(g: Grid, share: number): { box: Box; share: number } | null {
  const last = g.columns - 1;
  const total = sumOf(g, { left: 0, right: last, bottom: 0, top: g.rows - 1 }).count;
  let found: { box: Box; share: number } | null = null;
  for (let row = g.rows - 1; row > 0; row--) {
    const area = { left: 0, right: last, bottom: row, top: g.rows - 1 };
    const part = sumOf(g, area).count / total;
    if (part > share) break;
    if (part > 0) found = { box: { ...boxOf(g, area), high: null }, share: part };
  }
  return found;
}

/** boxOf is the box of an area. It ends with the window, as the counts of the cells do. */
export const boxOf = (g: Grid, a: Area): Box => ({
  from: Math.max(g.window.start, g.start + a.left * g.step),
  to: Math.min(g.window.end, g.start + (a.right + 1) * g.step),
  low: g.bounds[a.bottom] ?? 0,
  high: g.bounds[a.top + 1] ?? null,
});

/** areaOf is the part of a grid that a box covers, as parts of columns and rows; null when it lies outside. */
export function areaOf(g: Grid, b: Box): { left: number; right: number; bottom: number; top: number } | null {
  const x = (ms: number): number => (ms <= g.window.start ? 0 : ms >= g.window.end ? g.columns : (ms - g.start) / g.step);
  const y = (ms: number): number => {
    for (let i = 0; i < g.rows; i++) {
      const [low, high] = [g.bounds[i] ?? 0, g.bounds[i + 1] ?? Number.POSITIVE_INFINITY];
      if (ms <= low) return i;
      if (ms < high) return i + Math.log(ms / Math.max(low, 1e-6)) / Math.log(high / Math.max(low, 1e-6));
    }
    return g.rows;
  };
  const area = { left: x(b.from), right: x(b.to), bottom: y(b.low), top: b.high === null ? g.rows : y(b.high) };
  return area.left < area.right && area.bottom < area.top ? area : null;
}

/** sumOf counts the spans of an area. */
export function sumOf(g: Grid, a: Area): { count: number; errors: number } {
  let [count, errors] = [0, 0];
  for (let x = a.left; x <= a.right; x++)
    for (let y = a.bottom; y <= a.top; y++) {
      count += g.counts[x * g.rows + y] ?? 0;
      errors += g.errors[x * g.rows + y] ?? 0;
    }
  return { count, errors };
}

const second = (ms: number): string => iso(ms).replace(".000Z", "Z");

/** written is a box as the address has it; read reads it again, null for any other text. */
export const written = (b: Box): string => `${second(b.from)}..${second(b.to)},${b.low}..${b.high ?? ""}${b.failed ? ",failed" : ""}`;
export function read(text: string): Box | null {
  const m = /^(\d{4}-[\dT:.-]{8,20}Z)\.\.(\d{4}-[\dT:.-]{8,20}Z),(\d{1,12}(?:\.\d{1,9})?)\.\.(\d{1,12}(?:\.\d{1,9})?)?(,failed)?$/.exec(
    text,
  );
  if (!m) return null;
  const b: Box = { from: Date.parse(m[1]!), to: Date.parse(m[2]!), low: Number(m[3]), high: m[4] === undefined ? null : Number(m[4]) };
  if (m[5]) b.failed = true;
  return b.from < b.to && (b.high === null || b.low < b.high) ? b : null;
}

/** conditionOf is the condition on the spans in a box beside their time, in the query language; "" without one. */
export function conditionOf(b: Box): string {
  const parts = [
    ...(b.low > 0 ? [`duration >= ${b.low}ms`] : []),
    ...(b.high === null ? [] : [`duration < ${b.high}ms`]),
    ...(b.failed ? ["has_error = true"] : []),
  ];
  return parts.join(" AND ");
}

/** inside is the part of a box that lies in a window: an address can be older than the window. null without one. */
export function inside<T extends { from: number; to: number }>(b: T, w: Window): T | null {
  const [from, to] = [Math.max(b.from, w.start), Math.min(b.to, w.end)];
  return from < to ? { ...b, from, to } : null;
}

/** windowOf is the time of a box in a window as the methods take it: they include the end. null for a box outside of the window. */
export function windowOf(b: { from: number; to: number }, w: Window): { startTime: string; endTime: string } | null {
  const part = inside(b, w);
  return part && { startTime: iso(part.from), endTime: part.to === w.end ? iso(w.end) : iso(part.to - 1).replace("Z", "999999Z") };
}

/** boundName names a bound of rows: they are round, so zeros at the end say nothing. */
export const boundName = (ms: number): string => (ms === 0 ? "0" : duration(ms).replace(/\.0+(?=\D)/, ""));

/** rangeName names a range of durations for people. */
export const rangeName = (low: number, high: number | null): string =>
  high === null ? `${boundName(low)} and longer` : low === 0 ? `under ${boundName(high)}` : `${boundName(low)} – ${boundName(high)}`;

/** timeName names a stretch of time for people. */
export function timeName(from: number, to: number, step: number): string {
  const t = (ms: number): string => (step % 60_000 === 0 ? clock(ms).slice(0, 5) : clock(ms));
  return date(from) === date(to)
    ? `${date(from) === date(Date.now()) ? "" : `${date(from)} `}${t(from)} – ${t(to)}`
    : `${moment(from)} – ${moment(to)}`;
}

const lengths = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** stepOf is the shortest usual length of a column, in seconds, with which a window has at most so many columns. */
export function stepOf(w: Window, most: number): number {
  return lengths.find((s) => columnsOf(w, s * 1000).columns <= most) ?? 604_800;
}
