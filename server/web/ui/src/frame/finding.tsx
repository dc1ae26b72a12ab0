import { useState } from "react";
import type { AddInvestigationFindingRequest } from "../gen/api";
import { AddInvestigationFindingRequest_text, CreateInvestigationRequest_title } from "../gen/limits";
import { Dialog } from "../parts/dialog";
import { errorOf, Field, FormError } from "../parts/form";
import { cut, line } from "../parts/format";
import { atMost } from "../parts/length";
import { Load } from "../parts/states";
import { href, Link } from "./router";
import { useAct, useCall } from "./session";

export type Finding = Omit<AddInvestigationFindingRequest, "id">;

/** AddFinding keeps what a page shows in an investigation, with the call that gives it again. */
export function AddFinding({ finding, className = "button small" }: { finding: Finding; className?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={className} onClick={() => setOpen(true)}>
        Keep as a finding
      </button>
      {open && <Ask finding={finding} close={() => setOpen(false)} />}
    </>
  );
}

function Ask({ finding, close }: { finding: Finding; close: () => void }) {
  const [text, setText] = useState(line(finding.text ?? "", 1900));
  const [id, setId] = useState("");
  const [title, setTitle] = useState("");
  const [done, setDone] = useState("");
  const found = useCall("InvestigationsService/ListInvestigations", { limit: 50, status: "investigating" });
  const add = useAct("InvestigationsService/AddInvestigationFinding", (a) => setDone(a.id ?? ""));
  const create = useAct("InvestigationsService/CreateInvestigation", (a) => add.mutate({ id: a.id ?? "", ...finding, text }));
  const error = create.error ?? add.error;
  const fresh = id === "" || !found.data?.data?.some((i) => i.id === id);
  const save = (): void => (fresh ? create.mutate({ title: title || cut(text, 120).kept }) : add.mutate({ id, ...finding, text }));
  if (done) {
    return (
      <Dialog title="Kept" close={close}>
        <p>The finding is in the investigation.</p>
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Close
          </button>
          <Link className="button primary" href={href(`/investigations/${done}`)}>
            Open the investigation
          </Link>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Keep as a finding" close={close}>
      <form
        className="part"
        onSubmit={(e) => {
          e.preventDefault();
          save();
        }}
      >
        <Load of={found}>
          {(d) => (
            <Field label="Investigation">
              {(c) => (
                <select {...c} className="field" value={fresh ? "" : id} onChange={(e) => setId(e.target.value)}>
                  <option value="">a new one</option>
                  {d.data?.map((i) => (
                    <option key={i.id} value={i.id}>
                      {line(i.title ?? "", 120)}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )}
        </Load>
        {fresh && (
          <Field label="Its title" error={errorOf(error, "title")}>
            {(c) => (
              <input
                {...c}
                className="field"
                {...atMost(CreateInvestigationRequest_title)}
                value={title}
                placeholder={cut(text, 100).kept}
                onChange={(e) => setTitle(e.target.value)}
              />
            )}
          </Field>
        )}
        <Field label="Finding" error={errorOf(error, "text")}>
          {(c) => (
            <textarea
              {...c}
              className="field"
              rows={4}
              required
              {...atMost(AddInvestigationFindingRequest_text)}
              value={text}
              onChange={(e) => setText(e.target.value)}
            />
          )}
        </Field>
        <FormError error={error} fields={["title", "text"]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || add.isPending}>
            Keep
          </button>
        </div>
      </form>
    </Dialog>
  );
}
