import { useEffect, useRef, useState } from "react";
import { ApiError, call } from "../api/client";
import { useFrame } from "../frame/session";
import type { Log, LogFilters } from "../gen/api";
import { merge } from "./tail";

const pause = 1500;
const slowest = 30_000;
/** Records that arrive later than this after their time are left out of the tail; a search finds them. */
const lateness = 20_000;
/** Answers of 100 records that one turn reads at most. */
const mostPages = 20;
/** After a longer break, as of a laptop that slept, the tail begins anew. */
const longBreak = 5 * 60_000;

export type Live = { rows: Log[]; held: number; skipped: boolean; error: ApiError | null; began: boolean };

/** useLive follows the newest records that match. While it is held, new records wait: `held` counts them. */
export function useLive(filters: LogFilters, where: string | undefined, enabled: boolean, hold: boolean): Live {
  const { org } = useFrame();
  const [live, set] = useState<Live>({ rows: [], held: 0, skipped: false, error: null, began: false });
  const all = useRef<Log[]>([]);
  const held = useRef(hold);
  held.current = hold;
  const question = JSON.stringify([filters, where]);
  useEffect(() => {
    all.current = [];
    set({ rows: [], held: 0, skipped: false, error: null, began: false });
    if (!enabled) return;
    const stop = new AbortController();
    let timer = 0;
    let wait = pause;
    let last = Date.now() - 60_000; // the first turn shows the minute before
    const turn = async (): Promise<void> => {
      const now = Date.now();
      const from = now - last > longBreak ? now - lateness : last - lateness;
      let skipped = now - last > longBreak;
      let cursor: string | undefined;
      const fresh: Log[] = [];
      for (let n = 0; ; n++) {
        if (n === mostPages) {
          skipped = true;
          break;
        }
        const page = await call(
          "LogsService/SearchLogs",
          {
            startTime: new Date(from).toISOString(),
            endTime: new Date(now + 5000).toISOString(),
            limit: 100,
            filters,
            where,
            ...(cursor ? { cursor } : {}),
          },
          { org: org.id ?? "", signal: stop.signal },
        );
        fresh.push(...(page.data ?? []));
        cursor = page.hasMore ? page.nextCursor : undefined;
        // Records of a whole page that are all known were read by an earlier turn, and so were those before them.
        if (!cursor || (n > 0 && merge(all.current, page.data ?? []).added === 0)) break;
      }
      last = now;
      const { rows, added } = merge(all.current, fresh);
      all.current = rows;
      set((before) => ({
        rows: held.current ? before.rows : rows,
        held: held.current ? before.held + added : 0,
        error: null,
        began: true,
        skipped: before.skipped || (skipped && before.began),
      }));
    };
    const loop = (): void => {
      timer = window.setTimeout(() => {
        if (document.hidden) return; // goes on when the page is seen again
        turn()
          .then(
            () => {
              wait = pause;
            },
            (cause: unknown) => {
              wait = Math.min(slowest, wait * 2);
              if (!stop.signal.aborted) set((before) => ({ ...before, error: cause instanceof ApiError ? cause : null, began: true }));
            },
          )
          .finally(() => {
            if (!stop.signal.aborted) loop();
          });
      }, wait);
    };
    const seen = (): void => {
      if (document.hidden) return;
      clearTimeout(timer);
      loop();
    };
    document.addEventListener("visibilitychange", seen);
    wait = 0;
    loop();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
    // biome-ignore lint: question stands for filters
  }, [question, enabled, org.id]);
  useEffect(() => {
    if (!hold) set((before) => ({ ...before, rows: all.current, held: 0 }));
  }, [hold]);
  return live;
}
