import { useEffect, useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { ChatConnector, ChatWorkspace } from "../../gen/api";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { useConfirm } from "./parts";

/** words are those of a chat service. */
const words: Record<string, { workspace: string; answers: string; end: string }> = {
  slack: { workspace: "workspace", answers: "in a thread", end: "The access of the app ends at Slack" },
  discord: { workspace: "server", answers: "as answers to it", end: "The app leaves the server at Discord" },
};

/** Chats lists the chat services with their workspaces, and the identity of the person there. */
export function Chats({ next }: { next: Record<string, string | undefined> }) {
  const [reading, setReading] = useState(false);
  const found = useCall("ChatConnectorsService/ListChatConnectors", {}, { every: reading ? 3_000 : 15_000 });
  // The first reading of a new workspace is waited for.
  const unread = (found.data?.data ?? []).some((c) => c.workspaces?.some((w) => w.status === "connected" && !w.syncedAt && !w.error));
  useEffect(() => setReading(unread), [unread]);
  return (
    <Load of={found} empty={() => null}>
      {(d) => (
        <>
          {(d.data ?? []).map((c) => (
            <Chat key={c.id} of={c} next={next[c.id ?? ""] ?? ""} />
          ))}
        </>
      )}
    </Load>
  );
}

function Chat({ of, next }: { of: ChatConnector; next: string }) {
  const { org } = useFrame();
  const admin = org.role === "org:admin";
  const install = useAct("ChatConnectorsService/InstallChatConnector");
  const link = useAct("ChatConnectorsService/StartChatIdentityLink");
  const unlink = useAct("ChatConnectorsService/DeleteChatIdentity");
  const remove = useAct("ChatConnectorsService/DeleteChatWorkspace", () => sure.done());
  const sure = useConfirm(remove.error, remove.isPending);
  const leave = { onSuccess: (r: { url?: string }) => r.url && window.location.assign(r.url) };
  const connect = (): void => install.mutate({ connector: of.id ?? "" }, leave);
  const workspaces = of.workspaces ?? [];
  const word = words[of.id ?? ""] ?? words["slack"]!;
  return (
    <section className="panel">
      <header>
        <h2 className="grow">{of.name}</h2>
        {admin && of.available && (
          <button type="button" className="button primary" disabled={install.isPending} onClick={connect}>
            Connect a {word.workspace}
          </button>
        )}
      </header>
      <p className="fine">
        Send alerts to channels: one message for each incident, with reminders and its end {word.answers}. The app reads no messages.
      </p>
      <FormError error={install.error ?? link.error ?? unlink.error} />
      {workspaces.length === 0 ? (
        <Empty title={of.available ? `No ${word.workspace} connected` : "Not set up on this server"}>
          <p>{next}</p>
        </Empty>
      ) : (
        <table className="data fold">
          <thead>
            <tr>
              <th scope="col">{word.workspace === "server" ? "Server" : "Workspace"}</th>
              <th scope="col">State</th>
              <th scope="col">Channel of new destinations</th>
              <th scope="col" className="w80">
                <span className="sr">Act</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {workspaces.map((w) => (
              <Workspace
                key={w.id}
                of={w}
                again={connect}
                remove={() =>
                  sure.ask({
                    title: `Disconnect ${line(w.name ?? "", 80)}?`,
                    act: "Disconnect",
                    text: `Messages to its channels fail from then on. ${word.end}, unless another organization here uses the ${word.workspace}.`,
                    run: () => remove.mutate({ id: w.id ?? "" }),
                  })
                }
              />
            ))}
          </tbody>
        </table>
      )}
      {workspaces.length > 0 && of.supportsIdentity && (
        <p className="row auditbar">
          <span className="grow">
            {of.identity ? (
              <>
                You are <b>{line(of.identity.displayName ?? of.identity.externalUserId ?? "", 100)}</b> at {of.name}.
              </>
            ) : (
              <span className="faint">Your account here and your person at {of.name} are not linked.</span>
            )}
          </span>
          {of.identity ? (
            <button
              type="button"
              className="button small"
              disabled={unlink.isPending}
              onClick={() => unlink.mutate({ connector: of.id ?? "" })}
            >
              Unlink
            </button>
          ) : (
            <button
              type="button"
              className="button small"
              disabled={link.isPending}
              onClick={() => link.mutate({ connector: of.id ?? "" }, leave)}
            >
              Link my identity
            </button>
          )}
        </p>
      )}
      {sure.dialog}
    </section>
  );
}

/** changed are the settings of a workspace with another value of one; an empty value removes it. All of them are sent. */
function changed(settings: Record<string, string> | undefined, name: string, value: string) {
  const { [name]: _, ...others } = settings ?? {};
  return value ? { ...others, [name]: value } : others;
}

function Workspace({ of, again, remove }: { of: ChatWorkspace; again: () => void; remove: () => void }) {
  const { org, now } = useFrame();
  const admin = org.role === "org:admin";
  const usable = of.status === "connected" || of.status === "error";
  const channels = useCall(
    "ChatConnectorsService/ListChatWorkspaceDestinations",
    { id: of.id ?? "" },
    { enabled: admin && usable && !!of.syncedAt },
  );
  const update = useAct("ChatConnectorsService/UpdateChatWorkspace");
  const chosen = of.settings?.["default_channel"] ?? "";
  const pictures = of.settings?.["pictures"] !== "off";
  const turnPictures = () =>
    update.mutate({ id: of.id ?? "", settings: changed(of.settings, "pictures", pictures ? "off" : ""), updateMask: "settings" });
  const list = channels.data?.destinations ?? [];
  return (
    <tr>
      <td className="free">
        <b>{line(of.name ?? "", 100)}</b> <span className="faint">{line(of.externalWorkspaceId ?? "", 40)}</span>
      </td>
      <td className="free">
        <span className={of.status === "connected" ? "good" : "bad"}>{(of.status ?? "").replaceAll("_", " ")}</span>{" "}
        {of.syncedAt && (
          <span className="faint" title={exact(of.syncedAt)}>
            read {ago(of.syncedAt, now)}
          </span>
        )}
        {of.error && <span className="bad"> · {line(of.error, 200)}</span>}
      </td>
      <td>
        {admin && usable ? (
          <>
            <select
              className="field"
              aria-label={`Channel of new destinations in ${line(of.name ?? "", 80)}`}
              value={chosen}
              disabled={update.isPending || !channels.data}
              onChange={(e) =>
                update.mutate({
                  id: of.id ?? "",
                  settings: changed(of.settings, "default_channel", e.target.value),
                  updateMask: "settings",
                })
              }
            >
              <option value="">None</option>
              {chosen && !list.some((c) => c.id === chosen) && <option value={chosen}>{chosen}</option>}
              {list.map((c) => (
                <option key={c.id} value={c.id}>
                  #{line(c.name ?? "", 80)}
                </option>
              ))}
            </select>
            <FormError error={update.error ?? channels.error} />
          </>
        ) : (
          <span className="faint">{list.find((c) => c.id === chosen)?.name ?? chosen}</span>
        )}
      </td>
      <td>
        {admin && (
          <Menu
            label={`More about ${line(of.name ?? "", 80)}`}
            items={[
              ...(usable ? [{ name: pictures ? "Leave out pictures" : "Show pictures", act: turnPictures }] : []),
              { name: "Connect again", act: again },
              { name: "Disconnect", danger: true, act: remove },
            ]}
          >
            ⋯
          </Menu>
        )}
      </td>
    </tr>
  );
}
