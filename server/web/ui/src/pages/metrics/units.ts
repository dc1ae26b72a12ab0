import { bytes, count, duration, percent } from "../../parts/format";

/** The aggregations that fit a type; the first one is the usual one. */
export const fitting: Record<string, string[]> = {
  sum: ["rate", "increase", "sum", "avg", "max"],
  gauge: ["avg", "max", "min", "sum", "p95"],
  histogram: ["p95", "p50", "p99", "p75", "p90", "avg", "max", "count", "rate"],
  exponential_histogram: ["p95", "p50", "p99", "p75", "p90", "avg", "max", "count", "rate"],
  summary: ["avg", "count", "sum"],
};

/** fits gives the aggregations of a metric. A sum that also falls has no rate. */
export function fits(type: string, monotonic: boolean): string[] {
  if (type === "sum" && !monotonic) return ["avg", "sum", "max", "min"];
  return (fitting[type] ?? ["avg"]).filter((a) => a !== "rate" || type === "sum");
}

/** unfit says why an aggregation does not work for a metric. */
export function unfit(agg: string, type: string, monotonic: boolean): string {
  if (agg === "rate" || agg === "increase") {
    if (type === "gauge") return `A gauge goes up and down, so it has no ${agg}.`;
    if (type === "sum" && !monotonic) return `This sum also falls, so it has no ${agg}.`;
    return `Only sums that grow have a ${agg}; count gives the observations of this ${type.replace("_", " ")}.`;
  }
  return `${agg} does not apply to this ${type.replace("_", " ")}.`;
}

const plain = (agg: string): boolean => agg === "count";

/** formatOf is how values of a unit in UCUM notation are written. */
export function formatOf(unit: string, agg = ""): (n: number) => string {
  if (plain(agg)) return count;
  const tail = agg === "rate" ? "/s" : "";
  switch (unit) {
    case "s":
      return agg === "rate" ? (n) => `${count(n)}\u2009s/s` : (n) => duration(n * 1000);
    case "ms":
      return (n) => `${duration(n)}${tail}`;
    case "us":
      return (n) => `${duration(n / 1000)}${tail}`;
    case "ns":
      return (n) => `${duration(n / 1e6)}${tail}`;
    case "By":
    case "bytes":
      return (n) => `${bytes(n)}${tail}`;
    case "KiBy":
      return (n) => `${bytes(n * 1024)}${tail}`;
    case "MiBy":
      return (n) => `${bytes(n * 1024 * 1024)}${tail}`;
    case "%":
      return (n) => percent(n / 100);
  }
  const name = /^\{(.+)\}$/.exec(unit)?.[1] ?? (unit === "1" ? "" : unit);
  return (n) => `${count(n)}${name ? `\u2009${name}` : ""}${tail}`;
}

/** prefixOf is the part of a name by which the catalogue groups: two words of a name with three or more. */
export function prefixOf(name: string): string {
  const parts = name.split(/[._]/);
  const cut = parts.length > 2 ? parts.slice(0, 2) : parts.slice(0, 1);
  return name.slice(0, cut.join(".").length);
}
