// Listens to the page: navigation, clicks, changed fields, the console, errors. Each becomes an event on the timeline of the session.
import { selector, words } from "./elements";
import { type Guard } from "./guard";
import type { Settings } from "./options";
import { brief, cut } from "./texts";

export interface TimelineEvent {
  type: "navigation" | "click" | "input" | "console" | "network" | "error" | "custom";
  level?: string;
  message?: string;
  target_selector?: string;
  target_text?: string;
  net_method?: string;
  net_url?: string;
  net_status?: number;
  net_duration_ms?: number;
  error_stack?: string;
  trace_id?: string;
  attributes?: Record<string, string>;
}

export interface Failure {
  type: string;
  message: string;
  stack: string;
}

export interface Listener {
  event(e: TimelineEvent): void;
  /** The address changed from the one before; `first` for the load of the page. */
  navigated(first: boolean, from: string): void;
  failed(f: Failure, handled: boolean, attributes?: Record<string, unknown>): void;
}

/** describe reads an error, or whatever else was thrown. */
export function describe(thrown: unknown, message = ""): Failure {
  if (thrown instanceof Error || (thrown !== null && typeof thrown === "object" && "message" in thrown && "stack" in thrown)) {
    const e = thrown as Error;
    return {
      type: cut(String(e.name || "Error"), 128),
      message: cut(String(e.message), 1024),
      stack: withoutOwn(String(e.stack ?? "")),
    };
  }
  return { type: "Error", message: cut(message || brief(thrown) || "an error without a message", 1024), stack: "" };
}

/** withoutOwn removes the calls of the SDK from a stack: a request that the page sends goes through it. */
function withoutOwn(stack: string): string {
  const lines = stack.split("\n").filter((line) => !/\/sdk\/browser\/[^/]+\/(svc|svc\.iife|replay|vitals)\.js/.test(line));
  return lines.join("\n").slice(0, 4000);
}

type Undo = () => void;

function on(target: EventTarget, type: string, fn: (e: Event) => void, undo: Undo[]): void {
  target.addEventListener(type, fn, { capture: true, passive: true });
  undo.push(() => target.removeEventListener(type, fn, { capture: true }));
}

/** listen begins to watch the page, and returns what ends it. */
export function listen(to: Listener, settings: Settings, guard: Guard): Undo {
  const undo: Undo[] = [];
  let url = "";
  const arrived = () =>
    guard.run("timeline", () => {
      if (location.href === url) return;
      const from = url;
      url = location.href;
      to.navigated(from === "", from);
    });
  arrived();
  for (const name of ["pushState", "replaceState"] as const) {
    const original = history[name];
    const watched: typeof original = function (this: History, ...args) {
      original.apply(this, args);
      arrived();
    };
    history[name] = watched;
    undo.push(() => {
      if (history[name] === watched) history[name] = original;
    });
  }
  on(window, "popstate", arrived, undo);
  on(window, "hashchange", arrived, undo);

  // The real target of an event in a shadow tree is the first of its path.
  const element = (e: Event) => {
    const t = e.composedPath()[0] ?? e.target;
    return t instanceof Element ? t : null;
  };
  on(
    document,
    "click",
    (e) =>
      guard.run("timeline", () => {
        const t = element(e);
        if (!t || t.closest("[data-svc-block]")) return;
        to.event({ type: "click", target_selector: selector(t), target_text: words(t, settings.privacy.maskAllText) });
      }),
    undo,
  );
  on(
    document,
    "change",
    (e) =>
      guard.run("timeline", () => {
        const t = element(e);
        if (t && !t.closest("[data-svc-block]")) to.event({ type: "input", target_selector: selector(t) });
      }),
    undo,
  );
  if (settings.console) watchConsole(to, guard, undo);
  if (settings.tracing.errors) watchErrors(to, guard, undo);
  return () => {
    for (const fn of undo) guard.run("timeline", fn);
  };
}

function watchConsole(to: Listener, guard: Guard, undo: Undo[]): void {
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    const original = console[level];
    let inside = false; // an event about the console must not cause another
    const watched = (...args: unknown[]) => {
      original.apply(console, args);
      if (inside) return;
      inside = true;
      guard.run("console", () => to.event({ type: "console", level, message: cut(args.map((a) => brief(a)).join(" "), 1024) }));
      inside = false;
    };
    console[level] = watched;
    undo.push(() => {
      if (console[level] === watched) console[level] = original;
    });
  }
}

function watchErrors(to: Listener, guard: Guard, undo: Undo[]): void {
  on(
    window,
    "error",
    (e) =>
      guard.run("timeline", () => {
        // Events of elements that did not load come here too, without an error.
        if (!(e instanceof ErrorEvent)) return;
        const f = describe(e.error, e.message);
        if (!f.stack && e.filename) f.stack = `${f.type}: ${f.message}\n    at ${e.filename}:${e.lineno}:${e.colno}`;
        to.failed(f, false);
      }),
    undo,
  );
  on(
    window,
    "unhandledrejection",
    (e) => guard.run("timeline", () => to.failed(describe((e as PromiseRejectionEvent).reason), false)),
    undo,
  );
}
