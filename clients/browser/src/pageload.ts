// The span of the page's load, which requests and errors during the load belong to, and the measures of the page as its reader feels it.
import type { VitalsModule } from "./chunks";
import type { Guard } from "./guard";
import { pathOf } from "./texts";
import { now, parseTraceparent, startSpan, type Context, type Span, type Value } from "./tracer";

export interface PageHost {
  session(): string;
  sampled(): boolean;
  clean(url: string): string;
  guard: Guard;
  finished(span: Span): void;
  /** Sends spans of a page that goes away. */
  sendNow(): void;
}

/** A page that is older when the SDK begins has no load to tell of. */
const longLoaded = 60_000;

export class PageLoad {
  /** The place of the load in its trace. */
  context: Context | undefined;
  /** The same while the page loads. */
  running: Context | undefined;
  private span: Span | undefined;
  private vitals: Record<string, Value> = {};

  constructor(private readonly host: PageHost) {}

  start(): void {
    if (performance.now() > longLoaded) return;
    const { host } = this;
    const address = host.clean(location.href);
    // A server that traces the page names its span in the head of the page.
    const parent = parseTraceparent(document.querySelector("meta[name=traceparent]")?.getAttribute("content"));
    const span = startSpan("page load", 1, host.session(), host.sampled(), parent, performance.timeOrigin);
    this.span = this.context = this.running = span;
    const done = () =>
      host.guard.run("network", () => {
        if (!this.running) return;
        this.running = undefined;
        const t = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined;
        span.end = t?.loadEventEnd ? performance.timeOrigin + t.loadEventEnd : now();
        span.attributes = {
          "url.full": address,
          "url.path": pathOf(address),
          "http.response.status_code": t?.responseStatus || undefined,
          "navigation.type": t?.type,
          "navigation.response_ms": t && Math.round(t.responseEnd),
          "navigation.dom_interactive_ms": t && Math.round(t.domInteractive),
          "navigation.dom_content_loaded_ms": t && Math.round(t.domContentLoadedEventEnd),
          "navigation.transfer_bytes": t?.transferSize,
        };
        host.finished(span);
      });
    if (document.readyState === "complete") done();
    else window.addEventListener("load", () => setTimeout(done), { once: true });
  }

  async startVitals(load: () => Promise<VitalsModule>): Promise<void> {
    const { guard } = this.host;
    try {
      const m = await load();
      m.watchVitals((name, value, rating) =>
        guard.run("vitals", () => {
          this.vitals[`web_vital.${name}`] = Math.round(value * 10000) / 10000;
          this.vitals[`web_vital.${name}.rating`] = rating;
          // Some measures are final only when the page is hidden, after everything else was sent.
          if (document.visibilityState === "hidden")
            queueMicrotask(() => guard.run("vitals", () => this.flushVitals() && this.host.sendNow()));
        }),
      );
    } catch {
      // The page goes on without these measures.
    }
  }

  /** flushVitals writes the measures as one span under the page's load. */
  flushVitals(): boolean {
    if (!Object.keys(this.vitals).length || !this.context) return false;
    // The measures stand at the end of the load, so a page that is open for long makes no long trace.
    const span = startSpan("web vitals", 1, this.host.session(), this.host.sampled(), this.context, this.span?.end || now());
    span.end = span.start;
    const url = this.host.clean(location.href);
    span.attributes = { ...this.vitals, "url.full": url, "url.path": pathOf(url) };
    this.vitals = {};
    this.host.finished(span);
    return true;
  }
}
