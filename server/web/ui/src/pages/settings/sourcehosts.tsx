import { useState } from "react";

import { href, Link } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { SourceConnection } from "../../gen/api";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { useConfirm } from "./parts";

/** Host has the texts about a source host. */
interface Host {
  provider: string;
  name: string;
  /** What becomes of our access after a disconnect. */
  after: string;
}

/** sourceHosts are the providers of source code. */
export const sourceHosts: Host[] = [
  { provider: "github", name: "GitHub", after: "The app stays installed at GitHub until its owner removes it." },
  { provider: "gitlab", name: "GitLab", after: "Our access is given back at GitLab, and its webhooks no longer reach this server." },
];

const access = [
  ["members", "All members read code"],
  ["admins", "Administrators read code"],
  ["off", "Nobody reads code"],
] as const;

/** SourceHost is a source host with the connected accounts. */
export function SourceHost({ host, next }: { host: Host; next: string }) {
  const { org, now } = useFrame();
  const admin = org.role === "org:admin";
  const found = useCall("SourceHostingService/GetSourceHost", { provider: host.provider }, { every: 15_000 });
  const install = useAct("SourceHostingService/InstallSourceHost");
  const update = useAct("SourceHostingService/UpdateSourceConnection");
  const sync = useAct("SourceHostingService/SyncSourceConnection");
  const remove = useAct("SourceHostingService/DisconnectSource", () => sure.done());
  const sure = useConfirm(remove.error, remove.isPending);
  const connect = (): void => install.mutate({ provider: host.provider }, { onSuccess: (r) => r.url && window.location.assign(r.url) });
  return (
    <section className="panel">
      <header>
        <h2 className="grow">{host.name}</h2>
        {admin && found.data?.available && (
          <button type="button" className="button primary" disabled={install.isPending} onClick={connect}>
            Connect an account
          </button>
        )}
      </header>
      <p className="fine">
        Search, read and compare source code beside its telemetry, and see the runs of CI. The server reads only; every read is in the audit
        log.
      </p>
      <FormError error={install.error ?? update.error ?? sync.error} />
      <Load
        of={found}
        empty={(d) =>
          !d.connections?.length && (
            <Empty title={d.available ? "No account connected" : "Not set up on this server"}>
              <p>{next}</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col">Account</th>
                <th scope="col">State</th>
                <th scope="col">Source code</th>
                <th scope="col" className="w200">
                  <span className="sr">Act</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {(d.connections ?? []).map((c) => (
                <tr key={c.id}>
                  <td className="free">
                    <b>{line(c.accountLogin ?? "", 100)}</b>{" "}
                    <span className="faint">
                      {c.accountType}, {c.limited ? "repositories of the person who connected it" : `${c.repositorySelection} repositories`}
                    </span>
                    {!!c.missingPermissions?.length && <span className="bad"> · not granted: {c.missingPermissions.join(", ")}</span>}
                  </td>
                  <td className="free">
                    <State of={c} now={now} />
                  </td>
                  <td>
                    {admin ? (
                      <select
                        aria-label={`Who reads the source code of ${line(c.accountLogin ?? "", 80)}`}
                        value={c.codeAccess}
                        disabled={update.isPending}
                        onChange={(e) => update.mutate({ id: c.id ?? "", codeAccess: access.find(([key]) => key === e.target.value)?.[0] })}
                      >
                        {access.map(([key, text]) => (
                          <option key={key} value={key}>
                            {text}
                          </option>
                        ))}
                      </select>
                    ) : (
                      access.find(([key]) => key === c.codeAccess)?.[1]
                    )}
                  </td>
                  <td>
                    <span className="row">
                      <Link className="button small" href={href("/settings/repositories")}>
                        Repositories
                      </Link>
                      {admin && (
                        <Menu
                          label={`More about ${line(c.accountLogin ?? "", 80)}`}
                          items={[
                            { name: "Read again now", act: () => sync.mutate({ id: c.id ?? "" }) },
                            { name: "Connect again", act: connect },
                            {
                              name: "Disconnect",
                              danger: true,
                              act: () =>
                                sure.ask({
                                  title: `Disconnect ${line(c.accountLogin ?? "", 80)}?`,
                                  act: "Disconnect",
                                  text: `Its repositories and the copies of their source code are deleted here. ${host.after}`,
                                  run: () => remove.mutate({ id: c.id ?? "" }),
                                }),
                            },
                          ]}
                        >
                          ⋯
                        </Menu>
                      )}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Load>
      {(found.data?.connections ?? []).map((c) => c.webhookUrl && <Webhook key={c.id} of={c} />)}
      {sure.dialog}
    </section>
  );
}

/** Webhook shows the secret address for deliveries about an account on request. */
function Webhook({ of }: { of: SourceConnection }) {
  const [shown, setShown] = useState(false);
  if (!shown)
    return (
      <p className="row auditbar">
        <span className="grow faint">A webhook of a group or project makes changes appear at once.</span>
        <button type="button" className="button small" onClick={() => setShown(true)}>
          Show the secret address for {line(of.accountLogin ?? "", 80)}
        </button>
      </p>
    );
  return (
    <div className="secret fine">
      <p>
        URL <code>{of.webhookUrl}</code>
      </p>
      <p>
        Signing token, or secret token <code>{of.webhookSecret}</code>
      </p>
    </div>
  );
}

function State({ of, now }: { of: SourceConnection; now: number }) {
  const good = of.status === "connected";
  return (
    <>
      <span className={good ? "good" : "bad"}>{(of.status ?? "").replaceAll("_", " ")}</span>{" "}
      {of.lastSyncAt && (
        <span className="faint" title={exact(of.lastSyncAt)}>
          read {ago(of.lastSyncAt, now)}
        </span>
      )}
      {of.error && <span className="bad"> · {line(of.error, 200)}</span>}
    </>
  );
}
