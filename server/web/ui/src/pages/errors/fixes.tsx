import { useState } from "react";
import { useAct, useFrame } from "../../frame/session";
import type { ErrorIssueDetail, ErrorIssuePullRequest, ErrorIssueVerification } from "../../gen/api";
import { TransitionErrorIssueRequest_fixed_in_version } from "../../gen/limits";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { count, line, percent } from "../../parts/format";
import { atMost } from "../../parts/length";
import { ago, exact } from "../../parts/time";
import { movesOf } from "./work";

/** verdictOf says the state of a check in words, and the color of it. */
export function verdictOf(v: ErrorIssueVerification): [string, string] {
  switch (v.reason) {
    case "not_deployed":
      return ["No release had the fix within a week", "warn"];
    case "rolled_back":
      return ["Rolled back, so there is no verdict", "warn"];
    case "no_traffic":
      return ["Too little traffic for a verdict", "warn"];
    case "superseded":
      return ["Not checked further, because the issue moved on", "faint"];
  }
  switch (v.status) {
    case "verified":
      return ["The fix holds", "good"];
    case "not_fixed":
      return ["The fix does not hold", "bad"];
    case "waiting":
      return ["Waiting for a release with the fix", ""];
    default:
      return ["Watching the releases with the fix", ""];
  }
}

const known: Record<string, string> = {
  commit: "known by its commit",
  version: "named as the fix",
  assumed: "assumed to have it: it began after the fix",
};

/** Verdicts lists the checks of whether fixes hold, with their figures. */
export function Verdicts({ issue: i }: { issue: ErrorIssueDetail }) {
  const { now } = useFrame();
  if (!i.verifications?.length) return null;
  return (
    <ol className="list verdicts" aria-label="Checks of fixes">
      {i.verifications.map((v) => {
        const [words, color] = verdictOf(v);
        const versions = [...new Set(v.releases?.map((r) => line(r.version ?? "", 40)))];
        return (
          <li key={v.id}>
            <div className="grow">
              <b className={color}>{words}</b>
              {v.deployedBy && (
                <p>
                  <b>{count(Math.round(v.occurrenceCount ?? 0))}</b> errors in {versions.slice(0, 4).join(", ")}
                  {versions.length > 4 && ` and ${versions.length - 4} more`}, where {count(Math.round(v.expectedOccurrenceCount ?? 0))}{" "}
                  would be expected without the fix. {percent(v.spanShare)} of the traffic since the deployment, {ago(v.deployedAt, now)}
                  {(v.otherOccurrenceCount ?? 0) > 0 &&
                    `; ${count(Math.round(v.otherOccurrenceCount ?? 0))} errors in other versions do not count`}
                  .
                </p>
              )}
              <p className="faint">
                {v.commitSha ? `commit ${line(v.commitSha, 12)}` : v.version ? `version ${line(v.version, 60)}` : "no commit was named"}
                {v.deployedBy && `, ${known[v.deployedBy]}`}
                {(v.attempt ?? 1) > 1 && `, attempt ${v.attempt}`}
                <span title={exact(v.checkedAt ?? v.createdAt)}>
                  {v.checkedAt ? `, checked ${ago(v.checkedAt, now)}` : `, since ${ago(v.createdAt, now)}`}
                </span>
              </p>
            </div>
          </li>
        );
      })}
    </ol>
  );
}

/** ReportMerge tells that a pull request was merged. */
export function ReportMerge({ id, pull, close }: { id: string; pull: ErrorIssuePullRequest; close: () => void }) {
  const [commit, setCommit] = useState("");
  const act = useAct("ErrorIssueWorkflowService/LinkErrorIssuePullRequest", close);
  return (
    <Dialog title={`${line(`${pull.repoFullName}#${pull.number}`, 80)} is merged`} close={close}>
      <form
        className="part"
        onSubmit={(e) => {
          e.preventDefault();
          act.mutate({ id, url: pull.url ?? "", state: "merged", ...(commit.trim() ? { mergeCommitSha: commit.trim() } : {}) });
        }}
      >
        <p>The issue moves to Verifying: svc watches whether the releases with this change are free of the error.</p>
        <Commit value={commit} set={setCommit} error={errorOf(act.error, "merge_commit_sha")} />
        <FormError error={act.error} fields={["merge_commit_sha"]} />
        <Buttons close={close} busy={act.isPending} name="Report the merge" />
      </form>
    </Dialog>
  );
}

/** DoneIn closes an issue with the version or commit of its fix. */
export function DoneIn({ issue: i, close }: { issue: ErrorIssueDetail; close: () => void }) {
  const [form, setForm] = useState({ version: "", commit: "" });
  const act = useAct("ErrorIssueWorkflowService/TransitionErrorIssue", close);
  return (
    <Dialog title="Done in a version" close={close}>
      <form
        className="part"
        onSubmit={(e) => {
          e.preventDefault();
          const { version, commit } = { version: form.version.trim(), commit: form.commit.trim() };
          act.mutate({
            id: i.id ?? "",
            toState: "done",
            ...(version ? { fixedInVersion: version } : {}),
            ...(commit ? { fixedInCommit: commit } : {}),
          });
        }}
      >
        <p>Until this version runs, errors of others do not bring the issue back. Then svc watches whether it is free of the error.</p>
        <Field label="Version" error={errorOf(act.error, "fixed_in_version")} hint="service.version of the release, for example 1.4.2">
          {(c) => (
            <input
              {...c}
              className="field"
              {...atMost(TransitionErrorIssueRequest_fixed_in_version)}
              required={!form.commit.trim()}
              value={form.version}
              onChange={(e) => setForm({ ...form, version: e.target.value })}
            />
          )}
        </Field>
        <Commit value={form.commit} set={(commit) => setForm({ ...form, commit })} error={errorOf(act.error, "fixed_in_commit")} />
        <FormError error={act.error} fields={["fixed_in_version", "fixed_in_commit"]} />
        <Buttons close={close} busy={act.isPending} name="Done" />
      </form>
    </Dialog>
  );
}

/** canBeDone says whether a person can close an issue. */
export const canBeDone = (i: ErrorIssueDetail): boolean => movesOf([i.workflowState]).includes("done");

function Commit({ value, set, error }: { value: string; set: (v: string) => void; error: string | undefined }) {
  return (
    <Field label="Commit" error={error} hint="Optional: 7 to 64 hexadecimal digits. Releases are compared with it.">
      {(c) => <input {...c} className="field" pattern="[0-9a-fA-F]{7,64}" value={value} onChange={(e) => set(e.target.value)} />}
    </Field>
  );
}

function Buttons({ close, busy, name }: { close: () => void; busy: boolean; name: string }) {
  return (
    <div className="row">
      <span className="grow" />
      <button type="button" className="button" onClick={close}>
        Cancel
      </button>
      <button type="submit" className="button primary" disabled={busy}>
        {name}
      </button>
    </div>
  );
}
