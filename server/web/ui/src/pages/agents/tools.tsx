import { change, href, Link, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { AgentTool } from "../../gen/api";
import { block, count, duration, line, percent } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { stamp } from "../../parts/time";
import { pretty } from "./messages";

/** Tools shows how often tools are called and fail, and the failures of one with their arguments. */
export function Tools() {
  const { window: w, env } = useFrame();
  const address = useAddress();
  const tool = address.searchParams.get("tool") ?? "";
  const fingerprint = address.searchParams.get("error") ?? "";
  const filters = env ? { filters: { environments: [env] } } : {};
  const found = useCall("AgentSessionsService/GetAgentToolsOverview", { ...times(w), ...filters });
  const one = useCall(
    "AgentSessionsService/GetAgentToolsOverview",
    { ...times(w), tool, ...filters },
    { enabled: tool !== "", keep: false },
  );
  return (
    <>
      <section className="panel">
        <Load of={found} empty={(d) => !d.tools?.length && <Empty title="No tool was called in this window" />}>
          {(d) => (
            <table className="data fold rows">
              <thead>
                <tr>
                  <th scope="col">Tool</th>
                  <th scope="col" className="num w90">
                    Calls
                  </th>
                  <th scope="col" className="num w90">
                    Failed
                  </th>
                  <th scope="col" className="w110">
                    <span className="sr">Share that failed</span>
                  </th>
                  <th scope="col" className="num w90">
                    Average
                  </th>
                  <th scope="col" className="num w90">
                    p95
                  </th>
                  <th scope="col" className="num w90">
                    Sessions
                  </th>
                  <th scope="col" className="w200">
                    Last call
                  </th>
                </tr>
              </thead>
              <tbody>
                {[...(d.tools ?? [])]
                  .sort((a, b) => (b.failed ?? 0) - (a.failed ?? 0) || (b.calls ?? 0) - (a.calls ?? 0))
                  .map((t) => (
                    <tr
                      key={t.name}
                      aria-selected={t.name === tool}
                      onClick={(e) => !(e.target as Element).closest("a") && change({ tool: t.name ?? null, error: null })}
                    >
                      <td>
                        <Link className="main" href={href("/agents/tools", { tool: t.name ?? "" })}>
                          {line(t.name ?? "", 100)}
                        </Link>{" "}
                        <span className="faint">{line(t.description ?? "", 120)}</span>
                      </td>
                      <td className="num">{count(t.calls ?? 0)}</td>
                      <td className="num">
                        {(t.failed ?? 0) > 0 ? (
                          <span className="bad">
                            {count(t.failed)} ({percent(share(t))})
                          </span>
                        ) : (
                          "0"
                        )}
                      </td>
                      <td>
                        <span className="bar">
                          <i style={{ width: `${share(t) * 100}%`, background: "var(--bad)" }} />
                        </span>
                      </td>
                      <td className="num">{duration(t.avgMs)}</td>
                      <td className="num">{duration(t.p95Ms)}</td>
                      <td className="num">{count(t.sessions ?? 0)}</td>
                      <td className="faint">{stamp(t.lastSeen)}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          )}
        </Load>
      </section>
      {tool && (
        <section className="panel">
          <header>
            <h2 className="grow">Failures of {line(tool, 100)}</h2>
            {one.data?.previous && (
              <span className="faint">
                before: {percent(share(one.data.previous))} of {count(one.data.previous.calls ?? 0)} calls failed
              </span>
            )}
          </header>
          <Load of={one} empty={(d) => !d.failures?.length && <Empty title="No call of this tool failed in this window" />}>
            {(d) => (
              <ul className="failures">
                {(d.failures ?? []).map((f) => (
                  <li key={f.fingerprint}>
                    <button
                      type="button"
                      className="failure"
                      aria-expanded={f.fingerprint === fingerprint}
                      onClick={() => change({ error: f.fingerprint === fingerprint ? null : (f.fingerprint ?? null) })}
                    >
                      <b className="bad num">{count(f.count)}</b>
                      <span className="clip grow">
                        <b>{line(f.errorType ?? "", 60)}</b> {line(f.message ?? "", 300)}
                      </span>
                      <Trend values={f.trend ?? []} />
                      <span className="faint">
                        {count(f.sessions)} sessions, last {stamp(f.lastSeen)}
                      </span>
                    </button>
                    {f.fingerprint === fingerprint && <Samples tool={tool} fingerprint={fingerprint} />}
                  </li>
                ))}
              </ul>
            )}
          </Load>
        </section>
      )}
    </>
  );
}

const share = (t: AgentTool): number => ((t.calls ?? 0) > 0 ? (t.failed ?? 0) / (t.calls ?? 1) : 0);

function Trend({ values }: { values: number[] }) {
  const most = Math.max(1, ...values);
  return (
    <svg width={values.length * 4} height={18} role="img" aria-label={`Failures over time: ${values.join(", ")}`} className="trend">
      {values.map((v, i) => (
        <rect key={i} x={i * 4} y={18 - (v / most) * 18} width={3} height={(v / most) * 18} fill="var(--bad)" />
      ))}
    </svg>
  );
}

/** Samples are calls that failed, with what the agent asked for. */
function Samples({ tool, fingerprint }: { tool: string; fingerprint: string }) {
  const { window: w } = useFrame();
  const found = useCall(
    "AgentSessionsService/GetAgentToolError",
    { ...times(w), tool, fingerprint, limit: 10, payloadChars: 2000 },
    { keep: false },
  );
  return (
    <div className="samples">
      <Load of={found}>
        {(d) => (
          <>
            {d.breakdown && d.breakdown.length > 0 && (
              <p className="row wrap">
                {d.breakdown.slice(0, 12).map((b) => (
                  <span key={`${b.kind}${b.name}`} className="chip">
                    {line(b.kind ?? "", 20)} {line(b.name ?? "", 60)} {count(b.count)}
                  </span>
                ))}
              </p>
            )}
            {(d.samples ?? []).map((s) => (
              <article key={s.span?.spanId} className="said tool failed">
                <div className="row wrap">
                  <b>{stamp(s.span?.startTime)}</b>
                  <span className="faint">{duration(s.span?.durationMs)}</span>
                  <span className="grow" />
                  {s.sessionId && <Link href={href(`/agents/${encodeURIComponent(s.sessionId)}`, { span: s.span?.spanId })}>Session</Link>}
                  <Link href={href(`/traces/${s.span?.traceId}`, { span: s.span?.spanId })}>Trace</Link>
                </div>
                <p className="bad">{line([s.span?.errorType, s.span?.message].filter(Boolean).join(": "), 500)}</p>
                {s.span?.input && (
                  <div className="part json">
                    <b className="faint">arguments</b>
                    <div className="longtext">{block(pretty(s.span.input), 4000)}</div>
                  </div>
                )}
                {s.span?.output && (
                  <div className="part json">
                    <b className="faint">answer</b>
                    <div className="longtext">{block(pretty(s.span.output), 4000)}</div>
                  </div>
                )}
              </article>
            ))}
            {d.hasMore && <p className="fine">More calls failed in this way; the sessions above have them.</p>}
          </>
        )}
      </Load>
    </div>
  );
}
