/** One formatter for each kind of value. Thin spaces stand between number and unit. */
const thin = "\u2009";

/** digits writes a number with separators, and at most so many digits after the point. */
export const digits = (n: number, most = 0): string => n.toLocaleString("en", { maximumFractionDigits: most });

export function count(n: number | undefined): string {
  if (n === undefined || Number.isNaN(n)) return "–";
  if (Math.abs(n) < 10_000) return digits(n, n < 10 ? 2 : 1);
  const units = ["k", "M", "G", "T"];
  let i = -1;
  let v = n;
  while (Math.abs(v) >= 1000 && i < units.length - 1) {
    v /= 1000;
    i++;
  }
  return `${digits(v, Math.abs(v) < 100 ? 1 : 0)}${units[i]}`;
}

export function duration(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return "–";
  if (ms === 0) return `0${thin}ms`;
  if (ms < 0.001) return `${Math.round(ms * 1e6)}${thin}ns`;
  if (ms < 1) return `${(ms * 1000).toPrecision(ms < 0.1 ? 2 : 3)}${thin}µs`;
  if (ms < 10) return `${ms.toFixed(2)}${thin}ms`;
  if (ms < 100) return `${ms.toFixed(1)}${thin}ms`;
  if (ms < 1000) return `${ms.toFixed(0)}${thin}ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)}${thin}s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}${thin}min ${Math.round((ms % 60_000) / 1000)}${thin}s`;
  return `${Math.floor(ms / 3_600_000)}${thin}h ${Math.round((ms % 3_600_000) / 60_000)}${thin}min`;
}

export function bytes(n: number | undefined): string {
  if (n === undefined || Number.isNaN(n)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  let v = n;
  while (Math.abs(v) >= 1024 && i < units.length - 1) {
    v /= 1024;
    i++;
  }
  return `${digits(v, v < 100 ? 1 : 0)}${thin}${units[i]}`;
}

/** stretch is a length of time as people say it, for what lasts minutes to days. */
export function stretch(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s}${thin}s`;
  const min = Math.round(s / 60);
  if (min < 60) return `${min}${thin}min`;
  const h = Math.floor(min / 60);
  if (h < 48) return `${h}${thin}h${min % 60 ? ` ${min % 60}${thin}min` : ""}`;
  return `${Math.round(h / 24)}${thin}d`;
}

const times = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** lasts writes a limit of time as the documents do: 7 days, 24 hours, 30 minutes. */
export function lasts(ms: number): string {
  const [name, unit] = times.find(([name, unit]) => ms % unit === 0 && (ms > unit || name !== "day")) ?? (["second", 1000] as const);
  return `${ms / unit} ${name}${ms === unit ? "" : "s"}`;
}

export function percent(share: number | undefined): string {
  if (share === undefined || Number.isNaN(share)) return "–";
  const p = share * 100;
  if (p === 0) return `0${thin}%`;
  return `${p < 0.1 ? "<0.1" : p < 10 ? p.toFixed(1) : p.toFixed(0)}${thin}%`;
}

export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return "–";
  if (perSecond > 0 && perSecond < 0.1) return `${count(Math.round(perSecond * 600) / 10)}${thin}/min`;
  return `${count(Math.round(perSecond * 10) / 10)}${thin}/s`;
}

/** A slot of the palette by FNV-1a of the name, so a service has one color everywhere. */
export function slot(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
  return (h >>> 0) % 10;
}

/** slots gives each of these names its slot. Of two names with one slot, the later by name takes the next free one. */
export function slots(names: string[]): Map<string, number> {
  const taken = new Set<number>();
  const out = new Map<string, number>();
  for (const n of [...new Set(names)].sort()) {
    let s = slot(n);
    for (let i = 0; i < 10 && taken.has(s); i++) s = (s + 1) % 10;
    taken.add(s);
    out.set(n, s);
  }
  return out;
}

/** cut keeps the first characters of a text, as the API counts them: in code points. Left is the number of the others. */
export function cut(text: string, most: number): { kept: string; left: number } {
  if (text.length <= most) return { kept: text, left: 0 };
  let end = text.length;
  let n = 0;
  for (let i = 0; i < text.length; n++) {
    if (n === most) end = i;
    i += text.codePointAt(i)! > 0xffff ? 2 : 1;
  }
  return { kept: text.slice(0, end), left: Math.max(0, n - most) };
}

/** Text of telemetry on one line: control characters and marks of direction become visible or go, and the length is bounded. */
export function line(text: string, most = 2000): string {
  const { kept, left } = cut(text, most);
  // biome-ignore lint: control characters are the purpose
  return (left ? `${kept}…` : kept)
    .replace(/[\r\n\t]+/g, " ")
    .replace(/[\u0000-\u001f\u007f\u0080-\u009f]/g, "�")
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** Text of several lines, without terminal codes and marks of direction. */
export function block(text: string, most = 200_000): string {
  const { kept, left } = cut(text, most);
  const shown = left ? `${kept}\n… ${left} more characters` : kept;
  // biome-ignore lint: control characters are the purpose
  return shown.replace(/[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f]/g, "�").replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
}
