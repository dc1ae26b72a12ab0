import type { Tree } from "./tree";

/** Operation are the spans of a trace with one name in one service. Own time is the time in which no child ran. */
export type Operation = {
  service: string;
  name: string;
  count: number;
  total: number;
  own: number;
  longest: number;
  errors: number;
  slowest: string;
};

/** ownTimes are the milliseconds of each span in which none of its children ran. */
export function ownTimes(tree: Tree): Float64Array {
  const n = tree.spans.length;
  const own = new Float64Array(n);
  const covered = new Float64Array(n); // the time of a parent up to which children were counted
  for (let i = 0; i < n; i++) {
    own[i] = Math.max(0, tree.spans[i]!.durationMs ?? 0);
    covered[i] = tree.spans[i]!.offsetMs ?? 0;
  }
  // Rows are in the order of the waterfall, so the children of a span come by their start.
  for (let i = 0; i < n; i++) {
    const up = tree.parent[i]!;
    if (up < 0) continue;
    const parentEnd = (tree.spans[up]!.offsetMs ?? 0) + (tree.spans[up]!.durationMs ?? 0);
    const from = Math.max(tree.spans[i]!.offsetMs ?? 0, covered[up]!);
    const to = Math.min((tree.spans[i]!.offsetMs ?? 0) + (tree.spans[i]!.durationMs ?? 0), parentEnd);
    if (to <= from) continue;
    own[up] = Math.max(0, own[up]! - (to - from));
    covered[up] = to;
  }
  return own;
}

/** operationsOf sums the spans by service and name, the largest own time first. */
export function operationsOf(tree: Tree, names: string[], services: string[]): Operation[] {
  const own = ownTimes(tree);
  const all = new Map<string, Operation>();
  tree.spans.forEach((s, i) => {
    const [service, name] = [services[s.service ?? 0] ?? "", names[s.name ?? 0] ?? ""];
    const key = JSON.stringify([service, name]);
    let o = all.get(key);
    if (!o) all.set(key, (o = { service, name, count: 0, total: 0, own: 0, longest: -1, errors: 0, slowest: "" }));
    const ms = s.durationMs ?? 0;
    o.count++;
    o.total += ms;
    o.own += own[i]!;
    if (s.hasError) o.errors++;
    if (ms > o.longest) [o.longest, o.slowest] = [ms, s.id ?? ""];
  });
  return [...all.values()].sort((a, b) => b.own - a.own || (a.name < b.name ? -1 : 1));
}

export type Compared = { service: string; name: string; here?: Operation; there?: Operation; difference: number };

/** compare puts the operations of two traces side by side, the largest difference of own time first. */
export function compare(here: Operation[], there: Operation[]): Compared[] {
  const all = new Map<string, Compared>();
  const at = (o: Operation): Compared => {
    const key = JSON.stringify([o.service, o.name]);
    let c = all.get(key);
    if (!c) all.set(key, (c = { service: o.service, name: o.name, difference: 0 }));
    return c;
  };
  for (const o of here) at(o).here = o;
  for (const o of there) at(o).there = o;
  for (const c of all.values()) c.difference = (c.here?.own ?? 0) - (c.there?.own ?? 0);
  return [...all.values()].sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference) || (a.name < b.name ? -1 : 1));
}
