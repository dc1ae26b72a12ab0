// Spans, and their form in OTLP/JSON.
import type { Settings } from "./options";
import { cut, hexId, nanos } from "./texts";

export type Value = string | number | boolean;

export interface SpanEvent {
  name: string;
  at: number;
  attributes: Record<string, Value>;
}

export interface Span {
  traceId: string;
  spanId: string;
  parentId: string;
  sessionId: string;
  name: string;
  kind: 1 | 3;
  start: number;
  end: number;
  attributes: Record<string, Value | undefined>;
  events: SpanEvent[];
  error?: string;
  sampled: boolean;
}

/** Context is the place of a span in a trace. */
export interface Context {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

/** now is a time in milliseconds with fractions. It follows the clock of the system, which a sleep of the computer does not stop. */
export function now(): number {
  const fine = performance.timeOrigin + performance.now();
  const clock = Date.now();
  return Math.abs(fine - clock) > 1000 ? clock : fine;
}

export function startSpan(name: string, kind: 1 | 3, session: string, sampled: boolean, parent?: Context, start = now()): Span {
  return {
    traceId: parent?.traceId ?? hexId(16),
    spanId: hexId(8),
    parentId: parent?.spanId ?? "",
    sessionId: session,
    name,
    kind,
    start,
    end: 0,
    attributes: {},
    events: [],
    sampled: parent?.sampled ?? sampled,
  };
}

export function traceparent(s: Context): string {
  return `00-${s.traceId}-${s.spanId}-0${s.sampled ? 1 : 0}`;
}

/** parseTraceparent reads a header `traceparent`, or gives undefined. */
export function parseTraceparent(text: string | null | undefined): Context | undefined {
  const m = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/.exec(text ?? "");
  if (!m || /^0+$/.test(m[1]!) || /^0+$/.test(m[2]!)) return undefined;
  return { traceId: m[1]!, spanId: m[2]!, sampled: (parseInt(m[3]!, 16) & 1) === 1 };
}

function value(v: Value): object {
  if (typeof v === "string") return { stringValue: cut(v, 4096) };
  if (typeof v === "boolean") return { boolValue: v };
  return Number.isInteger(v) ? { intValue: String(v) } : { doubleValue: v };
}

function list(attributes: Record<string, Value | undefined>): object[] {
  return Object.keys(attributes).flatMap((key) => {
    const v = attributes[key];
    return v === undefined || v === "" ? [] : [{ key, value: value(v) }];
  });
}

/** resource describes the page as the sender of spans, and as the origin of a session. */
export function resource(s: Settings, version: string): Record<string, string> {
  const all: Record<string, string> = {
    "service.name": s.serviceName,
    "service.namespace": s.serviceNamespace,
    "service.version": s.serviceVersion,
    "deployment.commit_sha": s.commitSha,
    "deployment.environment": s.environment,
    "deployment.environment.name": s.environment,
    "svc.sdk.type": "browser",
    "telemetry.sdk.name": "svc-browser",
    "telemetry.sdk.language": "webjs",
    "telemetry.sdk.version": version,
  };
  for (const key of Object.keys(all)) if (!all[key]) delete all[key];
  return all;
}

/** encode writes spans as one OTLP/JSON request, with a resource for each session among them. */
export function encode(spans: Span[], res: Record<string, string>, version: string): string {
  const sessions = new Map<string, Span[]>();
  for (const s of spans) sessions.set(s.sessionId, [...(sessions.get(s.sessionId) ?? []), s]);
  return JSON.stringify({
    resourceSpans: [...sessions].map(([id, all]) => ({
      resource: { attributes: list({ ...res, "session.id": id }) },
      scopeSpans: [{ scope: { name: "@svc/browser", version }, spans: all.map(one) }],
    })),
  });
}

function one(s: Span): object {
  return {
    traceId: s.traceId,
    spanId: s.spanId,
    parentSpanId: s.parentId || undefined,
    name: s.name,
    kind: s.kind,
    startTimeUnixNano: nanos(s.start),
    endTimeUnixNano: nanos(Math.max(s.start, s.end)),
    attributes: list({ ...s.attributes, "session.id": s.sessionId }),
    events: s.events.map((e) => ({ name: e.name, timeUnixNano: nanos(e.at), attributes: list(e.attributes) })),
    status: s.error === undefined ? {} : { code: 2, message: s.error || undefined },
    flags: s.sampled ? 1 : 0,
  };
}
