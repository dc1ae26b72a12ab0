import type { QueryDraft, WidgetDisplay, WidgetTimeseries } from "../gen/api";
import type { Line } from "../parts/chartdata";
import { slot } from "../parts/format";
import { colorOf, nameOf, num } from "./values";

/** One drawn series. `color` is a CSS color. */
export type Drawn = Line;

/** spread gives names colors of the palette: a name keeps its color, and a name that collides takes the next free one. */
export function spread(labels: string[]): Map<string, number> {
  const out = new Map<string, number>();
  const used = new Set<number>();
  for (const label of [...new Set(labels)].sort()) {
    let s = slot(label);
    for (let n = 0; n < 10 && used.has(s); n++) s = (s + 1) % 10;
    if (used.size >= 10) s = slot(label);
    used.add(s);
    out.set(label, s);
  }
  return out;
}

/** Severities and outcomes have the colors that they have everywhere. */
const meant: Record<string, string> = {
  FATAL: "--fatal",
  ERROR: "--bad",
  WARN: "--warn",
  WARNING: "--warn",
  INFO: "--info",
  DEBUG: "--faint",
  TRACE: "--edge",
};

/** seriesOf turns the series of an answer into lines over all of its buckets. A bucket without a point is a gap, or has the value that fills gaps. */
export function seriesOf(
  data: WidgetTimeseries | undefined,
  display: WidgetDisplay | undefined,
  queries: QueryDraft[] = [],
): { times: number[]; lines: Drawn[] } {
  const given = data?.series ?? [];
  const at = new Set<number>();
  for (const s of given) for (const p of [...(s.points ?? []), ...(s.previousPoints ?? [])]) at.add(Date.parse(p.timestamp ?? ""));
  const step = (data?.bucketSeconds ?? 0) * 1000;
  const times = filled(
    [...at].sort((a, b) => a - b),
    step,
  );
  const index = new Map(times.map((t, i) => [t, i]));
  const fill = num(display?.chartPresentation?.fillNulls);
  const labels = given.map((s) => nameOf(s, display, queries));
  const slots = spread(labels);
  const values = (points: Array<{ timestamp?: string; value?: number }>): Array<number | null> => {
    const out = new Array<number | null>(times.length).fill(fill);
    for (const p of points) out[index.get(Date.parse(p.timestamp ?? ""))!] = num(p.value ?? 0);
    return out;
  };
  const lines: Drawn[] = [];
  given.forEach((s, i) => {
    const label = labels[i]!;
    const color =
      colorOf(display?.colorOverrides?.[s.name ?? ""] ?? display?.colorOverrides?.[label]) ??
      (s.other ? "var(--faint)" : `var(${meant[label.toUpperCase()] ?? `--s${slots.get(label) ?? 0}`})`);
    lines.push({ label, color, values: values(s.points ?? []) });
    if (s.previousPoints?.length) lines.push({ label: `${label}, before`, color, values: values(s.previousPoints), dashed: true });
  });
  return { times, lines };
}

/** filled adds the buckets between the first and the last, so that a gap shows as one. */
export function filled(times: number[], step: number): number[] {
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined || step <= 0) return times;
  const n = Math.round((last - first) / step) + 1;
  if (n <= times.length || n > 3000 || times.some((t) => (t - first) % step !== 0)) return times;
  return Array.from({ length: n }, (_, i) => first + i * step);
}

/** stacked adds each line to those before it. */
export function stacked(lines: Drawn[]): Array<Array<number | null>> {
  const sum = new Array<number>(lines[0]?.values.length ?? 0).fill(0);
  return lines.map((l) => l.values.map((v, i) => (sum[i]! += v ?? 0)));
}
