import { useState } from "react";
import type { ErrorIssue } from "../../gen/api";
import { Dialog } from "../../parts/dialog";
import { Field } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { iso } from "../../parts/time";
import { movesOf, type People, severities, type State, stateNames, titleOf, type useEach } from "./work";

const day = 86_400_000;
const snoozes: Array<[string, number]> = [
  ["1 day", day],
  ["1 week", 7 * day],
  ["30 days", 30 * day],
];

/** Acts changes one issue or several: state, severity, assignee, pause, and what becomes one issue. */
export function Acts({
  issues,
  people,
  each,
  done,
  merge = false,
}: {
  issues: ErrorIssue[];
  people: People;
  each: ReturnType<typeof useEach>;
  done?: () => void;
  merge?: boolean;
}) {
  const [merging, setMerging] = useState(false);
  const ids = issues.map((i) => i.id ?? "");
  const then = (ok: boolean): void => {
    if (ok) done?.();
  };
  const move = (toState: State, snoozeUntil?: string) =>
    void each
      .run(
        "ErrorIssueWorkflowService/TransitionErrorIssue",
        ids.map((id) => ({ id, toState, ...(snoozeUntil ? { snoozeUntil } : {}) })),
      )
      .then(then);
  const grade = (severity: (typeof severities)[number] | undefined) =>
    void each
      .run(
        "ErrorIssueWorkflowService/SetErrorIssueSeverity",
        ids.map((id) => ({ id, ...(severity ? { severity } : {}) })),
      )
      .then(then);
  const assign = (actorId?: string) =>
    void each
      .run(
        "ErrorIssueWorkflowService/AssignErrorIssue",
        ids.map((id) => ({ id, ...(actorId ? { actorId } : {}) })),
      )
      .then(then);
  const mine = () => void people.mine(ids[0] ?? "").then((id) => id && assign(id));
  const to = movesOf(issues.map((i) => i.workflowState));
  const off = each.busy || issues.length === 0;
  return (
    <span className="row wrap acts" data-acts="">
      <Menu
        label="State"
        className="button"
        items={
          off
            ? []
            : to.length === 0
              ? [{ name: "These issues have no common next state", disabled: true }]
              : to.map((s) => ({ name: stateNames[s], act: () => move(s) }))
        }
      >
        State
      </Menu>
      <Menu
        label="Assign"
        className="button"
        items={
          off
            ? []
            : [
                { name: "Me", act: mine },
                ...people.actors
                  .filter((a) => a.id !== people.myId)
                  .map((a) => ({ name: `${line(people.nameOf(a), 60)}${a.type === "agent" ? " (agent)" : ""}`, act: () => assign(a.id) })),
                { name: "Nobody", act: () => assign() },
              ]
        }
      >
        Assign
      </Menu>
      <Menu
        label="Severity"
        className="button"
        items={
          off ? [] : [...severities.map((s) => ({ name: s, act: () => grade(s) })), { name: "no severity", act: () => grade(undefined) }]
        }
      >
        Severity
      </Menu>
      {to.includes("wontfix") && (
        <Menu
          label="Snooze"
          className="button"
          items={off ? [] : [...snoozes.map(([name, ms]) => ({ name: `for ${name}`, act: () => move("wontfix", iso(Date.now() + ms)) }))]}
        >
          Snooze
        </Menu>
      )}
      {to.includes("done") && (
        <button type="button" className="button" disabled={off} onClick={() => move("done")}>
          Done
        </button>
      )}
      {merge && issues.length > 1 && (
        <button type="button" className="button" disabled={off} onClick={() => setMerging(true)}>
          Merge
        </button>
      )}
      {merging && (
        <Merge
          issues={issues}
          close={() => setMerging(false)}
          act={(id) =>
            void each.run("ErrorIssueWorkflowService/MergeErrorIssues", [{ id, issueIds: ids.filter((x) => x !== id) }]).then((ok) => {
              setMerging(false);
              then(ok);
            })
          }
        />
      )}
    </span>
  );
}

function Merge({ issues, close, act }: { issues: ErrorIssue[]; close: () => void; act: (id: string) => void }) {
  const [id, setId] = useState(issues[0]?.id ?? "");
  return (
    <Dialog title={`Merge ${issues.length} issues`} close={close}>
      <p>All their occurrences, comments and pull requests go to one issue. It can be split again.</p>
      <Field label="The issue that stays">
        {(c) => (
          <select {...c} className="field" value={id} onChange={(e) => setId(e.target.value)}>
            {issues.map((i) => (
              <option key={i.id} value={i.id}>
                {line(`${titleOf(i)} · ${i.serviceName}`, 120)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="row">
        <span className="grow" />
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <button type="button" className="button primary" onClick={() => act(id)}>
          Merge
        </button>
      </div>
    </Dialog>
  );
}
