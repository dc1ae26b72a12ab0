// Sends the data that the other parts collect: in batches, compressed, with few repeats, and within 64 KiB when the page goes away.
import { Guard, originals } from "./guard";
import { bytes } from "./texts";

export type Stream = "meta" | "timeline" | "spans" | "replay";

export interface Batch {
  stream: Stream;
  path: string;
  type: string;
  body: string | Uint8Array;
  headers?: Record<string, string>;
  size: number;
  tries: number;
  /** It was sent when the page went away. */
  gone?: boolean;
}

const maxQueue = 1 << 20;
const maxTries = 3;
/** A browser lets a page that goes away have 64 KiB under way. Headers count too. */
const maxKeepalive = 60 << 10;
const maxSmall = 8 << 10;
/** After so many batches in a row that the server did not take, the page stops sending. */
const maxFailures = 3;
/** Order of the streams when the page goes away. */
const order: Stream[] = ["meta", "timeline", "spans", "replay"];

type Fetch = typeof fetch;

export class Transport {
  private queue: Batch[] = [];
  private readonly busy = new Set<Stream>();
  private failures = 0;
  private timers = new Set<ReturnType<typeof setTimeout>>();
  /** Bytes under way that outlive the page. */
  private kept = 0;
  /** Batches that are being compressed, or wait to be sent again. */
  private readonly held = new Set<Batch>();
  stopped = false;

  constructor(
    private readonly endpoint: string,
    private readonly key: string,
    private readonly guard: Guard,
    private readonly send: Fetch,
    private readonly onStop: () => void,
    private readonly wait: (fn: () => void, ms: number) => ReturnType<typeof setTimeout> = (fn, ms) => setTimeout(fn, ms),
  ) {}

  /** add queues a batch. Beyond 1 MiB it drops the oldest part of the recording, then the oldest batch. */
  add(stream: Stream, path: string, type: string, body: string | Uint8Array, headers?: Record<string, string>): void {
    if (this.stopped) return;
    this.queue.push({ stream, path, type, body, headers, size: typeof body === "string" ? bytes(body) : body.length, tries: 0 });
    let size = this.queue.reduce((n, b) => n + b.size, 0);
    while (size > maxQueue && this.queue.length > 1) {
      const i = Math.max(
        0,
        this.queue.findIndex((b) => b.stream === "replay"),
      );
      size -= this.queue.splice(i, 1)[0]!.size;
    }
    this.pump();
  }

  /** pump starts a request for each stream that has none under way, so the batches of a stream arrive in order. */
  pump(): void {
    if (this.stopped || (typeof navigator !== "undefined" && navigator.onLine === false)) return;
    for (const stream of order) {
      if (this.busy.has(stream)) continue;
      const i = this.queue.findIndex((b) => b.stream === stream);
      if (i < 0) continue;
      const batch = this.queue.splice(i, 1)[0]!;
      this.busy.add(stream);
      void this.deliver(batch);
    }
  }

  /** leave sends what waits before the page goes away. The browser finishes these requests without the page. */
  leave(): void {
    if (this.stopped) return;
    const waiting = [...this.held, ...this.queue];
    for (const stream of order)
      for (const b of waiting) {
        if (b.gone || b.stream !== stream || this.kept + b.size > maxKeepalive) continue;
        b.gone = true;
        // The page may live on. Then nobody needs the answer either.
        this.post(b, b.body, {}, true).catch(() => {});
      }
    this.queue = this.queue.filter((b) => !b.gone);
  }

  /** stop ends all sending and forgets what waits. */
  stop(): void {
    this.stopped = true;
    this.queue = [];
    for (const t of this.timers) clearTimeout(t);
    this.timers.clear();
  }

  private async deliver(b: Batch): Promise<void> {
    let wait = 0;
    try {
      this.held.add(b);
      const packed = await this.pack(b);
      this.held.delete(b);
      if (b.gone || this.stopped) return this.next(b);
      // A small request outlives the page, if it goes away just now.
      const size = typeof packed.body === "string" ? b.size : packed.body.length;
      const r = await this.post(b, packed.body, packed.headers, size <= maxSmall && this.kept + size <= maxKeepalive / 2);
      wait = await this.judge(b, r);
      if (!wait) this.failures = 0;
    } catch {
      // A network error says nothing of its cause: the server does not answer, or an extension of the browser blocks it.
      wait = this.again(b, 0);
      if (!wait && ++this.failures >= maxFailures) this.giveUp("the server cannot be reached");
    }
    if (!wait) return this.next(b);
    this.held.add(b);
    const t = this.wait(() => {
      this.timers.delete(t);
      this.held.delete(b);
      if (!b.gone && !this.stopped) this.queue.unshift(b);
      this.next(b);
    }, wait);
    this.timers.add(t);
  }

  private next(b: Batch): void {
    this.held.delete(b);
    this.busy.delete(b.stream);
    this.pump();
  }

  /** judge returns after how many milliseconds the batch is sent again; 0 for never. */
  private async judge(b: Batch, r: Response): Promise<number> {
    if (r.ok) return 0;
    if (r.status === 401 || r.status === 402 || r.status === 403) {
      this.giveUp(`the server answered ${r.status}`);
      return 0;
    }
    if (r.status !== 429 && r.status !== 503) return 0;
    // Pages cannot read Retry-After of another origin, so the body has the number too.
    let seconds = 0;
    try {
      seconds = Number(((await r.json()) as { error?: { retry_after_seconds?: number } }).error?.retry_after_seconds) || 0;
    } catch {
      // A proxy answered, not the server.
    }
    return this.again(b, seconds);
  }

  private again(b: Batch, seconds: number): number {
    if (++b.tries > maxTries || this.stopped) return 0;
    const least = seconds > 0 ? Math.min(seconds, 300) * 1000 : 1000 * 2 ** (b.tries - 1);
    return least * (1 + Math.random() * 0.25);
  }

  private giveUp(why: string): void {
    if (this.stopped) return;
    this.stop();
    originals.warn(`svc: ${why}; this page sends nothing more.`);
    this.guard.run("transport", this.onStop);
  }

  private async pack(b: Batch): Promise<{ body: string | Uint8Array; headers: Record<string, string> }> {
    if (typeof b.body !== "string" || b.size < 512) return { body: b.body, headers: {} };
    const packed = await gzip(b.body);
    return packed ? { body: packed, headers: { "Content-Encoding": "gzip" } } : { body: b.body, headers: {} };
  }

  private async post(b: Batch, body: string | Uint8Array, headers: Record<string, string>, keepalive: boolean): Promise<Response> {
    const size = keepalive ? (typeof body === "string" ? b.size : body.length) : 0;
    this.kept += size;
    try {
      return await this.send(this.endpoint + b.path, {
        method: "POST",
        body: body as BodyInit,
        headers: { Authorization: `Bearer ${this.key}`, "Content-Type": b.type, ...b.headers, ...headers },
        keepalive,
        credentials: "omit",
        mode: "cors",
        referrerPolicy: "no-referrer",
      });
    } finally {
      this.kept -= size;
    }
  }
}

/** gzip compresses a text, or returns null in a browser that cannot. */
export async function gzip(text: string): Promise<Uint8Array | null> {
  if (typeof CompressionStream === "undefined") return null;
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
