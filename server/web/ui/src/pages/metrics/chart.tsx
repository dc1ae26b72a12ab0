import { useQueries } from "@tanstack/react-query";
import { lazy, Suspense, useMemo } from "react";
import { type ApiError, call } from "../../api/client";
import { change, href } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { QuerySeries, QuerySpec } from "../../gen/api";
import { line, slots } from "../../parts/format";
import { Empty, Failed, Load } from "../../parts/states";
import { iso } from "../../parts/time";
import { previous, type Query, tracesOf } from "./query";
import { formatOf } from "./units";
import { usual } from "./use";

const Chart = lazy(() => import("../../parts/chart"));

/** Results draws the queries, and the formula over them. Lines of one unit share a chart. */
export function Results({ queries, formula, compare }: { queries: Query[]; formula: string; compare: boolean }) {
  const { window: w, env, org } = useFrame();
  const details = useQueries({
    queries: queries.map((q) => ({
      queryKey: [org.id, "MetricsService/GetMetric", { name: q.metric, ...times(w) }],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call("MetricsService/GetMetric", { name: q.metric, ...times(w) }, { org: org.id ?? "", signal }),
    })),
  });
  const ready = details.every((d) => d.data !== undefined);
  const shown = queries.map((q, i) => ({ q, ...usual(q, details[i]?.data) }));
  const environment = env ? `deployment.environment = "${env.replace(/["\\]/g, "\\$&")}"` : "";
  const specs = shown.map(({ q, type, agg }): QuerySpec => {
    const where = [q.where && environment ? `(${q.where})` : q.where, environment].filter(Boolean).join(" AND ");
    return {
      name: q.letter,
      source: "metrics",
      aggregation: agg,
      metric: { name: q.metric, ...(type ? { type: type as "sum" } : {}) },
      seriesLimit: 20,
      ...(q.by ? { groupBy: [q.by] } : {}),
      ...(where ? { where } : {}),
    };
  });
  const series = useCall(
    "QueryService/QueryTimeseries",
    {
      ...times(w),
      queries: specs,
      ...(formula ? { formulas: [{ name: "F1", expression: formula, legend: formula }] } : {}),
      ...(compare ? { comparison: { mode: "previous_period" } } : {}),
    },
    { enabled: ready },
  );
  const step = (series.data?.bucketSeconds ?? 60) * 1000;
  const units = useMemo(() => {
    const out = new Map<string, { title: string; unit: string; agg: string; series: QuerySeries[] }>();
    for (const s of series.data?.series ?? []) {
      const of = shown.find((x) => x.q.letter === s.query);
      const unit = of ? (of.of?.unit ?? s.unit ?? "") : (s.unit ?? "");
      const agg = of?.agg ?? "";
      const key = `${unit}|${agg === "rate" || agg === "count" ? agg : ""}|${of ? "" : "formula"}`;
      const one = out.get(key) ?? { title: of ? `${of.q.metric} ${agg}` : formula, unit, agg, series: [] };
      one.series.push(s);
      out.set(key, one);
    }
    return [...out.values()];
    // biome-ignore lint: the answer belongs to the queries
  }, [series.data]);
  const failed = details.find((d) => d.error && d.data === undefined);
  if (failed)
    return (
      <section className="panel">
        <Failed error={failed.error as ApiError} retry={() => failed.refetch()} />
      </section>
    );
  return (
    <section className="panel">
      <div className="body">
        <Load
          of={series}
          empty={(d) =>
            !d.series?.some((s) => s.points?.length) && (
              <Empty title="No points in this window">
                <p>{queries.some((q) => q.where) ? "Drop a condition, or choose a longer window." : "Choose a longer window."}</p>
              </Empty>
            )
          }
        >
          {(d) => (
            <>
              {d.warnings?.map((t) => (
                <p key={t} className="notice">
                  {t}
                </p>
              ))}
              {d.truncated && <p className="notice">The largest 20 groups are shown; the others are merged into one line.</p>}
              {units.map((u) => (
                <div key={`${u.unit}${u.agg}${u.title}`} className="metricchart">
                  {units.length > 1 && <h3 className="faint">{line(u.title, 200)}</h3>}
                  <Lines
                    title={u.title}
                    series={u.series}
                    unit={u.unit}
                    agg={u.agg}
                    step={step}
                    queries={shown.map(({ q, of }) => ({ q, services: of?.services ?? [] }))}
                    several={queries.length > 1}
                  />
                </div>
              ))}
            </>
          )}
        </Load>
      </div>
    </section>
  );
}

type LinesProps = {
  title: string;
  series: QuerySeries[];
  unit: string;
  agg: string;
  step: number;
  queries: Array<{ q: Query; services: string[] }>;
  several: boolean;
};

function Lines({ title, series, unit, agg, step, queries, several }: LinesProps) {
  const at = useMemo(
    () => [...new Set(series.flatMap((s) => (s.points ?? []).map((p) => Date.parse(p.timestamp ?? ""))))].sort((a, b) => a - b),
    [series],
  );
  const format = useMemo(() => formatOf(unit, agg), [unit, agg]);
  const { lines, groups } = useMemo(() => {
    const name = (s: QuerySeries): string => {
      const group = s.other ? "(other)" : (s.group ?? []).map((g) => g || "(none)").join(", ");
      return (
        line([several ? (s.query === "F1" ? s.name : s.query) : "", group || (several ? "" : agg)].filter(Boolean).join(" "), 90) || title
      );
    };
    const colors = slots(series.map(name));
    const groups = new Map<string, { query: string; group: string | undefined }>();
    const lines = series.flatMap((s) => {
      const label = name(s);
      groups.set(label, { query: s.query ?? "", group: s.other ? undefined : s.group?.[0] });
      const color = s.other ? "--faint" : `--s${colors.get(label) ?? 0}`;
      const values = (points: QuerySeries["points"]): Array<number | null> => {
        const by = new Map((points ?? []).map((p) => [Date.parse(p.timestamp ?? ""), p.value ?? 0]));
        return at.map((t) => by.get(t) ?? null);
      };
      const before = s.previousPoints?.length ? [{ label: `${label} before`, color, values: previous(s, at), dashed: true }] : [];
      return [{ label, color, values: values(s.points) }, ...before];
    });
    return { lines, groups };
  }, [series, at, agg, several, title]);
  const records = (place: { start: number; end: number; line: { label: string } | null }): string => {
    const of = groups.get(place.line?.label.replace(/ before$/, "") ?? "") ?? { query: queries[0]?.q.letter ?? "A", group: undefined };
    const query = queries.find((x) => x.q.letter === of.query) ?? queries[0];
    const q = query ? tracesOf(query.q.by, of.group, query.services) : "";
    return href("/traces", { q, from: iso(place.start), to: iso(place.end) });
  };
  return (
    <Suspense fallback={<div style={{ height: 280 }} />}>
      <Chart
        title={title}
        times={at}
        lines={lines}
        format={format}
        height={280}
        step={step}
        records={records}
        onBrush={(a, b) => change({ from: iso(a), to: iso(b) })}
      />
    </Suspense>
  );
}
