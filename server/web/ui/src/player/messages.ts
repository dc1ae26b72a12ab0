/** The messages between the page of a session and the frame in which its recording plays. Both are files of this server. */

/** Order is a message to the frame. Times are milliseconds since the epoch. */
export type Order =
  /** Chunks are given in their order; `events` is a JSON array as text. */
  | { kind: "chunk"; seq: number; events: string }
  /** No more chunks come. */
  | { kind: "end" }
  /** Stand at this many milliseconds after the first event, once there are events. */
  | { kind: "start"; offset: number }
  | { kind: "play"; at?: number }
  | { kind: "pause"; at?: number }
  | { kind: "speed"; value: number }
  | { kind: "skip"; idle: boolean };

/** Report is a message of the frame. */
export type Report =
  | { kind: "ready" }
  /** first and last are the times of the first and the last event so far. */
  | { kind: "state"; now: number; first: number; last: number; playing: boolean; skipping: boolean; ended: boolean }
  /** A chunk is no array of events. It is left out. */
  | { kind: "damaged"; seq: number }
  /** The recording cannot be played. */
  | { kind: "broken"; reason: string };

export type RecordedEvent = { type: number; timestamp: number; data: unknown };

/** eventsOf reads a chunk: null when it is no array of events. */
export function eventsOf(text: string): RecordedEvent[] | null {
  let all: unknown;
  try {
    all = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(all) || !all.every(isEvent)) return null;
  return all;
}

function isEvent(e: unknown): e is RecordedEvent {
  if (typeof e !== "object" || e === null || !("type" in e) || !("timestamp" in e) || !("data" in e)) return false;
  return Number.isInteger(e.type) && Number.isFinite(e.timestamp);
}
