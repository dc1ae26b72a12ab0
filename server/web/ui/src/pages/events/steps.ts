import type { ProductEventStep } from "../../gen/api";
import { FunnelSteps, ProductEventStep_event_name, ProductEventStep_page_path } from "../../gen/limits";

export type Step = { kind: "event" | "page"; value: string };

/** stepsOf reads the steps of the address: one a line, `event:NAME` or `page:/path`. */
export const stepsOf = (text: string | null): Step[] =>
  (text ?? "")
    .split("\n")
    .map((l): Step | null => {
      const m = /^(event|page):(.*)$/.exec(l);
      if (!m) return null;
      const kind = m[1] as Step["kind"];
      return { kind, value: m[2]!.slice(0, (kind === "event" ? ProductEventStep_event_name : ProductEventStep_page_path).characters) };
    })
    .filter((s): s is Step => s !== null)
    .slice(0, FunnelSteps);

export const stepsText = (steps: Step[]): string => steps.map((s) => `${s.kind}:${s.value.replace(/\n/g, " ")}`).join("\n");

export const asked = (s: Step): ProductEventStep =>
  s.kind === "event" ? { kind: "event", eventName: s.value } : { kind: "page", pagePath: s.value };

const quote = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;
const condition = (s: Step): string => (s.kind === "event" ? `Name = ${quote(s.value)}` : `PagePath = ${quote(s.value)}`);

/** left is the statement that finds the sessions with one step and without the next, the latest first. */
export const left = (step: Step, next: Step): string =>
  `SELECT SessionId, max(Timestamp) AS at, any(UserId) AS user
FROM product_events
WHERE $__timeFilter(Timestamp) AND SessionId != '' AND ${condition(step)}
  AND SessionId NOT IN (SELECT SessionId FROM product_events WHERE $__timeFilter(Timestamp) AND ${condition(next)})
GROUP BY SessionId
ORDER BY at DESC
LIMIT 50`;
