import type { Widget, WidgetLayout } from "../gen/api";
import { GridColumns, GridRows } from "../gen/limits";

/** A place on the grid of 12 columns. */
export type Place = { x: number; y: number; w: number; h: number };

export const columns = GridColumns;
const tallest = 40;

export function placeOf(l: WidgetLayout | undefined): Place {
  const whole = (n: number | undefined, least: number, most: number): number => Math.max(least, Math.min(most, Math.round(n ?? least)));
  const w = whole(l?.w, 1, columns);
  return { x: whole(l?.x, 0, columns - w), y: whole(l?.y, 0, GridRows - 1), w, h: whole(l?.h, 1, tallest) };
}

/** The widgets of one grid: those outside of sections, or those of a section and tab. */
export const gridOf = (w: Widget): string => `${w.sectionId ?? ""}/${w.tabId ?? ""}`;

const meet = (a: Place, b: Place): boolean => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** Bounds that the author gave to the size of a widget. */
export function bounded(p: Place, l: WidgetLayout | undefined): Place {
  const w = Math.min(columns, Math.max(l?.minW ?? 1, Math.min(l?.maxW ?? columns, p.w)));
  const h = Math.min(tallest, Math.max(l?.minH ?? 1, Math.min(l?.maxH ?? tallest, p.h)));
  return { x: Math.max(0, Math.min(columns - w, p.x)), y: Math.max(0, p.y), w, h };
}

/** arrange puts one widget at a place: the others make room downwards, and then everything moves up as far as it can. */
export function arrange(places: ReadonlyMap<string, Place>, id: string, to: Place): Map<string, Place> {
  const moved = new Map(places);
  moved.set(id, to);
  const order = (a: [string, Place], b: [string, Place]): number =>
    a[1].y - b[1].y || Number(b[0] === id) - Number(a[0] === id) || a[1].x - b[1].x;
  return pack([...moved].sort(order), id);
}

/** compact moves everything up as far as it can. */
export function compact(places: ReadonlyMap<string, Place>): Map<string, Place> {
  return pack(
    [...places].sort((a, b) => a[1].y - b[1].y || a[1].x - b[1].x),
    "",
  );
}

function pack(sorted: Array<[string, Place]>, first: string): Map<string, Place> {
  const done = new Map<string, Place>();
  const free = (p: Place): boolean => [...done.values()].every((d) => !meet(d, p));
  const rise = (p: Place): Place => {
    let at = p;
    while (!free(at)) at = { ...at, y: at.y + 1 };
    while (at.y > 0 && free({ ...at, y: at.y - 1 })) at = { ...at, y: at.y - 1 };
    return at;
  };
  // The moved widget takes its place among those above it, and the others follow.
  const i = sorted.findIndex(([id]) => id === first);
  const held = i >= 0 ? sorted[i] : undefined;
  if (held) {
    const above = sorted.filter(([id, p]) => id !== first && p.y + p.h <= held[1].y);
    for (const [id, p] of above) done.set(id, rise(p));
    done.set(first, rise(held[1]));
  }
  for (const [id, p] of sorted) if (!done.has(id)) done.set(id, rise(p));
  return done;
}

/** vacant is the first place of a size below or beside the others. */
export function vacant(places: Iterable<Place>, w: number, h: number): Place {
  const all = [...places];
  const end = Math.max(0, ...all.map((p) => p.y + p.h));
  for (let y = 0; y < end; y++) {
    for (let x = 0; x + w <= columns; x++) {
      const p = { x, y, w, h };
      if (all.every((a) => !meet(a, p))) return p;
    }
  }
  return { x: 0, y: end, w, h };
}

/** freshId is an identifier that no other has: the name, with a number when it must be. */
export function freshId(name: string, taken: Iterable<string>): string {
  const all = new Set(taken);
  const base =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 40) || "widget";
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`;
    if (!all.has(id)) return id;
  }
}

/** usual sizes of a new widget, by what it draws. */
export function usualSize(visualization: string): { w: number; h: number } {
  if (visualization === "stat" || visualization === "gauge") return { w: 3, h: 2 };
  if (visualization === "table" || visualization === "list") return { w: 12, h: 5 };
  if (visualization === "markdown") return { w: 6, h: 3 };
  return { w: 6, h: 4 };
}

/** appended is a widget at a free place of its grid, with an identifier of its own. */
export function appended(widgets: Widget[], one: Omit<Widget, "id" | "layout"> & { layout?: WidgetLayout }): Widget {
  const size = usualSize(one.visualization ?? "chart");
  const home = gridOf(one);
  const at = vacant(
    widgets.filter((w) => gridOf(w) === home).map((w) => placeOf(w.layout)),
    one.layout?.w ?? size.w,
    one.layout?.h ?? size.h,
  );
  return {
    ...one,
    id: freshId(
      one.display?.title ?? one.visualization ?? "",
      widgets.map((w) => w.id ?? ""),
    ),
    layout: at,
  };
}
