import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { count, duration, line, percent, rate } from "../../parts/format";
import { Empty, Load, Service } from "../../parts/states";
import { change, href, Link, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import { Views } from "../../views/save";
import { type Edge, type Graph, graphOf, layered, type Node, serviceId } from "./graph";
import "../home.css";
import "./map.css";

const widest = 216;
const high = 68;
const most = { width: 176, least: 148 }; // of a box
const tall = 52;
const wrong = 0.01; // from this share of errors on, a node and an edge are red

/** ServiceMapPage draws the services of the window and their calls, from the callers on the left to the called on the right. */
export default function ServiceMapPage() {
  const { window: w, env, org } = useFrame();
  const address = useAddress();
  const found = useCall("ServiceMapService/GetServiceMap", { ...times(w), ...(env ? { deploymentEnvironment: env } : {}) });
  const graph = useMemo(() => graphOf(found.data ?? {}), [found.data]);
  const service = address.searchParams.get("service");
  const chosen = address.searchParams.get("node") ?? (service ? serviceId(service) : "");
  useEffect(() => {
    document.title = `Map · ${org.name} · svc`;
  }, [org.name]);
  const seconds = (w.end - w.start) / 1000;
  return (
    <>
      <div className="pagehead">
        <h1>Map</h1>
        <span className="faint">{graph.nodes.length || ""}</span>
        <span className="grow" />
        <select
          className="field"
          data-bar=""
          aria-label="Service or peer"
          value={chosen}
          onChange={(e) => change({ node: e.target.value || null, service: null })}
        >
          <option value="">Everything</option>
          {[...graph.nodes]
            .sort((a, b) => a.name.localeCompare(b.name))
            .map((n) => (
              <option key={n.id} value={n.id}>
                {line(n.name, 80)}
              </option>
            ))}
        </select>
        <Views page="map" />
      </div>
      <Load
        of={found}
        lines={12}
        empty={(d) =>
          graphOf(d).nodes.length === 0 && (
            <Empty title={env ? `No service sent spans from ${env} in this window` : "No service sent spans in this window"}>
              <div className="row">
                <Link className="button" href={href("/map", { from: "-24h", to: undefined })}>
                  Last 24 hours
                </Link>
                <Link className="button" href={href("/start")}>
                  Get started
                </Link>
              </div>
            </Empty>
          )
        }
      >
        {(d) => (
          <div className="mapstack">
            {d.truncated && (
              <p className="notice" role="status">
                There are more calls than the map shows. Choose an environment or a shorter window.
              </p>
            )}
            <section className="panel" aria-label="Picture of the map">
              <Picture graph={graph} chosen={chosen} seconds={seconds} />
            </section>
            <Side graph={graph} chosen={chosen} seconds={seconds} />
          </div>
        )}
      </Load>
    </>
  );
}

function Picture({ graph, chosen, seconds }: { graph: Graph; chosen: string; seconds: number }) {
  const { places, columns, rows } = useMemo(() => layered(graph), [graph]);
  const busiest = Math.max(1, ...graph.edges.map((e) => e.calls));
  const ground = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([e]) => setRoom(e?.contentRect.width ?? 0));
    watch.observe(ground.current!);
    return () => watch.disconnect();
  }, []);
  // Columns come closer, and boxes become narrower, when that shows all of them. Arrows need some room between the boxes.
  const gap = 20;
  const fits = Math.floor((room + gap) / Math.max(1, columns));
  const wide = fits >= most.least + gap ? Math.min(fits, widest + 64) : widest;
  const width = Math.min(most.width, wide - gap);
  const at = (id: string): { x: number; y: number } => {
    const p = places.get(id) ?? { x: 0, y: 0 };
    return { x: p.x * wide, y: p.y * high };
  };
  const known = graph.nodes.some((n) => n.id === chosen);
  useEffect(() => {
    ground.current?.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [chosen, known]);
  return (
    <div className="map" ref={ground}>
      <div className="mapground" style={{ width: (columns - 1) * wide + width, height: (rows - 1) * high + tall }}>
        <svg width="100%" height="100%" aria-hidden="true">
          {graph.edges.map((e) => {
            const near = !known ? "" : e.from === chosen || e.to === chosen ? " near" : " far";
            return (
              <path
                key={`${e.from} ${e.to}`}
                d={curve(at(e.from), at(e.to), width)}
                className={`${e.errorRate >= wrong ? "bad" : ""}${near}`}
                strokeWidth={1 + 4 * Math.sqrt(e.calls / busiest)}
              />
            );
          })}
        </svg>
        {graph.nodes.map((n) => {
          const { x, y } = at(n.id);
          return (
            <button
              key={n.id}
              type="button"
              className={`mapnode ${n.kind}${n.errorRate >= wrong ? " bad" : ""}`}
              style={{ left: x, top: y, width }}
              aria-pressed={n.id === chosen}
              title={`${n.name}\n${figures(n, seconds)}`}
              onClick={() => change({ node: n.id === chosen ? null : n.id, service: null })}
            >
              <strong>{n.kind === "service" ? <Service name={line(n.name, 60)} /> : line(n.name, 60)}</strong>
              <span className={n.errorRate >= wrong ? "bad" : ""}>{figures(n, seconds)}</span>
            </button>
          );
        })}
      </div>
    </div>
  );
}

function figures(n: Node, seconds: number): string {
  const parts = [n.kind === "service" ? rate(n.spans / seconds) : (n.system ?? n.kind)];
  if (n.errorRate >= 0.001) parts.push(`${percent(n.errorRate)} fail`);
  if (n.p95 !== undefined) parts.push(`p95 ${duration(n.p95)}`);
  return parts.join(" · ");
}

/** curve goes from the right side of the caller to the left side of the called; a call back goes over the boxes. */
function curve(a: { x: number; y: number }, b: { x: number; y: number }, width: number): string {
  const [x1, y1, x2, y2] = [a.x + width, a.y + tall / 2, b.x, b.y + tall / 2];
  const bend = x2 > x1 ? (x2 - x1) / 2 : 60;
  const lift = x2 > x1 ? 0 : -high / 2;
  return `M${x1},${y1} C${x1 + bend},${y1 + lift} ${x2 - bend},${y2 + lift} ${x2},${y2}`;
}

function Side({ graph, chosen, seconds }: { graph: Graph; chosen: string; seconds: number }) {
  const node = graph.nodes.find((n) => n.id === chosen);
  const nodes = new Map(graph.nodes.map((n) => [n.id, n]));
  if (!node) {
    return (
      <Calls
        title={chosen ? "The chosen service has no calls in this window. All calls" : "All calls"}
        edges={graph.edges}
        nodes={nodes}
        both
      />
    );
  }
  return (
    <>
      <section className="panel">
        <header>
          <h2>{node.kind === "service" ? <Service name={line(node.name, 100)} /> : line(node.name, 100)}</h2>
          <span className="grow" />
          {node.kind === "service" && (
            <>
              <Link className="button small" href={href(`/services/${encodeURIComponent(node.name)}`)}>
                Service
              </Link>
              <Link className="button small" href={href("/traces", { q: `service.name = ${JSON.stringify(node.name)}` })}>
                Traces
              </Link>
            </>
          )}
        </header>
        <p className="stats">
          <span>{node.kind}</span>
          <span>{figures(node, seconds)}</span>
        </p>
      </section>
      <div className="mapside">
        <Calls title="Callers" edges={graph.edges.filter((e) => e.to === node.id)} nodes={nodes} side="from" />
        <Calls title="Calls" edges={graph.edges.filter((e) => e.from === node.id)} nodes={nodes} side="to" />
      </div>
    </>
  );
}

/** Calls is the map as a table: the same for a reader who does not see the picture. */
function Calls({
  title,
  edges,
  nodes,
  both = false,
  side = "to",
}: {
  title: string;
  edges: Edge[];
  nodes: Map<string, Node>;
  both?: boolean;
  side?: "from" | "to";
}) {
  const rows = [...edges].sort((a, b) => b.calls - a.calls);
  const choose = (id: string) => {
    const n = nodes.get(id);
    return (
      <>
        <Link className="main" href={href("/map", { node: id })}>
          {line(n?.name ?? id, 100)}
        </Link>
        {n && n.kind !== "service" && !n.name.startsWith(`${n.system} `) && <span className="faint"> {line(n.system ?? n.kind, 40)}</span>}
      </>
    );
  };
  return (
    <section className="panel">
      <header>
        <h2>{title}</h2>
      </header>
      {rows.length === 0 ? (
        <p className="fine">No call in this window.</p>
      ) : (
        <table className="data fold">
          <thead>
            <tr>
              {both && <th scope="col">Caller</th>}
              <th scope="col">{both ? "Called" : "Name"}</th>
              <th scope="col" className="num w90">
                Calls
              </th>
              <th scope="col" className="num w90">
                Errors
              </th>
              <th scope="col" className="num w90">
                Average
              </th>
              <th scope="col" className="num w90">
                Longest
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((e) => (
              <tr key={`${e.from} ${e.to}`}>
                {both && <td>{choose(e.from)}</td>}
                <td>{choose(both ? e.to : e[side])}</td>
                <td className="num">{count(Math.round(e.calls))}</td>
                <td className={`num ${e.errorRate >= wrong ? "bad" : "faint"}`}>{percent(e.errorRate)}</td>
                <td className="num">{duration(e.average)}</td>
                <td className="num">{duration(e.longest)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
