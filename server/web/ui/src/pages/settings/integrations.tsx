import { change, href, Link, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { Integration, SourceConnection } from "../../gen/api";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, exact, stamp } from "../../parts/time";
import { Chats } from "./chats";
import { Hosting } from "./hosting";
import { LogPush } from "./logpush";
import { useConfirm } from "./parts";
import { PlanetScale } from "./planetscale";

const outcomes: Record<string, { text: string; good: boolean }> = {
  connected: { text: "The account is connected. What belongs to it appears within a minute.", good: true },
  linked: { text: "Your identity is linked.", good: true },
  cancelled: { text: "Nothing was connected.", good: false },
  requested: { text: "An owner of the account has to approve the installation. Connect it again after that.", good: false },
  failed: { text: "The account was not connected.", good: false },
};

const access = [
  ["members", "All members read code"],
  ["admins", "Administrators read code"],
  ["off", "Nobody reads code"],
] as const;

/** Integrations lists the providers with their accounts. Accounts are connected and disconnected here, and nowhere else. */
export function Integrations() {
  const p = useAddress().searchParams;
  const result = outcomes[p.get("result") ?? ""];
  const { org } = useFrame();
  const found = useCall("IntegrationsService/ListIntegrations", {}, { every: 15_000 });
  const steps = (rows: Integration[]): Record<string, string | undefined> =>
    Object.fromEntries(rows.filter((i) => !i.id).map((i) => [i.provider ?? "", step(i, org.role === "org:admin")]));
  return (
    <>
      {result && (
        <p className={`notice row ${result.good ? "good" : ""}`} role="status">
          <span className="grow">{result.text}</span>
          <button type="button" className="button small" onClick={() => change({ result: null, integration: null })}>
            Close
          </button>
        </p>
      )}
      <Load of={found} empty={() => null}>
        {(d) => (
          <div className="panels">
            <SourceHost of={(d.data ?? []).filter((i) => i.provider === "github")} />
            <Chats next={steps(d.data ?? [])} />
            <Hosting platform="platform_a" next={steps(d.data ?? []).platform_a ?? ""} />
            <Hosting platform="platform_b" next={steps(d.data ?? []).platform_b ?? ""} />
            <PlanetScale
              available={(d.data ?? []).some((i) => i.provider === "planetscale" && i.status !== "not_configured")}
              next={steps(d.data ?? []).planetscale ?? ""}
            />
            <LogPush />
          </div>
        )}
      </Load>
    </>
  );
}

/** step is the next step with a provider that has no account, in words for this page, which is where accounts are connected. */
function step(of: Integration, admin: boolean): string | undefined {
  if (of.status !== "available") return of.nextAction;
  return admin ? "Connect an account with the button above." : "An administrator of the organization connects an account on this page.";
}

/** SourceHost is GitHub with the connected accounts. */
function SourceHost({ of }: { of: Integration[] }) {
  const { org, now } = useFrame();
  const admin = org.role === "org:admin";
  const found = useCall("SourceHostingService/GetSourceHost", { provider: "github" }, { every: 15_000 });
  const install = useAct("SourceHostingService/InstallSourceHost");
  const update = useAct("SourceHostingService/UpdateSourceConnection");
  const sync = useAct("SourceHostingService/SyncSourceConnection");
  const remove = useAct("SourceHostingService/DisconnectSource", () => sure.done());
  const sure = useConfirm(remove.error, remove.isPending);
  const connect = (): void => install.mutate({ provider: "github" }, { onSuccess: (r) => r.url && window.location.assign(r.url) });
  const lacking = of.find((i) => !i.id);
  const next = lacking && step(lacking, admin);
  return (
    <section className="panel">
      <header>
        <h2 className="grow">GitHub</h2>
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
                                  text: "Its repositories and the copies of their source code are deleted here. The app stays installed at GitHub until its owner removes it.",
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
      {sure.dialog}
    </section>
  );
}

function State({ of, now }: { of: SourceConnection; now: number }) {
  const good = of.status === "connected";
  return (
    <>
      <span className={good ? "good" : "bad"}>{(of.status ?? "").replaceAll("_", " ")}</span>{" "}
      {of.lastSyncAt && (
        <span className="faint" title={exact(stamp(of.lastSyncAt))}>
          read {ago(stamp(of.lastSyncAt), now)}
        </span>
      )}
      {of.error && <span className="bad"> · {line(of.error, 200)}</span>}
    </>
  );
}
