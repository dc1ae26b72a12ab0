import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { change, href, navigate } from "../../frame/router";
import { newRule } from "../../frame/alertthis";
import { useFrame } from "../../frame/session";
import type { Dashboard, Widget, WidgetData } from "../../gen/api";
import { CreateAlertRuleRequest_name } from "../../gen/limits";
import { sheetOf } from "../../grid/draw";
import { cut, line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Inspection } from "./inspection";
import { save } from "./leads";
import Share from "./share";

/** recordsOf is the page with the records behind a widget: its first query's signal and filter. Variables stay out. */
export function recordsOf(w: Widget): string | null {
  const q = w.dataSource?.queries?.[0];
  const where = (q?.whereClause ?? w.display?.listWhereClause ?? "").trim();
  if (where.includes("$")) return null;
  const source = q?.dataSource ?? w.display?.listDataSource;
  if (source === "traces" || source === "logs") return href(`/${source}`, { q: where });
  if (source === "metrics" && q?.metricName) return href("/metrics", { m: q.metricName, q: "" });
  return null;
}

/** ruleOf is the editor of an alert rule about the first query of a chart or number. */
function ruleOf(w: Widget): string | null {
  const q = w.dataSource?.queries?.[0];
  if (
    !q ||
    w.dataSource?.kind !== "query" ||
    w.visualization === "list" ||
    (q.whereClause ?? "").includes("$") ||
    (w.dataSource.formulas ?? []).length > 0
  )
    return null;
  const { id: _id, name: _name, ...query } = q;
  return newRule({ name: cut(w.display?.title ?? "", CreateAlertRuleRequest_name.characters).kept, query });
}

/** WidgetMenu are the acts of one widget of a stored dashboard. */
export function WidgetMenu({ board, widget }: { board: Dashboard; widget: Widget }) {
  const { org } = useFrame();
  const client = useQueryClient();
  const [open, setOpen] = useState<"" | "inspect" | "share">("");
  const still = widget.visualization === "markdown";
  const records = recordsOf(widget);
  const title = widget.display?.title || widget.id || "widget";
  const sheet = (): void => {
    // The newest answer about the widget is the one on the screen.
    const all = client
      .getQueryCache()
      .findAll({ queryKey: [org.id, "DashboardDataService/SearchDashboardWidgetData"] })
      .filter((q) => {
        const r = q.queryKey[2] as { widgetId?: string; id?: string; source?: string };
        return r.widgetId === widget.id && r.id === board.id && r.source === "primary" && q.state.data;
      })
      .sort((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt);
    const data = all[0]?.state.data as WidgetData | undefined;
    if (data) save(`${title}.csv`, "text/csv", sheetOf(widget, data));
  };
  return (
    <>
      <Menu
        label={`Acts of ${line(title, 100)}`}
        className="button small quiet"
        items={[
          { name: "Enlarge", act: () => change({ widget: widget.id ?? "" }) },
          { name: "Edit", act: () => change({ edit: "1", focus: widget.id ?? "" }) },
          ...(records ? [{ name: "Records behind it", act: () => navigate(records) }] : []),
          ...(ruleOf(widget) ? [{ name: "Alert on this", act: () => navigate(ruleOf(widget) ?? "") }] : []),
          ...(still
            ? []
            : [
                { name: "Inspect the data", act: () => setOpen("inspect") },
                { name: "Save as CSV", act: sheet },
              ]),
          { name: "Share", act: () => setOpen("share") },
        ]}
      >
        ⋮
      </Menu>
      {open === "inspect" && <Inspection board={board} widget={widget} close={() => setOpen("")} />}
      {open === "share" && <Share board={board} widget={widget} close={() => setOpen("")} />}
    </>
  );
}
