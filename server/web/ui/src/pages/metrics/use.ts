import { type Called, times, useCall, useFrame } from "../../frame/session";
import type { MetricDetail, MetricOfType } from "../../gen/api";
import type { Query } from "./query";
import { fits } from "./units";

/** useMetric describes one metric in the window. */
export function useMetric(name: string): Called<"MetricsService/GetMetric"> {
  const { window: w } = useFrame();
  return useCall("MetricsService/GetMetric", { name, ...times(w) }, { enabled: name !== "", keep: false });
}

/** usual is the type and the aggregation of a query: those of the address when they fit, else the usual ones. */
export function usual(q: Query, detail: MetricDetail | undefined): { of: MetricOfType | undefined; type: string; agg: string } {
  const of = detail?.types?.find((t) => t.type === q.type) ?? detail?.types?.[0];
  const type = of?.type ?? "";
  const choices = fits(type, of?.isMonotonic ?? false);
  return { of, type, agg: choices.includes(q.agg) ? q.agg : choices[0]! };
}
