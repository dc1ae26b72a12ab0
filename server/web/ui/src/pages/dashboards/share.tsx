import { useState } from "react";
import { useAct, useCall } from "../../frame/session";
import type { Dashboard, DashboardShare, Widget } from "../../gen/api";
import { Confirm, Dialog } from "../../parts/dialog";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Copy, Load } from "../../parts/states";
import { stamp } from "../../parts/time";

const modes = [
  ["public", "Everyone who has the link"],
  ["org", "People who are signed in to the organization"],
] as const;

/** Share makes, changes, renews and ends the link of a dashboard, or of one of its widgets. */
export default function Share({ board, widget, close }: { board: Dashboard; widget?: Widget; close: () => void }) {
  const id = board.id ?? "";
  const widgetId = widget?.id ?? "";
  const all = useCall("DashboardsService/ListDashboardShares", { id });
  const links = all.data?.shares ?? [];
  const whole = links.find((s) => !s.widgetId);
  const mine = widget ? links.find((s) => s.widgetId === widgetId) : whole;
  return (
    <Dialog title={`Share ${line((widget ? widget.display?.title || widgetId : board.name) ?? "", 100)}`} close={close}>
      <Load of={all} lines={3}>
        {() => (
          <div className="w-stack">
            {widget && !whole && (
              <p className="warn">
                The link of a widget works only while the dashboard itself is shared, and never shows more than that link may. Share the
                dashboard first.
              </p>
            )}
            <Link id={id} widgetId={widgetId} link={mine} about={widget ? "widget" : "dashboard"} />
            {!widget && links.filter((s) => s.widgetId).length > 0 && (
              <p className="faint">
                {links.filter((s) => s.widgetId).length} widgets have links of their own:{" "}
                {links
                  .filter((s) => s.widgetId)
                  .map((s) => line((board.widgets ?? []).find((w) => w.id === s.widgetId)?.display?.title || s.widgetId || "", 60))
                  .join(", ")}
                .
              </p>
            )}
          </div>
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

/** embedOf is the text with which another page shows a public widget. */
export const embedOf = (address: string, title: string): string =>
  `<iframe src="${address}" title="${title.replace(/[&"<>]/g, (c) => `&#${c.charCodeAt(0)};`)}" width="100%" height="360" frameborder="0" loading="lazy" referrerpolicy="no-referrer"></iframe>`;

function Link({
  id,
  widgetId,
  link,
  about,
}: {
  id: string;
  widgetId: string;
  link: DashboardShare | undefined;
  about: "dashboard" | "widget";
}) {
  const [ask, setAsk] = useState<"" | "rotate" | "revoke">("");
  const set = useAct(widgetId ? "DashboardsService/UpsertDashboardWidgetShare" : "DashboardsService/UpsertDashboardShare");
  const rotate = useAct(widgetId ? "DashboardsService/RotateDashboardWidgetShare" : "DashboardsService/RotateDashboardShare", () =>
    setAsk(""),
  );
  const revoke = useAct(widgetId ? "DashboardsService/RevokeDashboardWidgetShare" : "DashboardsService/RevokeDashboardShare", () =>
    setAsk(""),
  );
  const of = { id, ...(widgetId ? { widgetId } : {}) } as never;
  if (!link) {
    return (
      <>
        <p>It is not shared. Readers of a link see the drawings and the data, not the queries, filters or statements.</p>
        <div className="row wrap">
          {modes.map(([mode, name]) => (
            <button
              key={mode}
              type="button"
              className="button"
              disabled={set.isPending}
              onClick={() => set.mutate({ ...(of as object), mode } as never)}
            >
              {name}
            </button>
          ))}
        </div>
        <FormError error={set.error} />
      </>
    );
  }
  const address = `${location.origin}/share/${link.token ?? ""}`;
  const embeds = about === "widget" && link.mode === "public";
  return (
    <>
      <div className="formfield">
        <label htmlFor="share-address">Link</label>
        <div className="row">
          <input id="share-address" className="field mono grow" readOnly value={address} onFocus={(e) => e.target.select()} />
          <Copy text={address} label="Copy link" />
        </div>
        <p className="faint">
          Since {stamp(link.createdAt)}
          {link.updatedAt !== link.createdAt ? `, changed ${stamp(link.updatedAt)}` : ""}.
        </p>
      </div>
      <fieldset className="w-plainset">
        <legend>Readers</legend>
        {modes.map(([mode, name]) => (
          <label key={mode} className="row">
            <input
              type="radio"
              name="mode"
              checked={link.mode === mode}
              disabled={set.isPending}
              onChange={() => set.mutate({ ...(of as object), mode } as never)}
            />{" "}
            {name}
          </label>
        ))}
      </fieldset>
      {embeds ? (
        <div className="formfield">
          <label htmlFor="share-embed">Embed in another page</label>
          <textarea
            id="share-embed"
            className="field mono"
            rows={3}
            readOnly
            value={embedOf(address, line("svc", 40))}
            onFocus={(e) => e.target.select()}
          />
          <div className="row">
            <Copy text={embedOf(address, "svc")} label="Copy code" />
          </div>
        </div>
      ) : (
        <p className="faint">
          {about === "dashboard"
            ? "Other pages can embed a widget with a public link of its own; a whole dashboard opens in a tab only."
            : "Only a public link can be embedded in another page."}
        </p>
      )}
      <div className="row wrap">
        <button type="button" className="button" onClick={() => setAsk("rotate")}>
          New token
        </button>
        <button type="button" className="button danger" onClick={() => setAsk("revoke")}>
          Stop sharing
        </button>
        <a className="button" href={address} target="_blank" rel="noreferrer">
          Open as a reader
        </a>
      </div>
      <FormError error={set.error ?? rotate.error ?? revoke.error} />
      {ask === "rotate" && (
        <Confirm
          title="Give the link a new token?"
          act="New token"
          busy={rotate.isPending}
          close={(yes) => (yes ? rotate.mutate(of) : setAsk(""))}
        >
          <p>The present link stops working at once, also where it is embedded.</p>
        </Confirm>
      )}
      {ask === "revoke" && (
        <Confirm title="Stop sharing?" act="Stop sharing" busy={revoke.isPending} close={(yes) => (yes ? revoke.mutate(of) : setAsk(""))}>
          <p>The link stops working at once{about === "dashboard" ? ", and so do the links of its widgets" : ""}.</p>
        </Confirm>
      )}
    </>
  );
}
