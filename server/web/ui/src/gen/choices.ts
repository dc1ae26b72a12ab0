// Written by server/web/gentypes. Do not edit.

export const aggregations = {
  traces: ["count", "rate", "error_count", "error_rate", "apdex", "avg_duration", "min_duration", "max_duration", "p50_duration", "p75_duration", "p90_duration", "p95_duration", "p99_duration", "sum", "avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "count_distinct"],
  logs: ["count", "rate", "error_count", "error_rate", "sum", "avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "count_distinct"],
  metrics: ["avg", "sum", "min", "max", "count", "rate", "increase", "p50", "p75", "p90", "p95", "p99"],
  product_events: ["count", "rate", "sessions", "persons", "users", "visitors", "sum", "avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "count_distinct"],
};

export const aggregationsOfField = new Set(["sum", "avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "count_distinct"]);
