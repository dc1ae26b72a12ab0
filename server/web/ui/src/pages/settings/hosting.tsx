import { useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { HostingPlatform } from "../../gen/api";
import { ConnectHostingPlatformRequest_team } from "../../gen/limits";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { useConfirm } from "./parts";

/** Hosting is one hosting platform with the connected account and its newest deployments. */
export function Hosting({ platform, next }: { platform: string; next: string }) {
  const found = useCall("HostingPlatformsService/GetHostingPlatform", { platform }, { every: 15_000 });
  return (
    <Load of={found} empty={() => null}>
      {(p) => <Panel of={p} next={next} />}
    </Load>
  );
}

function Panel({ of, next }: { of: HostingPlatform; next: string }) {
  const { org } = useFrame();
  const admin = org.role === "org:admin";
  const platform = of.id ?? "";
  const [asking, setAsking] = useState(false);
  const [note, setNote] = useState("");
  const sync = useAct("HostingPlatformsService/SyncHostingPlatform", (r) =>
    setNote(r.running ? "The synchronization is still running." : (r.platform?.error ?? "Everything was read.")),
  );
  const remove = useAct("HostingPlatformsService/DisconnectHostingPlatform", () => sure.done());
  const sure = useConfirm(remove.error, remove.isPending);
  const account = !!of.integrationId;
  return (
    <section className="panel">
      <header>
        <h2 className="grow">{of.name}</h2>
        {admin && of.available && !account && !asking && (
          <button type="button" className="button primary" onClick={() => setAsking(true)}>
            Connect with a token
          </button>
        )}
      </header>
      <p className="fine">
        Read projects and deployments{platform === "platform_b" ? ", and the state of drains" : ", environments and services"}. The server
        changes nothing there.
      </p>
      {asking && <Token of={of} close={() => setAsking(false)} />}
      {account ? (
        <>
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col">Account</th>
                <th scope="col">State</th>
                <th scope="col">Stored</th>
                <th scope="col" className="w200">
                  <span className="sr">Act</span>
                </th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <td className="free">
                  <b>{line(of.account ?? "", 100)}</b> <span className="faint">{line(of.externalAccountId ?? "", 60)}</span>
                </td>
                <td className="free">
                  <State of={of} />
                </td>
                <td className="free">
                  {of.projects ?? 0} projects, {of.deployments ?? 0} deployments
                  <Drains of={of} />
                </td>
                <td>
                  {admin && (
                    <span className="row">
                      <button
                        type="button"
                        className="button small"
                        disabled={sync.isPending}
                        onClick={() => {
                          setNote("");
                          sync.mutate({ platform });
                        }}
                      >
                        {sync.isPending ? "Reading…" : "Read now"}
                      </button>
                      <Menu
                        label={`More about ${line(of.account ?? "", 80)}`}
                        items={[
                          { name: "Give a new token", act: () => setAsking(true) },
                          {
                            name: "Disconnect",
                            danger: true,
                            act: () =>
                              sure.ask({
                                title: `Disconnect ${line(of.account ?? "", 80)}?`,
                                act: "Disconnect",
                                text: `The token, the projects and the deployments are deleted here. The token stays valid at ${of.name} until its owner deletes it.`,
                                run: () => remove.mutate({ platform }),
                              }),
                          },
                        ]}
                      >
                        ⋯
                      </Menu>
                    </span>
                  )}
                </td>
              </tr>
            </tbody>
          </table>
          {note && (
            <p className="fine" role="status">
              {line(note, 200)}
            </p>
          )}
          <FormError error={sync.error} />
          <Projects platform={platform} />
          <Deployments platform={platform} />
        </>
      ) : (
        !asking && (
          <Empty title={of.available ? "No account connected" : "Switched off on this server"}>
            <p>{next}</p>
          </Empty>
        )
      )}
      {sure.dialog}
    </section>
  );
}

/** Token asks for a token. It is checked at the platform before it is stored, and is never shown again. */
function Token({ of, close }: { of: HostingPlatform; close: () => void }) {
  const connect = useAct("HostingPlatformsService/ConnectHostingPlatform", close);
  const { error } = connect;
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        const d = new FormData(e.currentTarget);
        const text = (name: string): string => String(d.get(name) ?? "").trim();
        connect.mutate({ platform: of.id ?? "", token: text("token"), team: text("team") });
      }}
    >
      <Field label="Token" hint="Stored encrypted, and never shown again." error={errorOf(error, "token")}>
        {(c) => <input {...c} className="field" name="token" type="password" autoComplete="new-password" required />}
      </Field>
      <Field
        label={of.id === "platform_a" ? "Workspace" : "Team"}
        hint={`Its id or ${of.id === "platform_a" ? "name" : "short name"}. Needed if the token sees several.`}
        error={errorOf(error, "team")}
      >
        {(c) => <input {...c} className="field" name="team" autoComplete="off" {...atMost(ConnectHostingPlatformRequest_team)} />}
      </Field>
      <FormError error={error} fields={["token", "team"]} />
      <div className="row">
        <span className="grow" />
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={connect.isPending}>
          Connect
        </button>
      </div>
    </form>
  );
}

function State({ of }: { of: HostingPlatform }) {
  const { now } = useFrame();
  return (
    <>
      <span className={of.status === "connected" ? "good" : "bad"}>{(of.status ?? "").replaceAll("_", " ")}</span>{" "}
      {of.lastSyncAt && (
        <span className="faint" title={exact(of.lastSyncAt)}>
          read {ago(of.lastSyncAt, now)}
        </span>
      )}
      {of.error && <span className="bad"> · {line(of.error, 200)}</span>}
    </>
  );
}

function Drains({ of }: { of: HostingPlatform }) {
  const errors = of.environmentErrors ?? [];
  if (errors.length > 0)
    return (
      <span className="bad">
        {" "}
        · not read:{" "}
        {errors
          .slice(0, 3)
          .map((e) => `${line(e.environment ?? "", 60)} (${line(e.message ?? "", 100)})`)
          .join("; ")}
        {errors.length > 3 ? `; and ${errors.length - 3} more` : ""}
      </span>
    );
  if (of.drainsError) return <span className="faint"> · {line(of.drainsError, 200)}</span>;
  return (
    <>
      {(of.drains ?? []).map((d) => (
        <span key={d.id} className={d.state === "enabled" ? "faint" : "bad"}>
          {" "}
          · drain {line(d.name ?? "", 60)} {d.state}
        </span>
      ))}
    </>
  );
}

/** Projects lists the first projects by name. */
function Projects({ platform }: { platform: string }) {
  const found = useCall("HostingPlatformsService/ListHostingProjects", { platform, limit: 20 }, { every: 60_000 });
  const rows = found.data?.data ?? [];
  if (rows.length === 0) return null;
  return (
    <p className="fine">
      Projects: {rows.map((p) => line(p.name ?? "", 60)).join(", ")}
      {found.data?.hasMore ? ", and more" : ""}
    </p>
  );
}

/** Deployments lists the newest ones. */
function Deployments({ platform }: { platform: string }) {
  const { now } = useFrame();
  const found = useCall("HostingPlatformsService/ListHostingDeployments", { platform, limit: 5 }, { every: 15_000 });
  const rows = found.data?.data ?? [];
  if (rows.length === 0) return null;
  return (
    <table className="data fold">
      <thead>
        <tr>
          <th scope="col">Newest deployments</th>
          <th scope="col">Target</th>
          <th scope="col">State</th>
          <th scope="col">Commit</th>
          <th scope="col">Started</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((d) => (
          <tr key={d.id}>
            <td className="free">
              {d.url ? (
                <a href={d.url} rel="noreferrer noopener" target="_blank">
                  {line(d.projectName ?? "", 80)}
                </a>
              ) : (
                line(d.projectName ?? "", 80)
              )}
              {d.service && <span className="faint"> {line(d.service, 60)}</span>}
            </td>
            <td>{line(d.target ?? "", 40)}</td>
            <td className={d.state === "ready" ? "good" : d.state === "error" ? "bad" : "faint"}>{d.state}</td>
            <td>
              <code>{(d.commitSha ?? "").slice(0, 8)}</code> <span className="faint">{line(d.branch ?? "", 60)}</span>
            </td>
            <td title={exact(d.startedAt)}>{ago(d.startedAt, now)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
