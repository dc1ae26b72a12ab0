// The recorder, a part that loads later. It masks what people type, and ends itself before it costs the page too much.
import { record } from "@rrweb/record";
import type { Recorded, Replay, ReplayHost } from "./chunks";
export { storedGzip } from "./storedgzip";

const chunkBytes = 100 << 10;
const flushEvery = 5000;
const snapshotEvery = 5 * 60_000;
const snapshotEvents = 5000;
const keptFor = 60_000;
const maxNodes = 10_000;
const slowSnapshot = 200;

// Kinds of events of the recorder.
const fullSnapshot = 2;
const incremental = 3;
const meta = 4;
const custom = 5;
const mutation = 0;

interface Event {
  type: number;
  timestamp: number;
  data: { source?: number; adds?: unknown[]; href?: string; tag?: string; payload?: unknown };
}

interface Part {
  events: string[];
  bytes: number;
  first: number;
  last: number;
  checkpoint: boolean;
}

const secretAutocomplete = /(^|\s)(cc-|one-time-code|current-password|new-password)/i;
/** Fields that were secret once stay secret, also when a page shows a password by changing its type. */
const secrets = new WeakSet<Element>();

function secret(e: Element): boolean {
  if (secrets.has(e)) return true;
  const found =
    (e.getAttribute("type") ?? "").toLowerCase() === "password" || secretAutocomplete.test(e.getAttribute("autocomplete") ?? "");
  if (found) secrets.add(e);
  return found;
}

/** The length of a secret is one, too. */
const starred = "********";

const masked = (text: string) => text.replace(/\S/g, "*");

export function startReplay(host: ReplayHost): Replay {
  let part = empty();
  let kept: Part[] = [];
  let buffered = host.buffered;
  let since = 0;
  let snapshotAt = 0;
  let slow = 0;
  let stopRecord: (() => void) | undefined;
  let over = false;

  function empty(): Part {
    return { events: [], bytes: 0, first: 0, last: 0, checkpoint: false };
  }

  function close(): void {
    if (!part.events.length) return;
    if (buffered) kept.push(part);
    else hand(part);
    part = empty();
  }

  function hand(p: Part): void {
    const r: Recorded = { events: p.events, checkpoint: p.checkpoint, duration: p.last - p.first };
    host.chunk(r);
  }

  function keep(e: Event): void {
    // A chunk that begins with a snapshot is a place where a player can start. The size of the page comes right before the snapshot.
    if (e.type === meta) close();
    if (e.type === meta && e.data.href) e.data.href = host.clean(e.data.href);
    if (e.type === fullSnapshot) {
      part.checkpoint = true;
      since = 0;
      snapshotAt = e.timestamp;
    }
    if (!part.events.length) part.first = e.timestamp;
    part.last = e.timestamp;
    const text = JSON.stringify(e);
    part.events.push(text);
    part.bytes += text.length;
    since++;
    if (part.bytes >= chunkBytes) close();
  }

  function end(reason: string): void {
    if (over) return;
    keep({ type: custom, timestamp: Date.now(), data: { tag: "svc.recording_ended", payload: { reason } } });
    if (!buffered) close();
    stop();
    host.ended(reason);
  }

  function emit(e: Event): void {
    if (over) return;
    const began = performance.now();
    try {
      const adds = e.type === incremental && e.data.source === mutation ? (e.data.adds?.length ?? 0) : 0;
      if (adds > maxNodes) {
        end(`the page added ${adds} elements at once`);
        return;
      }
      keep(e);
      if (since >= snapshotEvents) queueMicrotask(snapshot);
    } catch {
      end("the recorder failed");
    } finally {
      // The text of a snapshot takes long, but rarely. It counts as part of the snapshot.
      if (e.type !== fullSnapshot) host.spend(began, performance.now());
    }
  }

  function timed(fn: () => void): void {
    const began = performance.now();
    fn();
    const took = Math.round(performance.now() - began);
    if (took > slowSnapshot && ++slow === 2) end(`two snapshots of the page took more than ${slowSnapshot} ms, the last one ${took} ms`);
  }

  function snapshot(): void {
    if (over || !stopRecord) return;
    try {
      timed(() => record.takeFullSnapshot(true));
    } catch {
      end("a snapshot failed");
    }
  }

  function stop(): void {
    if (over) return;
    over = true;
    clearInterval(timer);
    document.removeEventListener("visibilitychange", seen);
    try {
      stopRecord?.();
    } catch {
      // The recorder is gone all the same.
    }
  }

  const seen = () => {
    if (document.visibilityState === "visible" && Date.now() - snapshotAt > 1000) snapshot();
  };
  document.addEventListener("visibilitychange", seen);
  const timer = setInterval(() => {
    const now = Date.now();
    if (!buffered) {
      close();
      if (now - snapshotAt >= snapshotEvery && since > 1) snapshot();
      return;
    }
    // The kept part begins with a snapshot. An old beginning goes as soon as a newer snapshot covers the last minute.
    if (now - snapshotAt >= keptFor && since > 1) snapshot();
    const covered = kept.map((p) => p.checkpoint && now - p.first >= keptFor).lastIndexOf(true);
    if (covered > 0) kept = kept.slice(covered);
  }, flushEvery);

  document.querySelectorAll("input").forEach(secret);
  timed(() => {
    stopRecord = record({
      emit: (e) => emit(e as unknown as Event),
      errorHandler: () => true,
      blockSelector: "[data-svc-block]",
      maskTextSelector: host.maskAllText
        ? "*"
        : "[data-svc-mask]" + (host.maskAllInputs ? ",[contenteditable]:not([contenteditable=false])" : ""),
      maskTextFn: masked,
      // Every field goes through the function, hidden ones too.
      maskAllInputs: false,
      maskInputOptions: { input: true, textarea: true, select: true, password: true } as object,
      maskInputFn: (text: string, e: HTMLElement) =>
        !text ? text : secret(e) ? starred : host.maskAllInputs || host.maskAllText || e.closest("[data-svc-mask]") ? masked(text) : text,
      slimDOMOptions: "all",
      sampling: { mousemove: 50, scroll: 150, input: "last" },
      inlineStylesheet: true,
      recordCanvas: false,
      recordCrossOriginIframes: false,
      collectFonts: false,
      inlineImages: false,
    }) as (() => void) | undefined;
  });

  return {
    release() {
      if (!buffered) return;
      buffered = false;
      for (const p of kept) hand(p);
      kept = [];
      close();
    },
    snapshot,
    flush() {
      if (!buffered) close();
    },
    stop,
  };
}
