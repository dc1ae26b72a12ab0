import type { AlertIncident, AlertRule, CreateAlertRuleRequest, QueryDraft, QueryFormula, UpdateAlertRuleRequest } from "../../gen/api";
import { isOneOf } from "../../parts/choices";
import { count, duration, line, percent } from "../../parts/format";

/** Draft is the rule that a person edits. */
export type Draft = CreateAlertRuleRequest;
export type SignalType = NonNullable<Draft["signalType"]>;
type Comparator = NonNullable<Draft["comparator"]>;
export type Builder = { queries: QueryDraft[]; formulas?: QueryFormula[] };

type SignalKind = {
  name: string;
  hint: string;
  threshold: number;
  comparator: Comparator;
  format: (n: number) => string;
  unit: string;
  scale: number;
};

/** What each signal is, and the condition that a new rule begins with. `scale` is what a person types against what the API takes. */
export const signals: Record<SignalType, SignalKind> = {
  error_rate: {
    name: "Error rate",
    hint: "share of failed requests",
    threshold: 0.05,
    comparator: "gt",
    format: percent,
    unit: "%",
    scale: 100,
  },
  p95_latency: {
    name: "p95 latency",
    hint: "95 of 100 requests are faster",
    threshold: 500,
    comparator: "gt",
    format: duration,
    unit: "ms",
    scale: 1,
  },
  p99_latency: {
    name: "p99 latency",
    hint: "99 of 100 requests are faster",
    threshold: 1000,
    comparator: "gt",
    format: duration,
    unit: "ms",
    scale: 1,
  },
  apdex: {
    name: "Apdex",
    hint: "satisfied requests, 0 to 1",
    threshold: 0.85,
    comparator: "lt",
    format: (n) => n.toFixed(3),
    unit: "",
    scale: 1,
  },
  throughput: {
    name: "Throughput",
    hint: "requests per minute",
    threshold: 1,
    comparator: "lt",
    format: (n) => `${count(Math.round(n * 10) / 10)}/min`,
    unit: "/min",
    scale: 1,
  },
  builder_query: {
    name: "Query",
    hint: "traces, logs, metrics or product events",
    threshold: 100,
    comparator: "gt",
    format: count,
    unit: "",
    scale: 1,
  },
  raw_query: { name: "SQL", hint: "a SELECT with a column `value`", threshold: 100, comparator: "gt", format: count, unit: "", scale: 1 },
};

export const comparators: Array<[Comparator, string]> = [
  ["gt", "is above"],
  ["gte", "is at least"],
  ["lt", "is below"],
  ["lte", "is at most"],
  ["between", "is between"],
  ["not_between", "is outside of"],
  ["eq", "equals"],
  ["neq", "differs from"],
];

export const comparatorName = (c: string | undefined): string => comparators.find(([key]) => key === c)?.[1] ?? c ?? "";
export const signalName = (s: string | undefined): string => signals[s as SignalType]?.name ?? s ?? "";
export const isRange = (c: string | undefined): boolean => c === "between" || c === "not_between";
/** The comparators of one threshold that has a good side. A rule with one of them can resolve at another value. */
const oneSided: Comparator[] = ["gt", "gte", "lt", "lte"];
export const isOneSided = (c: string | undefined): boolean => isOneOf(oneSided, c);
export const onServices = (s: string | undefined): boolean => s !== "builder_query" && s !== "raw_query";

/** formatOf shows a value of a signal with its unit. A query has a unit when its aggregation has one. */
export function formatOf(r: { signalType?: string; queryBuilderDraft?: Record<string, unknown>; burn?: unknown }): (n: number) => string {
  if (r.burn) return (n) => `${count(n)}×`;
  if (r.signalType === "builder_query") {
    const b = builderOf(r.queryBuilderDraft);
    const first = b.queries[0]?.aggregation ?? "";
    if (!b.formulas?.length && first.endsWith("_duration")) return duration;
    if (!b.formulas?.length && first === "error_rate") return percent;
  }
  return signals[r.signalType as SignalType]?.format ?? count;
}

/** condition says a rule in one line. */
export function condition(r: AlertRule | AlertIncident): string {
  const f = formatOf(r);
  if ("baseline" in r && r.baseline) return `${signalName(r.signalType)} far from its past, by ${f(r.threshold ?? 0)} at least`;
  const upper = isRange(r.comparator) ? ` and ${f(r.thresholdUpper ?? 0)}` : "";
  return `${signalName(r.signalType)} ${comparatorName(r.comparator)} ${f(r.threshold ?? 0)}${upper}`;
}

export function builderOf(draft: Record<string, unknown> | undefined): Builder {
  const d = draft as (Partial<Builder> & QueryDraft) | undefined;
  if (!d) return { queries: [blank(0)] };
  if (Array.isArray(d.queries)) return { queries: d.queries, formulas: Array.isArray(d.formulas) ? d.formulas : [] };
  return { queries: [{ ...blank(0), ...d }] };
}

export function blank(i: number): QueryDraft {
  return { id: "abcd"[i] ?? "z", name: "ABCD"[i] ?? "Z", dataSource: "logs", aggregation: "count", whereClause: "" };
}

export const fresh: Draft = {
  name: "",
  enabled: true,
  severity: "critical",
  signalType: "error_rate",
  comparator: "gt",
  threshold: 0.05,
  windowMinutes: 5,
  groupBy: ["service.name"],
  consecutiveBreachesRequired: 2,
  consecutiveHealthyRequired: 2,
  renotifyIntervalMinutes: 60,
  minimumSampleCount: "20",
  destinationIds: [],
};

/** begin reads the start of a rule from the address. What cannot be read is dropped. */
export function begin(text: string | null, env: string): Draft {
  let given: Partial<Draft> = {};
  try {
    const read: unknown = JSON.parse(text ?? "{}");
    if (read && typeof read === "object" && !Array.isArray(read)) given = read;
  } catch {
    // an old or a broken link: the usual start
  }
  const signal = given.signalType && Object.hasOwn(signals, given.signalType) ? given.signalType : "error_rate";
  const kind = signals[signal];
  const base = {
    ...fresh,
    signalType: signal,
    comparator: kind.comparator,
    threshold: kind.threshold,
    ...(onServices(signal) ? {} : { groupBy: [], minimumSampleCount: "0" }),
  };
  const out: Draft = { ...base, ...given, ...(given.serviceNames?.length ? { groupBy: [] } : {}) };
  return onServices(signal) && env && !out.environments?.length ? { ...out, environments: [env] } : out;
}

/** switched changes the signal, and with it the condition. */
export function switched(d: Draft, to: SignalType): Draft {
  const kind = signals[to];
  const query = to === "builder_query" ? { queryBuilderDraft: d.queryBuilderDraft ?? { queries: [blank(0)] } } : {};
  const sql = to === "raw_query" ? { rawQuerySql: d.rawQuerySql ?? sqlStart } : {};
  const groups =
    onServices(to) === onServices(d.signalType)
      ? {}
      : { groupBy: onServices(to) ? ["service.name"] : [], minimumSampleCount: onServices(to) ? "20" : "0" };
  const { thresholdUpper: _upper, resolveThreshold: _resolve, burn: _burn, baseline, ...rest } = d;
  return {
    ...rest,
    ...query,
    ...sql,
    ...groups,
    ...(baseline ? { baseline } : {}),
    signalType: to,
    comparator: kind.comparator,
    threshold: kind.threshold,
  };
}

export const sqlStart = `SELECT service_name AS group, count() AS value
FROM logs
WHERE $__orgFilter AND $__timeFilter(timestamp) AND severity_number >= 17
GROUP BY group`;

/** cleaned is the rule without what its signal and its comparator do not take. */
export function cleaned(d: Draft): Draft {
  const out: Draft = { ...d, name: d.name?.trim() ?? "" };
  const drop = (...names: Array<keyof Draft>): void => {
    for (const n of names) delete out[n];
  };
  if (!onServices(d.signalType)) drop("serviceNames", "excludeServiceNames", "environments");
  if (d.signalType === "raw_query") drop("groupBy");
  else drop("rawQuerySql", "rawQueryReducer");
  if (d.signalType !== "builder_query") drop("queryBuilderDraft");
  if (d.signalType !== "apdex") drop("apdexThresholdMs");
  if (d.signalType !== "error_rate") drop("burn");
  if (!isRange(d.comparator)) drop("thresholdUpper");
  if (!isOneSided(d.comparator)) drop("resolveThreshold");
  if (d.serviceNames?.length) drop("groupBy");
  if (d.serviceNames?.length || d.groupBy?.join() !== "service.name") drop("excludeServiceNames");
  const { title, body, overrides } = d.notificationTemplate ?? {};
  if (!title && !body && !Object.keys(overrides ?? {}).length) drop("notificationTemplate");
  else out.notificationTemplate = { ...(title ? { title } : {}), ...(body ? { body } : {}), ...(overrides ? { overrides } : {}) };
  if (!d.notes) drop("notes");
  return out;
}

/** All fields of a rule: a change names them all, so that a field that was emptied is emptied in the rule. */
const fields: Array<keyof Draft> = [
  "name",
  "notes",
  "notificationTemplate",
  "enabled",
  "severity",
  "serviceNames",
  "excludeServiceNames",
  "environments",
  "tags",
  "groupBy",
  "signalType",
  "comparator",
  "threshold",
  "thresholdUpper",
  "windowMinutes",
  "minimumSampleCount",
  "consecutiveBreachesRequired",
  "consecutiveHealthyRequired",
  "renotifyIntervalMinutes",
  "apdexThresholdMs",
  "queryBuilderDraft",
  "rawQuerySql",
  "rawQueryReducer",
  "destinationIds",
  "resolveThreshold",
  "alertOnNoData",
  "burn",
  "baseline",
];

export const changeOf = (id: string, d: Draft): UpdateAlertRuleRequest => ({ id, ...cleaned(d), updateMask: fields.join(",") });

/** draftOf is a stored rule as a person edits it. */
export function draftOf(r: AlertRule): Draft {
  const all = r as Record<string, unknown>;
  return Object.fromEntries(fields.filter((f) => all[f] !== undefined && all[f] !== null).map((f) => [f, all[f]])) as Draft;
}

/** groupName is the group that people see. A rule without groups has one for everything. */
export const groupName = (key: string | undefined): string => (!key || key === "__total__" ? "all" : line(key, 100));

/** reason is the message of a failure without the name of its kind. */
export const reason = (text: string | undefined): string => (text ?? "").replace(/^@svc\/\S+: /, "");

/** rounded is a value with three digits, as a hand drags it. */
export const rounded = (n: number): number => Number(n.toPrecision(3));
