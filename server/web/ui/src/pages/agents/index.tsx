import { useEffect } from "react";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import { count, duration, line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { exact, stamp } from "../../parts/time";
import { Views } from "../../views/save";
import { money } from "./messages";
import { Session } from "./session";
import { Tools } from "./tools";
import "../home.css";
import "./agents.css";

const sorts = {
  start_time: "latest",
  duration_ms: "longest",
  cost: "dearest",
  total_tokens: "most tokens",
  error_span_count: "most errors",
  tool_calls: "most tool calls",
} as const;
const page = 50;

/** Agents shows the sessions of LLM agents, one session as a conversation, and the tools that they call. */
export default function Agents({ part }: { part: string }) {
  const { org } = useFrame();
  useEffect(() => {
    document.title = `${part === "tools" ? "Agent tools" : part ? line(part, 40) : "Agents"} · ${org.name} · svc`;
  }, [org.name, part]);
  if (part && part !== "tools") return <Session id={part} />;
  return (
    <>
      <div className="pagehead">
        <h1>Agents</h1>
        <span className="grow" />
        <Views page="agents" />
      </div>
      <nav className="tabs" aria-label="Views of agents">
        <Link href={href("/agents")} aria-current={part === "" ? "page" : undefined}>
          Sessions
        </Link>
        <Link href={href("/agents/tools")} aria-current={part === "tools" ? "page" : undefined}>
          Tools
        </Link>
      </nav>
      {part === "tools" ? <Tools /> : <Sessions />}
    </>
  );
}

function Sessions() {
  const { window: w, env } = useFrame();
  const address = useAddress();
  const p = address.searchParams;
  const q = p.get("q") ?? "";
  const failed = p.get("errors") === "1";
  const sort = (Object.keys(sorts) as Array<keyof typeof sorts>).find((s) => s === p.get("sort")) ?? "start_time";
  const offset = Math.max(0, Number(p.get("offset") ?? 0) || 0);
  const found = useCall("AgentSessionsService/SearchAgentSessions", {
    ...times(w),
    sortBy: sort,
    limit: page,
    offset,
    ...(q ? { search: q } : {}),
    ...(failed ? { hasErrors: true } : {}),
    ...(env ? { filters: { environments: [env] } } : {}),
  });
  return (
    <section className="panel">
      <header className="agenthead">
        <form
          className="row grow"
          role="search"
          onSubmit={(e) => {
            e.preventDefault();
            change({ q: String(new FormData(e.currentTarget).get("q") ?? "") || null, offset: null });
          }}
        >
          <input
            key={q}
            className="field grow"
            data-bar=""
            name="q"
            type="search"
            aria-label="Search sessions"
            placeholder="Text of a message, id of a session"
            defaultValue={q}
          />
        </form>
        <button
          type="button"
          className="button"
          aria-pressed={failed}
          onClick={() => change({ errors: failed ? null : "1", offset: null })}
        >
          With errors{found.data ? ` ${count(found.data.errorCount ?? 0)}` : ""}
        </button>
        <select className="field" aria-label="Order" value={sort} onChange={(e) => change({ sort: e.target.value, offset: null })}>
          {Object.entries(sorts).map(([s, name]) => (
            <option key={s} value={s}>
              {name}
            </option>
          ))}
        </select>
      </header>
      <Load
        of={found}
        empty={(d) =>
          !d.sessions?.length && (
            <Empty title={q || failed ? "No session matches in this window" : "No agent sessions in this window"}>
              {q || failed ? (
                <button type="button" className="button" onClick={() => change({ q: null, errors: null })}>
                  Show all
                </button>
              ) : (
                <p>
                  Sessions are spans of the semantic conventions for generative AI, with `gen_ai.conversation.id`.{" "}
                  <Link href={href("/start")}>Get started</Link>
                </p>
              )}
            </Empty>
          )
        }
      >
        {(d) => (
          <>
            <table className="data fold rows">
              <thead>
                <tr>
                  <th scope="col">Session</th>
                  <th scope="col" className="w160">
                    Model
                  </th>
                  <th scope="col" className="num w80">
                    Turns
                  </th>
                  <th scope="col" className="num w80">
                    Calls
                  </th>
                  <th scope="col" className="num w80">
                    Tools
                  </th>
                  <th scope="col" className="num w90">
                    Tokens
                  </th>
                  <th scope="col" className="num w80">
                    Cost
                  </th>
                  <th scope="col" className="num w90">
                    Time
                  </th>
                  <th scope="col" className="w200">
                    Began
                  </th>
                </tr>
              </thead>
              <tbody>
                {(d.sessions ?? []).map((s) => {
                  const to = href(`/agents/${encodeURIComponent(s.id ?? "")}`);
                  const errors = (s.errorSpanCount ?? 0) > 0;
                  return (
                    // biome-ignore lint: the link in the first cell is the way for the keyboard
                    <tr key={s.id} onClick={(e) => !(e.target as Element).closest("a") && navigate(to)}>
                      <td>
                        <Link className="main" href={to}>
                          {line(s.id ?? "", 80)}
                        </Link>{" "}
                        <span className="faint">{line((s.agents?.length ? s.agents : (s.services ?? [])).join(", "), 80)}</span>{" "}
                        {errors && (
                          <span className="bad">
                            ✖ {count(s.errorSpanCount)} {s.errorSpanCount === 1 ? "error" : "errors"}
                          </span>
                        )}
                      </td>
                      <td className="faint">{line((s.models ?? []).join(", "), 60)}</td>
                      <td className="num">{count(s.turns ?? 0)}</td>
                      <td className="num">{count(s.llmCalls ?? 0)}</td>
                      <td className="num">
                        {count(s.toolCalls ?? 0)}
                        {(s.toolErrorCount ?? 0) > 0 && <span className="bad"> ✖{count(s.toolErrorCount)}</span>}
                      </td>
                      <td className="num">{count(s.totalTokens ?? 0)}</td>
                      <td className="num">{money(s.cost)}</td>
                      <td className="num">{duration(Date.parse(s.endTime ?? "") - Date.parse(s.startTime ?? ""))}</td>
                      <td className="faint" title={exact(s.startTime)}>
                        {stamp(s.startTime)}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
            <p className="fine row">
              {count(offset + 1)} to {count(offset + (d.sessions?.length ?? 0))} of {count(d.totalCount)}
              {offset > 0 && (
                <button
                  type="button"
                  className="button small"
                  onClick={() => change({ offset: offset > page ? String(offset - page) : null })}
                >
                  Back
                </button>
              )}
              {d.hasMore && (
                <button type="button" className="button small" onClick={() => change({ offset: String(offset + page) })}>
                  Next
                </button>
              )}
            </p>
          </>
        )}
      </Load>
    </section>
  );
}
