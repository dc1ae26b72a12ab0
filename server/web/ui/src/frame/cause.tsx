import type { Incident, IncidentSymptom } from "../gen/api";
import { count, duration, percent, rate } from "../parts/format";
import { iso } from "../parts/time";
import { href, Link } from "./router";

/** What went wrong, what sets it apart, and what was found out: three pages, one place. */
export function CauseTabs({ at }: { at: "incidents" | "difference" | "investigations" }) {
  const tabs = [
    ["incidents", "What went wrong"],
    ["difference", "What is different"],
    ["investigations", "Investigations"],
  ] as const;
  return (
    <nav className="tabs" aria-label="Causes">
      {tabs.map(([key, name]) => (
        <Link key={key} href={href(`/${key}`)} aria-current={key === at ? "page" : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}

export const kindNames: Record<string, string> = {
  release: "release",
  marker: "change",
  dependency: "dependency",
  attribute: "one value",
  operation: "operation",
  resource: "resource",
  traffic: "traffic",
  error: "new error",
  logs: "logs",
  unknown: "cause unknown",
};

/** figure shows a value of a symptom in its unit. */
export function figure({ kind, value, usual, unit }: IncidentSymptom, of: "value" | "usual"): string {
  const n = (of === "value" ? value : usual) ?? 0;
  // A number of things has the unit 1, too: the lag of a queue, say.
  if (unit === "1") return kind === "resource" && Math.max(value ?? 0, usual ?? 0) > 1.5 ? count(n) : percent(n);
  if (unit === "ms") return duration(n);
  if (unit === "1/s") return rate(n);
  return `${count(n)}${unit ? `\u2009${unit}` : ""}`;
}

const quoted = (v: string): string => `"${v.replace(/["\\]/g, "\\$&")}"`;
const minute = 60_000;

/** windowOf is the time of an incident with some minutes around it, as links carry it. */
export function windowOf(i: Incident, end: number): { from: string; to: string } {
  const from = Date.parse(i.startTime ?? "");
  const to = i.endTime ? Date.parse(i.endTime) : end;
  return { from: iso(from - 5 * minute), to: iso(to + 5 * minute) };
}

/** badOf is the condition of the failed or slow spans of an incident, or of its log records. */
export function badOf(i: Incident): { kind: "failed" | "slow" | "logs" | "any"; q: string } {
  const all = [i.firstSymptom, ...(i.symptoms ?? [])].filter((s): s is IncidentSymptom => s !== undefined);
  const has = (kind: string): IncidentSymptom | undefined => all.find((s) => s.kind === kind && s.serviceName === i.serviceName);
  if (i.cause?.kind === "logs" || (!has("error_rate") && !has("latency") && !has("error_group") && has("logs")))
    return { kind: "logs", q: "severity >= WARN" };
  if (has("error_rate") || has("error_group") || has("dependency_errors")) return { kind: "failed", q: "has_error = true" };
  const slow = has("latency") ?? has("dependency_latency");
  if (slow)
    return {
      kind: "slow",
      q: `duration > ${Math.max(1, Math.round(Math.sqrt(Math.max(1, slow.usual ?? 1) * Math.max(1, slow.value ?? 1))))}ms`,
    };
  return { kind: "any", q: "" };
}

/** stepsOf are the pages that show the most about an incident, the best first. */
export function stepsOf(i: Incident, end: number): Array<{ name: string; href: string }> {
  const window = windowOf(i, end);
  const service = i.serviceName ?? "";
  const where = service ? `service.name = ${quoted(service)}` : "";
  const bad = badOf(i);
  const join = (...parts: string[]): string => parts.filter(Boolean).join(" AND ");
  const out: Array<{ name: string; href: string }> = [];
  const add = (name: string, to: string): void => void out.push({ name, href: to });
  const c = i.cause ?? {};
  if (c.kind === "error" && c.target) add("The error", href(`/errors/${c.target}`, window));
  if (c.kind === "attribute" && c.attributeKey) {
    const key = c.attributeKey.startsWith("resource.") ? c.attributeKey : `attr.${c.attributeKey}`;
    add("Traces with this value", href("/traces", { ...window, q: join(where, `${key} = ${quoted(c.attributeValue ?? "")}`) }));
  }
  if (c.kind === "operation" && c.target)
    add("Traces of the operation", href("/traces", { ...window, q: join(where, `span.name = ${quoted(c.target)}`) }));
  if (bad.kind === "logs") add("Log records", href("/logs", { ...window, q: join(where, bad.q) }));
  else
    add({ failed: "Failed traces", slow: "Slow traces", any: "Traces" }[bad.kind], href("/traces", { ...window, q: join(where, bad.q) }));
  if (bad.kind === "failed" || bad.kind === "slow") add("What is different", href("/difference", { ...window, where, selected: bad.q }));
  if (bad.kind !== "logs") add("Logs", href("/logs", { ...window, q: join(where, "severity >= WARN") }));
  if (c.kind === "release") add("Releases", href(`/services/${encodeURIComponent(service)}`, { ...window, tab: "releases" }));
  if (service) add("Service", href(`/services/${encodeURIComponent(service)}`, window));
  return out;
}

/** peopleOf says for whom an incident is. */
export function peopleOf(i: Incident): string {
  const n = (v: string | undefined): number => Number(v ?? 0);
  const parts = [
    ...(i.affectedUsers && n(i.affectedUsers) > 0 ? [`${count(n(i.affectedUsers))} users`] : []),
    ...(i.affectedSessions && n(i.affectedSessions) > 0 ? [`${count(n(i.affectedSessions))} sessions`] : []),
    ...(n(i.affectedTraces) > 0 ? [`${count(n(i.affectedTraces))}${n(i.affectedTraces) >= 10_000 ? "+" : ""} failed traces`] : []),
  ];
  return parts.slice(0, 2).join(", ");
}
