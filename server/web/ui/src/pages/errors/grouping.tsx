import { useState } from "react";
import { useAct } from "../../frame/session";
import type { ErrorIssueDetail } from "../../gen/api";
import { FormError } from "../../parts/form";
import { count, line } from "../../parts/format";

const variants: Record<string, string> = {
  app: "frames of the application",
  stack: "frames, because none is of the application",
  message: "the message, because there are no frames",
  operation: "the operation and its status",
};

/** Grouping says why the occurrences are one issue, and takes groups out again. */
export function Grouping({ issue: i }: { issue: ErrorIssueDetail }) {
  const groups = i.grouping ?? [];
  const [out, setOut] = useState<string[]>([]);
  const split = useAct("ErrorIssueWorkflowService/SplitErrorIssue", () => setOut([]));
  if (groups.length === 0) return null;
  const several = groups.length > 1;
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Why these are one issue</h2>
        {several && (
          <button
            type="button"
            className="button small"
            disabled={out.length === 0 || out.length === groups.length || split.isPending}
            onClick={() => split.mutate({ id: i.id ?? "", fingerprintHashes: out })}
          >
            Split {out.length > 0 ? out.length : ""} off
          </button>
        )}
      </header>
      <FormError error={split.error} />
      {groups.map((g) => (
        <div key={g.fingerprintHash} className="body why">
          {several && (
            <label className="tick">
              <input
                type="checkbox"
                checked={out.includes(g.fingerprintHash ?? "")}
                onChange={(e) => setOut(e.target.checked ? [...out, g.fingerprintHash ?? ""] : out.filter((x) => x !== g.fingerprintHash))}
              />{" "}
              take this group out
            </label>
          )}
          <p>
            Grouped by {variants[g.variant ?? ""] ?? "an earlier method"}, {count(g.occurrenceCount)} times
            {g.pinned ? ", put here by a person" : ""}.
          </p>
          {(g.frames ?? []).length > 0 && (
            <ol className="frames">
              {g.frames?.map((f, n) => (
                <li key={`${n}${f}`} className="app">
                  <code>{line(f, 300)}</code>
                </li>
              ))}
            </ol>
          )}
          {(g.leftOut ?? 0) > 0 && <p className="faint">{g.leftOut} other frames do not count.</p>}
          {g.message && (
            <p className="faint">
              Message: <code>{line(g.message, 500)}</code>
            </p>
          )}
        </div>
      ))}
    </section>
  );
}
