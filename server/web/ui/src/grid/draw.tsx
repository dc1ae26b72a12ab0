import { lazy, type ReactNode, Suspense, useMemo } from "react";
import type { Widget, WidgetData } from "../gen/api";
import { csv } from "../parts/chartdata";
import { Empty } from "../parts/states";
import { moment } from "../parts/time";
import { Heatmap } from "./heatmap";
import { Funnel, Paths } from "./journeys";
import { seriesOf } from "./series";
import { Bars, Gauge, Pie, Ranges, Stat } from "./shapes";
import { type Leads, List, Table } from "./tables";
import { num, shown } from "./values";
import "./grid.css";

const TimeChart = lazy(() => import("./timechart"));
const Markdown = lazy(() => import("./markdown"));

type Props = {
  widget: Widget;
  data: WidgetData | undefined;
  small?: WidgetData | undefined;
  leads: Leads | null;
  onBrush?: ((start: number, end: number) => void) | undefined;
  nothing?: ReactNode;
};

/** Draw shows the data of a widget in the form that the widget asks for. It never loads anything. */
export function Draw({ widget, data, small, leads, onBrush, nothing }: Props) {
  const display = widget.display ?? {};
  if (widget.visualization === "markdown")
    return (
      <Suspense fallback={null}>
        <div className="w-scroll" tabIndex={0} role="region" aria-label={display.title || "Text"}>
          <Markdown text={display.markdown?.content ?? ""} />
        </div>
      </Suspense>
    );
  if (!data) return null;
  if (isEmpty(data)) return nothing ?? <Empty title="No data in this window" />;
  switch (data.kind) {
    case "timeseries":
      return <Series widget={widget} data={data} onBrush={onBrush} />;
    case "breakdown":
      return widget.visualization === "pie" ? (
        <Pie data={data.breakdown} display={display} />
      ) : widget.visualization === "funnel" ? (
        <Funnel
          data={{ rows: (data.breakdown?.rows ?? []).map((r) => ({ name: r.name ?? "", value: num(r.values?.[0]?.value) ?? 0 })) }}
          display={display}
          unit={data.unit}
        />
      ) : (
        <Bars data={data.breakdown} display={display} />
      );
    case "table":
      return widget.visualization === "list" ? (
        <List data={data.table} display={display} leads={leads} />
      ) : (
        <Table data={data.table} display={display} unit={display.unit || data.unit} leads={leads} queries={widget.dataSource?.queries} />
      );
    case "value":
      return widget.visualization === "gauge" ? (
        <Gauge data={data} display={display} />
      ) : (
        <Stat data={data} display={display} small={smallOf(small ?? data)} />
      );
    case "histogram":
      return <Ranges data={data.histogram} display={display} unit={data.unit} />;
    case "heatmap":
      return <Heatmap data={data.heatmap} display={display} unit={data.unit} />;
    case "funnel":
      return <Funnel data={data.funnel} display={display} unit={data.unit} />;
    case "paths":
      return <Paths data={data.paths} display={display} />;
    default:
      return nothing ?? <Empty title="This widget has no data" />;
  }
}

function Series({ widget, data, onBrush }: { widget: Widget; data: WidgetData; onBrush: Props["onBrush"] }) {
  const display = useMemo(() => widget.display ?? {}, [widget.display]);
  const { times, lines } = useMemo(
    () => seriesOf(data.timeseries, display, widget.dataSource?.queries),
    [data.timeseries, display, widget.dataSource?.queries],
  );
  const unit = display.unit || display.yAxis?.unit || data.unit || data.timeseries?.series?.[0]?.unit;
  const format = useMemo(() => shown({ ...display, ...(unit ? { unit } : {}) }, unit), [display, unit]);
  const kind =
    display.chartId?.endsWith("-bar") || widget.dataSource?.displayType === "bar"
      ? "bar"
      : display.chartId?.endsWith("-area") || widget.dataSource?.displayType === "area"
        ? "area"
        : "line";
  return (
    <Suspense fallback={null}>
      <TimeChart
        title={display.title || "Values over time"}
        times={times}
        lines={lines}
        format={format}
        display={display}
        kind={kind}
        onBrush={onBrush}
      />
    </Suspense>
  );
}

function smallOf(data: WidgetData): number[] {
  const points = data.timeseries?.series?.[0]?.points ?? [];
  return points.map((p) => num(p.value ?? 0) ?? 0);
}

export function isEmpty(d: WidgetData): boolean {
  switch (d.kind) {
    case "timeseries":
      return !d.timeseries?.series?.some((s) => s.points?.length);
    case "breakdown":
      return !d.breakdown?.rows?.length;
    case "table":
      return !d.table?.rows?.length;
    case "value":
      return num(d.value?.value) === null;
    case "histogram":
      return !d.histogram?.buckets?.some((b) => b.count);
    case "heatmap":
      return !d.heatmap?.cells?.length;
    case "funnel":
      return !d.funnel?.rows?.some((r) => r.value);
    case "paths":
      return !d.paths?.rows?.length;
    default:
      return false;
  }
}

const sheet = (heads: string[], rows: unknown[][]): string => csv([heads, ...rows]);

/** sheetOf is the data of a widget as a text of comma-separated values. */
export function sheetOf(widget: Widget, d: WidgetData): string {
  if (d.table)
    return sheet(
      (d.table.columns ?? []).map((c) => c.name ?? ""),
      d.table.rows ?? [],
    );
  if (d.kind === "timeseries") {
    const { times, lines } = seriesOf(d.timeseries, widget.display, widget.dataSource?.queries);
    return sheet(
      ["time", ...lines.map((l) => l.label)],
      times.map((t, i) => [new Date(t).toISOString(), ...lines.map((l) => l.values[i] ?? "")]),
    );
  }
  if (d.breakdown)
    return sheet(
      ["name", ...(d.breakdown.columns ?? []).map((c) => c.name || "value")],
      (d.breakdown.rows ?? []).map((r) => [r.name || r.group?.join(", ") || "", ...(r.values ?? []).map((v) => v.value ?? "")]),
    );
  if (d.value) return sheet(["value", "before"], [[d.value.value ?? "", d.value.previous ?? ""]]);
  if (d.histogram)
    return sheet(
      ["from", "to", "count"],
      (d.histogram.buckets ?? []).map((b) => [b.start ?? 0, b.end ?? 0, b.count ?? 0]),
    );
  if (d.heatmap)
    return sheet(
      ["x", "y", "value"],
      (d.heatmap.cells ?? []).map((c) => [c.x ?? "", c.y ?? "", c.value ?? 0]),
    );
  if (d.funnel)
    return sheet(
      ["group", "step", "actors", "p50_ms", "p90_ms"],
      (d.funnel.rows ?? []).map((r) => [r.group ?? "", r.name ?? "", r.value ?? 0, r.p50Ms ?? "", r.p90Ms ?? ""]),
    );
  if (d.paths)
    return sheet(
      ["hop", "from", "to", "actors"],
      (d.paths.rows ?? []).map((r) => [r.hop ?? 0, r.fromNode ?? "", r.toNode ?? "", r.count ?? 0]),
    );
  return "";
}

/** remarks are facts about an answer that a reader must know besides its values; `mild` ones are no reason to worry. */
export function remarks(d: WidgetData | undefined): { texts: string[]; mild: boolean } {
  if (!d) return { texts: [], mild: true };
  const out: string[] = [];
  if (d.rangeSource === "fallback")
    out.push(`No data in the window. This shows ${moment(Date.parse(d.startTime ?? ""))} – ${moment(Date.parse(d.endTime ?? ""))}.`);
  if (d.narrowedToSeconds)
    out.push(
      `Only the last ${d.narrowedToSeconds >= 172_800 ? `${Math.round(d.narrowedToSeconds / 86_400)} days` : `${Math.round(d.narrowedToSeconds / 3600)} h`} of the window were read.`,
    );
  const texts = [...out, ...(d.warnings ?? []), ...(d.truncated ? ["More groups or rows exist."] : [])];
  return { texts, mild: out.length === 0 && !d.warnings?.length };
}
