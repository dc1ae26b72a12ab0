import { useMemo } from "react";
import { change, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import { count, line, percent, slot } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { flow, nameOf } from "./layout";
import { StepField } from "./names";
import { asked, stepsOf, stepsText } from "./steps";

const column = 240;
const thick = 10;

/** Paths shows what people do after an event or before it. A click on a node makes it the start. */
export function Paths() {
  const { window: w } = useFrame();
  const address = useAddress();
  const p = address.searchParams;
  const anchor = stepsOf(p.get("anchor"))[0] ?? { kind: "event" as const, value: "" };
  const direction = p.get("direction") === "before" ? "before" : "after";
  const include = p.get("include") === "events" ? "events" : p.get("include") === "pages" ? "pages" : "all";
  const depth = Math.min(5, Math.max(1, Number(p.get("depth") ?? 3) || 3));
  const found = useCall(
    "ProductEventsService/SearchProductEventPaths",
    { ...times(w), anchor: asked(anchor), direction, depth, branches: 5, include },
    { enabled: anchor.value !== "" },
  );
  const d = found.data;
  const f = useMemo(() => (d ? flow(anchor.value, d.count ?? 0, d.data ?? []) : null), [d, anchor.value]);
  const pick = (name: string): void => {
    if (name && name !== "$other") change({ anchor: stepsText([{ kind: name.startsWith("/") ? "page" : "event", value: name }]) });
  };
  return (
    <>
      <section className="panel">
        <div className="body row wrap">
          <StepField key={anchor.kind + anchor.value} step={anchor} label="Start" onChange={(s) => change({ anchor: stepsText([s]) })} />
          <select className="field" aria-label="Direction" value={direction} onChange={(e) => change({ direction: e.target.value })}>
            <option value="after">what follows</option>
            <option value="before">what came before</option>
          </select>
          <select className="field" aria-label="What counts" value={include} onChange={(e) => change({ include: e.target.value })}>
            <option value="all">events and pages</option>
            <option value="events">events</option>
            <option value="pages">pages</option>
          </select>
          <select className="field" aria-label="Hops" value={depth} onChange={(e) => change({ depth: e.target.value })}>
            {[1, 2, 3, 4, 5].map((n) => (
              <option key={n} value={n}>
                {n} hops
              </option>
            ))}
          </select>
        </div>
      </section>
      <section className="panel">
        {anchor.value === "" ? (
          <Empty title="Choose where the paths start">
            <p>An event such as checkout_started, or a page such as /cart.</p>
          </Empty>
        ) : (
          <Load of={found} empty={(x) => !x.data?.length && <Empty title="Nobody was here in this window" />}>
            {() =>
              f && (
                <>
                  <header>
                    <h2>
                      {count(d?.count)} persons {direction === "after" ? "start" : "end"} at {line(anchor.value, 100)}
                    </h2>
                  </header>
                  <div className="body paths" tabIndex={0} role="group" aria-label="Paths">
                    <svg width={(f.hops + 1) * column} height={f.height + 10} role="img" aria-label="Paths, which the table below lists">
                      {f.ribbons.map((r) => {
                        const x1 = r.from.hop * column + thick;
                        const x2 = r.to.hop * column;
                        const m = (x1 + x2) / 2;
                        const a = r.y1 + r.h / 2;
                        const b = r.y2 + r.h / 2;
                        return (
                          <path
                            key={`${r.from.id}>${r.to.id}`}
                            d={`M${x1} ${a} C${m} ${a} ${m} ${b} ${x2} ${b}`}
                            fill="none"
                            stroke={r.to.name === "" ? "var(--edge)" : `var(--s${slot(r.to.name)})`}
                            strokeOpacity={0.28}
                            strokeWidth={r.h}
                          >
                            <title>{`${nameOf(r.from.name)} → ${nameOf(r.to.name)}: ${count(r.count)}`}</title>
                          </path>
                        );
                      })}
                      {f.nodes.map((n) => (
                        <g key={n.id} transform={`translate(${n.hop * column} ${n.y})`} className="pathnode" onClick={() => pick(n.name)}>
                          <rect width={thick} height={n.h} rx={2} fill={n.name === "" ? "var(--edge)" : `var(--s${slot(n.name)})`} />
                          <text x={thick + 6} y={Math.max(11, n.h / 2 + 4)}>
                            {line(nameOf(n.name), 28)} <tspan className="faintsvg">{count(n.count)}</tspan>
                          </text>
                        </g>
                      ))}
                    </svg>
                  </div>
                  <table className="data fold">
                    <thead>
                      <tr>
                        <th scope="col" className="w64">
                          Hop
                        </th>
                        <th scope="col">From</th>
                        <th scope="col">To</th>
                        <th scope="col" className="num w90">
                          Persons
                        </th>
                        <th scope="col" className="num w80">
                          Share
                        </th>
                      </tr>
                    </thead>
                    <tbody>
                      {(d?.data ?? []).map((l) => (
                        <tr key={`${l.hop}${l.fromNode}>${l.toNode}`}>
                          <td className="faint">{l.hop}</td>
                          <td>{line(nameOf(l.fromNode ?? ""), 100)}</td>
                          <td>
                            {l.toNode && l.toNode !== "$other" ? (
                              <button type="button" className="linkish" onClick={() => pick(l.toNode ?? "")}>
                                {line(l.toNode, 100)}
                              </button>
                            ) : (
                              <span className="faint">{nameOf(l.toNode ?? "")}</span>
                            )}
                          </td>
                          <td className="num">{count(l.count)}</td>
                          <td className="num">{percent((l.count ?? 0) / Math.max(1, d?.count ?? 1))}</td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </>
              )
            }
          </Load>
        )}
      </section>
    </>
  );
}
