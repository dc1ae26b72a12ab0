import type { KeyboardEvent, ReactNode } from "react";
import type { DashboardSection, Widget } from "../gen/api";
import { line } from "../parts/format";
import { compact, type Place, placeOf } from "./layout";
import "./board.css";

export type Shelf = { section: DashboardSection | null; tab: string; widgets: Widget[] };

/** homeOf is the section and the tab in which a widget stands; one whose section is gone stands outside of sections. */
export function homeOf(w: Widget, sections: DashboardSection[]): { section: string; tab: string } {
  const s = sections.find((x) => x.id === w.sectionId);
  if (!s) return { section: "", tab: "" };
  if (!s.tabs?.length) return { section: s.id ?? "", tab: "" };
  return { section: s.id ?? "", tab: s.tabs.find((t) => t.id === w.tabId)?.id ?? s.tabs[0]?.id ?? "" };
}

/** placesOf are the places of the widgets of one grid, without overlaps. */
export function placesOf(widgets: Widget[]): Map<string, Place> {
  return compact(new Map(widgets.map((w) => [w.id ?? "", placeOf(w.layout)])));
}

type Choice = {
  tab: (section: string) => string | undefined;
  open: (section: DashboardSection) => boolean;
  setTab: (section: string, tab: string) => void;
  setOpen: (section: string, open: boolean) => void;
};

/** Sections shows the grids of a dashboard: first the widgets outside of sections, then each section with its tabs. */
export function Sections({
  sections,
  widgets,
  choice,
  grid,
  tools,
}: {
  sections: DashboardSection[];
  widgets: Widget[];
  choice: Choice;
  grid: (shelf: Shelf) => ReactNode;
  tools?: (section: DashboardSection) => ReactNode;
}) {
  const within = (section: string, tab: string): Widget[] =>
    widgets.filter((w) => {
      const h = homeOf(w, sections);
      return h.section === section && h.tab === tab;
    });
  const top = within("", "");
  return (
    <>
      {(top.length > 0 || sections.length === 0) && grid({ section: null, tab: "", widgets: top })}
      {sections.map((s) => {
        const id = s.id ?? "";
        const tabs = s.tabs ?? [];
        const tab = tabs.find((t) => t.id === choice.tab(id))?.id ?? tabs[0]?.id ?? "";
        const fixed = s.collapsible === false;
        const open = fixed || choice.open(s);
        const move = (e: KeyboardEvent): void => {
          const at = tabs.findIndex((t) => t.id === tab);
          const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[e.key];
          if (next === undefined) return;
          e.preventDefault();
          const to = tabs[(next + tabs.length) % tabs.length]?.id ?? "";
          choice.setTab(id, to);
          document.getElementById(`tab-${id}-${to}`)?.focus();
        };
        return (
          <section key={id} className="w-part" aria-label={line(s.title ?? "", 200) || "Section"}>
            <header>
              {fixed ? (
                <h2>{line(s.title ?? "", 200)}</h2>
              ) : (
                <h2>
                  <button type="button" className="button quiet" aria-expanded={open} onClick={() => choice.setOpen(id, !open)}>
                    <span aria-hidden="true">{open ? "▾" : "▸"}</span> {line(s.title ?? "", 200) || "Section"}
                  </button>
                </h2>
              )}
              {open && tabs.length > 0 && (
                <div className="tabs" role="tablist" aria-label={`Tabs of ${line(s.title ?? "", 100)}`} onKeyDown={move}>
                  {tabs.map((t) => (
                    <button
                      key={t.id}
                      id={`tab-${id}-${t.id}`}
                      type="button"
                      role="tab"
                      aria-selected={t.id === tab}
                      aria-controls={`panel-${id}`}
                      tabIndex={t.id === tab ? 0 : -1}
                      onClick={() => choice.setTab(id, t.id ?? "")}
                    >
                      {line(t.title ?? "", 100) || t.id}
                    </button>
                  ))}
                </div>
              )}
              <span className="grow" />
              {tools?.(s)}
            </header>
            {open && (
              <div {...(tabs.length > 0 ? { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}-${tab}` } : {})}>
                {grid({ section: s, tab, widgets: within(id, tab) })}
              </div>
            )}
          </section>
        );
      })}
    </>
  );
}

/** Shelves lays the tiles of one grid out, in the order in which a person reads them. */
export function Shelves({ widgets, tile }: { widgets: Widget[]; tile: (w: Widget) => ReactNode }) {
  const places = placesOf(widgets);
  const at = (w: Widget): Place => places.get(w.id ?? "") ?? placeOf(w.layout);
  const sorted = [...widgets].sort((a, b) => at(a).y - at(b).y || at(a).x - at(b).x);
  return (
    <div className="w-board">
      {sorted.map((w) => (
        <div key={w.id} className="w-cell" style={cellStyle(at(w))}>
          {tile(w)}
        </div>
      ))}
    </div>
  );
}

/** cellStyle puts a place on the CSS grid; a narrow screen uses the height alone. */
export const cellStyle = (p: Place): React.CSSProperties =>
  ({ "--x": p.x + 1, "--y": p.y + 1, "--w": p.w, "--h": p.h }) as React.CSSProperties;
