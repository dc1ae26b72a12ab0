import type { Dashboard } from "../gen/api";
import { type Definition, definitionOf, same } from "./merge";

/** A draft has the changes that a person has not saved. `base` is the dashboard from which the changes began. */
export type Draft = { base: Dashboard; now: Definition; at: number };

const name = (org: string, id: string): string => `dashboard draft ${org} ${id}`;

/** readDraft gives the kept draft; a value that cannot be read is dropped. */
export function readDraft(org: string, id: string): Draft | null {
  try {
    const d = JSON.parse(localStorage.getItem(name(org, id)) ?? "null") as Draft | null;
    if (
      !d ||
      d.base?.id !== id ||
      typeof d.at !== "number" ||
      !Array.isArray(d.now?.widgets) ||
      !d.now.widgets.every((w) => typeof w?.id === "string")
    )
      return null;
    return same(definitionOf(d.base), definitionOf(d.now)) ? null : d;
  } catch {
    return null;
  }
}

/** keepDraft writes the draft, or removes it. A browser without room or storage keeps it with the page alone. */
export function keepDraft(org: string, id: string, draft: Draft | null): void {
  try {
    if (draft) localStorage.setItem(name(org, id), JSON.stringify(draft));
    else localStorage.removeItem(name(org, id));
  } catch {
    // The page still has it.
  }
}

/** History is the present definition with those before and after it. Steps of one kind that follow each other are one step. */
export type History = { past: Definition[]; now: Definition; next: Definition[]; kind: string };

export const begun = (now: Definition): History => ({ past: [], now, next: [], kind: "" });

export function step(h: History, now: Definition, kind = ""): History {
  if (same(h.now, now)) return h;
  const joined = kind !== "" && kind === h.kind && h.next.length === 0;
  return { past: joined ? h.past : [...h.past.slice(-99), h.now], now, next: [], kind };
}
export function undo(h: History): History {
  const before = h.past.at(-1);
  return before ? { past: h.past.slice(0, -1), now: before, next: [h.now, ...h.next], kind: "" } : h;
}
export function redo(h: History): History {
  const [after, ...rest] = h.next;
  return after ? { past: [...h.past, h.now], now: after, next: rest, kind: "" } : h;
}
