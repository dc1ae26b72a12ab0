import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, call } from "../../api/client";
import { change, useAddress } from "../../frame/router";
import { useFrame } from "../../frame/session";
import type { Dashboard, Widget } from "../../gen/api";
import { begun, type History, keepDraft, readDraft, redo, step, undo } from "../../grid/drafts";
import { EditGrid } from "../../grid/editgrid";
import { appended, freshId, type Place } from "../../grid/layout";
import { changedFields, type Definition, definitionOf, same } from "../../grid/merge";
import { homeOf, Sections } from "../../grid/sections";
import { Tile } from "../../grid/tile";
import { valuesOf, Variables } from "../../grid/variables";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty } from "../../parts/states";
import { clock } from "../../parts/time";
import { useSectionChoice } from "./choice";
import { Conflict } from "./conflict";
import { kinds, started } from "./kinds";
import { leads } from "./leads";
import { useOptions, useReader } from "./reads";
import { Settings } from "./settings";
import { brush, useKeys } from "./view";
import { WidgetEditor } from "./widgeteditor";

/** Editor changes a dashboard. What is not saved is kept in the browser. */
export default function Editor({ stored }: { stored: Dashboard }) {
  const { org } = useFrame();
  const client = useQueryClient();
  const address = useAddress();
  const id = stored.id ?? "";
  const [found] = useState(() => readDraft(org.id ?? "", id));
  const [restored, setRestored] = useState(found !== null);
  const [base, setBase] = useState<Dashboard>(found?.base ?? stored);
  const [history, setHistory] = useState<History>(() => begun(found?.now ?? definitionOf(stored)));
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [theirs, setTheirs] = useState<Dashboard | null>(null);
  const [settings, setSettings] = useState(false);
  const now = history.now;
  const dirty = !same(definitionOf(base), now);
  const set = useCallback((next: Definition, kind = "") => setHistory((h) => step(h, next, kind)), []);

  const draft = useRef<() => void>(() => {});
  draft.current = () => keepDraft(org.id ?? "", id, dirty ? { base, now, at: Date.now() } : null);
  // biome-ignore lint: the draft is written after each change
  useEffect(() => {
    const wait = setTimeout(() => draft.current(), 250);
    return () => clearTimeout(wait);
  }, [now, base, dirty]);
  useEffect(() => {
    const leave = (): void => draft.current();
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, []);

  const variables = useMemo(() => now.variables ?? [], [now.variables]);
  const query = address.search;
  // biome-ignore lint: the text of the address decides
  const values = useMemo(() => valuesOf(variables, (n) => address.searchParams.get(`var.${n}`)), [variables, query]);
  const read = useReader(stored, variables, values);
  const options = useOptions(stored);
  const choice = useSectionChoice();
  const focus = address.searchParams.get("focus") ?? "";
  const widgets = now.widgets ?? [];
  const sections = now.sections ?? [];
  const one = widgets.find((w) => w.id === focus);

  const leave = (): void => change({ edit: null, focus: null, add: null });
  const store = async (what: Definition, from: Dashboard): Promise<void> => {
    setBusy(true);
    setFailed(null);
    try {
      const names = changedFields(definitionOf(from), what);
      const saved =
        names.length === 0
          ? from
          : await call(
              "DashboardsService/UpdateDashboard",
              {
                id,
                ...Object.fromEntries(names.map((n) => [n, what[n]])),
                updateMask: names.join(","),
                ...(from.updatedAt ? { expectedUpdatedAt: from.updatedAt } : {}),
              },
              { org: org.id ?? "" },
            );
      keepDraft(org.id ?? "", id, null);
      draft.current = () => {}; // the page may leave before it renders what was saved
      setBase(saved);
      setHistory(begun(definitionOf(saved)));
      setTheirs(null);
      client.setQueryData([org.id, "DashboardsService/GetDashboard", { id }], saved);
      void client.invalidateQueries({ queryKey: [org.id, "DashboardsService/ListDashboards"] });
      void client.invalidateQueries({ queryKey: [org.id, "DashboardsService/ListDashboardVersions"] });
      leave();
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      if (cause.status === 409) setTheirs(await call("DashboardsService/GetDashboard", { id }, { org: org.id ?? "" }));
      else setFailed(cause);
    } finally {
      setBusy(false);
    }
  };
  const act = (which: string, what: "edit" | "duplicate" | "remove"): void => {
    const w = widgets.find((x) => x.id === which);
    if (!w) return;
    if (what === "edit") change({ focus: which });
    else if (what === "remove") set({ ...now, widgets: widgets.filter((x) => x.id !== which) });
    else {
      const { id: _id, ...rest } = w;
      set({
        ...now,
        widgets: [...widgets, appended(widgets, { ...rest, display: { ...w.display, title: `${w.display?.title ?? ""} (copy)`.trim() } })],
      });
    }
  };
  const add = (kind: string): void => {
    const w = appended(widgets, started(kind));
    set({ ...now, widgets: [...widgets, w] });
    change({ focus: w.id ?? "", add: null });
  };
  const addSection = (): void =>
    set({
      ...now,
      sections: [
        ...sections,
        {
          id: freshId(
            "section",
            sections.map((s) => s.id ?? ""),
          ),
          title: "New section",
          collapsible: true,
        },
      ],
    });
  const back = (): void => setHistory(undo);
  const again = (): void => setHistory(redo);
  useCommand({
    s: () => {
      if (dirty && !busy) void store(now, base);
    },
    z: back,
    Z: again,
    y: again,
  });
  useKeys({
    Escape: one ? () => change({ focus: null }) : undefined,
    a: () => document.querySelector<HTMLElement>("[aria-label='Add a widget']")?.click(),
  });

  const place = (moved: Map<string, Place>, kind: string): void =>
    set(
      {
        ...now,
        widgets: widgets.map((w) => {
          const p = moved.get(w.id ?? "");
          return p ? { ...w, layout: { ...w.layout, ...p } } : w;
        }),
      },
      kind,
    );
  const send = (w: Widget, section: string, tab: string): void => {
    const others = widgets.filter((x) => x.id !== w.id);
    const { id: _id, layout, ...rest } = w;
    const moved = appended(others, {
      ...rest,
      ...(layout ? { layout } : {}),
      sectionId: section || undefined,
      tabId: tab || undefined,
    } as Widget);
    set({
      ...now,
      widgets: widgets.map((x) => (x.id === w.id ? { ...moved, id: w.id ?? "", layout: { ...layout, ...moved.layout } } : x)),
    });
  };
  const homes = [
    { name: "outside of sections", section: "", tab: "" },
    ...sections.flatMap((s) =>
      s.tabs?.length
        ? s.tabs.map((t) => ({ name: `${s.title || "Section"} › ${t.title || t.id}`, section: s.id ?? "", tab: t.id ?? "" }))
        : [{ name: s.title || "Section", section: s.id ?? "", tab: "" }],
    ),
  ];

  return (
    <>
      <div className="pagehead w-editbar">
        <h1 className="clip">{line(now.name ?? "", 200)}</h1>
        <span className="chip">{dirty ? "changed, not saved" : "editing"}</span>
        <span className="grow" />
        <Menu label="Add a widget" className="button" items={kinds.map((k) => ({ name: k.name, act: () => add(k.id) }))}>
          + Widget
        </Menu>
        <button type="button" className="button" onClick={addSection}>
          + Section
        </button>
        <button type="button" className="button" onClick={() => setSettings(true)}>
          Settings
        </button>
        <button type="button" className="button" disabled={history.past.length === 0} onClick={back} title="⌘Z" aria-label="Undo">
          ↶
        </button>
        <button type="button" className="button" disabled={history.next.length === 0} onClick={again} title="⇧⌘Z" aria-label="Redo">
          ↷
        </button>
        {dirty && (
          <button
            type="button"
            className="button"
            onClick={() => {
              set(definitionOf(stored));
              setBase(stored);
              setRestored(false);
            }}
          >
            Discard
          </button>
        )}
        <button type="button" className="button" onClick={leave} title={dirty ? "The draft stays in this browser." : undefined}>
          Close
        </button>
        <button type="button" className="button primary" disabled={!dirty || busy} title="⌘S" onClick={() => void store(now, base)}>
          {busy ? "Saving …" : "Save"}
        </button>
      </div>
      {restored && found && (
        <p className="panel w-note row" role="status">
          <span className="grow">
            Your draft of {clock(found.at).slice(0, 5)} was restored
            {base.updatedAt !== stored.updatedAt ? "; the dashboard was changed since, and saving joins both" : ""}.
          </span>
          <button type="button" className="button small" onClick={() => setRestored(false)}>
            OK
          </button>
        </p>
      )}
      {failed && (
        <p className="panel w-note bad" role="alert">
          {line(failed.message, 1000)}
          {failed.param ? ` (${line(failed.param, 120)})` : ""}
        </p>
      )}
      {one ? (
        <WidgetEditor
          key={one.id}
          widget={one}
          stored={stored}
          definition={now}
          read={read}
          onChange={(w, kind) => set({ ...now, widgets: widgets.map((x) => (x.id === one.id ? w : x)) }, `widget ${one.id} ${kind ?? ""}`)}
          close={() => change({ focus: null })}
        />
      ) : (
        <>
          <Variables
            variables={variables}
            values={values}
            options={options}
            onChange={(name, value) => change({ [`var.${name}`]: value })}
          />
          {widgets.length === 0 && sections.length === 0 ? (
            <Empty title="Nothing here yet">
              <p>Choose what the first widget draws.</p>
              <div className="row wrap w-middle">
                {kinds.map((k) => (
                  <button key={k.id} type="button" className="button" onClick={() => add(k.id)}>
                    {k.name}
                  </button>
                ))}
              </div>
            </Empty>
          ) : (
            <Sections
              sections={sections}
              widgets={widgets}
              choice={choice}
              grid={(shelf) => (
                <EditGrid
                  widgets={shelf.widgets}
                  chosen={focus}
                  onPlaces={place}
                  onAct={act}
                  tile={(w, head) => (
                    <Tile
                      widget={w}
                      read={read}
                      leads={leads}
                      onBrush={brush}
                      head={head}
                      menu={
                        <Menu
                          label={`Acts of ${line(w.display?.title || w.id || "", 100)}`}
                          className="button small quiet"
                          items={[
                            { name: "Edit", act: () => act(w.id ?? "", "edit") },
                            { name: "Duplicate", act: () => act(w.id ?? "", "duplicate") },
                            ...homes
                              .filter((h) => {
                                const at = homeOf(w, sections);
                                return h.section !== at.section || h.tab !== at.tab;
                              })
                              .map((h) => ({ name: `Move: ${line(h.name, 60)}`, act: () => send(w, h.section, h.tab) })),
                            { name: "Remove", danger: true, act: () => act(w.id ?? "", "remove") },
                          ]}
                        >
                          ⋮
                        </Menu>
                      }
                    />
                  )}
                />
              )}
              tools={() => (
                <button type="button" className="button small quiet" onClick={() => setSettings(true)}>
                  Edit sections
                </button>
              )}
            />
          )}
        </>
      )}
      {settings && <Settings definition={now} onChange={set} close={() => setSettings(false)} />}
      {theirs && (
        <Conflict
          base={base}
          mine={now}
          theirs={theirs}
          read={read}
          busy={busy}
          close={() => setTheirs(null)}
          save={(joined) => void store(joined, theirs)}
        />
      )}
    </>
  );
}

/** useCommand are keys with ⌘ or Ctrl, which also work in fields; undoing in a field belongs to the field. */
function useCommand(keys: Record<string, () => void>): void {
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if (!(e.metaKey || e.ctrlKey) || e.altKey || document.querySelector("dialog[open]")) return;
      const act = keys[e.shiftKey ? e.key.toUpperCase() : e.key];
      if (!act || (e.key.toLowerCase() !== "s" && (e.target as HTMLElement).matches?.("input, textarea, select"))) return;
      e.preventDefault();
      act();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
}
