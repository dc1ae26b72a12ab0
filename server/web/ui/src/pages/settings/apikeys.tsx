import { useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import { useAddress } from "../../frame/router";
import { APIKeyMonth, APIKeyQuarter, APIKeyWeek, APIKeyYear } from "../../gen/limits";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { lasts, line } from "../../parts/format";
import { Many } from "../../parts/many";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, stamp } from "../../parts/time";
import { Pages, Secret, useConfirm } from "./parts";

const lives = [APIKeyWeek, APIKeyMonth, APIKeyQuarter, APIKeyYear];

/** ApiKeys lists the keys of programs that read and change the organization. A secret is shown when it is made, and never again. */
export function ApiKeys() {
  const { org, now } = useFrame();
  const admin = org.role === "org:admin";
  const after = useAddress().searchParams.get("after");
  const found = useCall("ApiKeysService/ListApiKeys", { limit: 50, ...(after ? { cursor: after } : {}) });
  const [making, setMaking] = useState(false);
  const [secret, setSecret] = useState("");
  const revoke = useAct("ApiKeysService/RevokeApiKey", () => sure.done());
  const roll = useAct("ApiKeysService/RollApiKey", (k) => {
    sure.done();
    setSecret(k.secret ?? "");
  });
  const sure = useConfirm(revoke.error ?? roll.error, revoke.isPending || roll.isPending);
  return (
    <section className="panel">
      <header>
        <h2 className="grow">API keys</h2>
        {admin && (
          <button type="button" className="button primary" onClick={() => setMaking(true)}>
            New key
          </button>
        )}
      </header>
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length &&
          !after && (
            <Empty title="No API key yet">
              <p>A key lets a program read telemetry, or change dashboards and rules, within its scopes.</p>
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
                  <th scope="col">Scopes</th>
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
                      <span className="faint">
                        {k.kind === "mcp" ? "for assistants" : ""} {line(k.createdByEmail ?? "", 80)}
                      </span>
                    </td>
                    <td className="free faint">{k.scopes?.length ? line(k.scopes.join(", "), 200) : "all"}</td>
                    <td className="faint">{k.lastUsedAt ? ago(k.lastUsedAt, now) : "never"}</td>
                    <td className={k.revoked ? "bad" : "faint"}>
                      {k.revoked ? `revoked ${ago(k.revokedAt, now)}` : k.expiresAt ? stamp(k.expiresAt) : "when it is revoked"}
                    </td>
                    <td>
                      {admin && !k.revoked && (
                        <Menu
                          label={`Change ${line(k.name ?? "", 80)}`}
                          items={[
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
                              name: "Revoke",
                              danger: true,
                              act: () =>
                                sure.ask({
                                  title: `Revoke ${line(k.name ?? "", 80)}?`,
                                  act: "Revoke",
                                  text: "Programs with this key are refused at once.",
                                  run: () => revoke.mutate({ id: k.id ?? "" }),
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
    </section>
  );
}

function NewKey({ close, made }: { close: () => void; made: (secret: string) => void }) {
  const { me } = useFrame();
  const [scopes, setScopes] = useState<string[]>([]);
  const create = useAct("ApiKeysService/CreateApiKey", (k) => made(k.secret ?? ""));
  return (
    <Dialog title="New API key" close={close} hold>
      <form
        className="settingsform"
        onSubmit={(e) => {
          e.preventDefault();
          const d = new FormData(e.currentTarget);
          const seconds = Number(d.get("life"));
          create.mutate({
            name: String(d.get("name") ?? ""),
            kind: d.get("kind") as "standard" | "mcp",
            ...(seconds ? { expiresInSeconds: seconds } : {}),
            ...(scopes.length ? { scopes } : {}),
          });
        }}
      >
        <Field label="Name" error={errorOf(create.error, "name")}>
          {(c) => <input {...c} className="field" name="name" required autoComplete="off" />}
        </Field>
        <Field label="For" error={errorOf(create.error, "kind")}>
          {(c) => (
            <select {...c} className="field" name="kind">
              <option value="standard">A program</option>
              <option value="mcp">An assistant (MCP)</option>
            </select>
          )}
        </Field>
        <Field label="Ends" error={errorOf(create.error, "expires_in_seconds")}>
          {(c) => (
            <select {...c} className="field" name="life" defaultValue={APIKeyQuarter / 1000}>
              {lives.map((ms) => (
                <option key={ms} value={ms / 1000}>
                  {lasts(ms)}
                </option>
              ))}
              <option value={0}>Until it is revoked</option>
            </select>
          )}
        </Field>
        <Many
          label="Scopes"
          hint="As in traces:read or dashboards:write. Without any, the key may do everything."
          values={scopes}
          offers={(me.scopes ?? []).filter((s) => s !== "*")}
          error={errorOf(create.error, "scopes")}
          onChange={setScopes}
        />
        <FormError error={create.error} fields={["name", "kind", "expires_in_seconds", "scopes"]} />
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
