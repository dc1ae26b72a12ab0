import { type FormEvent, useState } from "react";
import { Link } from "../frame/router";
import { useAct, useFrame } from "../frame/session";
import type { SavedView } from "../gen/api";
import { DescriptionLength, SavedViewName, SavedViewState } from "../gen/limits";
import { Dialog } from "../parts/dialog";
import { errorOf, Field, FormError } from "../parts/form";
import { block, line } from "../parts/format";
import { atMost, excess } from "../parts/length";
import { Empty, Load } from "../parts/states";
import { addressOf, stateOf, useViews, type ViewPage, viewPages } from "./views";
import "./views.css";

type Props = { page: ViewPage; parameters: Record<string, string>; close: () => void };

/** SaveView saves the page as it is now. */
export function SaveView({ page, parameters, close, saved }: Props & { saved: (name: string) => void }) {
  const { org } = useFrame();
  const create = useAct("SavedViewsService/CreateSavedView", (v) => {
    saved(line(v.name ?? "", 80));
    close();
  });
  const state = stateOf(new URL(location.href), parameters);
  const long = excess(state, SavedViewState);
  const save = (e: FormEvent<HTMLFormElement>): void => {
    e.preventDefault();
    const d = new FormData(e.currentTarget);
    const description = String(d.get("description") ?? "").trim();
    create.mutate({
      page,
      state,
      name: String(d.get("name") ?? ""),
      visibility: d.has("shared") ? "shared" : "private",
      ...(description ? { description } : {}),
    });
  };
  return (
    <Dialog title="Save view" close={close}>
      <form className="saveview" onSubmit={save}>
        <p className="faint">
          It keeps the filter and the layout of {viewPages[page]}
          {new URLSearchParams(state).has("from") ? ", and the window." : ". It opens in the window that is chosen then."}
        </p>
        <Field label="Name" error={errorOf(create.error, "name")}>
          {(c) => <input {...c} className="field" name="name" required pattern=".*\S.*" {...atMost(SavedViewName)} autoComplete="off" />}
        </Field>
        <Field label="Note" error={errorOf(create.error, "description")}>
          {(c) => <textarea {...c} className="field" name="description" rows={2} {...atMost(DescriptionLength)} />}
        </Field>
        <label className="row">
          <input type="checkbox" name="shared" />
          Share it with all members of {line(org.name ?? "", 60)}
        </label>
        {long && (
          <p className="bad" role="alert">
            The page has too much in its address. {long}
          </p>
        )}
        <FormError error={create.error} fields={["name", "description"]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || long !== ""}>
            {create.isPending ? "Saving …" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** ListViews opens, renames, shares and deletes the views of a page. */
export function ListViews({ page, parameters, close }: Props) {
  const found = useViews(page);
  return (
    <Dialog title={`Saved views of ${viewPages[page]}`} close={close}>
      <Load
        of={found}
        empty={(all) =>
          all.length === 0 && (
            <Empty title="No saved views yet">
              <p>“Save view” keeps the filter and the layout of this page under a name.</p>
            </Empty>
          )
        }
      >
        {(all) => (
          <ul className="savedviews">
            {all.map((v) => (
              <Row key={v.id} view={v} parameters={parameters} close={close} />
            ))}
          </ul>
        )}
      </Load>
      <div className="row">
        <span className="grow" />
        <button type="button" className="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Row({ view, parameters, close }: { view: SavedView; parameters: Record<string, string>; close: () => void }) {
  const { me, org } = useFrame();
  const [acting, setActing] = useState<"" | "acts" | "rename" | "delete">("");
  const done = (): void => setActing("");
  const change = useAct("SavedViewsService/UpdateSavedView", done);
  const remove = useAct("SavedViewsService/DeleteSavedView");
  const id = view.id ?? "";
  const name = line(view.name ?? "", 80);
  const mine = view.owner !== undefined && view.owner === me.user?.id;
  const shared = view.visibility === "shared";
  const state = stateOf(new URL(location.href), parameters);
  const long = excess(state, SavedViewState) !== "";
  return (
    <li>
      {acting === "rename" ? (
        <form
          className="row grow"
          onSubmit={(e) => {
            e.preventDefault();
            change.mutate({ id, name: String(new FormData(e.currentTarget).get("name") ?? "") });
          }}
        >
          <input
            className="field grow"
            name="name"
            aria-label={`New name of ${name}`}
            required
            pattern=".*\S.*"
            {...atMost(SavedViewName)}
            defaultValue={view.name}
            autoFocus
          />
          <button type="button" className="button" onClick={done}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={change.isPending}>
            Rename
          </button>
        </form>
      ) : acting === "delete" ? (
        <div className="row grow wrap" role="group" aria-label={`Delete ${name}`}>
          <span className="grow">
            Delete “{name}”{shared ? " for all members" : ""}?
          </span>
          <button type="button" className="button" onClick={done} autoFocus>
            Keep
          </button>
          <button type="button" className="button danger" disabled={remove.isPending} onClick={() => remove.mutate({ id })}>
            Delete
          </button>
        </div>
      ) : (
        <>
          <Link className="grow" href={addressOf(view)} onClick={close}>
            <b className="clip">{name}</b>
            {view.description && <span className="faint note">{block(view.description, 300)}</span>}
          </Link>
          <span className="chip">{shared ? (mine ? "shared by you" : "shared") : "private"}</span>
          {(mine || org.role === "org:admin") && (
            <button
              type="button"
              className="button small quiet"
              aria-label={`Change ${name}`}
              aria-expanded={acting === "acts"}
              onClick={() => setActing(acting === "acts" ? "" : "acts")}
            >
              ⋯
            </button>
          )}
          {acting === "acts" && (
            <div className="row wrap acts" role="group" aria-label={`Change ${name}`}>
              <button type="button" className="button small" onClick={() => setActing("rename")}>
                Rename
              </button>
              {!shared && (
                <button type="button" className="button small" onClick={() => change.mutate({ id, visibility: "shared" })}>
                  Share with all members
                </button>
              )}
              {shared && mine && (
                <button type="button" className="button small" onClick={() => change.mutate({ id, visibility: "private" })}>
                  Make it private
                </button>
              )}
              <button type="button" className="button small" disabled={long} onClick={() => change.mutate({ id, state })}>
                Replace with this page
              </button>
              <button type="button" className="button small danger" onClick={() => setActing("delete")}>
                Delete
              </button>
            </div>
          )}
        </>
      )}
      <FormError error={change.error ?? remove.error} />
    </li>
  );
}
