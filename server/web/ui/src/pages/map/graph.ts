import type { ServiceMap } from "../../gen/api";

export type Node = {
  id: string;
  kind: string;
  name: string;
  system?: string | undefined;
  spans: number;
  errorRate: number;
  p95?: number | undefined;
};
export type Edge = { from: string; to: string; calls: number; errorRate: number; average: number; longest: number };
export type Graph = { nodes: Node[]; edges: Edge[] };

export const serviceId = (name: string): string => `service:${name}`;

/** nameOf puts the system before a number, such as that of a database of Redis: `0` says nothing. */
const nameOf = (name: string, system: string | undefined): string => (system && /^\d+$/.test(name) ? `${system} ${name}` : name);

/** graphOf joins calls between services with those of databases, queues and external hosts. A node that only an edge names is added. */
export function graphOf(map: ServiceMap): Graph {
  const nodes = new Map<string, Node>();
  for (const n of map.nodes ?? []) {
    const id = n.id ?? "";
    nodes.set(id, {
      id,
      kind: n.kind ?? "service",
      name: nameOf(n.name ?? id, n.system),
      system: n.system,
      spans: n.estimatedSpanCount ?? 0,
      errorRate: n.errorRate ?? 0,
      p95: n.p95LatencyMs,
    });
  }
  const edges: Edge[] = [
    ...(map.edges ?? []).map((e) => ({ ...e, from: serviceId(e.sourceService ?? ""), to: serviceId(e.targetService ?? "") })),
    ...(map.peerEdges ?? []).map((e) => ({ ...e, from: e.source ?? "", to: e.target ?? "" })),
  ].map((e) => ({
    from: e.from,
    to: e.to,
    calls: e.estimatedCallCount ?? 0,
    errorRate: e.errorRate ?? 0,
    average: e.avgDurationMs ?? 0,
    longest: e.maxDurationMs ?? 0,
  }));
  for (const id of edges.flatMap((e) => [e.from, e.to])) {
    if (nodes.has(id)) continue;
    const [kind = "external", ...rest] = id.split(":");
    nodes.set(id, { id, kind, name: rest.join(":") || id, spans: 0, errorRate: 0 });
  }
  return { nodes: [...nodes.values()], edges };
}

export type Place = { x: number; y: number };

/**
 * layered gives each node a column, so that calls go to the right, and a row. A call back to a caller does not move it. The same graph
 * always has the same picture, whatever the order of its nodes.
 */
export function layered(graph: Graph): { places: Map<string, Place>; columns: number; rows: number } {
  const ids = graph.nodes.map((n) => n.id).sort();
  const out = new Map<string, string[]>(ids.map((id) => [id, []]));
  const into = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const e of graph.edges) {
    if (e.from === e.to) continue;
    out.get(e.from)?.push(e.to);
    into.set(e.to, (into.get(e.to) ?? 0) + 1);
  }
  // Depth first from the entries, then from what only circles reach: an edge to a node on the way is an edge back.
  const forward = new Map<string, string[]>(ids.map((id) => [id, []]));
  const state = new Map<string, "open" | "done">();
  const order: string[] = [];
  const visit = (id: string): void => {
    state.set(id, "open");
    for (const to of [...(out.get(id) ?? [])].sort()) {
      if (state.get(to) === "open") continue;
      forward.get(id)?.push(to);
      if (!state.has(to)) visit(to);
    }
    state.set(id, "done");
    order.push(id);
  };
  for (const id of ids) if (into.get(id) === 0) visit(id);
  for (const id of ids) if (!state.has(id)) visit(id);
  const column = new Map<string, number>();
  for (const id of order.reverse()) {
    const own = column.get(id) ?? 0;
    column.set(id, own);
    for (const to of forward.get(id) ?? []) column.set(to, Math.max(column.get(to) ?? 0, own + 1));
  }
  const columns: string[][] = [];
  for (const id of ids) (columns[column.get(id) ?? 0] ??= []).push(id);
  // Each column is ordered by the mean row of its callers, and then again from the right by that of the called.
  const row = new Map<string, number>();
  const number = (list: string[]): void => list.forEach((id, i) => row.set(id, i - (list.length - 1) / 2));
  for (const list of columns) number(list);
  const mean = (list: string[]): number => list.reduce((sum, id) => sum + (row.get(id) ?? 0), 0) / (list.length || 1);
  const callers = new Map<string, string[]>(
    ids.map((id) => [id, graph.edges.filter((e) => e.to === id && e.from !== id).map((e) => e.from)]),
  );
  for (let sweep = 0; sweep < 4; sweep++) {
    const near = sweep % 2 === 0 ? callers : out;
    for (const list of sweep % 2 === 0 ? columns : [...columns].reverse()) {
      const wish = new Map(list.map((id) => [id, near.get(id)?.length ? mean(near.get(id)!) : (row.get(id) ?? 0)]));
      list.sort((a, b) => wish.get(a)! - wish.get(b)! || a.localeCompare(b));
      number(list);
    }
  }
  const rows = Math.max(1, ...columns.map((c) => c.length));
  const places = new Map<string, Place>();
  columns.forEach((list, x) => list.forEach((id, i) => places.set(id, { x, y: i + (rows - list.length) / 2 })));
  return { places, columns: columns.length, rows };
}
