import { useState } from "react";
import { href, Link, navigate } from "../../frame/router";
import { useAct } from "../../frame/session";
import type { CreateDashboardRequest } from "../../gen/api";
import { Dialog } from "../../parts/dialog";
import { Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { documentOf } from "./documents";

/** ImportDialog creates a dashboard from a file. */
export function ImportDialog({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [reason, setReason] = useState("");
  const [result, setResult] = useState<{ id: string; name: string; warnings: string[] } | null>(null);
  const perses = useAct("DashboardsService/ImportExternalDashboard", (d) =>
    setResult({ id: d.dashboard?.id ?? "", name: d.dashboard?.name ?? "", warnings: d.warnings ?? [] }),
  );
  const own = useAct("DashboardsService/CreateDashboard", (d) => navigate(href(`/dashboards/${d.id}`)));
  const send = (): void => {
    const found = documentOf(text);
    if (typeof found === "string") {
      setReason(found);
      return;
    }
    setReason("");
    if (found.kind === "perses") perses.mutate({ dashboard: found.document });
    else own.mutate(found.document as CreateDashboardRequest);
  };
  if (result) {
    return (
      <Dialog title="Imported" close={close} wide>
        <p>
          <b>{line(result.name, 200)}</b> was created
          {result.warnings.length ? `, with ${result.warnings.length} changes:` : "; every part was converted."}
        </p>
        {result.warnings.length > 0 && (
          <ul className="w-warnings">
            {result.warnings.map((w) => (
              <li key={w}>{line(w, 400)}</li>
            ))}
          </ul>
        )}
        <div className="row">
          <span className="grow" />
          <Link className="button primary" href={href(`/dashboards/${result.id}`)}>
            Open it
          </Link>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Import a dashboard" close={close} wide>
      <form
        className="w-stack"
        onSubmit={(e) => {
          e.preventDefault();
          send();
        }}
      >
        <Field label="File" hint="An export of svc, or the JSON of a Perses dashboard.">
          {(c) => (
            <input
              {...c}
              type="file"
              accept=".json,application/json"
              onChange={async (e) => {
                const f = e.target.files?.[0];
                if (f) setText(await f.text());
              }}
            />
          )}
        </Field>
        <Field label="JSON" error={reason}>
          {(c) => (
            <textarea
              {...c}
              className="field mono"
              rows={12}
              spellCheck={false}
              value={text}
              onChange={(e) => {
                setText(e.target.value);
                setReason("");
              }}
            />
          )}
        </Field>
        <FormError error={perses.error ?? own.error} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={!text.trim() || perses.isPending || own.isPending}>
            Import
          </button>
        </div>
      </form>
    </Dialog>
  );
}
