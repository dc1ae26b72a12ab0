import { useEffect, useState } from "react";
import { href, Link } from "../../frame/router";
import { useCall } from "../../frame/session";
import type { AlertDestination } from "../../gen/api";
import { ListChatWorkspaceDestinationsRequest_q } from "../../gen/limits";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Load } from "../../parts/states";

type Chosen = { workspaceId?: string; channelId?: string };

/** ChannelField chooses a channel of a connected chat workspace. The workspace of a destination never changes. */
export function ChannelField({
  of,
  chosen,
  set,
  error,
}: {
  of?: AlertDestination;
  chosen: Chosen;
  set: (c: Chosen) => void;
  error: string;
}) {
  const connectors = useCall("ChatConnectorsService/ListChatConnectors", {});
  return (
    <Load of={connectors} empty={() => null}>
      {(d) => {
        const services = d.data ?? [];
        const all = services.flatMap((c) => c.workspaces ?? []).filter((w) => w.status === "connected" || w.status === "error");
        const service = (id?: string): string => services.find((c) => c.id === id)?.name ?? "";
        const workspace = all.find((w) => w.id === (of?.chatWorkspaceId ?? chosen.workspaceId)) ?? (of ? undefined : all[0]);
        if (!workspace)
          return (
            <p className="faint">
              {of ? "The workspace of this destination is not connected. " : "No chat workspace is connected. "}
              <Link href={href("/settings/integrations")}>Connect one</Link>
              {error && (
                <span className="bad" role="alert">
                  {" "}
                  {error}
                </span>
              )}
            </p>
          );
        return (
          <>
            {!of && all.length > 1 && (
              <fieldset className="choice">
                <legend>Workspace</legend>
                {all.map((w) => (
                  <label key={w.id}>
                    <input
                      type="radio"
                      name="workspace"
                      checked={w.id === workspace.id}
                      onChange={() => set({ workspaceId: w.id ?? "", channelId: "" })}
                    />{" "}
                    {line(w.name ?? "", 100)} <span className="faint">{service(w.connector)}</span>
                  </label>
                ))}
              </fieldset>
            )}
            <Channels
              key={workspace.id}
              hint={hidden[workspace.connector ?? ""] ?? ""}
              workspace={workspace.id ?? ""}
              name={workspace.name ?? ""}
              first={of ? "" : (workspace.settings?.["default_channel"] ?? "")}
              present={of?.channelLabel ?? ""}
              chosen={chosen.channelId ?? ""}
              pick={(channelId) => set({ workspaceId: workspace.id ?? "", channelId })}
              error={error}
            />
          </>
        );
      }}
    </Load>
  );
}

/** hidden says how a channel that is not listed comes into the list. */
const hidden: Record<string, string> = {
  slack: "A private channel is listed once the app is in it: write /invite with the name of the app there.",
  discord:
    "A channel is listed once its permissions allow the app View Channel, Send Messages and Embed Links. That takes up to an hour; its id works at once.",
};

function Channels(p: {
  hint: string;
  workspace: string;
  name: string;
  first: string;
  present: string;
  chosen: string;
  pick: (id: string) => void;
  error: string;
}) {
  const [typed, setTyped] = useState("");
  const q = useSettled(typed, 300);
  const { first, chosen, pick } = p;
  useEffect(() => {
    if (first && !chosen) pick(first);
  }, [first, chosen, pick]);
  const [reading, setReading] = useState(false);
  const found = useCall("ChatConnectorsService/ListChatWorkspaceDestinations", { id: p.workspace, q }, reading ? { every: 3_000 } : {});
  const unread = !!found.data && !found.data.syncedAt;
  useEffect(() => setReading(unread), [unread]);
  return (
    <fieldset className="choice column">
      <legend>Channel in {line(p.name, 80)}</legend>
      <input
        className="field"
        type="search"
        aria-label="Part of the name, or the id of the channel"
        placeholder="Part of the name, or the id"
        {...atMost(ListChatWorkspaceDestinationsRequest_q)}
        value={typed}
        onChange={(e) => setTyped(e.target.value)}
      />
      <Load of={found} empty={() => null}>
        {(d) => {
          const list = d.destinations ?? [];
          const sorted = [...list.filter((c) => c.id === p.first), ...list.filter((c) => c.id !== p.first)];
          return (
            <>
              {sorted.length === 0 && (
                <p className="faint">{d.syncedAt ? `No such channel. ${p.hint}` : "The channels are being read. This takes a moment."}</p>
              )}
              <div className="choice column channels">
                {sorted.slice(0, 50).map((c) => (
                  <label key={c.id} className="tick">
                    <input type="radio" name="channel" checked={c.id === p.chosen} onChange={() => p.pick(c.id ?? "")} /> #
                    {line(c.name ?? "", 80)} {c.private && <span className="faint">private</span>}
                  </label>
                ))}
              </div>
              {sorted.length > 50 && <p className="faint">{sorted.length - 50} more. Type a part of the name.</p>}
            </>
          );
        }}
      </Load>
      {p.present && !p.chosen && <p className="faint">Now: {line(p.present, 80)}</p>}
      {p.error && (
        <p className="bad" role="alert">
          {p.error}
        </p>
      )}
    </fieldset>
  );
}

/** useSettled is a text that has not changed for a time, so that typing asks once. */
function useSettled(text: string, wait: number): string {
  const [settled, set] = useState(text);
  useEffect(() => {
    const id = window.setTimeout(() => set(text), wait);
    return () => window.clearTimeout(id);
  }, [text, wait]);
  return settled;
}
