import type { DashboardTemplateTile, Widget } from "../../gen/api";
import type { Definition, Difference } from "../../grid/merge";
import { homeOf, placesOf } from "../../grid/sections";
import { line } from "../../parts/format";

const kindOf = (w: Widget): DashboardTemplateTile["kind"] =>
  w.visualization === "chart"
    ? ((/-(area|bar)$/.exec(w.display?.chartId ?? "")?.[1] as "area" | "bar" | undefined) ?? w.dataSource?.displayType ?? "line")
    : w.visualization;

/** tilesOf is the sketch of a dashboard: the widgets outside of sections, and below them those of each section and tab. */
export function tilesOf(d: Definition): DashboardTemplateTile[] {
  const sections = d.sections ?? [];
  const shelves = new Map<string, Widget[]>([
    ["/", []],
    ...sections
      .flatMap((s) => (s.tabs?.length ? s.tabs.map((t) => `${s.id}/${t.id}`) : [`${s.id}/`]))
      .map((k): [string, Widget[]] => [k, []]),
  ]);
  for (const w of d.widgets ?? []) {
    const h = homeOf(w, sections);
    shelves.get(`${h.section}/${h.tab}`)?.push(w);
  }
  const out: DashboardTemplateTile[] = [];
  let top = 0;
  for (const widgets of shelves.values()) {
    const places = placesOf(widgets);
    for (const w of widgets) {
      const p = places.get(w.id ?? "");
      if (p) out.push({ ...p, y: p.y + top, kind: kindOf(w), title: w.display?.title ?? "" });
    }
    top = Math.max(top, ...out.map((t) => (t.y ?? 0) + (t.h ?? 0)));
  }
  return out;
}

/** Changes lists differences, each with the old and the new value. */
export function Changes({ of }: { of: Difference[] }) {
  if (of.length === 0) return <p className="faint">Nothing differs.</p>;
  return (
    <ul className="w-changes">
      {of.map((d) => (
        <li key={d.key}>
          <b className={d.kind === "added" ? "good" : d.kind === "removed" ? "bad" : "warn"}>
            {d.kind === "added" ? "+ added" : d.kind === "removed" ? "− removed" : "± changed"}
          </b>
          <span className="grow clip">{line(d.name, 200)}</span>
          {d.parts.length > 0 && (
            <table>
              <tbody>
                {d.parts.map((p) => (
                  <tr key={p.path}>
                    <th scope="row">{line(p.path, 120)}</th>
                    <td>
                      <del>{line(p.before, 600)}</del>
                    </td>
                    <td>
                      <ins>{line(p.after, 600)}</ins>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </li>
      ))}
    </ul>
  );
}
