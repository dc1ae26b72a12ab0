import { describe, expect, it } from "vitest";
import { graphOf, layered, type Graph } from "./graph";

const graph = (edges: Array<[string, string]>): Graph => ({
  nodes: [...new Set(edges.flat())].map((id) => ({ id, kind: "service", name: id, spans: 1, errorRate: 0 })),
  edges: edges.map(([from, to]) => ({ from, to, calls: 1, errorRate: 0, average: 1, longest: 1 })),
});

describe("graphOf", () => {
  it("names a database that has only a number by its system, too", () => {
    const node = { kind: "database" as const, estimatedSpanCount: 1 };
    const nodes = [
      { ...node, id: "database:redis:0", name: "0", system: "redis" },
      { ...node, id: "database:redis:a", name: "a", system: "redis" },
    ];
    expect(graphOf({ nodes }).nodes.map((n) => n.name)).toEqual(["redis 0", "a"]);
  });

  it("joins services and peers, and adds a node that only an edge names", () => {
    const g = graphOf({
      nodes: [{ id: "service:web", kind: "service", name: "web", estimatedSpanCount: 10, p95LatencyMs: 5 }],
      edges: [{ sourceService: "web", targetService: "cart", estimatedCallCount: 4, errorRate: 0.5 }],
      peerEdges: [{ source: "service:cart", target: "database:postgresql:orders", estimatedCallCount: 2 }],
    });
    expect(g.nodes.map((n) => `${n.kind} ${n.name}`)).toEqual(["service web", "service cart", "database postgresql:orders"]);
    expect(g.edges.map((e) => [e.from, e.to, e.calls])).toEqual([
      ["service:web", "service:cart", 4],
      ["service:cart", "database:postgresql:orders", 2],
    ]);
  });
  it("is empty for an empty map", () => {
    expect(layered(graphOf({})).places.size).toBe(0);
  });
});

describe("layered", () => {
  it("puts a called service to the right of each caller", () => {
    const edges: Array<[string, string]> = [
      ["web", "cart"],
      ["web", "pay"],
      ["cart", "pay"],
      ["pay", "db"],
      ["web", "db"],
    ];
    const { places } = layered(graph(edges));
    for (const [from, to] of edges) expect(places.get(to)!.x).toBeGreaterThan(places.get(from)!.x);
  });
  it("ends with a circle, and with a service that calls itself", () => {
    const { places, columns } = layered(
      graph([
        ["a", "b"],
        ["b", "c"],
        ["c", "a"],
        ["c", "c"],
      ]),
    );
    expect([...places.keys()].sort()).toEqual(["a", "b", "c"]);
    expect(columns).toBe(3);
  });
  it("draws the same picture whatever the order of the nodes", () => {
    const g = graph([
      ["web", "cart"],
      ["web", "search"],
      ["cart", "db"],
      ["search", "db"],
      ["jobs", "mail"],
    ]);
    const turned = { nodes: [...g.nodes].reverse(), edges: [...g.edges].reverse() };
    expect([...layered(turned).places].sort()).toEqual([...layered(g).places].sort());
  });
  it("gives no two nodes one place", () => {
    const { places } = layered(graph(Array.from({ length: 40 }, (_, i) => [`s${i % 7}`, `t${i}`] as [string, string])));
    expect(new Set([...places.values()].map((p) => `${p.x},${p.y}`)).size).toBe(places.size);
  });
});
