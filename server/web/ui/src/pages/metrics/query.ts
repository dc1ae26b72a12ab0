import type { QuerySeries } from "../../gen/api";

/** One query of the page, as the address has it. The first one has plain names; the others end with their letter. */
export type Query = { letter: string; metric: string; type: string; agg: string; by: string; where: string };

export const letters = ["A", "B", "C", "D", "E"];
const key = (name: string, letter: string): string => (letter === "A" ? name : `${name}.${letter.toLowerCase()}`);

export function queriesOf(p: URLSearchParams): Query[] {
  return letters
    .map((letter) => ({
      letter,
      metric: p.get(key("m", letter)) ?? "",
      type: p.get(key("type", letter)) ?? "",
      agg: p.get(key("agg", letter)) ?? "",
      by: p.get(key("by", letter)) ?? "",
      where: p.get(key("w", letter)) ?? "",
    }))
    .filter((q) => q.metric !== "");
}

/** parametersOf are the changes of the address for one query; null takes it away. */
export function parametersOf(letter: string, q: Partial<Query> | null): Record<string, string | null> {
  const out: Record<string, string | null> = {};
  const names: Array<[keyof Query, string]> = [
    ["metric", "m"],
    ["type", "type"],
    ["agg", "agg"],
    ["by", "by"],
    ["where", "w"],
  ];
  for (const [field, name] of names) if (q === null || field in q) out[key(name, letter)] = q?.[field] || null;
  return out;
}

/** next is the first letter without a query. */
export const next = (queries: Query[]): string | undefined => letters.find((l) => !queries.some((q) => q.letter === l));

/** withCondition adds a condition on an attribute to the text of a query. */
export function withCondition(where: string, field: string, op: "=" | "!=", value: string): string {
  const condition = `${field} ${op} "${value.replace(/["\\]/g, "\\$&")}"`;
  if (where.includes(condition)) return where;
  return where ? `${where} AND ${condition}` : condition;
}

/** tracesOf is the filter of the traces behind a line: its service, when the line has one. */
export function tracesOf(by: string, group: string | undefined, services: string[]): string {
  const service = by === "service.name" ? group : services.length === 1 ? services[0] : undefined;
  return service ? `service.name = "${service.replace(/["\\]/g, "\\$&")}"` : "";
}

/** previous places the points of the window before on this window: they come with the times of this one, or of theirs. */
export function previous(s: QuerySeries, at: number[]): Array<number | null> {
  const points = (s.previousPoints ?? []).map((p) => ({ t: Date.parse(p.timestamp ?? ""), v: p.value ?? 0 }));
  const first = at[0] ?? 0;
  const last = at.at(-1) ?? first;
  const inside = points.some((p) => p.t >= first && p.t <= last);
  const shift = inside || points.length === 0 ? 0 : last - points.at(-1)!.t;
  const by = new Map(points.map((p) => [p.t + shift, p.v]));
  return at.map((t) => by.get(t) ?? null);
}
