import type { Tree } from "./tree";

/** Spans that run at the same time under one parent get rows of their own, up to so many; more lie over each other. */
const mostTries = 64;

/** Flame is a picture of a trace: each span has a place in time and a row below that of its parent. */
export type Flame = {
  /** Row of each span of the tree. */
  row: Int32Array;
  /** Spans of each row, by start. */
  rows: Int32Array[];
  start: Float64Array;
  end: Float64Array;
};

/** layOut places the spans. */
export function layOut(tree: Tree): Flame {
  const n = tree.spans.length;
  const start = new Float64Array(n);
  const end = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const s = tree.spans[i]!;
    start[i] = s.offsetMs ?? 0;
    end[i] = start[i]! + Math.max(0, s.durationMs ?? 0);
  }
  // A parent stands before its children, also when a clock that is wrong gives it a later start.
  const order = Int32Array.from({ length: n }, (_, i) => i).sort(
    (a, b) => tree.depth[a]! - tree.depth[b]! || start[a]! - start[b]! || a - b,
  );
  const row = new Int32Array(n);
  const free: number[] = []; // the time from which a row is free
  const lists: number[][] = [];
  for (const i of order) {
    const lowest = tree.parent[i]! >= 0 ? row[tree.parent[i]!]! + 1 : 0;
    let r = lowest;
    while (r < lowest + mostTries && (free[r] ?? 0) > start[i]!) r++;
    if (r === lowest + mostTries) r = lowest;
    row[i] = r;
    free[r] = Math.max(free[r] ?? 0, end[i]!);
    while (lists.length <= r) lists.push([]);
    lists[r]!.push(i);
  }
  const rows = lists.map((list) => Int32Array.from(list).sort((a, b) => start[a]! - start[b]!));
  return { row, rows, start, end };
}

export type Box = { span: number; x: number; width: number };

/** boxes are the spans of a row within a view of time, in pixels. Spans narrower than a pixel that lie on one another are one box. */
export function boxes(f: Flame, row: number, from: number, to: number, width: number): Box[] {
  const list = f.rows[row];
  if (!list || to <= from) return [];
  const scale = width / (to - from);
  const out: Box[] = [];
  let painted = -1; // the last pixel that a narrow box covers
  for (const i of list) {
    if (f.start[i]! > to) break;
    if (f.end[i]! < from) continue;
    const x = Math.max(0, (f.start[i]! - from) * scale);
    const right = Math.min(width, (f.end[i]! - from) * scale);
    const wide = Math.max(1, right - x);
    if (wide <= 1) {
      if (Math.floor(x) === painted) continue;
      painted = Math.floor(x);
    }
    out.push({ span: i, x, width: wide });
  }
  return out;
}

/** hit is the span at a place, or -1. The last of those that lie over each other is on top. */
export function hit(f: Flame, row: number, at: number, near: number): number {
  let found = -1;
  for (const i of f.rows[row] ?? []) {
    if (f.start[i]! > at + near) break;
    if (f.end[i]! >= at - near) found = i;
  }
  return found;
}
