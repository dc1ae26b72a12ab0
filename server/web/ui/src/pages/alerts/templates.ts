import { AlertBaseline } from "../../gen/limits";
import { lasts } from "../../parts/format";
import type { Draft } from "./draft";

/** Rules that people begin with most. */
export const templates: Array<{ name: string; about: string; rule: Draft }> = [
  {
    name: "Errors above 5 %",
    about: "Each service by itself, two minutes in a row",
    rule: { name: "Errors above 5 %", signalType: "error_rate", groupBy: ["service.name"] },
  },
  {
    name: "Slower than usual",
    about: `p95 of each service against the same hour of the last ${lasts(AlertBaseline)}`,
    rule: {
      name: "Slower than usual",
      severity: "warning",
      signalType: "p95_latency",
      groupBy: ["service.name"],
      baseline: { sensitivity: "normal" },
      threshold: 100,
    },
  },
  {
    name: "Traffic stopped",
    about: "A service gets less than one request a minute",
    rule: {
      name: "Traffic stopped",
      signalType: "throughput",
      comparator: "lt",
      threshold: 1,
      groupBy: ["service.name"],
      minimumSampleCount: "0",
      alertOnNoData: true,
    },
  },
  {
    name: "Objective 99.9 %",
    about: "Errors use up the budget of 30 days too fast",
    rule: {
      name: "Objective 99.9 %",
      signalType: "error_rate",
      comparator: "gte",
      threshold: 1,
      windowMinutes: 60,
      groupBy: ["service.name"],
      burn: { target: 0.999, periodDays: 30 },
    },
  },
  {
    name: "Error logs",
    about: "More than 100 log records of severity ERROR in 5 minutes, by service",
    rule: {
      name: "Error logs",
      severity: "warning",
      signalType: "builder_query",
      threshold: 100,
      groupBy: ["service.name"],
      queryBuilderDraft: { queries: [{ id: "a", name: "A", dataSource: "logs", aggregation: "count", whereClause: "severity >= ERROR" }] },
    },
  },
];
