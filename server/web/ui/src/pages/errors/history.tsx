import { useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { ErrorIssueDetail, ErrorIssueEvent } from "../../gen/api";
import { CommentOnErrorIssueRequest_body } from "../../gen/limits";
import { FormError } from "../../parts/form";
import { block, count, line, stretch } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { type People, type State, stateNames } from "./work";

const state = (s: string | undefined): string => stateNames[s as State] ?? s ?? "";

/** History is the timeline of an issue: what the server, people and agents did, with comments, the newest first. */
export function History({ issue: i, people }: { issue: ErrorIssueDetail; people: People }) {
  const { now } = useFrame();
  const id = i.id ?? "";
  const [limit, setLimit] = useState(50);
  const found = useCall("ErrorIssueWorkflowService/ListErrorIssueEvents", { id, limit });
  const [body, setBody] = useState("");
  const comment = useAct("ErrorIssueWorkflowService/CommentOnErrorIssue", () => setBody(""));
  const send = (): void => {
    if (body.trim()) comment.mutate({ id, body: body.trim() });
  };
  return (
    <section className="panel">
      <header>
        <h2>History</h2>
      </header>
      <form
        className="body part"
        onSubmit={(e) => {
          e.preventDefault();
          send();
        }}
      >
        <textarea
          className="field"
          rows={2}
          {...atMost(CommentOnErrorIssueRequest_body)}
          aria-label="Comment"
          placeholder="What you know about it"
          value={body}
          onChange={(e) => setBody(e.target.value)}
          onKeyDown={(e) => {
            if ((e.metaKey || e.ctrlKey) && e.key === "Enter") {
              e.preventDefault();
              send();
            }
          }}
        />
        <div className="row">
          <FormError error={comment.error} />
          <span className="grow" />
          <button type="submit" className="button" disabled={!body.trim() || comment.isPending}>
            Comment
          </button>
        </div>
      </form>
      <Load of={found} empty={(d) => !d.data?.length && <p className="fine">Nothing happened yet.</p>}>
        {(d) => (
          <>
            <ol className="timeline events">
              {d.data?.map((e) => (
                <li key={e.id}>
                  <time className="faint" dateTime={e.createdAt} title={exact(e.createdAt)}>
                    {ago(e.createdAt, now)}
                  </time>
                  <div>
                    <b>{e.actor ? line(people.nameOf(e.actor), 60) : "svc"}</b>
                    {e.actor?.type === "agent" && <span className="chip">agent</span>}
                    <Words e={e} people={people} />
                  </div>
                </li>
              ))}
            </ol>
            {d.hasMore && limit < 100 && (
              <p className="fine">
                <button type="button" className="button small" onClick={() => setLimit(100)}>
                  Show more
                </button>
              </p>
            )}
          </>
        )}
      </Load>
      {(i.incidents ?? []).length > 0 && (
        <details className="body">
          <summary>{i.incidents?.length === 1 ? "1 time" : `${i.incidents?.length} times`} in which it occurred</summary>
          <ul className="list">
            {i.incidents?.slice(0, 20).map((n) => (
              <li key={n.id}>
                <span className={n.status === "open" ? "bad" : ""}>
                  {n.status === "open"
                    ? "● now"
                    : `for ${stretch(Date.parse(n.resolvedAt ?? n.lastTriggeredAt ?? "") - Date.parse(n.firstTriggeredAt ?? ""))}`}
                </span>
                <span className="grow faint">
                  began {ago(n.firstTriggeredAt, now)}, {n.reason?.replaceAll("_", " ")}
                </span>
                <span>{count(n.occurrenceCount)} times</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

const text = (v: unknown): string => (typeof v === "string" || typeof v === "number" ? line(String(v), 500) : "");

/** Words says an event in a sentence. */
function Words({ e, people }: { e: ErrorIssueEvent; people: People }) {
  const p = e.payload ?? {};
  const actor = (id: unknown): string => people.nameOf(people.actors.find((a) => a.id === id)) || "nobody";
  const noted = text(p.note) && <span className="said">{text(p.note)}</span>;
  switch (e.type) {
    case "created":
      return <span>{p.split_from ? "split it off" : "saw it for the first time"}</span>;
    case "state_change":
      return (
        <>
          <span>
            moved it from {state(e.fromState)} to <b>{state(e.toState)}</b>
          </span>
          {noted}
        </>
      );
    case "regression":
      return <span>saw it again{text(p.version) && ` in ${text(p.version)}`}, after it was done</span>;
    case "comment":
    case "agent_note":
      return <span className="said">{block(typeof p.body === "string" ? p.body : "", CommentOnErrorIssueRequest_body.characters)}</span>;
    case "assignment":
      return <span>{p.to_actor_id ? `assigned it to ${line(actor(p.to_actor_id), 60)}` : "took the assignee away"}</span>;
    case "severity_change":
      return (
        <>
          <span>
            set the severity to <b>{text(p.to_severity) || "none"}</b>
          </span>
          {noted}
        </>
      );
    case "fix_proposed":
      return (
        <>
          <span>proposed a fix</span>
          <span className="said">
            {block(typeof p.patch_summary === "string" ? p.patch_summary : "", 4000)} {text(p.pr_url)}
          </span>
        </>
      );
    case "claim":
      return <span>{p.renewed ? "goes on with it" : "began to work on it"}</span>;
    case "release":
      return (
        <>
          <span>stopped working on it</span>
          {noted}
        </>
      );
    case "lease_expired":
      return <span>ended a claim that ran out</span>;
    case "snooze":
      return <span>snoozed it until {text(p.snooze_until).replace("T", " ").slice(0, 16)}</span>;
    case "unsnooze":
      return <span>ended the pause</span>;
    case "pr_linked":
    case "pr_unlinked":
    case "pr_merged":
      return (
        <span>
          {{ pr_linked: "linked", pr_unlinked: "unlinked", pr_merged: "reported the merge of" }[e.type]} {text(p.url) || "a pull request"}
        </span>
      );
    case "verification_started":
      return <span>{`watches whether the fix holds${p.attempt === 2 ? ", once more" : ""}`}</span>;
    case "verification_verdict":
      return (
        <>
          <span>
            {{ verified: "found that the fix holds", not_fixed: "found that the fix does not hold" }[text(p.verdict)] ??
              `found no verdict about the fix: ${text(p.reason).replaceAll("_", " ")}`}
            {e.toState && (
              <>
                , and moved it to <b>{state(e.toState)}</b>
              </>
            )}
          </span>
          {text(p.stays) && <span className="said">{text(p.stays)}</span>}
        </>
      );
    case "merged":
      return <span>merged issues</span>;
    case "split":
      return <span>split groups off</span>;
    default:
      return <span>{e.type?.replaceAll("_", " ")}</span>;
  }
}
