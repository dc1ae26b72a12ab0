import { useEffect, useState } from "react";
import { ApiError, call } from "../api/client";
import { useFrame } from "../frame/session";
import type { SkeletonSpan, TraceSkeleton } from "../gen/api";

export type Loaded = {
  skeleton?: TraceSkeleton;
  spans: SkeletonSpan[];
  names: string[];
  services: string[];
  more: boolean;
  error?: ApiError;
};

/** useSkeleton loads the first 5,000 spans, shows them, and then the rest. Each part has tables of names of its own. */
export function useSkeleton(id: string): Loaded & { again: () => void } {
  const { org } = useFrame();
  const [state, set] = useState<Loaded>({ spans: [], names: [], services: [], more: true });
  const [attempt, again] = useState(0);
  // biome-ignore lint: an attempt loads it anew
  useEffect(() => {
    const stop = new AbortController();
    const all: Loaded = { spans: [], names: [], services: [], more: true };
    const intern = (table: string[], index: Map<string, number>, name: string): number => {
      let i = index.get(name);
      if (i === undefined) {
        i = table.push(name) - 1;
        index.set(name, i);
      }
      return i;
    };
    const [names, services] = [new Map<string, number>(), new Map<string, number>()];
    const load = async (): Promise<void> => {
      let cursor = "";
      do {
        const part: TraceSkeleton = await call(
          "TracesService/GetTraceSkeleton",
          { traceId: id, maxSpans: cursor ? 20_000 : 5_000, ...(cursor ? { cursor } : {}) },
          { org: org.id ?? "", signal: stop.signal },
        );
        all.skeleton ??= part;
        for (const s of part.spans ?? []) {
          all.spans.push({
            ...s,
            name: intern(all.names, names, part.names?.[s.name ?? 0] ?? ""),
            service: intern(all.services, services, part.services?.[s.service ?? 0] ?? ""),
          });
        }
        cursor = part.hasMore ? (part.nextCursor ?? "") : "";
        set({ ...all, more: cursor !== "", spans: [...all.spans] });
      } while (cursor);
    };
    set({ spans: [], names: [], services: [], more: true });
    load().catch((error: unknown) => {
      if (!stop.signal.aborted)
        set({
          ...all,
          more: false,
          error: error instanceof ApiError ? error : new ApiError(String(error), 0, "It failed", "", "", false, "", ""),
        });
    });
    return () => stop.abort();
  }, [id, org.id, attempt]);
  return { ...state, again: () => again(attempt + 1) };
}
