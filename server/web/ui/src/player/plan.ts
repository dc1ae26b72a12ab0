import type { SessionReplayChunk, SessionReplayManifest } from "../gen/api";
import { RecordingPage, RecordingPayload } from "../gen/limits";

/** A chunk that is larger than this is left out: a browser would stand still while it reads it. */
export const largestChunk = 8 << 20;

/** Read is a range of chunks, both ends inclusive, that one answer can hold. */
export type Read = { from: number; to: number; bytes: number };

/**
 * Plan says how the recording is read. Missing are the chunks that were not received, tooLarge those that are too large, and useless those
 * that describe the changes of a page whose picture is missing.
 */
export type Plan = { reads: Read[]; missing: number; tooLarge: number; useless: number; bytes: number };

/** planOf cuts a recording into answers, in the order of the chunks. After a gap it goes on at the next full picture of a page. */
export function planOf(m: SessionReplayManifest): Plan {
  const most = { chunks: m.maxChunksPerRequest || RecordingPage, bytes: m.maxBytesPerRequest || RecordingPayload.bytes };
  const plan: Plan = { reads: [], missing: 0, tooLarge: 0, useless: 0, bytes: 0 };
  let next = 0;
  let complete = false; // the page that the chunk changes is known
  let open: Read | undefined;
  for (const c of inOrder(m.chunks ?? [])) {
    const seq = c.chunkSeq ?? 0;
    const bytes = c.byteSize ?? 0;
    const gap = seq - next;
    plan.missing += gap;
    next = seq + 1;
    complete = (complete && gap === 0 && bytes <= largestChunk) || (c.isCheckpoint ?? false);
    if (bytes > largestChunk) {
      plan.tooLarge++;
      complete = false;
      continue;
    }
    if (!complete) {
      plan.useless++;
      continue;
    }
    if (!open || open.to !== seq - 1 || seq - open.from >= most.chunks || open.bytes + bytes > most.bytes) {
      open = { from: seq, to: seq, bytes: 0 };
      plan.reads.push(open);
    }
    open.to = seq;
    open.bytes += bytes;
    plan.bytes += bytes;
  }
  return plan;
}

/** inOrder sorts chunks by number. The same number twice is one chunk. */
function inOrder(chunks: SessionReplayChunk[]): SessionReplayChunk[] {
  const byNumber = new Map(chunks.map((c) => [c.chunkSeq ?? 0, c]));
  return [...byNumber.values()].sort((a, b) => (a.chunkSeq ?? 0) - (b.chunkSeq ?? 0));
}

/** indexAt is the place of the last of sorted times that is not after t, or -1. */
export function indexAt(times: number[], t: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
