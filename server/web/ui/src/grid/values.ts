import type { QueryDraft, Threshold, WidgetDisplay } from "../gen/api";
import { count, digits, duration, line, percent, rate } from "../parts/format";

export type Format = (n: number) => string;
const thin = "\u2009";

/** Bytes in powers of 1024. */
export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  let v = n;
  while (Math.abs(v) >= 1024 && i < units.length - 1) {
    v /= 1024;
    i++;
  }
  return `${digits(v, i === 0 || Math.abs(v) >= 100 ? 0 : 1)}${thin}${units[i]}`;
}

const durations: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/** formatOf reads units of the contract (`duration_ms`, `percent`) and of OpenTelemetry (`ms`, `By`, `{request}`, `By/s`). */
export function formatOf(unit: string | undefined): Format {
  const u = (unit ?? "").trim();
  const time = durations[u.replace(/^duration_/, "")];
  if (time) return (n) => (n < 0 ? `-${duration(-n * time)}` : duration(n * time));
  switch (u) {
    case "":
    case "none":
    case "number":
    case "short":
    case "1":
      return count;
    case "percent":
    case "ratio":
      return (n) => (n < 0 ? `-${percent(-n)}` : percent(n));
    case "%":
      return (n) => `${count(n)}${thin}%`;
    case "bytes":
    case "By":
      return bytes;
    case "By/s":
      return (n) => `${bytes(n)}/s`;
    case "requests_per_sec":
    case "1/s":
      return rate;
  }
  const plain = /^\{[^}]*\}(\/s)?$/.exec(u);
  if (plain) return plain[1] ? rate : count;
  return (n) => `${count(n)}${thin}${line(u, 20)}`;
}

/** shown is the format of a widget: its own unit, else that of the data, between its prefix and suffix. */
export function shown(display: WidgetDisplay | undefined, unit: string | undefined): Format {
  const format = formatOf(display?.unit || unit);
  const { prefix = "", suffix = "" } = display ?? {};
  return prefix || suffix ? (n) => `${line(prefix, 20)}${format(n)}${line(suffix, 20)}` : format;
}

const names: Record<string, string> = {
  red: "var(--bad)",
  orange: "var(--warn)",
  amber: "var(--warn)",
  yellow: "var(--warn)",
  green: "var(--good)",
  teal: "var(--accent)",
  blue: "var(--info)",
  purple: "var(--s3)",
  violet: "var(--s3)",
  pink: "var(--s9)",
  gray: "var(--faint)",
  grey: "var(--faint)",
};

/** colorOf is a color that a dashboard names: a word, or a hexadecimal color. Anything else is no color. */
export function colorOf(text: string | undefined): string | undefined {
  const t = (text ?? "").trim().toLowerCase();
  return names[t] ?? (/^#([0-9a-f]{3}|[0-9a-f]{6})$/.test(t) ? t : undefined);
}

/** passed is the highest threshold that a value has reached. */
export function passed<T extends Threshold>(value: number | null | undefined, thresholds: readonly T[] | undefined): T | undefined {
  if (value === null || value === undefined) return undefined;
  return [...(thresholds ?? [])].sort((a, b) => (b.value ?? 0) - (a.value ?? 0)).find((t) => value >= (t.value ?? 0));
}

/** num reads a number of an answer; `NaN` and the infinities come as texts. */
export function num(v: unknown): number | null {
  if (typeof v === "number") return Number.isFinite(v) ? v : null;
  if (typeof v === "string" && v !== "" && /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(v)) return Number(v);
  return null;
}

/** nameOf is the name of a series or group as the widget shows it. One that has only the letter of its query is named by what it counts. */
export function nameOf(
  s: { name?: string; group?: string[]; other?: boolean; query?: string },
  display: WidgetDisplay | undefined,
  queries: QueryDraft[] = [],
): string {
  const own = s.name || s.group?.filter(Boolean).join(", ") || s.query || "";
  const mapped = display?.seriesMapping?.[own];
  const letter = own === s.query ? queries.find((q) => q.name === own) : undefined;
  const counted = letter ? `${letter.metricName ? `${letter.metricName} ` : ""}${(letter.aggregation ?? "").replaceAll("_", " ")}` : "";
  return line(mapped || (s.other ? "(other)" : counted || own) || "value", 120);
}
