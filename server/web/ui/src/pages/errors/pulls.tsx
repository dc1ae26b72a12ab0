import { useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { ErrorIssueDetail, ErrorIssuePullRequest } from "../../gen/api";
import { ProposeErrorIssueFixRequest_patch_summary } from "../../gen/limits";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Load } from "../../parts/states";
import { ago } from "../../parts/time";
import { canBeDone, DoneIn, ReportMerge, Verdicts } from "./fixes";
import type { People } from "./work";

/** safe is an address that a person can follow: telemetry and agents write them. */
const safe = (url: string | undefined): string | undefined => (url && /^https?:\/\//.test(url) ? url : undefined);

/** PullRequests lists the linked changes, and proposes a fix. */
export function PullRequests({ issue: i, people }: { issue: ErrorIssueDetail; people: People }) {
  const { now } = useFrame();
  const id = i.id ?? "";
  const found = useCall("ErrorIssueWorkflowService/ListErrorIssuePullRequests", { id });
  const [url, setUrl] = useState("");
  const [asked, setAsked] = useState<"fix" | "done" | ErrorIssuePullRequest>();
  const close = (): void => setAsked(undefined);
  const link = useAct("ErrorIssueWorkflowService/LinkErrorIssuePullRequest", () => setUrl(""));
  const unlink = useAct("ErrorIssueWorkflowService/UnlinkErrorIssuePullRequest");
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Fixes</h2>
        {canBeDone(i) && (
          <button type="button" className="button small" onClick={() => setAsked("done")}>
            Done in…
          </button>
        )}
        <button type="button" className="button small" onClick={() => setAsked("fix")}>
          Propose a fix
        </button>
      </header>
      <Verdicts issue={i} />
      <Load of={found} empty={(d) => !d.data?.length && <p className="fine">No pull request is linked.</p>}>
        {(d) => (
          <ul className="list pulls">
            {d.data?.map((p) => (
              <li key={p.id}>
                <a className="clip grow" href={safe(p.url)} target="_blank" rel="noreferrer">
                  {line(p.title || `${p.repoFullName}#${p.number}`, 200)}
                </a>
                <span
                  className={p.state === "merged" ? "good" : "faint"}
                  title={p.checkProblem ?? (p.checkedAt ? `The source host said so ${ago(p.checkedAt, now)}` : "As it was reported")}
                >
                  {p.state}
                  {p.state === "open" && p.checkProblem && " (not followed)"}
                </span>
                <span className="faint">
                  {line(people.nameOf(p.linkedByActor), 40)} {ago(p.createdAt, now)}
                </span>
                {p.state === "open" && (
                  <button type="button" className="button small" onClick={() => setAsked(p)}>
                    Merged
                  </button>
                )}
                <button
                  type="button"
                  className="button small quiet"
                  aria-label={`Unlink ${line(p.title || p.url || "", 80)}`}
                  onClick={() => unlink.mutate({ id, pullRequestId: p.id ?? "" })}
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
        )}
      </Load>
      <form
        className="row fine"
        onSubmit={(e) => {
          e.preventDefault();
          link.mutate({ id, url: url.trim() });
        }}
      >
        <input
          className="field grow"
          aria-label="Address of a pull request"
          type="url"
          required
          placeholder="https://github.com/org/repo/pull/7"
          value={url}
          onChange={(e) => setUrl(e.target.value)}
        />
        <button type="submit" className="button" disabled={link.isPending}>
          Link
        </button>
      </form>
      {(link.error || unlink.error) && (
        <div className="body">
          <FormError error={link.error ?? unlink.error} />
        </div>
      )}
      {asked === "fix" && <Propose id={id} close={close} />}
      {asked === "done" && <DoneIn issue={i} close={close} />}
      {typeof asked === "object" && <ReportMerge id={id} pull={asked} close={close} />}
    </section>
  );
}

function Propose({ id, close }: { id: string; close: () => void }) {
  const [form, setForm] = useState({ patchSummary: "", prUrl: "" });
  const act = useAct("ErrorIssueWorkflowService/ProposeErrorIssueFix", close);
  return (
    <Dialog title="Propose a fix" close={close}>
      <form
        className="part"
        onSubmit={(e) => {
          e.preventDefault();
          act.mutate({ id, patchSummary: form.patchSummary, ...(form.prUrl ? { prUrl: form.prUrl } : {}) });
        }}
      >
        <Field label="The fix in words" error={errorOf(act.error, "patch_summary")}>
          {(c) => (
            <textarea
              {...c}
              className="field"
              rows={4}
              required
              {...atMost(ProposeErrorIssueFixRequest_patch_summary)}
              value={form.patchSummary}
              onChange={(e) => setForm({ ...form, patchSummary: e.target.value })}
            />
          )}
        </Field>
        <Field label="Pull request" error={errorOf(act.error, "pr_url")}>
          {(c) => (
            <input {...c} className="field" type="url" value={form.prUrl} onChange={(e) => setForm({ ...form, prUrl: e.target.value })} />
          )}
        </Field>
        <FormError error={act.error} fields={["patch_summary", "pr_url"]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={act.isPending}>
            Propose
          </button>
        </div>
      </form>
    </Dialog>
  );
}
