import { useEffect, useMemo, useRef, useState } from "react";
import { change, href, Link, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { AgentSpan } from "../../gen/api";
import { block, count, duration, line } from "../../parts/format";
import { Copy, Empty, Load } from "../../parts/states";
import { clock, exact, stamp } from "../../parts/time";
import { containers, money, type Part, partsOf, pretty } from "./messages";

const day = 86_400_000;

/** Session is one session of an agent: the conversation, beside the calls of models and tools over time. */
export function Session({ id }: { id: string }) {
  const { window: w } = useFrame();
  const found = useCall(
    "AgentSessionsService/GetAgentSession",
    { sessionId: id, ...times({ start: Math.max(w.start - day, w.end - 30 * day), end: w.end }), payloadChars: 4000 },
    { keep: false },
  );
  return (
    <>
      <div className="pagehead">
        <h1 className="clip">Session {line(id, 100)}</h1>
        <span className="grow" />
        <Copy text={id} label="Copy the id" />
        <Link className="button" href={href("/agents")}>
          All sessions
        </Link>
      </div>
      <Load
        of={found}
        lines={10}
        empty={(d) =>
          !d.spans?.length && (
            <Empty title="No session with this id in this window">
              <p>Choose a longer window. Spans are kept for some days only.</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <Whole
            spans={d.spans ?? []}
            truncated={d.truncated ?? false}
            asked={(d.turns ?? []).map((t) => ({
              number: t.number ?? 0,
              text: t.asked ?? "",
              failed: t.failed ?? false,
              at: t.startTime ?? "",
              trace: t.traceId ?? "",
              ms: t.durationMs ?? 0,
            }))}
          />
        )}
      </Load>
    </>
  );
}

type Asked = { number: number; text: string; failed: boolean; at: string; trace: string; ms: number };

function Whole({ spans, truncated, asked }: { spans: AgentSpan[]; truncated: boolean; asked: Asked[] }) {
  const address = useAddress();
  const at = address.searchParams.get("span") ?? "";
  const [raw, setRaw] = useState(false);
  const outer = useMemo(() => containers(spans), [spans]);
  const sums = useMemo(() => {
    const calls = spans.filter((s) => (s.hasTokens || s.operation === "chat") && !outer.has(s.spanId ?? ""));
    return {
      input: calls.reduce((n, s) => n + (s.inputTokens ?? 0), 0),
      output: calls.reduce((n, s) => n + (s.outputTokens ?? 0), 0),
      cost: calls.reduce((n, s) => n + (s.cost ?? 0), 0),
      tools: spans.filter((s) => s.tool).length,
      failed: spans.filter((s) => s.failed).length,
      calls: calls.length,
    };
  }, [spans, outer]);
  const start = Math.min(...spans.map((s) => Date.parse(s.startTime ?? "")));
  const end = Math.max(...spans.map((s) => Date.parse(s.startTime ?? "") + (s.durationMs ?? 0)));
  const select = (id: string): void => change({ span: id || null }, true);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (at) list.current?.querySelector(`[data-span="${CSS.escape(at)}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const shown = spans.filter((s) => (s.input || s.output || s.failed || s.tool) && !outer.has(s.spanId ?? ""));
  return (
    <div className="agentpage">
      {truncated && <p className="notice">The session has more spans than are shown.</p>}
      <section className="panel">
        <div className="body row wrap stats">
          <span className="stat">
            <b>{count(asked.length)}</b>
            <span>turns</span>
          </span>
          <span className="stat">
            <b>{count(sums.calls)}</b>
            <span>calls of models</span>
          </span>
          <span className="stat">
            <b>{count(sums.tools)}</b>
            <span>calls of tools</span>
          </span>
          <span className="stat">
            <b className={sums.failed ? "bad" : undefined}>{count(sums.failed)}</b>
            <span>failed</span>
          </span>
          <span className="stat">
            <b>
              {count(sums.input)} + {count(sums.output)}
            </b>
            <span>tokens in and out</span>
          </span>
          <span className="stat">
            <b>{money(sums.cost)}</b>
            <span>cost</span>
          </span>
          <span className="stat">
            <b>{duration(end - start)}</b>
            <span>from {stamp(spans[0]?.startTime)}</span>
          </span>
        </div>
      </section>
      <div className="agentsession">
        <section className="panel">
          <header>
            <h2 className="grow">Conversation</h2>
            <button type="button" className="button small" aria-pressed={raw} onClick={() => setRaw(!raw)}>
              Raw
            </button>
          </header>
          <ol ref={list} className="conversation">
            {shown.map((s, i) => {
              const turn = s.turn !== shown[i - 1]?.turn ? asked.find((t) => t.number === s.turn) : undefined;
              return (
                <li key={s.spanId} data-span={s.spanId} data-here={s.spanId === at ? "" : undefined}>
                  {turn && (
                    <h3 className="turn">
                      Turn {turn.number}{" "}
                      <span className="faint">
                        {clock(Date.parse(turn.at))}, {duration(turn.ms)}
                      </span>{" "}
                      {turn.failed && <span className="bad">✖ failed</span>}{" "}
                      {turn.trace && <Link href={href(`/traces/${turn.trace}`)}>Trace</Link>}
                    </h3>
                  )}
                  <Said span={s} raw={raw} onSelect={() => select(s.spanId === at ? "" : (s.spanId ?? ""))} />
                </li>
              );
            })}
          </ol>
        </section>
        <section className="panel agenttime">
          <header>
            <h2>Over time</h2>
          </header>
          <ol className="agentbars">
            {spans.map((s) => {
              const from = ((Date.parse(s.startTime ?? "") - start) / Math.max(1, end - start)) * 100;
              return (
                <li key={s.spanId}>
                  <button
                    type="button"
                    aria-pressed={s.spanId === at}
                    onClick={() => select(s.spanId === at ? "" : (s.spanId ?? ""))}
                    title={exact(s.startTime)}
                  >
                    <span className="clip">
                      {s.failed && <b className="bad">✖ </b>}
                      {line(s.tool || s.model || s.name || "", 60)} <span className="faint">{s.tool ? "tool" : (s.operation ?? "")}</span>
                    </span>
                    <span className="track">
                      <i
                        style={{
                          left: `${from}%`,
                          width: `${Math.max(0.6, ((s.durationMs ?? 0) / Math.max(1, end - start)) * 100)}%`,
                          background: s.failed ? "var(--bad)" : s.tool ? "var(--s2)" : s.model ? "var(--s0)" : "var(--edge)",
                        }}
                      />
                    </span>
                    <span className="num faint">{duration(s.durationMs)}</span>
                  </button>
                </li>
              );
            })}
          </ol>
        </section>
      </div>
    </div>
  );
}

/** Said is the input and the output of one call: messages of a model, or the arguments and the answer of a tool. */
function Said({ span: s, raw, onSelect }: { span: AgentSpan; raw: boolean; onSelect: () => void }) {
  const tool = Boolean(s.tool);
  const parts: Part[] = raw || tool ? [] : [...partsOf(s.input ?? "", "user").slice(-1), ...partsOf(s.output ?? "", "assistant")];
  return (
    <article className={`said${tool ? " tool" : ""}${s.failed ? " failed" : ""}`}>
      <div className="row wrap">
        <button type="button" className="linkish" onClick={onSelect}>
          {tool ? `⚙ ${line(s.tool ?? "", 80)}` : line(s.model || s.name || "", 80)}
        </button>
        <span className="faint">
          {duration(s.durationMs)}
          {s.hasTokens && (
            <>
              , {count(s.inputTokens ?? 0)} + {count(s.outputTokens ?? 0)} tokens
            </>
          )}
          {s.hasCost && <>, {money(s.cost)}</>}
          {s.firstTokenMs ? <>, first token {duration(s.firstTokenMs)}</> : null}
        </span>
        <span className="grow" />
        <Link className="faint" href={href(`/traces/${s.traceId}`, { span: s.spanId })}>
          span
        </Link>
      </div>
      {s.failed && <p className="bad">{line([s.errorType, s.message].filter(Boolean).join(": ") || "It failed.", 500)}</p>}
      {parts.map((p, i) => (
        <div key={i} className={`part ${p.kind}`}>
          <b className="faint">{line(p.role, 30)}</b>
          <Long text={p.text} />
        </div>
      ))}
      {(raw || tool) && s.input && (
        <div className="part json">
          <b className="faint">{tool ? "arguments" : "input"}</b>
          <Long text={pretty(s.input)} />
        </div>
      )}
      {(raw || tool) && s.output && (
        <div className="part json">
          <b className="faint">{tool ? "answer" : "output"}</b>
          <Long text={pretty(s.output)} />
        </div>
      )}
    </article>
  );
}

/** Long shows a text, cut until a person asks for all of it. */
function Long({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const long = text.length > 1200;
  return (
    <div className="longtext">
      {block(text, all ? 200_000 : 1200)}
      {long && !all && (
        <>
          {" "}
          <button type="button" className="button small" onClick={() => setAll(true)}>
            Show all
          </button>
        </>
      )}
    </div>
  );
}
