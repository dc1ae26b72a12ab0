import type { QueryDraft, Widget, WidgetDataSource } from "../../gen/api";
import { aggregations, aggregationsOfField } from "../../gen/choices";
import { isOneOf, keysOf } from "../../parts/choices";

/** The forms of a widget, as a person chooses them. */
export const kinds = [
  { id: "line", name: "Line" },
  { id: "area", name: "Area" },
  { id: "bar", name: "Bar" },
  { id: "stat", name: "Number" },
  { id: "gauge", name: "Gauge" },
  { id: "table", name: "Table" },
  { id: "hbar", name: "Ranking" },
  { id: "pie", name: "Pie" },
  { id: "histogram", name: "Histogram" },
  { id: "heatmap", name: "Heatmap" },
  { id: "traces", name: "List of traces" },
  { id: "logs", name: "List of log records" },
  { id: "funnel", name: "Funnel" },
  { id: "paths", name: "Paths" },
  { id: "sql", name: "SQL" },
  { id: "markdown", name: "Text" },
] as const;

/** aggregationsOf are those that a query of a dashboard offers. Only queries of traces can name a field. */
export function aggregationsOf(source: NonNullable<QueryDraft["dataSource"]>): string[] {
  const all = aggregations[source];
  return source === "logs" || source === "product_events" ? all.filter((a) => !aggregationsOfField.has(a)) : all;
}

export function draftOf(name: string, more: Partial<QueryDraft> = {}): QueryDraft {
  const groupBy = more.groupBy ?? [];
  return {
    id: name.toLowerCase(),
    name,
    enabled: true,
    dataSource: "traces",
    aggregation: "count",
    whereClause: "",
    groupBy,
    addOns: { groupBy: groupBy.length > 0, having: false, orderBy: false, limit: false, legend: false },
    ...more,
  };
}

/** shapeOf is the shape of the result that a form draws. */
export function shapeOf(visualization: Widget["visualization"]): NonNullable<WidgetDataSource["resultShape"]> {
  if (visualization === "list") return "list";
  return visualization === "hbar" || visualization === "pie" || visualization === "table" || visualization === "funnel"
    ? "breakdown"
    : "timeseries";
}

/** The forms that a statement can have. */
export const sqlForms = keysOf<NonNullable<WidgetDataSource["displayType"]>>({
  line: 1,
  area: 1,
  bar: 1,
  hbar: 1,
  table: 1,
  stat: 1,
  gauge: 1,
  pie: 1,
  histogram: 1,
  heatmap: 1,
  funnel: 1,
});

const statements: Record<string, string> = {
  time: "SELECT toStartOfInterval(Timestamp, INTERVAL 60 SECOND) AS bucket, ServiceName AS name, sum(SampleRate) AS value\nFROM spans\nWHERE $__orgFilter AND $__timeFilter(Timestamp)\nGROUP BY bucket, name\nORDER BY bucket",
  rows: "SELECT ServiceName AS name, round(sum(SampleRate)) AS value\nFROM spans\nWHERE $__orgFilter AND $__timeFilter(Timestamp)\nGROUP BY name\nORDER BY value DESC\nLIMIT 20",
  value: "SELECT round(sum(SampleRate)) AS value\nFROM spans\nWHERE $__orgFilter AND $__timeFilter(Timestamp)",
  histogram: "SELECT DurationNano / 1e6 AS value\nFROM spans\nWHERE $__orgFilter AND $__timeFilter(Timestamp) AND IsEntry\nLIMIT 5000",
  heatmap:
    "SELECT toStartOfInterval(Timestamp, INTERVAL 300 SECOND) AS x, ServiceName AS y, sum(SampleRate) AS value\nFROM spans\nWHERE $__orgFilter AND $__timeFilter(Timestamp)\nGROUP BY x, y",
};

/** statementOf is a statement to begin with, whose columns fit the form. */
export function statementOf(form: string): string {
  if (["line", "area", "bar"].includes(form)) return statements.time!;
  if (form === "stat" || form === "gauge") return statements.value!;
  return statements[form] ?? statements.rows!;
}

type Start = Omit<Widget, "id" | "layout">;

/** formOf is the form of a widget as a person calls it. */
export function formOf(w: Widget): string {
  if (w.visualization !== "chart") return w.visualization ?? "chart";
  return (
    /-(area|bar)$/.exec(w.display?.chartId ?? "")?.[1] ??
    (w.dataSource?.displayType === "bar" || w.dataSource?.displayType === "area" ? w.dataSource.displayType : "line")
  );
}

/** reformed draws a widget in another form; its queries or its statement stay. */
export function reformed(w: Widget, form: string): Widget {
  const visualization = (["line", "area", "bar"].includes(form) ? "chart" : form) as NonNullable<Widget["visualization"]>;
  const display = { ...w.display, chartId: visualization === "chart" ? `query-builder-${form}` : undefined };
  const d = w.dataSource ?? { kind: "query" };
  const fresh = started(form);
  if (visualization === "markdown" || visualization === "paths")
    return {
      ...w,
      visualization,
      display: {
        ...fresh.display,
        ...display,
        markdown: w.display?.markdown ?? fresh.display?.markdown,
        paths: w.display?.paths ?? fresh.display?.paths,
      },
      dataSource: { kind: "static" },
    } as Widget;
  if (d.kind === "raw_sql" && isOneOf(sqlForms, form)) return { ...w, visualization, display, dataSource: { ...d, displayType: form } };
  if (visualization === "funnel" && w.display?.funnel?.steps?.length)
    return { ...w, visualization, display, dataSource: { kind: "static" } };
  if (d.kind !== "query" || !d.queries?.length)
    return { ...w, visualization, display: { ...fresh.display, ...display }, dataSource: fresh.dataSource ?? { kind: "query" } };
  const grouped = ["pie", "hbar", "heatmap", "funnel"].includes(form);
  const queries = d.queries.map((q) =>
    grouped && !q.groupBy?.length
      ? { ...q, groupBy: [q.dataSource === "product_events" ? "event.name" : "service.name"], addOns: { ...q.addOns, groupBy: true } }
      : q,
  );
  return { ...w, visualization, display, dataSource: { ...d, resultShape: shapeOf(visualization), queries } };
}

/** started is a new widget of a form, with data to see at once. */
export function started(form: string): Start {
  const query = (shape: WidgetDataSource["resultShape"], more: Partial<QueryDraft>): WidgetDataSource => ({
    kind: "query",
    resultShape: shape,
    queries: [draftOf("A", more)],
  });
  const chart = (title: string, more: Partial<QueryDraft>, stacked = false): Start => ({
    visualization: "chart",
    dataSource: query("timeseries", more),
    display: { title, chartId: `query-builder-${form}`, ...(stacked ? { stacked } : {}) },
  });
  const groups = { groupBy: ["service.name"] };
  switch (form) {
    case "area":
      return chart("Requests by service", { aggregation: "rate", whereClause: "is_entry = true", ...groups }, true);
    case "bar":
      return chart("Spans by service", { aggregation: "count", ...groups }, true);
    case "stat":
      return {
        visualization: "stat",
        dataSource: query("timeseries", { aggregation: "count" }),
        display: { title: "Spans", sparkline: { enabled: true } },
      };
    case "gauge":
      return {
        visualization: "gauge",
        dataSource: query("timeseries", { aggregation: "error_rate", whereClause: "is_entry = true" }),
        display: {
          title: "Share of errors",
          unit: "percent",
          gauge: { min: 0, max: 0.1 },
          thresholds: [
            { value: 0.01, color: "amber" },
            { value: 0.05, color: "red" },
          ],
        },
      };
    case "table":
      return { visualization: "table", dataSource: query("breakdown", groups), display: { title: "Spans by service" } };
    case "hbar":
      return {
        visualization: "hbar",
        dataSource: query("breakdown", { aggregation: "p95_duration", ...groups }),
        display: { title: "Slowest services" },
      };
    case "pie":
      return { visualization: "pie", dataSource: query("breakdown", groups), display: { title: "Spans by service" } };
    case "histogram":
      return {
        visualization: "histogram",
        dataSource: query("timeseries", { aggregation: "p95_duration", ...groups }),
        display: { title: "Spread of p95" },
      };
    case "heatmap":
      return { visualization: "heatmap", dataSource: query("timeseries", groups), display: { title: "Spans by service and time" } };
    case "traces":
    case "list":
      return {
        visualization: "list",
        dataSource: query("list", { whereClause: "has_error = true" }),
        display: { title: "Failing traces", listDataSource: "traces", listLimit: 20 },
      };
    case "logs":
      return {
        visualization: "list",
        dataSource: query("list", { dataSource: "logs", whereClause: "severity in (WARN, ERROR, FATAL)" }),
        display: { title: "Warnings and errors", listDataSource: "logs", listLimit: 20 },
      };
    case "funnel":
      return {
        visualization: "funnel",
        dataSource: { kind: "static" },
        display: {
          title: "Funnel",
          funnel: {
            steps: [
              { kind: "page", pagePath: "/" },
              { kind: "page", pagePath: "/cart" },
            ],
            keyBy: "session",
            showStepPercent: true,
          },
        },
      };
    case "paths":
      return {
        visualization: "paths",
        dataSource: { kind: "static" },
        display: { title: "Paths", paths: { anchor: { kind: "page", pagePath: "/" }, direction: "after", depth: 3 } },
      };
    case "sql":
      return {
        visualization: "table",
        dataSource: { kind: "raw_sql", displayType: "table", sql: statementOf("table") },
        display: { title: "Statement" },
      };
    case "markdown":
      return {
        visualization: "markdown",
        dataSource: { kind: "static" },
        display: { title: "", markdown: { content: "## Notes\n\nWhat a reader must know." } },
      };
    default:
      return chart("p95 by service", { aggregation: "p95_duration", whereClause: "is_entry = true", ...groups });
  }
}
