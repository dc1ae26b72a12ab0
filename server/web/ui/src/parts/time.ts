import { fromWall, wall } from "./zone";

/** The window of a page: `from` and `to` as the address has them, relative (`-6h`, `now`) or RFC 3339. */
export type Span = { from: string; to: string };

const units: Record<string, number> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

/** resolve returns milliseconds, or null when the text is no time. */
export function resolve(text: string, now: number): number | null {
  if (text === "now") return now;
  const relative = /^-(\d{1,6})([smhdw])$/.exec(text);
  if (relative) return now - Number(relative[1]) * (units[relative[2]!] ?? 0);
  if (/^\d{4}-\d\d-\d\dT/.test(text)) {
    const at = Date.parse(text);
    return Number.isNaN(at) ? null : at;
  }
  return null;
}

export type Window = { start: number; end: number };

/** window resolves a span; a span that cannot be read becomes the last hour. */
export function windowOf(span: Span, now: number): Window {
  const start = resolve(span.from, now);
  const end = resolve(span.to, now);
  if (start === null || end === null || start >= end) return { start: now - 36e5, end: now };
  return { start, end };
}

export const presets: Array<[string, string]> = [
  ["-15m", "Last 15 minutes"],
  ["-1h", "Last 1 hour"],
  ["-6h", "Last 6 hours"],
  ["-24h", "Last 24 hours"],
  ["-7d", "Last 7 days"],
  ["-30d", "Last 30 days"],
];

export function spanName(span: Span): string {
  if (span.to === "now") {
    const preset = presets.find(([from]) => from === span.from);
    if (preset) return preset[1];
    if (/^-\d+[smhdw]$/.test(span.from)) return `Last ${span.from.slice(1)}`;
  }
  const now = Date.now();
  const w = windowOf(span, now);
  return `${moment(w.start)} – ${date(w.start) === date(w.end) ? clock(w.end) : moment(w.end)}`;
}

/** typed reads the text of a person: `90m`, `-6h`, two times with `..`, or one time, which stands for five minutes around it. */
export function typed(text: string, now: number): Span | null {
  const t = text.trim();
  const short = /^-?(\d{1,6})([smhdw])$/.exec(t);
  if (short) return { from: `-${short[1]}${short[2]}`, to: "now" };
  const parts = t.split("..").map((p) => p.trim());
  if (parts.length === 2) {
    const a = at(parts[0]!, now);
    const b = a === null ? null : at(parts[1]!, now, a);
    return a !== null && b !== null && a < b ? { from: iso(a), to: iso(b) } : null;
  }
  const one = at(t, now);
  return one === null ? null : { from: iso(one - 3e5), to: iso(one + 3e5) };
}

const day = 86_400_000;

/**
 * at reads a time. A time of day is the last one, or the first one after the beginning of its window: at 0:10, `23:50..0:05` is the past
 * night. A time without a zone is one of the clocks that the page shows.
 */
function at(text: string, now: number, after?: number): number | null {
  const clocks = /^(\d\d?):(\d\d)(?::(\d\d))?$/.exec(text);
  if (clocks) {
    const near = after ?? now;
    const today = wall(near).setUTCHours(Number(clocks[1]), Number(clocks[2]), Number(clocks[3] ?? 0), 0);
    const found = fromWall(today);
    if (after === undefined) return found > now ? fromWall(today - day) : found;
    return found <= after ? fromWall(today + day) : found;
  }
  if (text === "now") return now;
  const iso = text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:)/, "$1T$2");
  if (/(Z|UTC|GMT|[+-]\d\d:?\d\d)$/i.test(iso) && /\d:\d\d/.test(iso)) return number(Date.parse(iso));
  const shown = number(/^\d{4}-\d\d-\d\dT/.test(iso) ? Date.parse(`${iso}Z`) : Date.parse(`${iso} UTC`));
  return shown === null ? null : fromWall(shown);
}

const number = (ms: number): number | null => (Number.isNaN(ms) ? null : ms);

export const iso = (ms: number): string => new Date(ms).toISOString();

const two = (n: number): string => String(n).padStart(2, "0");
export function clock(ms: number, millis = false): string {
  const d = wall(ms);
  const seconds = `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`;
  return millis ? `${seconds}.${String(d.getUTCMilliseconds()).padStart(3, "0")}` : seconds;
}
export function moment(ms: number): string {
  const d = wall(ms);
  return `${d.getUTCFullYear()}-${two(d.getUTCMonth() + 1)}-${two(d.getUTCDate())} ${two(d.getUTCHours())}:${two(d.getUTCMinutes())}`;
}
/** date is the day of a time. */
export const date = (ms: number): string => moment(ms).slice(0, 10);
/** control is a time as a control of the browser for date and time has it, and fromControl reads it. */
export const control = (ms: number): string => moment(ms).replace(" ", "T");
export const fromControl = (text: string): number => fromWall(Date.parse(`${text}Z`));
export const stamp = (text: string | undefined): string =>
  text ? `${moment(Date.parse(text)).slice(0, 10)} ${clock(Date.parse(text), true)}` : "–";
export function ago(text: string | undefined, now: number): string {
  if (!text) return "–";
  const s = Math.max(0, (now - Date.parse(text)) / 1000);
  if (s < 60) return `${Math.floor(s)} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 172_800) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86_400)} d ago`;
}
/** What a hover says about a time: UTC, with all digits that the server sent. */
export const exact = (text: string | undefined): string => (text ? `${text.replace("T", " ").replace("Z", "")} UTC` : "");
