// A running SDK: it joins the parts, and owns what they share.
import type { ReplayModule, VitalsModule } from "./chunks";
import { Guard } from "./guard";
import { forgetVisitor, userFields, visitor, type Visitor } from "./identity";
import { watchFetch, watchXHR } from "./network";
import type { Settings, User } from "./options";
import { PageLoad } from "./pageload";
import { Recording } from "./recording";
import { sessionRow, type Status } from "./row";
import { forgetSession, Session } from "./session";
import { attributes, chosen, cleanUrl, cut, pathOf, stamp } from "./texts";
import { listen, type Failure, type TimelineEvent } from "./timeline";
import { encode, resource, startSpan, type Span } from "./tracer";
import { Transport } from "./transport";

const flushEvery = 5000;
const heartbeat = 60_000;
const timelineBytes = 64 << 10;
const maxSpans = 512;
const ndjson = "application/x-ndjson";

export interface Loaders {
  replay(): Promise<ReplayModule>;
  vitals(): Promise<VitalsModule>;
}

export class Client {
  private readonly guard = new Guard((part) => part === "replay" && this.recording.end("it took too much of the page's time"));
  private readonly transport: Transport;
  private readonly session: Session;
  private readonly resource: Record<string, string>;
  private readonly visitor: Visitor | undefined;
  private readonly undo: (() => void)[] = [];
  private lines: string[] = [];
  private lineBytes = 0;
  private spans: Span[] = [];
  private readonly page: PageLoad;
  private readonly recording: Recording;
  private dirty = false;
  private metaAt = 0;
  private metaStatus: Status = "active";
  private over = false;

  constructor(
    private readonly settings: Settings,
    private readonly load: Loaders,
  ) {
    const clean = (url: string) => this.clean(url);
    this.resource = resource(settings, SVC_VERSION);
    this.transport = new Transport(settings.endpoint, settings.ingestKey, this.guard, window.fetch.bind(window), () => this.stop());
    this.visitor = visitor(settings.privacy);
    this.session = new Session(
      () => this.arrival(),
      () => this.sessionEnds(),
      () => this.sessionBegins(),
    );
    this.page = new PageLoad({
      session: () => this.session.state.id,
      sampled: () => this.sampled(),
      clean,
      guard: this.guard,
      finished: (span) => this.finished(span),
      sendNow: () => {
        this.flushSpans();
        this.transport.leave();
      },
    });
    this.recording = new Recording(settings, this.session, this.transport, this.guard, load.replay, clean, (reason) =>
      this.event({ type: "console", level: "warn", message: `svc: the recording ended: ${reason}` }),
    );
  }

  start(): void {
    this.session.open(Date.now(), userFields(this.settings.user, this.settings.privacy.captureUserEmail));
    const sink = {
      sessionId: () => this.session.state.id,
      sampled: () => this.sampled(),
      parent: () => this.page.running,
      clean: (url: string) => this.clean(url),
      done: (span: Span, r: { method: string; url: string; status: number; duration: number }) => {
        this.finished(span);
        this.event({
          type: "network",
          net_method: r.method,
          net_url: r.url,
          net_status: r.status,
          net_duration_ms: r.duration,
          trace_id: span.sampled ? span.traceId : undefined,
        });
      },
    };
    this.page.start();
    this.undo.push(
      listen(
        {
          event: (e) => this.event(e),
          navigated: (first) => this.navigated(first),
          failed: (f, handled) => this.failed(f, handled),
        },
        this.settings,
        this.guard,
      ),
    );
    if (this.settings.tracing.fetch) this.undo.push(watchFetch(sink, this.settings, this.guard), watchXHR(sink, this.settings, this.guard));
    const timer = setInterval(() => this.guard.run("transport", () => this.tick()), flushEvery);
    this.undo.push(() => clearInterval(timer));
    this.listenToPage();
    this.recording.start();
    if (this.settings.vitals && this.settings.tracing.enabled) void this.page.startVitals(this.load.vitals);
  }

  get sessionId(): string | null {
    return this.over ? null : this.session.state.id;
  }

  identify(user: User | null): void {
    if (this.over) return;
    this.session.state.user = userFields(user, this.settings.privacy.captureUserEmail);
    this.session.write();
    this.dirty = true;
    this.metaAt = 0; // the next tick sends it
  }

  track(name: string, props?: Record<string, unknown>): void {
    if (this.over || typeof name !== "string" || !name || name.startsWith("$")) return;
    this.event({ type: "custom", message: cut(name, 128), attributes: attributes(props, 32, 1024) });
  }

  failed(f: Failure, handled: boolean, extra?: Record<string, unknown>): void {
    if (this.over) return;
    this.session.touch(Date.now());
    const span = startSpan(handled ? "exception" : "uncaught exception", 1, this.session.state.id, this.sampled(), this.page.running);
    span.end = span.start;
    span.error = f.message;
    span.attributes = { ...attributes(extra, 32, 1024), "url.full": this.clean(location.href), "error.type": f.type };
    span.events.push({
      name: "exception",
      at: span.start,
      attributes: {
        "exception.type": f.type,
        "exception.message": f.message,
        "exception.stacktrace": this.cleanText(f.stack),
        "exception.escaped": !handled,
      },
    });
    this.finished(span);
    this.session.state.errors++;
    this.event({
      type: "error",
      message: f.message,
      error_stack: this.cleanText(f.stack),
      trace_id: span.sampled && this.settings.tracing.enabled ? span.traceId : undefined,
      attributes: attributes(extra, 32, 1024),
    });
    this.recording.failed();
  }

  /** stop ends everything but what is under way, and puts the functions of the page back. */
  stop(): void {
    if (this.over) return;
    this.over = true;
    for (const fn of this.undo.splice(0)) this.guard.run("transport", fn);
    this.recording.stop();
  }

  /** shutdown sends what waits, ends the session, and stops. */
  shutdown(): void {
    if (this.over) return;
    this.leave("ended");
    this.stop();
    forgetSession();
  }

  /** forget stops, drops what waits, and deletes what the browser keeps. */
  forget(): void {
    this.transport.stop();
    this.stop();
    forget(this.settings);
  }

  private clean(url: string): string {
    return cleanUrl(url, this.settings.privacy.sanitizeUrl);
  }

  private cleanText(text: string): string {
    return text.replace(/\bhttps?:\/\/[^\s)]+/g, (url) => {
      const [, address = url, place = ""] = /^(.*?)((?::\d+){0,2})$/.exec(url) ?? [];
      return this.clean(address) + place;
    });
  }

  private sampled(): boolean {
    return this.settings.tracing.enabled && chosen(this.session.state.id, this.settings.tracing.sampleRate);
  }

  private arrival() {
    const utm: Record<string, string> = {};
    const q = new URLSearchParams(location.search);
    for (const name of ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"]) {
      const v = q.get(name);
      if (v) utm[name] = cut(v, 128);
    }
    return { url: this.clean(location.href), referrer: this.clean(document.referrer), utm };
  }

  private event(e: TimelineEvent): void {
    if (this.over) return;
    const at = Date.now();
    this.session.touch(at);
    const s = this.session.state;
    if (e.type === "click") s.clicks++;
    if (e.trace_id) this.session.trace(e.trace_id);
    this.dirty = true;
    const line = JSON.stringify({
      session_id: s.id,
      timestamp: stamp(at),
      seq: s.seq++,
      url: this.clean(location.href),
      ...e,
      visitor_id: this.visitor?.id,
      user_id: s.user?.user_id,
      group_id: s.user?.group_id,
    });
    this.lines.push(line);
    this.lineBytes += line.length;
    if (this.lineBytes >= timelineBytes) this.flushTimeline();
  }

  private navigated(first: boolean): void {
    this.session.touch(Date.now());
    this.session.state.pages++;
    this.event({
      type: "navigation",
      message: cut(document.title, 1024),
      trace_id: first && this.sampled() ? this.page.context?.traceId : undefined,
    });
    if (first || !this.settings.tracing.enabled) return;
    const span = startSpan("route change", 1, this.session.state.id, this.sampled());
    span.end = span.start;
    const url = this.clean(location.href);
    span.attributes = { "url.full": url, "url.path": pathOf(url) };
    this.finished(span);
  }

  private finished(span: Span): void {
    if (this.over || !span.sampled || !this.settings.tracing.enabled) return;
    this.session.trace(span.traceId);
    this.dirty = true;
    this.spans.push(span);
    if (this.spans.length >= maxSpans) this.flushSpans();
  }

  private flushTimeline(): void {
    if (!this.lines.length) return;
    this.transport.add("timeline", "/v1/sessionEvents", ndjson, this.lines.join("\n") + "\n");
    this.lines = [];
    this.lineBytes = 0;
    this.session.write();
  }

  private flushSpans(): void {
    const spans = this.spans.splice(0);
    // Unload has 64 KiB for everything, so no batch is large.
    for (let i = 0; i < spans.length; i += 64)
      this.transport.add("spans", "/v1/traces", "application/json", encode(spans.slice(i, i + 64), this.resource, SVC_VERSION));
  }

  private tick(): void {
    this.flushTimeline();
    this.flushSpans();
    if (this.dirty && Date.now() - this.metaAt >= heartbeat) this.sendMeta("active");
    this.transport.pump();
  }

  private sendMeta(status: Status): void {
    const s = this.session.state;
    this.dirty = false;
    this.metaStatus = status;
    this.metaAt = Date.now();
    s.version++;
    this.session.write();
    const page = this.clean(location.href);
    const row = sessionRow(s, status, { page, service: this.settings.serviceName, resource: this.resource, visitor: this.visitor });
    this.transport.add("meta", "/v1/sessionReplays/meta", ndjson, JSON.stringify(row) + "\n");
  }

  private sessionBegins(): void {
    this.sendMeta("active");
    // The recording of a later session must be playable without that of the former one.
    this.recording.restart();
  }

  private sessionEnds(): void {
    this.recording.flush();
    this.flushTimeline();
    this.flushSpans();
    this.sendMeta("ended");
  }

  private listenToPage(): void {
    // A page that goes away is hidden too, before or after it hears that it goes.
    let gone = false;
    const hide = () => this.guard.run("transport", () => document.visibilityState === "hidden" && this.leave(gone ? "ended" : "active"));
    const away = () =>
      this.guard.run("transport", () => {
        gone = true;
        this.leave("ended");
        this.session.release();
      });
    const back = (e: PageTransitionEvent) =>
      this.guard.run("transport", () => {
        gone = false;
        if (!e.persisted || this.over) return;
        // The page comes out of the browser's cache, maybe after another page of the session.
        this.session.open(Date.now());
      });
    const online = () => this.guard.run("transport", () => this.transport.pump());
    document.addEventListener("visibilitychange", hide);
    window.addEventListener("pagehide", away);
    window.addEventListener("pageshow", back);
    window.addEventListener("online", online);
    this.undo.push(() => {
      document.removeEventListener("visibilitychange", hide);
      window.removeEventListener("pagehide", away);
      window.removeEventListener("pageshow", back);
      window.removeEventListener("online", online);
    });
  }

  private leave(status: Status): void {
    this.page.flushVitals();
    this.recording.leave();
    this.flushTimeline();
    this.flushSpans();
    if (this.dirty || this.metaStatus !== status) this.sendMeta(status);
    this.transport.leave();
  }
}

/** forget deletes everything that an SDK with these settings keeps in the browser. */
export function forget(settings: Settings): void {
  forgetSession();
  forgetVisitor(settings.privacy.cookieDomain);
}
