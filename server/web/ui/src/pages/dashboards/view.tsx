import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { useAct, useFrame } from "../../frame/session";
import type { Dashboard, Widget } from "../../gen/api";
import { DashboardName } from "../../gen/limits";
import { keepDraft, readDraft } from "../../grid/drafts";
import { Sections, Shelves } from "../../grid/sections";
import { Tile } from "../../grid/tile";
import { valuesOf, Variables } from "../../grid/variables";
import { Confirm } from "../../parts/dialog";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty } from "../../parts/states";
import { iso, moment } from "../../parts/time";
import { Kiosk, useFull } from "./full";
import { leads, save } from "./leads";
import { exported, useOptions, useReader } from "./reads";
import { useSectionChoice } from "./choice";
import Share from "./share";
import { WidgetMenu } from "./widgetmenu";

export const brush = (start: number, end: number): void => change({ from: iso(start), to: iso(end) });

/** View shows a dashboard to read. */
export function View({ board }: { board: Dashboard }) {
  const { org, refresh } = useFrame();
  const address = useAddress();
  const variables = useMemo(() => board.variables ?? [], [board.variables]);
  const query = address.search;
  // biome-ignore lint: the text of the address decides
  const values = useMemo(() => valuesOf(variables, (n) => address.searchParams.get(`var.${n}`)), [variables, query]);
  const read = useReader(board, variables, values);
  const options = useOptions(board);
  const choice = useSectionChoice();
  const full = useFull();
  const [open, setOpen] = useState<"" | "share" | "delete">("");
  const only = (board.widgets ?? []).find((w) => w.id === address.searchParams.get("widget"));
  const remove = useAct("DashboardsService/DeleteDashboard", () => navigate(href("/dashboards")));
  const copy = useAct("DashboardsService/CreateDashboard", (d) => navigate(href(`/dashboards/${d.id}`)));
  const every = board.refreshIntervalSeconds ?? 0;
  useEffect(() => {
    const seconds = every || (full === "kiosk" ? 30 : 0);
    if (!seconds) return;
    const id = setInterval(() => document.visibilityState === "visible" && refresh(), seconds * 1000);
    return () => clearInterval(id);
  }, [every, full, refresh]);
  const [draft, setDraft] = useState(() => readDraft(org.id ?? "", board.id ?? ""));
  const edit = useCallback(() => change({ edit: "1", widget: null, full: null, kiosk: null }), []);
  useKeys({
    e: edit,
    a: () => change({ edit: "1", add: "1" }),
    V: () => navigate(href(`/dashboards/${board.id}/versions`)),
    f: () => change({ full: full ? null : "1", kiosk: null }),
    F: () => change({ kiosk: full ? null : "15", full: null }),
    Escape: full ? () => change({ full: null, kiosk: null }) : only ? () => change({ widget: null }) : undefined,
  });
  const tile = (w: Widget) => (
    <Tile widget={w} read={read} leads={leads} onBrush={brush} menu={full ? undefined : <WidgetMenu board={board} widget={w} />} />
  );
  return (
    <>
      <div className="pagehead">
        <h1 className="clip" title={line(board.description ?? "", 500)}>
          {only && <Link href={href(`/dashboards/${board.id}`)}>{line(board.name ?? "", 200)}</Link>}
          {only ? ` › ${line(only.display?.title || only.id || "", 200)}` : line(board.name ?? "", 200)}
        </h1>
        {(board.tags ?? []).slice(0, 4).map((t) => (
          <Link key={t} className="chip" href={href("/dashboards", { tag: t })}>
            {line(t, 30)}
          </Link>
        ))}
        {every > 0 && (
          <span className="chip" title="The dashboard asks again by itself.">
            ⟳ {every < 60 ? `${every} s` : `${every / 60} min`}
          </span>
        )}
        <span className="grow" />
        {!full && (
          <>
            <button type="button" className="button w-editing" onClick={edit} title="e">
              Edit
            </button>
            <button type="button" className="button" onClick={() => setOpen("share")}>
              Share
            </button>
            <Menu
              label="More about this dashboard"
              className="button"
              items={[
                { name: "Full screen (f)", act: () => change({ full: "1" }) },
                { name: "Kiosk (⇧f)", act: () => change({ kiosk: "15" }) },
                { name: "Versions (⇧v)", act: () => navigate(href(`/dashboards/${board.id}/versions`)) },
                {
                  name: "Duplicate",
                  act: () =>
                    copy.mutate({ ...exported(board), name: `${(board.name ?? "").slice(0, DashboardName.characters - 7)} (copy)` }),
                },
                {
                  name: "Export as JSON",
                  act: () => save(`${board.name ?? "dashboard"}.json`, "application/json", JSON.stringify(exported(board), null, 2)),
                },
                { name: "Delete", danger: true, act: () => setOpen("delete") },
              ]}
            >
              ⋯
            </Menu>
          </>
        )}
        {full && (
          <button type="button" className="button" onClick={() => change({ full: null, kiosk: null })}>
            Leave {full === "kiosk" ? "kiosk" : "full screen"} (Esc)
          </button>
        )}
      </div>
      <FormError error={copy.error} />
      {draft && !full && (
        <p className="panel w-note row" role="status">
          <span className="grow">You have changes of {moment(draft.at)} that are not saved.</span>
          <button type="button" className="button small" onClick={edit}>
            Go on
          </button>
          <button
            type="button"
            className="button small"
            onClick={() => {
              keepDraft(org.id ?? "", board.id ?? "", null);
              setDraft(null);
            }}
          >
            Discard
          </button>
        </p>
      )}
      <Variables variables={variables} values={values} options={options} onChange={(name, value) => change({ [`var.${name}`]: value })} />
      {only ? (
        <div className="w-alone">{tile(only)}</div>
      ) : (board.widgets ?? []).length === 0 ? (
        <Empty title="This dashboard has no widgets yet">
          <p>Add one here, or use “Add to dashboard” on a chart of another page.</p>
          <button type="button" className="button primary w-editing" onClick={() => change({ edit: "1", add: "1" })}>
            Add a widget
          </button>
        </Empty>
      ) : (
        <Sections
          sections={board.sections ?? []}
          widgets={board.widgets ?? []}
          choice={choice}
          grid={(shelf) => <Shelves widgets={shelf.widgets} tile={tile} />}
        />
      )}
      {full === "kiosk" && <Kiosk sections={board.sections ?? []} choice={choice} />}
      {open === "share" && <Share board={board} close={() => setOpen("")} />}
      {open === "delete" && (
        <Confirm
          title={`Delete ${line(board.name ?? "", 100)}?`}
          act="Delete"
          busy={remove.isPending}
          close={(yes) => (yes ? remove.mutate({ id: board.id ?? "" }) : setOpen(""))}
        >
          <p>Its versions and share links go with it. This cannot be undone.</p>
          <FormError error={remove.error} />
        </Confirm>
      )}
    </>
  );
}

/** useKeys are the keys of a page. They win over those of the frame, but not after `g`, and a key in a field belongs to the field. */
export function useKeys(keys: Record<string, (() => void) | undefined>): void {
  const now = useRef(keys);
  now.current = keys;
  useEffect(() => {
    let before = "";
    const press = (e: KeyboardEvent): void => {
      const target = e.target as HTMLElement;
      if (
        e.metaKey ||
        e.ctrlKey ||
        e.altKey ||
        target.matches?.("input, textarea, select, [contenteditable]") ||
        document.querySelector("dialog[open], [role=menu]")
      )
        return;
      const [leads, act] = [before === "g", now.current[e.key]];
      before = leads ? "" : e.key;
      if (leads || !act) return;
      if (e.key !== "Escape") e.preventDefault();
      e.stopPropagation();
      act();
    };
    window.addEventListener("keydown", press, true);
    return () => window.removeEventListener("keydown", press, true);
  }, []);
}
