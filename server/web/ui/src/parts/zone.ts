import { useSyncExternalStore } from "react";

/** The zone of all times: a name of the tz database, or empty for the zone of the browser. */
let chosen = "";
let format: Intl.DateTimeFormat | null = null;
let known = new Map<number, number>();
const listeners = new Set<() => void>();

/** setZone changes the zone of every time. A name that the browser does not know is the zone of the browser. */
export function setZone(name: string): void {
  const next = isZone(name) ? name : "";
  if (next === chosen) return;
  chosen = next;
  format = null;
  known = new Map();
  for (const listen of listeners) listen();
}

/** useZone draws a component again when the zone changes. */
export function useZone(): string {
  return useSyncExternalStore(
    (listen) => {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    () => chosen,
  );
}

/** browserZone is the zone of this device. */
export const browserZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** zone is the name of the zone of all times. */
export const zone = (): string => chosen || browserZone();

/** isZone says whether the browser knows a zone of this name. */
export function isZone(name: string): boolean {
  try {
    return name !== "" && new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** zones are the names that the browser knows. It takes others, too. */
export const zones = (): string[] => Intl.supportedValuesOf("timeZone");

const quarter = 900_000; // no zone changes at another time

/** offset is how far the clocks of the zone are ahead of UTC, in milliseconds. It is 0 for what is no time. */
export function offset(ms: number): number {
  if (!(Math.abs(ms) <= 8.64e15 - quarter)) return 0;
  const at = Math.floor(ms / quarter) * quarter;
  const found = known.get(at);
  if (found !== undefined) return found;
  format ??= new Intl.DateTimeFormat("en", { timeZone: zone(), timeZoneName: "longOffset" });
  const text = format.formatToParts(at).find((p) => p.type === "timeZoneName")?.value ?? "";
  const [, sign, h, m, s] = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text) ?? [];
  const ahead = (sign === "-" ? -1000 : 1000) * (Number(h ?? 0) * 3600 + Number(m ?? 0) * 60 + Number(s ?? 0));
  if (known.size >= 10_000) known.clear();
  known.set(at, ahead);
  return ahead;
}

/** wall is the time on the clocks of the zone, in the fields of UTC of the date. */
export const wall = (ms: number): Date => new Date(ms + offset(ms));

/**
 * fromWall is the time at which the clocks of the zone show it, given as the time at which those of UTC do. A time that comes twice, at the
 * end of summer time, is the first one. One that is left out is as much later.
 */
export function fromWall(shown: number): number {
  const day = 86_400_000;
  const before = shown - offset(shown - day);
  const after = shown - offset(shown + day);
  return before + offset(before) !== shown && after + offset(after) === shown ? after : before;
}

/** zoneShort is the difference of the zone from UTC: `UTC`, `UTC+1`, `UTC−3:30`. */
export function zoneShort(ms: number): string {
  const minutes = Math.round(offset(ms) / 60_000);
  if (minutes === 0) return "UTC";
  const [h, m] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? "−" : "+"}${h}${m ? `:${String(m).padStart(2, "0")}` : ""}`;
}

/** plotDate is a date whose local fields are those of the zone, for a library that reads these. */
export function plotDate(seconds: number): Date {
  const ms = seconds * 1000;
  if (chosen === "") return new Date(ms);
  const d = wall(ms);
  return new Date(
    d.getUTCFullYear(),
    d.getUTCMonth(),
    d.getUTCDate(),
    d.getUTCHours(),
    d.getUTCMinutes(),
    d.getUTCSeconds(),
    d.getUTCMilliseconds(),
  );
}
