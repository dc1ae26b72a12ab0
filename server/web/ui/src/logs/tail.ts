import type { Log } from "../gen/api";

/** The tail shows at most so many records; older ones leave it. */
export const keep = 10_000;

/** orderOf sorts times as text: its fraction has nine digits, because nanoseconds do not fit into a number. */
export function orderOf(l: Log): string {
  const [seconds = "", fraction = ""] = (l.timestamp ?? "").replace(/Z$/, "").split(".");
  return `${seconds}.${fraction.padEnd(9, "0")} ${l.id ?? ""}`;
}

/** merge puts records into rows, which are in the order of time, each once. It returns how many were new. */
export function merge(rows: Log[], fresh: Log[], most = keep): { rows: Log[]; added: number } {
  const known = new Set(rows.map((l) => l.id));
  const news = [...new Map(fresh.map((l) => [l.id, l])).values()].filter((l) => !known.has(l.id));
  if (news.length === 0) return { rows, added: 0 };
  const keys = new Map<Log, string>();
  const key = (l: Log): string => {
    let k = keys.get(l);
    if (k === undefined) keys.set(l, (k = orderOf(l)));
    return k;
  };
  const all = [...rows, ...news].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return { rows: all.slice(-most), added: news.length };
}

export type Page = { rows: Log[]; more: boolean };
