import { useMemo } from "react";
import { useCall, useFrame } from "../../frame/session";
import type { Dashboard, DashboardTemplatePreview, DashboardVariable, TimeRange, Widget } from "../../gen/api";
import { SearchDashboardVariableOptionsRequest_search, VariableValues } from "../../gen/limits";
import type { Read, Reader } from "../../grid/tile";
import type { Options } from "../../grid/variables";
import { iso, type Span, type Window } from "../../parts/time";

/** rangeOf is the window of the page as the API takes it. A relative one stays relative, so that readers share the answer. */
export function rangeOf(span: Span, w: Window): TimeRange {
  const relative = /^-(\d{1,6})([mhdw])$/.exec(span.from);
  if (relative && span.to === "now") return { type: "relative", value: `${relative[1]}${relative[2]}` };
  return { type: "absolute", startTime: iso(w.start), endTime: iso(w.end) };
}

/** spanOf is the window of a dashboard as the address has it. */
export function spanOf(r: TimeRange | undefined): Span {
  const relative = /^(\d{1,6})(mo|[mhdw])$/.exec(r?.value ?? "");
  if (relative)
    return relative[2] === "mo"
      ? { from: `-${Number(relative[1]) * 30}d`, to: "now" }
      : { from: `-${relative[1]}${relative[2]}`, to: "now" };
  if (r?.type === "absolute" && r.startTime && r.endTime) return { from: r.startTime, to: r.endTime };
  return { from: "-12h", to: "now" };
}

/** The part of a widget that decides its data and its drawing; the place does not. */
export const contentOf = (w: Widget): string => JSON.stringify([w.visualization, w.dataSource, w.display, w.timeRange ?? null]);

/** useReader reads widgets: a stored one by its identifier, one that was changed here as a preview. */
export function useReader(stored: Dashboard | null, variables: DashboardVariable[], values: Record<string, string>): Reader {
  const { span, window: w } = useFrame();
  const range = useMemo(() => rangeOf(span, w), [span, w]);
  const known = useMemo(() => new Map((stored?.widgets ?? []).map((x) => [x.id ?? "", contentOf(x)])), [stored]);
  const same = stored !== null && JSON.stringify(stored.variables ?? []) === JSON.stringify(variables);
  return useMemo(() => {
    // biome-ignore lint: a reader is a hook; each tile calls the same one for its whole life
    return function useRead(widget, { on, points, source }): Read {
      // A widget with a window of its own keeps it.
      const ask = { variableValues: values, source, maxDataPoints: points, ...(widget.timeRange?.type ? {} : { timeRange: range }) };
      const id = stored?.id ?? "";
      const plain = same && known.get(widget.id ?? "") === contentOf(widget);
      const procedure = plain ? "DashboardDataService/SearchDashboardWidgetData" : "DashboardDataService/PreviewDashboardWidget";
      const request = plain
        ? { id, widgetId: widget.id ?? "", ...ask }
        : { widget: { ...widget, layout: { x: 0, y: 0, w: 1, h: 1 }, sectionId: undefined, tabId: undefined }, variables, ...ask };
      return useCall(procedure, request as never, { enabled: on });
    };
  }, [stored?.id, known, same, variables, values, range]);
}

/** useOptions gives the values of a stored dashboard's variables in the window of the page. */
export function useOptions(board: Dashboard | null): Options {
  const { span, window: w } = useFrame();
  const range = useMemo(() => rangeOf(span, w), [span, w]);
  const names = useMemo(() => new Set((board?.variables ?? []).map((v) => v.name ?? "")), [board]);
  return useMemo(() => {
    return function useOne(v, search, on) {
      const found = useCall(
        "DashboardDataService/SearchDashboardVariableOptions",
        {
          id: board?.id ?? "",
          variable: v.name ?? "",
          timeRange: range,
          ...(search ? { search: search.slice(0, SearchDashboardVariableOptionsRequest_search.characters) } : {}),
        },
        { enabled: on && v.type === "query" && names.has(v.name ?? "") },
      );
      const options = found.data?.data ?? [];
      return { options, more: options.length >= VariableValues, error: found.error?.message ?? "" };
    };
  }, [board?.id, names, range]);
}

/** An export holds what a person wrote, without identifiers and times, so that it can be imported elsewhere. */
export function exported(b: Dashboard | DashboardTemplatePreview): Record<string, unknown> {
  const { id: _id, object: _object, createdAt: _created, updatedAt: _updated, ...rest } = b as Dashboard;
  return rest as Record<string, unknown>;
}
