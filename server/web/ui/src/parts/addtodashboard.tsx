import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, call } from "../api/client";
import { href, Link } from "../frame/router";
import { useCall, useFrame } from "../frame/session";
import type { Dashboard, Widget } from "../gen/api";
import { DashboardName } from "../gen/limits";
import { appended } from "../grid/layout";
import { Dialog } from "./dialog";
import { Field, FormError } from "./form";
import { line } from "./format";
import { atMost } from "./length";
import { Load } from "./states";

/** What a page knows about the widget; place and identifier come with the dashboard. */
export type NewWidget = Omit<Widget, "id" | "layout" | "sectionId" | "tabId">;

/** AddToDashboard puts a widget on a dashboard that the person chooses, or on a new one. A page shows it while it is open. */
export function AddToDashboard({ widget, close }: { widget: NewWidget; close: () => void }) {
  const { org } = useFrame();
  const client = useQueryClient();
  const [title, setTitle] = useState(widget.display?.title ?? "");
  const [search, setSearch] = useState("");
  const [busy, setBusy] = useState("");
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [added, setAdded] = useState<{ id: string; name: string } | null>(null);
  const found = useCall("DashboardsService/ListDashboards", { limit: 100 });
  const text = search.trim().toLowerCase();
  const shown = (found.data?.data ?? []).filter((d) => (d.name ?? "").toLowerCase().includes(text)).slice(0, 12);
  const named: NewWidget = { ...widget, display: { ...widget.display, ...(title.trim() ? { title: title.trim() } : {}) } };

  const put = async (board: Dashboard | null): Promise<void> => {
    setBusy(board?.id ?? "new");
    setFailed(null);
    const options = { org: org.id ?? "" };
    try {
      const saved = board
        ? await append(board.id ?? "", named, options)
        : await call(
            "DashboardsService/CreateDashboard",
            { name: search.trim() || title.trim() || "New dashboard", widgets: [appended([], named)] },
            options,
          );
      setAdded({ id: saved.id ?? "", name: saved.name ?? "" });
      await client.invalidateQueries({ queryKey: [org.id] });
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      setFailed(cause);
    } finally {
      setBusy("");
    }
  };
  return (
    <Dialog title={added ? "Added" : "Add to a dashboard"} close={close}>
      {added ? (
        <>
          <p>
            The widget is on <b>{line(added.name, 200)}</b>.
          </p>
          <div className="row">
            <span className="grow" />
            <button type="button" className="button" onClick={close}>
              Stay here
            </button>
            <Link className="button primary" href={href(`/dashboards/${added.id}`)}>
              Open it
            </Link>
          </div>
        </>
      ) : (
        <>
          <Field label="Heading">
            {(c) => <input {...c} className="field" {...atMost(DashboardName)} value={title} onChange={(e) => setTitle(e.target.value)} />}
          </Field>
          <Field label="Dashboard">
            {(c) => (
              <input
                {...c}
                className="field"
                type="search"
                {...atMost(DashboardName)}
                value={search}
                placeholder="Search, or name a new one"
                onChange={(e) => setSearch(e.target.value)}
              />
            )}
          </Field>
          <Load of={found} lines={4}>
            {() => (
              <div className="choices">
                {shown.map((d) => (
                  <button key={d.id} type="button" className="button quiet" disabled={busy !== ""} onClick={() => void put(d)}>
                    <span className="clip grow">{line(d.name ?? "", 200)}</span>
                    <span className="faint">{busy === d.id ? "adding …" : `${d.widgets?.length ?? 0} widgets`}</span>
                  </button>
                ))}
                <button type="button" className="button" disabled={busy !== ""} onClick={() => void put(null)}>
                  New dashboard{search.trim() ? ` “${line(search.trim(), 60)}”` : ""}
                </button>
              </div>
            )}
          </Load>
          <FormError error={failed} />
        </>
      )}
    </Dialog>
  );
}

/** append adds the widget to the dashboard as it is now. When somebody saves in between, it looks again. */
async function append(id: string, widget: NewWidget, options: { org: string }): Promise<Dashboard> {
  for (let attempt = 0; ; attempt++) {
    const now = await call("DashboardsService/GetDashboard", { id }, options);
    const widgets = now.widgets ?? [];
    try {
      return await call(
        "DashboardsService/UpdateDashboard",
        {
          id,
          widgets: [...widgets, appended(widgets, widget)],
          updateMask: "widgets",
          ...(now.updatedAt ? { expectedUpdatedAt: now.updatedAt } : {}),
        },
        options,
      );
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status !== 409 || attempt >= 3) throw cause;
    }
  }
}
