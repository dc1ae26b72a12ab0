// Loads the recorder for the sessions that are recorded, and sends the parts of the recording.
import type { Recorded, Replay, ReplayModule } from "./chunks";
import { originals, type Guard } from "./guard";
import type { Settings } from "./options";
import type { Session } from "./session";
import { chosen } from "./texts";
import { gzip, type Transport } from "./transport";

/** A page that goes away can send so much. */
const maxAtOnce = 60 << 10;

export class Recording {
  private recorder: Replay | undefined;
  private module: ReplayModule | undefined;
  private compressing = Promise.resolve();
  /** Queue the parts that are being compressed at once, without compression. */
  private readonly pending = new Set<() => void>();
  private errorSeen = false;
  private over = false;

  constructor(
    private readonly settings: Settings,
    private readonly session: Session,
    private readonly transport: Transport,
    private readonly guard: Guard,
    private readonly load: () => Promise<ReplayModule>,
    private readonly clean: (url: string) => string,
    private readonly onEnd: (reason: string) => void,
  ) {}

  start(): void {
    const { replay } = this.settings;
    if (!replay.enabled || this.over || this.guard.isOff("replay") || typeof CompressionStream === "undefined") return;
    const id = this.session.state.id;
    const whole = chosen(id, replay.sampleRate);
    if (!whole && !replay.onError) return;
    const ready = () => {
      if (this.module) return this.begin(this.module, id, whole);
      this.load().then(
        (m) => this.begin((this.module = m), id, whole),
        () => originals.warn("svc: the recorder could not be loaded; nothing is recorded."),
      );
    };
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready, { once: true });
    else ready();
  }

  /** restart begins the recording of another session, if one is recorded. */
  restart(): void {
    if (!this.recorder) return;
    this.halt();
    this.errorSeen = false;
    this.start();
  }

  /** failed hears of an error, which sends what is kept. */
  failed(): void {
    if (this.errorSeen) return;
    this.errorSeen = true;
    this.guard.run("transport", () => this.recorder?.release());
  }

  flush(): void {
    this.guard.run("transport", () => this.recorder?.flush());
  }

  /** leave hands over everything before the page goes away. */
  leave(): void {
    this.flush();
    for (const atOnce of [...this.pending]) this.guard.run("transport", atOnce);
  }

  stop(): void {
    this.over = true;
    this.halt();
  }

  /** end ends the recording for good, and says why on the timeline. */
  end(reason: string): void {
    this.stop();
    this.onEnd(reason);
  }

  private halt(): void {
    this.guard.run("transport", () => this.recorder?.stop());
    this.recorder = undefined;
  }

  private begin(m: ReplayModule, id: string, whole: boolean): void {
    if (this.over || this.session.state.id !== id) return;
    // The first snapshot costs what it costs. The recorder itself watches over it.
    try {
      const recorder = m.startReplay({
        maskAllInputs: this.settings.privacy.maskAllInputs,
        maskAllText: this.settings.privacy.maskAllText,
        buffered: !whole && !this.errorSeen,
        clean: this.clean,
        warn: (text) => originals.warn(`svc: ${text}`),
        spend: (began, ended) => this.guard.spend("replay", began, ended),
        chunk: (r) => this.guard.run("transport", () => this.chunk(id, r)),
        ended: (reason) => this.end(reason),
      });
      if (this.over) recorder.stop();
      else this.recorder = recorder;
    } catch {
      originals.warn("svc: the recorder failed; nothing is recorded.");
    }
  }

  private chunk(id: string, r: Recorded): void {
    const s = this.session.state;
    if (s.id !== id) return;
    const seq = s.chunkSeq++;
    this.session.write();
    const text = `[${r.events.join(",")}]`;
    let queued = false;
    const queue = (body: Uint8Array | null | undefined) => {
      if (queued || !body) return;
      queued = true;
      this.pending.delete(atOnce);
      this.transport.add("replay", "/v1/sessionReplays/blob", "application/octet-stream", body, {
        "x-svc-session-id": id,
        "x-svc-chunk-seq": String(seq),
        "x-svc-is-checkpoint": r.checkpoint ? "1" : "0",
        "x-svc-event-count": String(r.events.length),
        "x-svc-duration-ms": String(Math.max(0, Math.round(r.duration))),
      });
    };
    const atOnce = () => text.length <= maxAtOnce && queue(this.module?.storedGzip(text));
    this.pending.add(atOnce);
    const done = () => this.pending.delete(atOnce);
    this.compressing = this.compressing.then(() => gzip(text).then(queue)).then(done, done) as Promise<unknown> as Promise<void>;
  }
}
