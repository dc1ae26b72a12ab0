import { useState } from "react";
import { useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { CreateCustomIngestKeyRequest } from "../../gen/api";
import { CreateCustomIngestKeyRequest_rate_limit_per_second } from "../../gen/limits";
import { keysOf } from "../../parts/choices";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Copy, Empty, Load } from "../../parts/states";
import { ago, stamp } from "../../parts/time";
import { Pages, Secret, useConfirm } from "./parts";

type Signal = NonNullable<CreateCustomIngestKeyRequest["allowedSignals"]>[number];
const signals = keysOf<Signal>({ traces: 1, logs: 1, metrics: 1, sessions: 1, events: 1 });

/** IngestKeys shows the two keys that every organization has, and the keys for single senders with their own limits. */
export function IngestKeys() {
  const { org, now } = useFrame();
  const admin = org.role === "org:admin";
  const after = useAddress().searchParams.get("after");
  const pair = useCall("IngestKeysService/GetIngestKeys", {});
  const found = useCall("IngestKeysService/ListCustomIngestKeys", { limit: 50, ...(after ? { cursor: after } : {}) });
  const [secret, setSecret] = useState("");
  const [making, setMaking] = useState(false);
  const rollPublic = useAct("IngestKeysService/RollPublicIngestKey", () => sure.done());
  const rollPrivate = useAct("IngestKeysService/RollPrivateIngestKey", (k) => {
    sure.done();
    setSecret(k.privateKey ?? "");
  });
  const roll = useAct("IngestKeysService/RollCustomIngestKey", (k) => {
    sure.done();
    setSecret(k.secret ?? "");
  });
  const update = useAct("IngestKeysService/UpdateCustomIngestKey");
  const remove = useAct("IngestKeysService/DeleteCustomIngestKey", () => sure.done());
  const acts = [rollPublic, rollPrivate, roll, remove];
  const sure = useConfirm(
    acts.find((a) => a.error)?.error ?? null,
    acts.some((a) => a.isPending),
  );
  return (
    <>
      <section className="panel">
        <header>
          <h2>Keys of the organization</h2>
        </header>
        <Load of={pair}>
          {(k) => (
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col" className="w110">
                    Kind
                  </th>
                  <th scope="col">Key</th>
                  <th scope="col" className="w160">
                    Changed
                  </th>
                  <th scope="col" className="w160">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {(
                  [
                    ["Public", k.publicKey, k.publicRotatedAt, "for browsers and mobile apps", () => rollPublic.mutate({})],
                    ["Private", k.privateKey, k.privateRotatedAt, "for servers and collectors", () => rollPrivate.mutate({})],
                  ] as const
                ).map(([kind, key, at, use, run]) => (
                  <tr key={kind}>
                    <td>
                      <b>{kind}</b>
                    </td>
                    <td className="free">
                      <code>{key || "not shown to you"}</code> <span className="faint">{use}</span>
                    </td>
                    <td className="faint">{at ? ago(at, now) : "never"}</td>
                    <td>
                      <span className="row">
                        {key && !key.endsWith("...") && <Copy text={key} />}
                        {admin && (
                          <button
                            type="button"
                            className="button small"
                            aria-label={`Replace the ${kind.toLowerCase()} key`}
                            onClick={() =>
                              sure.ask({
                                title: `Replace the ${kind.toLowerCase()} key?`,
                                act: "Replace",
                                text: "Senders with the present key are refused at once.",
                                run,
                              })
                            }
                          >
                            Replace
                          </button>
                        )}
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Load>
      </section>
      <section className="panel">
        <header>
          <h2 className="grow">Keys of single senders</h2>
          {admin && (
            <button type="button" className="button primary" onClick={() => setMaking(true)}>
              New key
            </button>
          )}
        </header>
        <FormError error={update.error} />
        <Load
          of={found}
          empty={(d) =>
            !d.data?.length &&
            !after && (
              <Empty title="No key of a single sender">
                <p>Such a key has signals, a rate and attributes of its own, and ends alone.</p>
              </Empty>
            )
          }
        >
          {(d) => (
            <>
              <table className="data fold">
                <thead>
                  <tr>
                    <th scope="col">Key</th>
                    <th scope="col">Signals</th>
                    <th scope="col" className="num w110">
                      Rate
                    </th>
                    <th scope="col" className="w160">
                      Last used
                    </th>
                    <th scope="col" className="w200">
                      Ends
                    </th>
                    <th scope="col" className="w80">
                      <span className="sr">Act</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {(d.data ?? []).map((k) => (
                    <tr key={k.id}>
                      <td>
                        <b>{line(k.name ?? "", 100)}</b> <code className="faint">{k.keyPrefix}</code>{" "}
                        {!k.enabled && <span className="bad">off</span>}
                      </td>
                      <td className="faint">{k.allowedSignals?.length ? k.allowedSignals.join(", ") : "all"}</td>
                      <td className="num faint">{k.rateLimitPerSecond ? `${k.rateLimitPerSecond}/s` : "–"}</td>
                      <td className="faint">{k.lastUsedAt ? ago(k.lastUsedAt, now) : "never"}</td>
                      <td className="faint">{k.expiresAt ? stamp(k.expiresAt) : "never"}</td>
                      <td>
                        {admin && (
                          <Menu
                            label={`Change ${line(k.name ?? "", 80)}`}
                            items={[
                              {
                                name: k.enabled ? "Switch off" : "Switch on",
                                act: () => update.mutate({ id: k.id ?? "", enabled: !k.enabled, updateMask: "enabled" }),
                              },
                              {
                                name: "New secret",
                                act: () =>
                                  sure.ask({
                                    title: `A new secret for ${line(k.name ?? "", 80)}?`,
                                    act: "New secret",
                                    text: "The present secret ends at once.",
                                    run: () => roll.mutate({ id: k.id ?? "" }),
                                  }),
                              },
                              {
                                name: "Delete",
                                danger: true,
                                act: () =>
                                  sure.ask({
                                    title: `Delete ${line(k.name ?? "", 80)}?`,
                                    act: "Delete",
                                    text: "Senders with this key are refused at once.",
                                    run: () => remove.mutate({ id: k.id ?? "" }),
                                  }),
                              },
                            ]}
                          >
                            ⋯
                          </Menu>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <Pages more={d.hasMore} next={d.nextCursor} after={after} />
            </>
          )}
        </Load>
      </section>
      {sure.dialog}
      {making && (
        <NewKey
          close={() => setMaking(false)}
          made={(s) => {
            setMaking(false);
            setSecret(s);
          }}
        />
      )}
      {secret && <Secret title="The secret of the key" secret={secret} close={() => setSecret("")} />}
    </>
  );
}

function NewKey({ close, made }: { close: () => void; made: (secret: string) => void }) {
  const create = useAct("IngestKeysService/CreateCustomIngestKey", (k) => made(k.secret ?? ""));
  return (
    <Dialog title="New ingest key" close={close} hold>
      <form
        className="settingsform"
        onSubmit={(e) => {
          e.preventDefault();
          const d = new FormData(e.currentTarget);
          const chosen = d.getAll("signal") as Signal[];
          const rate = Number(d.get("rate"));
          create.mutate({
            name: String(d.get("name") ?? ""),
            enabled: true,
            ...(chosen.length < signals.length ? { allowedSignals: chosen } : {}),
            ...(rate ? { rateLimitPerSecond: rate } : {}),
          });
        }}
      >
        <Field label="Name" error={errorOf(create.error, "name")}>
          {(c) => <input {...c} className="field" name="name" required autoComplete="off" />}
        </Field>
        <fieldset className="row signals">
          <legend>Signals</legend>
          {signals.map((s) => (
            <label key={s}>
              <input type="checkbox" name="signal" value={s} defaultChecked /> {s}
            </label>
          ))}
        </fieldset>
        <Field
          label="Requests a second"
          hint="Left out, only the limits of the organization hold."
          error={errorOf(create.error, "rate_limit_per_second")}
        >
          {(c) => <input {...c} className="field" name="rate" type="number" {...CreateCustomIngestKeyRequest_rate_limit_per_second} />}
        </Field>
        <FormError error={create.error} fields={["name", "rate_limit_per_second"]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}
