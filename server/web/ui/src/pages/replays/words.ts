import type { SessionReplayTranscriptEvent } from "../../gen/api";
import { duration } from "../../parts/format";

/** The lanes of a session, in the order in which they are drawn. */
export const lanes = {
  error: "Error",
  navigation: "Page",
  click: "Click",
  input: "Input",
  network: "Request",
  console: "Console",
  custom: "Event",
} as const;
export type Lane = keyof typeof lanes;

/** laneOf is the lane of an event. A request that failed, and an error in the console, are errors. */
export function laneOf(e: SessionReplayTranscriptEvent): Lane {
  if (e.type === "error" || (e.type === "console" && e.level === "error") || (e.type === "network" && (e.netStatus ?? 0) >= 400))
    return "error";
  return e.type !== undefined && e.type in lanes ? (e.type as Lane) : "custom";
}

/** wordsOf says in one line what happened. */
export function wordsOf(e: SessionReplayTranscriptEvent): string {
  switch (e.type) {
    case "navigation":
      return pathOf(e.url ?? "");
    case "click":
    case "input":
      return [e.targetText ? `“${e.targetText}”` : "", e.targetSelector].filter(Boolean).join(" ");
    case "network":
      return [
        e.netMethod,
        pathOf(e.netUrl ?? e.url ?? ""),
        e.netStatus ? String(e.netStatus) : "no answer",
        e.netDurationMs === undefined ? "" : duration(e.netDurationMs),
      ]
        .filter(Boolean)
        .join(" ");
    case "console":
      return [e.level, e.message].filter(Boolean).join(": ");
    default:
      return e.message || e.url || e.type || "";
  }
}

/** pathOf leaves the origin out of an address. */
function pathOf(address: string): string {
  try {
    const u = new URL(address);
    return u.pathname + u.search;
  } catch {
    return address;
  }
}
