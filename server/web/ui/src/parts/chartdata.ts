/** One line of a chart. Its values are in the order of the chart's times; null is a gap. */
export type Line = { label: string; color: string; values: Array<number | null>; dashed?: boolean };

export type TipRow = { line: Line; value: number; nearest: boolean };
export type Tip = { rows: TipRow[]; more: number; rest: number };

/** tip is the content of a tooltip: the largest value first, at most 12 lines with the one nearest to the pointer, and the sum of the others. */
export function tip(lines: Line[], index: number, at: number | null, most = 12): Tip {
  const all = lines
    .map((line) => ({ line, value: line.values[index] }))
    .filter((r): r is { line: Line; value: number } => typeof r.value === "number" && Number.isFinite(r.value))
    .sort((a, b) => b.value - a.value);
  const near =
    at === null || all.length < 2 ? undefined : all.reduce((best, r) => (Math.abs(r.value - at) < Math.abs(best.value - at) ? r : best));
  const kept = all.slice(0, most);
  if (near && !kept.includes(near)) kept[kept.length - 1] = near;
  const left = all.filter((r) => !kept.includes(r));
  return {
    rows: kept.map((r) => ({ ...r, nearest: r === near })),
    more: left.length,
    rest: left.reduce((sum, r) => sum + r.value, 0),
  };
}

/** range is the scale of the values: it contains 0, and leaves some room above. */
export function range(min: number | null, max: number | null, least: number): [number, number] {
  const low = Math.min(0, min ?? 0);
  const high = Math.max(0, max ?? 0);
  if (low === 0 && high === 0) return [0, least];
  return [low * 1.08, high * 1.08];
}

/** cell is a value of a CSV file. A text that a spreadsheet would run as a formula starts with an apostrophe. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = typeof value !== "number" && /^[=+\-@\t\r]/.test(text) && !/^[-+]?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export const csv = (rows: unknown[][]): string => rows.map((r) => r.map(cell).join(",")).join("\r\n");

/** chartCSV has one row for each time, and one column for each line. */
export const chartCSV = (times: number[], lines: Line[]): string =>
  csv([
    ["time", ...lines.map((l) => l.label)],
    ...times.map((t, i) => [new Date(t).toISOString(), ...lines.map((l) => l.values[i] ?? null)]),
  ]);

/** toggled is the set of hidden lines after a click in the legend: a click isolates a line, or shows all again; with a key it hides one. */
export function toggled(hidden: ReadonlySet<string>, label: string, all: string[], one: boolean): Set<string> {
  if (one) {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    return next.size === all.length ? new Set() : next;
  }
  const alone = !hidden.has(label) && all.every((l) => l === label || hidden.has(l));
  return alone ? new Set() : new Set(all.filter((l) => l !== label));
}
