import type { SkeletonSpan } from "../gen/api";

/** A trace as columns: row i is a span in the order of the waterfall. */
export type Tree = {
  spans: SkeletonSpan[];
  /** The row of the parent, or -1. */
  parent: Int32Array;
  depth: Int32Array;
  /** The row after the last descendant. */
  end: Int32Array;
  children: Int32Array;
  /** Errors in the subtree, with the span itself. */
  errors: Int32Array;
  orphans: number;
  duration: number;
};

/** build orders spans by parent and start. A span whose parent is missing becomes a root; a circle of parents is cut. */
export function build(spans: SkeletonSpan[]): Tree {
  const n = spans.length;
  const index = new Map<string, number>();
  for (let i = 0; i < n; i++) if (!index.has(spans[i]!.id ?? "")) index.set(spans[i]!.id ?? "", i);
  const kids = new Map<number, number[]>();
  let orphans = 0;
  for (let i = 0; i < n; i++) {
    const id = spans[i]!.parentSpanId;
    const found = id ? index.get(id) : undefined;
    const up = found === undefined || found === i ? -1 : found;
    if (id && up === -1) orphans++;
    const list = kids.get(up);
    if (list) list.push(i);
    else kids.set(up, [i]);
  }
  const start = (i: number): number => spans[i]!.offsetMs ?? 0;
  for (const list of kids.values()) list.sort((a, b) => start(a) - start(b));
  const ordered: SkeletonSpan[] = [];
  const parent = new Int32Array(n);
  const depth = new Int32Array(n);
  const end = new Int32Array(n);
  const children = new Int32Array(n);
  const errors = new Int32Array(n);
  const seen = new Uint8Array(n);
  const visit = (root: number): void => {
    const stack: Array<[number, number, number]> = [[root, -1, 0]];
    while (stack.length) {
      const [i, up, level] = stack.pop()!;
      if (seen[i]) continue;
      seen[i] = 1;
      const row = ordered.length;
      ordered.push(spans[i]!);
      parent[row] = up;
      depth[row] = level;
      const list = kids.get(i) ?? [];
      children[row] = list.length;
      for (let k = list.length - 1; k >= 0; k--) stack.push([list[k]!, row, level + 1]);
    }
  };
  for (const root of kids.get(-1) ?? []) visit(root);
  for (let i = 0; i < n; i++) if (!seen[i]) visit(i); // members of a circle
  let last = 0;
  for (let row = ordered.length - 1; row >= 0; row--) {
    const s = ordered[row]!;
    errors[row] = errors[row]! + (s.hasError ? 1 : 0);
    end[row] = Math.max(end[row]!, row + 1);
    const up = parent[row]!;
    if (up >= 0) {
      errors[up] = errors[up]! + errors[row]!;
      end[up] = Math.max(end[up]!, end[row]!);
    }
    last = Math.max(last, (s.offsetMs ?? 0) + (s.durationMs ?? 0));
  }
  return { spans: ordered, parent, depth, end, children, errors, orphans, duration: last || 1 };
}

/** visible lists the rows that no folded ancestor hides. */
export function visible(tree: Tree, folded: ReadonlySet<string>): Int32Array {
  const out = new Int32Array(tree.spans.length);
  let n = 0;
  for (let row = 0; row < tree.spans.length;) {
    out[n++] = row;
    row = folded.has(tree.spans[row]!.id ?? "") ? tree.end[row]! : row + 1;
  }
  return out.subarray(0, n);
}
