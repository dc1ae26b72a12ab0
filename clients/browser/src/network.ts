// Watches fetch and XMLHttpRequest: a span, an event on the timeline, and the header `traceparent` where it is allowed.
import type { Guard } from "./guard";
import type { Settings } from "./options";
import { parseTraceparent, startSpan, traceparent, now, type Context, type Span } from "./tracer";

/** Sink takes what the instrumentation sees. */
export interface Sink {
  sessionId(): string;
  sampled(): boolean;
  /** The span that requests belong to now, if there is one. */
  parent(): Context | undefined;
  clean(url: string): string;
  done(span: Span, request: { method: string; url: string; status: number; duration: number }): void;
}

/** mayPropagate reports whether an address gets the header: the own origin, and others that the page allows. */
export function mayPropagate(url: URL, page: string, endpoint: string, allowed: (string | RegExp)[]): boolean {
  if (isOwn(url, endpoint)) return false;
  if (url.origin === new URL(page).origin) return true;
  return allowed.some((p) => {
    if (typeof p === "string") return p !== "" && url.href.startsWith(p);
    p.lastIndex = 0; // an expression with the flag g goes on where it stopped
    return p.test(url.href);
  });
}

function propagates(url: URL, s: Settings): boolean {
  return s.tracing.enabled && mayPropagate(url, location.href, s.endpoint, s.tracing.propagate);
}

/** isOwn reports whether an address is of the ingest server, whose requests are not telemetry. */
export function isOwn(url: URL, endpoint: string): boolean {
  return url.href === endpoint || url.href.startsWith(endpoint.replace(/\/?$/, "/"));
}

interface Watched {
  span: Span;
  url: URL;
  method: string;
  began: number;
}

function begin(sink: Sink, method: string, address: string, already: string | null): Watched {
  const url = new URL(address, location.href);
  const upper = /^(get|post|put|head|delete|options|patch)$/i.test(method) ? method.toUpperCase() : method;
  const span = startSpan(upper, 3, sink.sessionId(), sink.sampled(), sink.parent());
  const theirs = parseTraceparent(already);
  if (theirs) {
    // Another tracer of the page has named the request.
    span.traceId = theirs.traceId;
    span.parentId = theirs.spanId;
    span.sampled = theirs.sampled;
  }
  span.attributes = {
    "http.request.method": upper,
    "url.full": sink.clean(url.href),
    "server.address": url.hostname,
    "server.port": Number(url.port) || (url.protocol === "https:" ? 443 : 80),
  };
  return { span, url, method: upper, began: performance.now() };
}

function finish(sink: Sink, w: Watched, status: number, failure?: string): void {
  const s = w.span;
  s.end = now();
  if (status) s.attributes["http.response.status_code"] = status;
  if (failure) s.attributes["error.type"] = failure;
  else if (status >= 400) s.attributes["error.type"] = String(status);
  if (failure || status >= 400) s.error = "";
  sink.done(s, { method: w.method, url: sink.clean(w.url.href), status, duration: Math.round(performance.now() - w.began) });
}

/** watchFetch replaces fetch. The returned function puts the original back. */
export function watchFetch(sink: Sink, settings: Settings, guard: Guard): () => void {
  const original = window.fetch;
  if (typeof original !== "function") return () => {};
  let on = true;
  const watched = function (this: unknown, input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    let w: Watched | undefined;
    let sent = init;
    if (on)
      guard.run("network", () => {
        const request = typeof Request !== "undefined" && input instanceof Request ? input : undefined;
        const url = new URL(request ? request.url : String(input), document.baseURI);
        if (!/^https?:$/.test(url.protocol) || isOwn(url, settings.endpoint)) return;
        const headers = new Headers(init?.headers ?? request?.headers);
        const started = begin(sink, init?.method ?? request?.method ?? "GET", url.href, headers.get("traceparent"));
        const simple = (init?.mode ?? request?.mode) === "no-cors";
        if (!simple && !headers.has("traceparent") && propagates(url, settings)) {
          headers.set("traceparent", traceparent(started.span));
          sent = { ...init, headers };
        }
        w = started;
      });
    const answer = original.call(this === undefined ? window : (this as Window), input, sent);
    const watch = w;
    if (!watch) return answer;
    // The page gets the derived promise. With the original one, a rejection that the page forgets would count as handled.
    return answer.then(
      (r) => {
        guard.run("network", () => finish(sink, watch, r.status));
        return r;
      },
      (e: unknown) => {
        const name = e && typeof e === "object" && "name" in e ? String(e.name) : "Error";
        guard.run("network", () => finish(sink, watch, 0, name));
        throw e;
      },
    );
  };
  window.fetch = watched;
  return () => {
    on = false;
    if (window.fetch === watched) window.fetch = original;
  };
}

interface Opened {
  method: string;
  url: string;
  traceparent: string | null;
}

/** watchXHR replaces methods of XMLHttpRequest. The returned function puts the originals back. */
export function watchXHR(sink: Sink, settings: Settings, guard: Guard): () => void {
  if (typeof XMLHttpRequest === "undefined") return () => {};
  const proto = XMLHttpRequest.prototype;
  const { open, send, setRequestHeader } = proto;
  const opened = new WeakMap<XMLHttpRequest, Opened>();
  let on = true;
  const ownOpen = function (this: XMLHttpRequest, ...args: unknown[]) {
    guard.run("network", () => opened.set(this, { method: String(args[0]), url: String(args[1]), traceparent: null }));
    return (open as (...a: unknown[]) => void).apply(this, args);
  };
  const ownHeader = function (this: XMLHttpRequest, name: string, value: string) {
    const o = opened.get(this);
    if (o && /^traceparent$/i.test(name)) o.traceparent = value;
    return setRequestHeader.call(this, name, value);
  };
  const ownSend = function (this: XMLHttpRequest, body?: Document | XMLHttpRequestBodyInit | null) {
    const o = opened.get(this);
    if (on && o)
      guard.run("network", () => {
        const url = new URL(o.url, document.baseURI);
        if (!/^https?:$/.test(url.protocol) || isOwn(url, settings.endpoint)) return;
        const w = begin(sink, o.method, url.href, o.traceparent);
        if (!o.traceparent && propagates(url, settings)) setRequestHeader.call(this, "traceparent", traceparent(w.span));
        let failure = "";
        for (const kind of ["error", "timeout", "abort"]) this.addEventListener(kind, () => (failure = kind), { once: true });
        this.addEventListener("loadend", () => guard.run("network", () => finish(sink, w, this.status, failure)), { once: true });
      });
    return send.call(this, body);
  };
  proto.open = ownOpen as typeof proto.open;
  proto.setRequestHeader = ownHeader;
  proto.send = ownSend;
  return () => {
    on = false;
    if (proto.open === ownOpen) proto.open = open;
    if (proto.setRequestHeader === ownHeader) proto.setRequestHeader = setRequestHeader;
    if (proto.send === ownSend) proto.send = send;
  };
}
