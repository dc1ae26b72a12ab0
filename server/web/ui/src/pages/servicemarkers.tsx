import { useState } from "react";
import { useAct } from "../frame/session";
import type { Marker } from "../gen/api";
import { CreateMarkerRequest_title } from "../gen/limits";
import { Dialog } from "../parts/dialog";
import { errorOf, Field, FormError } from "../parts/form";
import { line } from "../parts/format";
import { atMost } from "../parts/length";
import { Menu } from "../parts/menu";
import { ago, control, exact, fromControl, iso } from "../parts/time";
import { useConfirm } from "./settings/parts";

const kinds = { deploy: "Deployment", flag: "Feature flag", configuration: "Configuration", note: "Note" } as const;
type Kind = keyof typeof kinds;
const fields = ["title", "kind", "url", "occurred_at"];

/** Markers lists the changes that people and pipelines reported, and takes new ones. */
export function Markers({ all, service, environment, now }: { all: Marker[]; service: string; environment: string; now: number }) {
  const [form, setForm] = useState<Marker | "new" | null>(null);
  const remove = useAct("MarkersService/DeleteMarker", () => sure.done());
  const sure = useConfirm(remove.error, remove.isPending);
  return (
    <>
      {all.length > 0 && (
        <ul className="list">
          {all.map((m) => (
            <li key={m.id}>
              <span className="chip">{m.kind}</span>
              <Title of={m} />
              <span className="faint" title={exact(m.occurredAt)}>
                {ago(m.occurredAt, now)}
              </span>
              <Menu
                label={`Change ${line(m.title ?? "", 80)}`}
                items={[
                  { name: "Edit", act: () => setForm(m) },
                  {
                    name: "Delete",
                    danger: true,
                    act: () =>
                      sure.ask({
                        title: `Delete ${line(m.title ?? "", 80)}?`,
                        act: "Delete",
                        text: "Charts and incidents do not show it any more.",
                        run: () => remove.mutate({ id: m.id ?? "" }),
                      }),
                  },
                ]}
              >
                ⋯
              </Menu>
            </li>
          ))}
        </ul>
      )}
      <p className="fine">
        {all.length === 0 && "Nobody reported a change. "}Pipelines and flag services report changes with <code>POST /v2/markers</code>.{" "}
        <button type="button" className="button small" onClick={() => setForm("new")}>
          Report a change
        </button>
      </p>
      {sure.dialog}
      {form && (
        <MarkerForm of={form === "new" ? undefined : form} service={service} environment={environment} close={() => setForm(null)} />
      )}
    </>
  );
}

function Title({ of: m }: { of: Marker }) {
  const title = line(m.title ?? "", 200);
  const safe = /^https?:\/\//.test(m.url ?? "");
  return (
    <b className="clip grow">
      {safe ? (
        <a href={m.url} target="_blank" rel="noreferrer">
          {title}
        </a>
      ) : (
        title
      )}
    </b>
  );
}

type FormProps = { of: Marker | undefined; service: string; environment: string; close: () => void };

function MarkerForm({ of, service, environment, close }: FormProps) {
  const create = useAct("MarkersService/CreateMarker", close);
  const update = useAct("MarkersService/UpdateMarker", close);
  const { error, isPending } = of ? update : create;
  const save = (d: FormData): void => {
    const text = (name: string): string => String(d.get(name) ?? "").trim();
    const body = {
      kind: text("kind") as Kind,
      title: text("title"),
      url: text("url"),
      occurredAt: iso(fromControl(text("occurred_at"))),
    };
    if (of) update.mutate({ ...body, id: of.id ?? "", updateMask: "kind,title,url,occurredAt" });
    else create.mutate({ ...body, serviceName: service, ...(environment ? { deploymentEnvironment: environment } : {}) });
  };
  return (
    <Dialog title={of ? "Edit the change" : `Report a change of ${line(service, 60)}`} close={close} hold>
      <form
        className="settingsform"
        onSubmit={(e) => {
          e.preventDefault();
          save(new FormData(e.currentTarget));
        }}
      >
        <Field label="Kind" error={errorOf(error, "kind")}>
          {(c) => (
            <select {...c} className="field" name="kind" defaultValue={of?.kind ?? "note"}>
              {(Object.keys(kinds) as Kind[]).map((k) => (
                <option key={k} value={k}>
                  {kinds[k]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="What changed" error={errorOf(error, "title")}>
          {(c) => (
            <input
              {...c}
              className="field"
              name="title"
              required
              {...atMost(CreateMarkerRequest_title)}
              autoComplete="off"
              defaultValue={of?.title ?? ""}
            />
          )}
        </Field>
        <Field label="When" hint="In the time zone of this browser" error={errorOf(error, "occurred_at")}>
          {(c) => (
            <input
              {...c}
              className="field"
              name="occurred_at"
              type="datetime-local"
              required
              defaultValue={control(of?.occurredAt ? Date.parse(of.occurredAt) : Date.now())}
            />
          )}
        </Field>
        <Field label="Page about it" hint="An address with https://, or nothing" error={errorOf(error, "url")}>
          {(c) => <input {...c} className="field" name="url" autoComplete="off" defaultValue={of?.url ?? ""} />}
        </Field>
        <FormError error={error} fields={fields} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={isPending}>
            {isPending ? "…" : of ? "Save" : "Report"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
