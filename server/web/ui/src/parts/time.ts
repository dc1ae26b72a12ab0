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
  return `${moment(w.start)} – ${sameDay(w.start, w.end) ? clock(w.end) : moment(w.end)}`;
}

const sameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString();

/** typed reads the text of a person: `90m`, `-6h`, two RFC 3339 times with `..`, or one time, which stands for five minutes around it. */
export function typed(text: string, now: number): Span | null {
  const t = text.trim();
  const short = /^-?(\d{1,6})([smhdw])$/.exec(t);
  if (short) return { from: `-${short[1]}${short[2]}`, to: "now" };
  const parts = t.split("..").map((p) => p.trim());
  if (parts.length === 2) {
    const a = at(parts[0]!, now);
    const b = at(parts[1]!, now);
    return a !== null && b !== null && a < b ? { from: iso(a), to: iso(b) } : null;
  }
  const one = at(t, now);
  return one === null ? null : { from: iso(one - 3e5), to: iso(one + 3e5) };
}

function at(text: string, now: number): number | null {
  const day = /^(\d\d?):(\d\d)(?::(\d\d))?$/.exec(text);
  if (day) return new Date(now).setHours(Number(day[1]), Number(day[2]), Number(day[3] ?? 0), 0);
  if (text === "now") return now;
  const parsed = Date.parse(text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:)/, "$1T$2"));
  return Number.isNaN(parsed) ? null : parsed;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

const two = (n: number): string => String(n).padStart(2, "0");
export function clock(ms: number, millis = false): string {
  const d = new Date(ms);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}${millis ? `.${String(d.getMilliseconds()).padStart(3, "0")}` : ""}`;
}
export function moment(ms: number): string {
  const d = new Date(ms);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}
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
export const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
/** What a hover says about a time: UTC, with all digits that the server sent. */
export const exact = (text: string | undefined): string => (text ? `${text.replace("T", " ").replace("Z", "")} UTC` : "");
