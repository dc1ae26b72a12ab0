import type { AgentSpan } from "../../gen/api";

/** A part of a conversation: the text of a message, a call of a tool, or what it answered. */
export type Part = { role: string; kind: "text" | "call" | "answer" | "json"; text: string };

/** partsOf reads the input or output of a call of a model, as the semantic conventions write it: a list of messages with parts; else it is text. */
export function partsOf(text: string, role: string): Part[] {
  if (!text.trim()) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ role, kind: "text", text }];
  }
  const messages = Array.isArray(value) ? value : [value];
  const out: Part[] = [];
  for (const m of messages) {
    if (typeof m === "string") {
      out.push({ role, kind: "text", text: m });
      continue;
    }
    if (typeof m !== "object" || m === null) continue;
    const one = m as { role?: unknown; content?: unknown; parts?: unknown; tool_calls?: unknown };
    const by = typeof one.role === "string" ? one.role : role;
    const parts = Array.isArray(one.parts) ? one.parts : Array.isArray(one.content) ? one.content : null;
    if (typeof one.content === "string") out.push({ role: by, kind: "text", text: one.content });
    for (const p of parts ?? []) out.push(partOf(p, by));
    if (Array.isArray(one.tool_calls))
      for (const c of one.tool_calls) out.push({ role: by, kind: "call", text: JSON.stringify(c, null, 2) });
    if (typeof one.content !== "string" && !parts && !Array.isArray(one.tool_calls))
      out.push({ role: by, kind: "json", text: JSON.stringify(m, null, 2) });
  }
  return out.length ? out : [{ role, kind: "text", text }];
}

function partOf(p: unknown, role: string): Part {
  if (typeof p === "string") return { role, kind: "text", text: p };
  const part = (p ?? {}) as {
    type?: unknown;
    content?: unknown;
    text?: unknown;
    name?: unknown;
    arguments?: unknown;
    response?: unknown;
    result?: unknown;
  };
  const text = typeof part.content === "string" ? part.content : typeof part.text === "string" ? part.text : null;
  if (part.type === "tool_call") return { role, kind: "call", text: `${String(part.name ?? "")} ${pretty(part.arguments)}`.trim() };
  if (part.type === "tool_call_response") return { role, kind: "answer", text: pretty(part.response ?? part.result ?? part.content) };
  if (text !== null) return { role, kind: "text", text };
  return { role, kind: "json", text: JSON.stringify(p, null, 2) };
}

/** pretty writes a value with line breaks, when it is JSON. */
export function pretty(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try {
    const read = JSON.parse(value) as unknown;
    return typeof read === "object" ? JSON.stringify(read, null, 2) : value;
  } catch {
    return value;
  }
}

/** money writes a cost in dollars. */
export function money(n: number | undefined): string {
  if (!n) return "–";
  return `$${n < 0.01 ? n.toPrecision(2) : n.toFixed(n < 1 ? 3 : 2)}`;
}

/** containers are the spans of agents: the calls below them have the same tokens and messages. */
export function containers(spans: AgentSpan[]): Set<string> {
  const parents = new Map(spans.map((s) => [s.spanId ?? "", s.parentSpanId ?? ""]));
  const out = new Set<string>();
  for (const s of spans) {
    if (!s.hasTokens && !s.input && !s.output) continue;
    for (let at = s.parentSpanId ?? ""; at && parents.has(at) && !out.has(at); at = parents.get(at) ?? "") out.add(at);
  }
  return out;
}
