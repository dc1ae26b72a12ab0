import type { ProductEventPathLink } from "../../gen/api";

export type Node = { id: string; name: string; hop: number; count: number; y: number; h: number };
export type Ribbon = { from: Node; to: Node; count: number; y1: number; y2: number; h: number };
export type Flow = { nodes: Node[]; ribbons: Ribbon[]; hops: number; height: number };

/** nameOf is a node as a person reads it. */
export const nameOf = (node: string): string => (node === "" ? "(end)" : node === "$other" ? "(others)" : node);

/** flow lays out journeys: a column for each hop, nodes as high as their number of actors, and ribbons between them. */
export function flow(anchor: string, total: number, links: ProductEventPathLink[], height = 420, gap = 10): Flow {
  const nodes = new Map<string, Node>();
  const node = (hop: number, name: string): Node => {
    const id = `${hop}\n${name}`;
    let n = nodes.get(id);
    if (!n) nodes.set(id, (n = { id, name, hop, count: 0, y: 0, h: 0 }));
    return n;
  };
  const first = node(0, anchor);
  first.count = total;
  const known = links
    .filter((l) => (l.count ?? 0) > 0 && (l.hop ?? 0) >= 1)
    .sort((a, b) => (a.hop ?? 0) - (b.hop ?? 0) || (b.count ?? 0) - (a.count ?? 0));
  for (const l of known) node(l.hop ?? 1, l.toNode ?? "").count += l.count ?? 0;
  const hops = Math.max(0, ...known.map((l) => l.hop ?? 0));
  const columns = Array.from({ length: hops + 1 }, (_, hop) =>
    [...nodes.values()]
      .filter((n) => n.hop === hop)
      .sort((a, b) => Number(a.name === "" || a.name === "$other") - Number(b.name === "" || b.name === "$other") || b.count - a.count),
  );
  const most = Math.max(1, ...columns.map((c) => c.length));
  const unit = Math.max(
    0.0001,
    (height - gap * (most - 1)) / Math.max(1, total, ...columns.map((c) => c.reduce((n, x) => n + x.count, 0))),
  );
  for (const column of columns) {
    let y = 0;
    for (const n of column) {
      n.y = y;
      n.h = Math.max(2, n.count * unit);
      y += Math.max(n.h, 15) + gap;
    }
  }
  const ribbons = known.flatMap((l): Ribbon[] => {
    const hop = l.hop ?? 1;
    const from = hop === 1 ? first : nodes.get(`${hop - 1}\n${l.fromNode ?? ""}`);
    const to = nodes.get(`${hop}\n${l.toNode ?? ""}`);
    return from && to ? [{ from, to, count: l.count ?? 0, y1: from.y, y2: to.y, h: Math.max(1, (l.count ?? 0) * unit) }] : [];
  });
  // Ribbons leave and reach a node in the order of their other ends, so that they cross little.
  const used = new Map<Node, number>();
  for (const r of [...ribbons].sort((x, y) => x.to.y - y.to.y)) {
    r.y1 += used.get(r.from) ?? 0;
    used.set(r.from, (used.get(r.from) ?? 0) + r.h);
  }
  used.clear();
  for (const r of [...ribbons].sort((x, y) => x.from.y - y.from.y)) {
    r.y2 += used.get(r.to) ?? 0;
    used.set(r.to, (used.get(r.to) ?? 0) + r.h);
  }
  const all = [...nodes.values()];
  return { nodes: all, ribbons, hops, height: Math.max(height, ...all.map((n) => n.y + Math.max(n.h, 15))) };
}
