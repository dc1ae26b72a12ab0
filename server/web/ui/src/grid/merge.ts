import type { Dashboard, Widget } from "../gen/api";
import { line } from "../parts/format";

/** The parts of a dashboard that a person edits. */
export type Definition = Pick<
  Dashboard,
  "name" | "description" | "tags" | "timeRange" | "widgets" | "sections" | "variables" | "refreshIntervalSeconds"
>;
export const fields = ["name", "description", "tags", "timeRange", "widgets", "sections", "variables", "refreshIntervalSeconds"] as const;

export function definitionOf(d: Dashboard | Definition): Definition {
  return {
    name: d.name ?? "",
    description: d.description ?? "",
    tags: d.tags ?? [],
    timeRange: d.timeRange ?? {},
    widgets: d.widgets ?? [],
    sections: d.sections ?? [],
    variables: d.variables ?? [],
    refreshIntervalSeconds: d.refreshIntervalSeconds ?? 0,
  };
}

/** plain is a value as a text in which order of keys, and fields that are not set, make no difference. */
export function plain(v: unknown): string {
  return (
    JSON.stringify(v, (_key, x: unknown) =>
      x && typeof x === "object" && !Array.isArray(x)
        ? Object.fromEntries(
            Object.entries(x)
              .filter(([, y]) => y !== undefined && y !== null)
              .sort(([a], [b]) => (a < b ? -1 : 1)),
          )
        : x,
    ) ?? ""
  );
}
export const same = (a: unknown, b: unknown): boolean => plain(a) === plain(b);

/** changedFields are the names of the fields that differ. */
export const changedFields = (a: Definition, b: Definition): Array<(typeof fields)[number]> => fields.filter((f) => !same(a[f], b[f]));

export type Conflict = { key: string; name: string; mine: Widget | undefined; theirs: Widget | undefined; place: boolean };
export type Merged = { definition: Definition; conflicts: Conflict[]; both: string[] };

const place = (w: Widget): unknown => [w.layout, w.sectionId ?? "", w.tabId ?? ""];
const content = (w: Widget): unknown => [w.visualization, w.dataSource, w.display, w.timeRange];
const placed = (w: Widget, as: Widget): Widget =>
  ({ ...w, ...(as.layout ? { layout: as.layout } : {}), sectionId: as.sectionId, tabId: as.tabId }) as Widget;
const titleOf = (w: Widget | undefined): string => line(w?.display?.title || w?.id || "", 120);

/**
 * merge joins two changes of one dashboard. A change of one side only is taken. A widget whose content both changed differently is a conflict,
 * and has the content of `keep` until a person decides. Places are no reason to ask: mine win. `both` names other fields that both changed.
 */
export function merge(
  base: Definition,
  mine: Definition,
  theirs: Definition,
  keep: ReadonlyMap<string, "mine" | "theirs"> = new Map(),
): Merged {
  const conflicts: Conflict[] = [];
  const both: string[] = [];
  const byId = (d: Definition): Map<string, Widget> => new Map((d.widgets ?? []).map((w) => [w.id ?? "", w]));
  const [b, m, t] = [byId(base), byId(mine), byId(theirs)];
  const widgets: Widget[] = [];
  for (const id of new Set([...t.keys(), ...m.keys()])) {
    const [was, ours, other] = [b.get(id), m.get(id), t.get(id)];
    const one = mergeWidget(was, ours, other, keep.get(id) ?? "mine");
    if (one.conflict) conflicts.push({ key: id, name: titleOf(ours ?? other), mine: ours, theirs: other, place: false });
    if (one.widget) widgets.push(one.widget);
  }
  const pick = <K extends (typeof fields)[number]>(f: K): Definition[K] => {
    if (same(mine[f], base[f])) return theirs[f];
    if (!same(theirs[f], base[f]) && !same(mine[f], theirs[f])) both.push(f);
    return mine[f];
  };
  const definition: Definition = {
    name: pick("name"),
    description: pick("description"),
    tags: pick("tags"),
    timeRange: pick("timeRange"),
    widgets,
    variables: pick("variables"),
    sections: pick("sections"),
    refreshIntervalSeconds: pick("refreshIntervalSeconds"),
  } as Definition;
  // A widget never stands in a section that the other side removed.
  const known = new Map((definition.sections ?? []).map((s) => [s.id, new Set((s.tabs ?? []).map((x) => x.id))]));
  definition.widgets = widgets.map((w) => {
    if (w.sectionId && !known.has(w.sectionId)) return { ...w, sectionId: undefined, tabId: undefined } as Widget;
    return w.tabId && !known.get(w.sectionId)?.has(w.tabId) ? ({ ...w, tabId: [...(known.get(w.sectionId) ?? [])][0] } as Widget) : w;
  });
  return { definition, conflicts, both };
}

function mergeWidget(
  was: Widget | undefined,
  mine: Widget | undefined,
  theirs: Widget | undefined,
  keep: "mine" | "theirs",
): { widget: Widget | undefined; conflict: boolean } {
  const chosen = keep === "mine" ? mine : theirs;
  if (!was) {
    if (!mine || !theirs) return { widget: mine ?? theirs, conflict: false };
    return same(content(mine), content(theirs)) ? { widget: mine, conflict: false } : { widget: chosen, conflict: true };
  }
  if (!mine && !theirs) return { widget: undefined, conflict: false };
  if (!mine) return same(content(theirs!), content(was)) ? { widget: undefined, conflict: false } : { widget: chosen, conflict: true };
  if (!theirs) return same(content(mine), content(was)) ? { widget: undefined, conflict: false } : { widget: chosen, conflict: true };
  const moved = same(place(mine), place(was)) ? theirs : mine;
  if (same(content(mine), content(was))) return { widget: placed(theirs, moved), conflict: false };
  if (same(content(theirs), content(was)) || same(content(mine), content(theirs))) return { widget: placed(mine, moved), conflict: false };
  return { widget: placed(chosen!, moved), conflict: true };
}

export type Difference = {
  key: string;
  kind: "added" | "removed" | "changed";
  name: string;
  parts: Array<{ path: string; before: string; after: string }>;
};

/** differences lists what changes from one definition to another, with the paths of the changed values. */
export function differences(from: Dashboard | Definition, to: Dashboard | Definition): Difference[] {
  const [a, b] = [definitionOf(from), definitionOf(to)];
  const out: Difference[] = [];
  const old = new Map((a.widgets ?? []).map((w) => [w.id, w]));
  for (const w of b.widgets ?? []) {
    const before = old.get(w.id);
    old.delete(w.id);
    if (!before) out.push({ key: `w ${w.id}`, kind: "added", name: `${titleOf(w)} (${w.visualization})`, parts: [] });
    else if (!same(before, w)) out.push({ key: `w ${w.id}`, kind: "changed", name: titleOf(w), parts: paths(before, w) });
  }
  for (const w of old.values()) out.push({ key: `w ${w.id}`, kind: "removed", name: `${titleOf(w)} (${w.visualization})`, parts: [] });
  const rest: Definition = { ...a, widgets: [] };
  const parts = paths(rest, { ...b, widgets: [] });
  if (parts.length > 0) out.unshift({ key: "dashboard", kind: "changed", name: "The dashboard itself", parts });
  return out;
}

/** paths are the places at which two values differ, at most 40. */
function paths(
  a: unknown,
  b: unknown,
  at = "",
  out: Array<{ path: string; before: string; after: string }> = [],
): Array<{ path: string; before: string; after: string }> {
  if (out.length >= 40 || same(a, b)) return out;
  const branch = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null;
  if (branch(a) && branch(b) && Array.isArray(a) === Array.isArray(b)) {
    for (const k of new Set([...Object.keys(a), ...Object.keys(b)]))
      paths(a[k], b[k], at === "" ? k : Array.isArray(a) ? `${at}[${k}]` : `${at}.${k}`, out);
    return out;
  }
  const text = (v: unknown): string => (v === undefined || v === null || v === "" ? "" : typeof v === "string" ? v : plain(v));
  if (text(a) !== text(b)) out.push({ path: at, before: text(a), after: text(b) });
  return out;
}
