import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, call } from "../../api/client";
import { useCall, useFrame } from "../../frame/session";
import type { SessionReplay } from "../../gen/api";
import type { Order, Report } from "../../player/messages";
import { type Plan, planOf } from "../../player/plan";

/** More of a recording is loaded when a person asks for it. */
const usualBytes = 64 << 20;

export const speeds = [1, 2, 4, 8];

type State = { now: number; first: number; last: number; playing: boolean; skipping: boolean; ended: boolean };

export type Player = {
  frame: RefObject<HTMLIFrameElement | null>;
  /** none: the session has no recording. */
  phase: "waiting" | "none" | "loading" | "loaded" | "paused loading" | "failed" | "broken";
  error: ApiError | null;
  reason: string;
  retry: () => void;
  plan: Plan | undefined;
  read: number;
  damaged: number;
  truncated: boolean;
  state: State | undefined;
  speed: number;
  idle: boolean;
  play: (at?: number) => void;
  pause: (at?: number) => void;
  toggle: () => void;
  /** seek goes to a time and goes on as before. */
  seek: (at: number) => void;
  setSpeed: (value: number) => void;
  setIdle: (skip: boolean) => void;
  loadAll: () => void;
};

/**
 * usePlayer loads the recording of a session into the frame that plays it, answer after answer. It stands at first at `start` milliseconds after
 * the first event.
 */
export function usePlayer(session: SessionReplay, start: number): Player {
  const { org } = useFrame();
  const id = session.id ?? "";
  const manifest = useCall("SessionReplaysService/GetSessionReplayManifest", { id });
  const plan = useMemo(() => (manifest.data ? planOf(manifest.data) : undefined), [manifest.data]);
  const frame = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(false);
  const [state, setState] = useState<State>();
  const [progress, setProgress] = useState({ reads: 0, bytes: 0 });
  const [damaged, setDamaged] = useState(0);
  const [error, setError] = useState<ApiError | null>(null);
  const [reason, setReason] = useState("");
  const [most, setMost] = useState(usualBytes);
  const [tries, setTries] = useState(0);
  const [speed, keepSpeed] = useState(1);
  const [idle, keepIdle] = useState(true);
  const order = useCallback((o: Order) => frame.current?.contentWindow?.postMessage(o, location.origin), []);

  useEffect(() => {
    const hear = (m: MessageEvent<Report>): void => {
      if (m.origin !== location.origin || m.source !== frame.current?.contentWindow) return;
      const r = m.data;
      if (r.kind === "ready") setReady(true);
      else if (r.kind === "state") setState(r);
      else if (r.kind === "damaged") setDamaged((n) => n + 1);
      else setReason(r.reason);
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);

  const read = useRef(0); // the next of plan.reads
  useEffect(() => {
    if (!ready || !plan || plan.reads.length === 0) return;
    const stop = new AbortController();
    const load = async (): Promise<void> => {
      let bytes = plan.reads.slice(0, read.current).reduce((sum, r) => sum + r.bytes, 0);
      if (read.current === 0) order({ kind: "start", offset: start });
      for (let r = plan.reads[read.current]; r && bytes < most; r = plan.reads[read.current]) {
        let cursor: string | undefined;
        do {
          const page = await call(
            "SessionReplaysService/GetSessionReplayEvents",
            { id, limit: 100, fromChunkSeq: r.from, toChunkSeq: r.to, ...(cursor ? { cursor } : {}) },
            { org: org.id ?? "", signal: stop.signal },
          );
          if (stop.signal.aborted) return;
          for (const c of page.data ?? []) order({ kind: "chunk", seq: c.chunkSeq ?? 0, events: c.events ?? "" });
          cursor = page.hasMore ? page.nextCursor : undefined;
        } while (cursor);
        read.current++;
        bytes += r.bytes;
        setProgress({ reads: read.current, bytes });
      }
      if (read.current === plan.reads.length) order({ kind: "end" });
    };
    setError(null);
    load().catch((cause: unknown) => {
      if (!stop.signal.aborted) setError(cause instanceof ApiError ? cause : null);
    });
    return () => stop.abort();
    // biome-ignore lint: start is where the recording stands at first
  }, [ready, plan, most, tries, id, org.id, order]);

  const now = state?.now ?? 0;
  return {
    frame,
    error: manifest.error ?? error,
    reason,
    plan,
    damaged,
    state,
    speed,
    idle,
    phase:
      manifest.error || error
        ? "failed"
        : reason
          ? "broken"
          : !plan
            ? "waiting"
            : plan.reads.length === 0
              ? "none"
              : progress.reads === plan.reads.length
                ? "loaded"
                : progress.bytes >= most
                  ? "paused loading"
                  : "loading",
    read: progress.bytes,
    truncated: manifest.data?.truncated ?? false,
    retry: () => {
      if (manifest.error) void manifest.refetch();
      else setTries((n) => n + 1);
    },
    play: (at) => order({ kind: "play", ...(at === undefined ? {} : { at }) }),
    pause: (at) => order({ kind: "pause", ...(at === undefined ? {} : { at }) }),
    toggle: () => order({ kind: state?.playing ? "pause" : "play" }),
    seek: (at) => order({ kind: state?.playing ? "play" : "pause", at: Math.max(state?.first ?? 0, at) }),
    setSpeed: (value) => {
      keepSpeed(value);
      order({ kind: "speed", value });
      order({ kind: state?.playing ? "play" : "pause", at: now });
    },
    setIdle: (skip) => {
      keepIdle(skip);
      order({ kind: "skip", idle: skip });
    },
    loadAll: () => setMost(Number.POSITIVE_INFINITY),
  };
}
