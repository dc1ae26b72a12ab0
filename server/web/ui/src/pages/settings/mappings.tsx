import { useState } from "react";
import { change, href, Link, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { AttributeMapping, CreateAttributeMappingRequest } from "../../gen/api";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { Pages, useConfirm } from "./parts";

const fields = ["name", "source_context", "source_key", "target_key", "operation"];
const places = { span: "the span", resource: "the resource" } as const;
const deletion = "New spans keep the attribute as it is sent. Stored spans do not change.";

/** Mappings lists the attributes that are copied or moved on every span, in the order in which this happens. */
export function Mappings() {
  const { org } = useFrame();
  const admin = org.role === "org:admin";
  const p = useAddress().searchParams;
  const after = p.get("after");
  const found = useCall("AttributeMappingsService/ListAttributeMappings", { limit: 50, ...(after ? { cursor: after } : {}) });
  const update = useAct("AttributeMappingsService/UpdateAttributeMapping");
  const remove = useAct("AttributeMappingsService/DeleteAttributeMapping", () => sure.done());
  const sure = useConfirm(remove.error, remove.isPending);
  const editing = found.data?.data?.find((m) => m.id === p.get("edit"));
  const acts = (m: AttributeMapping, name: string) => [
    { name: "Edit", href: href("/settings/attribute-mappings", { edit: m.id }) },
    {
      name: m.enabled ? "Switch off" : "Switch on",
      act: () => update.mutate({ id: m.id ?? "", enabled: !m.enabled, updateMask: "enabled" }),
    },
    {
      name: "Delete",
      danger: true,
      act: () => sure.ask({ title: `Delete ${name}?`, act: "Delete", text: deletion, run: () => remove.mutate({ id: m.id ?? "" }) }),
    },
  ];
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Attribute mappings</h2>
        {admin && (
          <Link className="button primary" href={href("/settings/attribute-mappings", { new: "1" })}>
            New mapping
          </Link>
        )}
      </header>
      <FormError error={update.error} />
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length &&
          !after && (
            <Empty title="No attribute mapping yet">
              <p>A mapping gives an attribute of new spans another name, so that services that name it differently are found together.</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <>
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col">Mapping</th>
                  <th scope="col">From</th>
                  <th scope="col">To</th>
                  <th scope="col" className="w90">
                    State
                  </th>
                  <th scope="col" className="w80">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {(d.data ?? []).map((m) => {
                  const name = line(m.name ?? "", 80);
                  return (
                    <tr key={m.id}>
                      <td className="free">
                        <b>{name}</b> <span className="faint">{m.operation === "move" ? "moves" : "copies"}</span>
                      </td>
                      <td className="free">
                        <code>{line(m.sourceKey ?? "", 200)}</code>{" "}
                        <span className="faint">of {m.sourceContext === "resource" ? places.resource : places.span}</span>
                      </td>
                      <td className="free">
                        <code>{line(m.targetKey ?? "", 200)}</code>
                      </td>
                      <td className={m.enabled ? "good" : "faint"}>{m.enabled ? "✓ on" : "○ off"}</td>
                      <td>
                        {admin && (
                          <Menu label={`Change ${name}`} items={acts(m, name)}>
                            ⋯
                          </Menu>
                        )}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
            <Pages more={d.hasMore} next={d.nextCursor} after={after} />
          </>
        )}
      </Load>
      {sure.dialog}
      {admin && p.get("new") && <MappingForm close={() => change({ new: null, source: null, target: null })} />}
      {admin && editing && <MappingForm key={editing.id} of={editing} close={() => change({ edit: null })} />}
    </section>
  );
}

/** MappingForm makes a mapping, or changes one. A recommendation fills in the names of a new one. */
function MappingForm({ of, close }: { of?: AttributeMapping; close: () => void }) {
  const p = useAddress().searchParams;
  const create = useAct("AttributeMappingsService/CreateAttributeMapping", close);
  const update = useAct("AttributeMappingsService/UpdateAttributeMapping", close);
  const [operation, setOperation] = useState(of?.operation ?? "copy");
  const [place, setPlace] = useState(of?.sourceContext ?? "span");
  const { error } = of ? update : create;
  const source = of?.sourceKey ?? p.get("source") ?? "";
  const save = (d: FormData): void => {
    const text = (name: string): string => String(d.get(name) ?? "").trim();
    const body: CreateAttributeMappingRequest = {
      name: text("name"),
      sourceContext: place,
      sourceKey: text("source_key"),
      targetKey: text("target_key"),
      operation: operation,
    };
    if (of) update.mutate({ ...body, id: of.id ?? "", updateMask: "name,sourceContext,sourceKey,targetKey,operation" });
    else create.mutate(body);
  };
  return (
    <Dialog title={of ? "Change the attribute mapping" : "New attribute mapping"} close={close} hold>
      <form
        className="settingsform"
        onSubmit={(e) => {
          e.preventDefault();
          save(new FormData(e.currentTarget));
        }}
      >
        <Field label="Name" error={errorOf(error, "name")}>
          {(c) => (
            <input
              {...c}
              className="field"
              name="name"
              required
              autoComplete="off"
              defaultValue={of?.name ?? (source && `${source} by its standard name`)}
            />
          )}
        </Field>
        <Field label="Attribute" hint="As in http.url.path" error={errorOf(error, "source_key")}>
          {(c) => <input {...c} className="field" name="source_key" required autoComplete="off" defaultValue={source} />}
        </Field>
        <Field label="It belongs to" error={errorOf(error, "source_context")}>
          {(c) => (
            <select {...c} className="field" value={place} onChange={(e) => setPlace(e.target.value as typeof place)}>
              <option value="span">The span</option>
              <option value="resource">The resource</option>
            </select>
          )}
        </Field>
        <Field
          label="New name"
          hint="A span that already has an attribute of this name keeps its value."
          error={errorOf(error, "target_key")}
        >
          {(c) => (
            <input
              {...c}
              className="field"
              name="target_key"
              required
              autoComplete="off"
              defaultValue={of?.targetKey ?? p.get("target") ?? ""}
            />
          )}
        </Field>
        <Field
          label="Operation"
          hint={operation === "move" && place === "resource" ? "Attributes of a resource are never removed, so this copies." : undefined}
          error={errorOf(error, "operation")}
        >
          {(c) => (
            <select {...c} className="field" value={operation} onChange={(e) => setOperation(e.target.value as typeof operation)}>
              <option value="copy">Copy: both names stay</option>
              <option value="move">Move: the old name is removed</option>
            </select>
          )}
        </Field>
        <p className="faint">It applies to new spans within half a minute.</p>
        <FormError error={error} fields={fields} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || update.isPending}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
