import { useEffect, useState } from "react";
import { href, Link, navigate } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { Investigation as Data, InvestigationFinding } from "../../gen/api";
import { AddInvestigationFindingRequest_text, UpdateInvestigationRequest_assignee } from "../../gen/limits";
import { Confirm, Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { block, count, line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Copy, Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { colorOf, type Status, states } from "./states";

/** Investigation is one problem with its findings, its answer, and the person or agent that goes on with it. */
export function Investigation({ id }: { id: string }) {
  const { now, org, me } = useFrame();
  const found = useCall("InvestigationsService/GetInvestigation", { id });
  const update = useAct("InvestigationsService/UpdateInvestigation");
  const remove = useAct("InvestigationsService/DeleteInvestigation", () => navigate(href("/investigations")));
  const [open, setOpen] = useState<"" | "report" | "delete" | "hand">("");
  const title = found.data?.title;
  useEffect(() => {
    document.title = `${line(title ?? "Investigation", 60)} · ${org.name} · svc`;
  }, [title, org.name]);
  if (found.error?.status === 404 && !found.data)
    return (
      <Empty title="There is no such investigation">
        <Link className="button" href={href("/investigations")}>
          Investigations
        </Link>
      </Empty>
    );
  return (
    <Load of={found} lines={10}>
      {(i) => (
        <div className="lay">
          <div className="pagehead">
            <h1>{line(i.title ?? "", 200)}</h1>
            <b className={colorOf(i.status)}>{states[i.status as Status] ?? i.status}</b>
            <span className="grow" />
            <select
              className="field"
              aria-label="State"
              value={i.status}
              onChange={(e) => update.mutate({ id, status: e.target.value as Status })}
            >
              {(Object.keys(states) as Status[]).map((s) => (
                <option key={s} value={s}>
                  {states[s]}
                </option>
              ))}
            </select>
            <button type="button" className="button" onClick={() => setOpen("hand")}>
              Hand over
            </button>
            <button type="button" className="button" onClick={() => setOpen("report")}>
              Report
            </button>
            <button type="button" className="button" onClick={() => setOpen("delete")}>
              Delete
            </button>
          </div>
          <FormError error={update.error ?? remove.error} />
          <section className="panel fine" aria-label="About it">
            {i.question && <p className="quoted">{block(i.question, 4000)}</p>}
            <p>
              Started {ago(i.createdAt, now)} by {line(i.createdBy ?? "somebody", 60)}.{" "}
              {i.assignee ? (
                <>
                  Goes on with it: <b>{line(i.assignee, 80)}</b>.
                </>
              ) : (
                <>
                  Nobody goes on with it.{" "}
                  <button
                    type="button"
                    className="button small"
                    onClick={() => update.mutate({ id, assignee: me.user?.name || me.user?.email || "" })}
                  >
                    I do
                  </button>
                </>
              )}{" "}
              {i.issueId && <Link href={href(`/errors/${i.issueId}`)}>The issue</Link>}
            </p>
          </section>
          <div className="halves">
            <Findings of={i} />
            <Conclusion
              key={i.conclusion ?? ""}
              of={i}
              save={(conclusion, status) => update.mutate({ id, conclusion, ...(status ? { status } : {}) })}
              busy={update.isPending}
            />
          </div>
          {open === "report" && <Report id={id} close={() => setOpen("")} />}
          {open === "hand" && <HandOver of={i} close={() => setOpen("")} />}
          {open === "delete" && (
            <Confirm
              title="Delete this investigation?"
              act="Delete"
              busy={remove.isPending}
              close={(yes) => (yes ? remove.mutate({ id }) : setOpen(""))}
            >
              <p>Its {count(i.findingCount ?? 0)} findings go with it.</p>
            </Confirm>
          )}
        </div>
      )}
    </Load>
  );
}

function Findings({ of: i }: { of: Data }) {
  const [text, setText] = useState("");
  const add = useAct("InvestigationsService/AddInvestigationFinding", () => setText(""));
  const send = (): void => {
    if (text.trim()) add.mutate({ id: i.id ?? "", text: text.trim() });
  };
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Findings</h2>
        <span className="faint">{count(i.findings?.length ?? 0)}</span>
      </header>
      {(i.findings ?? []).length === 0 && (
        <p className="fine">Nothing was found yet. “Keep as a finding” on other pages adds what they show.</p>
      )}
      <ol className="timeline">
        {i.findings?.map((f) => (
          <One key={f.number} f={f} />
        ))}
      </ol>
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
          {...atMost(AddInvestigationFindingRequest_text)}
          aria-label="New finding"
          placeholder="One sentence, with its figure"
          value={text}
          onChange={(e) => setText(e.target.value)}
          onKeyDown={(e) => {
            if ((e.metaKey || e.ctrlKey) && e.key === "Enter") {
              e.preventDefault();
              send();
            }
          }}
        />
        <div className="row">
          <FormError error={add.error} />
          <span className="grow" />
          <button type="submit" className="button" disabled={!text.trim() || add.isPending}>
            Add
          </button>
        </div>
      </form>
    </section>
  );
}

function One({ f }: { f: InvestigationFinding }) {
  const { now } = useFrame();
  return (
    <li>
      <span className="faint" title={exact(f.createdAt)}>
        {ago(f.createdAt, now)}
      </span>
      <div>
        <span>{block(f.text ?? "", 2000)}</span>
        {f.value !== undefined && (
          <b>
            {count(f.value)} {line(f.unit ?? "", 20)}
          </b>
        )}
        <span className="faint">{line(f.createdBy ?? "", 60)}</span>
        {f.call && (
          <details>
            <summary className="faint">{line(f.call, 100)}</summary>
            <pre>{block(JSON.stringify(f.request ?? {}, null, 2), 8192)}</pre>
          </details>
        )}
      </div>
    </li>
  );
}

function Conclusion({ of: i, save, busy }: { of: Data; save: (text: string, status?: Status) => void; busy: boolean }) {
  const [text, setText] = useState(i.conclusion ?? "");
  const dirty = text !== (i.conclusion ?? "");
  return (
    <section className="panel">
      <header>
        <h2>Conclusion</h2>
      </header>
      <form
        className="body part"
        onSubmit={(e) => {
          e.preventDefault();
          save(text, i.status === "investigating" && text.trim() ? "diagnosed" : undefined);
        }}
      >
        <textarea
          className="field"
          rows={8}
          aria-label="Conclusion"
          placeholder="What it was, and what ends it. Markdown."
          value={text}
          onChange={(e) => setText(e.target.value)}
        />
        <div className="row">
          <span className="grow" />
          <button type="submit" className="button primary" disabled={!dirty || busy}>
            {i.status === "investigating" ? "Save as diagnosed" : "Save"}
          </button>
        </div>
      </form>
    </section>
  );
}

function HandOver({ of: i, close }: { of: Data; close: () => void }) {
  const [to, setTo] = useState("");
  const members = useCall("OrganizationService/ListMembers", { limit: 100 });
  const update = useAct("InvestigationsService/UpdateInvestigation", close);
  return (
    <Dialog title="Hand over" close={close}>
      <form
        className="part"
        onSubmit={(e) => {
          e.preventDefault();
          update.mutate({ id: i.id ?? "", assignee: to.trim() });
        }}
      >
        <Field label="Goes on with it" hint="A member, or the name of an agent." error={errorOf(update.error, "assignee")}>
          {(c) => (
            <>
              <input
                {...c}
                className="field"
                required
                {...atMost(UpdateInvestigationRequest_assignee)}
                list="members"
                value={to}
                onChange={(e) => setTo(e.target.value)}
              />
              <datalist id="members">
                {(members.data?.data ?? []).map((m) => (
                  <option key={m.id} value={m.name || m.email} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <FormError error={update.error} fields={["assignee"]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={update.isPending}>
            Hand over
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Report({ id, close }: { id: string; close: () => void }) {
  const report = useCall("InvestigationsService/GetInvestigationReport", { id }, { keep: false });
  return (
    <Dialog title="Report" wide close={close}>
      <Load of={report} lines={6}>
        {(r) => (
          <>
            <pre className="report" tabIndex={0} aria-label="Report as Markdown">
              {block(r.markdown ?? "", 200_000)}
            </pre>
            <div className="row">
              <span className="grow" />
              <Copy text={r.markdown ?? ""} label="Copy the Markdown" />
              <button type="button" className="button" onClick={close}>
                Close
              </button>
            </div>
          </>
        )}
      </Load>
    </Dialog>
  );
}
