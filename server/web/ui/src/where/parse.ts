import type { AttributeFilter, LogFilters, TraceFilters } from "../gen/api";
import { isOneOf } from "../parts/choices";

/**
 * The filter text of a list: conditions of the form `field operator value`, joined by AND, and bare words that search text.
 * The filters of the search methods take conditions of certain shapes. A text that they cannot say is an error with its place, and
 * text.ts puts it into the query language.
 */
export type Condition = { field: string; op: string; value: string; negated: boolean; at: number };
export type Problem = { message: string; at: number };
export type Parsed = { conditions: Condition[]; words: string[]; error?: Problem };

const token = /\s*(?:"((?:[^"\\]|\\.)*)"|(!=|>=|<=|=|>|<|!contains\b|!exists\b)|([^\s"=<>!]+))/giy;
type Token = { text: string; kind: "quoted" | "op" | "word"; at: number };

function tokens(text: string): Token[] | Problem {
  const out: Token[] = [];
  token.lastIndex = 0;
  let at = 0;
  while (text.slice(at).trim() !== "") {
    token.lastIndex = at;
    const m = token.exec(text);
    if (!m) return { message: "This character cannot be read here.", at: at + (text.slice(at).length - text.slice(at).trimStart().length) };
    const start = m.index + m[0].length - m[0].trimStart().length;
    if (m[1] !== undefined) out.push({ text: m[1].replace(/\\(.)/g, "$1"), kind: "quoted", at: start });
    else if (m[2] !== undefined) out.push({ text: m[2].toLowerCase(), kind: "op", at: start });
    else out.push({ text: m[3]!, kind: /^(contains|exists)$/i.test(m[3]!) ? "op" : "word", at: start });
    at = token.lastIndex;
  }
  return out;
}

export function parse(text: string): Parsed {
  const conditions: Condition[] = [];
  const words: string[] = [];
  const list = tokens(text);
  if (!Array.isArray(list)) return { conditions, words, error: list };
  for (let i = 0; i < list.length;) {
    const t = list[i]!;
    const upper = t.kind === "word" ? t.text.toUpperCase() : "";
    if (upper === "AND") {
      i++;
      continue;
    }
    if (upper === "OR" || t.text.startsWith("(")) {
      return {
        conditions,
        words,
        error: { message: "Only the query language has OR and parentheses.", at: t.at },
      };
    }
    let negated = false;
    let field = t;
    if (upper === "NOT" && list[i + 1]) {
      negated = true;
      field = list[++i]!;
    }
    const op = list[i + 1];
    if (op?.kind === "op" && field.kind === "word") {
      const name = op.text.toLowerCase();
      const negates = name.startsWith("!") && name !== "!=";
      if (name === "exists" || name === "!exists") {
        conditions.push({ field: field.text, op: "exists", value: "", negated: negated !== negates, at: field.at });
        i += 2;
        continue;
      }
      const value = list[i + 2];
      if (!value || value.kind === "op")
        return { conditions, words, error: { message: `A value is missing after ${op.text}.`, at: op.at } };
      const positive = name === "!=" ? "=" : name.replace("!", "");
      conditions.push({
        field: field.text,
        op: positive,
        value: value.text,
        negated: negated !== (negates || name === "!="),
        at: field.at,
      });
      i += 3;
      continue;
    }
    if (field.kind === "op") return { conditions, words, error: { message: `A field is missing before ${field.text}.`, at: field.at } };
    if (negated) return { conditions, words, error: { message: "NOT needs a condition: field, operator, value.", at: t.at } };
    words.push(field.text);
    i++;
  }
  return { conditions, words };
}

/** quote writes a value as the bar reads it. */
export const quote = (value: string): string =>
  /^[^\s"=<>!()]+$/.test(value) && !/^(and|or|not|contains|exists)$/i.test(value) ? value : `"${value.replace(/[\\"]/g, "\\$&")}"`;

/** hasOr reports whether a text has OR outside quotes and parentheses. */
export function hasOr(text: string): boolean {
  let bare = text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');
  for (let before = ""; before !== bare;) {
    before = bare;
    bare = bare.replace(/\([^()]*\)/g, '""');
  }
  return /(?:^|[\s"])or(?=[\s"]|$)/i.test(bare);
}

/** withCondition adds a condition to a text, once. */
export function withCondition(text: string, field: string, op: string, value: string): string {
  const condition = `${field} ${op} ${quote(value)}`;
  if (text.includes(condition)) return text;
  const before = text.trim();
  return before === "" ? condition : `${hasOr(before) ? `(${before})` : before} AND ${condition}`;
}

const severities: Record<string, number> = { TRACE: 1, DEBUG: 5, INFO: 9, WARN: 13, WARNING: 13, ERROR: 17, FATAL: 21 };
const operators: Record<string, AttributeFilter["operator"]> = {
  "=": "equals",
  contains: "contains",
  ">": "gt",
  ">=": "gte",
  "<": "lt",
  "<=": "lte",
  exists: "exists",
};

export type Result<T> = { filters: T; error?: Problem };

const ofNumbers: Array<NonNullable<AttributeFilter["operator"]>> = ["gt", "gte", "lt", "lte"];

function attribute(c: Condition): AttributeFilter {
  const key = c.field.replace(/^(attr|resource)\./, "");
  const value = isOneOf(ofNumbers, operators[c.op]) ? Number(c.value) : c.value;
  return { key, operator: operators[c.op], ...(c.op === "exists" ? {} : { value }), ...(c.negated ? { negated: true } : {}) };
}

const only = (c: Condition, ops: string[]): Problem | undefined =>
  c.negated || !ops.includes(c.op) ? { message: `${c.field} takes ${ops.join(" ")} here, without NOT.`, at: c.at } : undefined;

export function logFilters(text: string, env: string): Result<LogFilters> {
  const p = parse(text);
  const f: LogFilters = {};
  if (env) f.deploymentEnvironment = env;
  if (p.error) return { filters: f, error: p.error };
  for (const c of p.conditions) {
    let bad: { message: string; at: number } | undefined;
    switch (c.field.toLowerCase()) {
      case "service.name":
      case "service":
        if (c.negated) (f.resourceAttributes ??= []).push({ ...attribute(c), key: "service.name" });
        else if (!(bad = only(c, ["="]))) f.serviceName = c.value;
        break;
      case "severity":
        if (c.op === ">=" && !c.negated) {
          const n = severities[c.value.toUpperCase()] ?? Number(c.value);
          if (Number.isNaN(n)) bad = { message: `${c.value} is no severity.`, at: c.at };
          else f.minimumSeverity = n;
        } else if (!(bad = only(c, ["=", ">="]))) f.severity = c.value.toUpperCase();
        break;
      case "trace_id":
      case "span_id":
        if (!(bad = only(c, ["="]))) f[c.field.toLowerCase() === "trace_id" ? "traceId" : "spanId"] = c.value;
        break;
      case "body":
        if (!(bad = only(c, ["contains"]))) p.words.push(c.value);
        break;
      case "deployment.environment":
        if (!(bad = only(c, ["="]))) f.deploymentEnvironment = c.value;
        break;
      default:
        if (c.field.startsWith("resource.")) (f.resourceAttributes ??= []).push(attribute(c));
        else (f.attributes ??= []).push(attribute(c));
    }
    if (bad) return { filters: f, error: bad };
  }
  if (p.words.length) f.bodySearch = p.words.join(" ");
  return { filters: f };
}

/** wrong returns the problem of a condition on spans that no method can take. */
function wrong(c: Condition): Problem | undefined {
  const compares = [">", ">=", "<", "<=", "="].includes(c.op);
  switch (c.field.toLowerCase()) {
    case "duration":
      return compares && ofDuration.test(c.value)
        ? undefined
        : { message: "A duration is a number with ms, s or m: duration > 250ms.", at: c.at };
    case "status":
      return c.op !== "=" || statuses.some((s) => s.toLowerCase() === c.value.toLowerCase())
        ? undefined
        : { message: "status is Ok, Error or Unset.", at: c.at };
    case "has_error":
    case "root":
      return c.op === "=" ? undefined : { message: `${c.field} is true or false: ${c.field} = true.`, at: c.at };
  }
  return undefined;
}

const statuses = ["Ok", "Error", "Unset"] as const;
const ofDuration = /^([\d.]+)(ns|us|µs|ms|s|m|h)?$/;
const milliseconds: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** traceFilters is the filter of spans for methods that take TraceFilters. It takes fewer conditions than traceWhere. */
export function traceFilters(text: string, env: string): Result<TraceFilters> {
  const p = parse(text);
  const f: TraceFilters = {};
  if (env) f.deploymentEnvironment = env;
  if (p.error) return { filters: f, error: p.error };
  for (const c of p.conditions) {
    let bad = wrong(c);
    if (bad) return { filters: f, error: bad };
    const name = c.field.toLowerCase();
    switch (name) {
      case "service.name":
      case "service":
        if (c.negated) (f.resourceAttributes ??= []).push({ ...attribute(c), key: "service.name" });
        else if (!(bad = only(c, ["="]))) f.serviceName = c.value;
        break;
      case "span.name":
      case "name":
        if (!(bad = only(c, ["=", "contains"]))) f[c.op === "=" ? "spanName" : "spanNameContains"] = c.value;
        break;
      case "has_error":
        if (!(bad = only(c, ["="]))) f.hasError = c.value.toLowerCase() === "true";
        break;
      case "status":
        if (!(bad = only(c, ["="]))) f.statusCode = statuses.find((s) => s.toLowerCase() === c.value.toLowerCase());
        break;
      case "duration": {
        const m = ofDuration.exec(c.value);
        if (!(bad = only(c, [">", ">=", "<", "<="])))
          f[c.op.startsWith(">") ? "minDurationMs" : "maxDurationMs"] = Number(m?.[1]) * (milliseconds[m?.[2] ?? "ms"] ?? 1);
        break;
      }
      case "http.method":
      case "http.route":
      case "http.status_code":
        if (!(bad = only(c, ["="])))
          f[name === "http.method" ? "httpMethod" : name === "http.route" ? "httpRoute" : "httpStatusCode"] = c.value;
        break;
      case "root":
        if (!(bad = only(c, ["="])) && c.value.toLowerCase() === "true") f.spanScope = "root";
        break;
      case "trace_id":
        if (!(bad = only(c, ["="]))) f.traceId = c.value;
        break;
      case "deployment.environment":
      case "service.namespace":
        if (!(bad = only(c, ["=", "exists"])) && c.op === "=")
          f[name === "service.namespace" ? "serviceNamespace" : "deploymentEnvironment"] = c.value;
        else if (!bad) (f.resourceAttributes ??= []).push(attribute(c));
        break;
      case "service.version":
        (f.resourceAttributes ??= []).push(attribute(c));
        break;
      case "span.kind":
      case "status.message":
        bad = { message: `Only the query language has ${name}.`, at: c.at };
        break;
      default:
        if (c.field.startsWith("resource.")) (f.resourceAttributes ??= []).push(attribute(c));
        else (f.attributes ??= []).push(attribute(c));
    }
    if (bad) return { filters: f, error: bad };
  }
  if (p.words.length) f.spanNameContains = p.words.join(" ");
  return { filters: f };
}

/** The names of the query language for what the bar calls otherwise. */
const languageNames: Record<string, string> = { service: "service.name", name: "span.name", status: "status.code", root: "root_only" };
const languageFields = new Set(
  [
    "service.name span.name status.code root_only has_error duration trace_id http.method http.route http.status_code",
    "deployment.environment service.namespace service.version span.kind status.message",
  ].flatMap((names) => names.split(" ")),
);

/** quoted writes a value as the query language reads it, whatever it holds. */
export const quoted = (value: string): string => `"${value.replace(/["\\]/g, "\\$&")}"`;

/** traceWhere is the filter of spans as text in the query language, for methods that take no TraceFilters. It is "" with an error. */
export function traceWhere(text: string, env: string): { where: string; error?: Problem } {
  const p = parse(text);
  const error = p.error ?? p.conditions.map(wrong).find(Boolean);
  if (error) return { where: "", error };
  const out = env ? [`deployment.environment = ${quoted(env)}`] : [];
  for (const c of p.conditions) {
    const lower = c.field.toLowerCase();
    const known = languageNames[lower] ?? lower;
    const field = languageFields.has(known) ? known : /^(attr|resource)\./.test(c.field) ? c.field : `attr.${c.field}`;
    out.push(`${c.negated ? "NOT " : ""}${field} ${c.op}${c.op === "exists" ? "" : ` ${quoted(c.value)}`}`);
  }
  if (p.words.length) out.push(`span.name contains ${quoted(p.words.join(" "))}`);
  return { where: out.join(" AND ") };
}

/** traceProblem returns the problem of a text that has plain conditions alone. */
export const traceProblem = (text: string): Problem | undefined => traceWhere(text, "").error;
