// The functions that a page calls. Every call is safe: before init, after a failure and without consent it does nothing.
import { Client, forget, type Loaders } from "./client";
import { originals } from "./guard";
import { resolve, type Options, type Settings, type User } from "./options";
import { describe } from "./timeline";

export type { Options, User } from "./options";

export interface SDK {
  /** Begins. A second call does nothing. */
  init(options: Options): void;
  /** Names the person in front of the page in place of the one before; null when the person leaves. */
  identify(user: User | null): void;
  /** Records a product event. */
  track(name: string, props?: Record<string, unknown>): void;
  captureException(error: unknown, attributes?: Record<string, unknown>): void;
  /** Yes begins what `requireConsent` holds back. No ends everything, and deletes what the browser keeps. */
  setConsent(given: boolean): void;
  /** The id of the session, or null while nothing is recorded. */
  getSessionId(): string | null;
  /** Sends what waits, and ends the session. */
  shutdown(): void;
}

declare global {
  interface Window {
    /** The session of the page, for other scripts. */
    __SVC_BROWSER_SESSION__?: { readonly id: string | null };
  }
  interface Navigator {
    globalPrivacyControl?: boolean;
  }
}

/** objects reports whether the browser says that its user does not want to be followed. */
function objects(): boolean {
  return navigator.globalPrivacyControl === true || navigator.doNotTrack === "1";
}

export function createSDK(load: Loaders, scriptBase: string): SDK {
  let settings: Settings | undefined;
  let client: Client | undefined;
  let consent: boolean | undefined;
  let ended = false;
  let user: User | null | undefined;

  const safe = <T>(fallback: T, fn: () => T): T => {
    try {
      return fn();
    } catch (e) {
      originals.warn(`svc: ${e instanceof Error ? e.message : "a call failed"}`);
      return fallback;
    }
  };

  const begin = () => {
    if (!settings || client || ended || consent === false) return;
    if (settings.privacy.requireConsent && !consent) return;
    if (settings.privacy.respectDoNotTrack && objects()) return;
    if (window.__SVC_BROWSER_SESSION__?.id) throw new Error("another copy of the SDK records this page");
    if (user !== undefined) settings.user = user ?? undefined;
    const c = new Client(settings, load);
    client = c;
    c.start();
    window.__SVC_BROWSER_SESSION__ = {
      get id() {
        return c.sessionId;
      },
    };
  };

  return {
    init: (options) =>
      safe(undefined, () => {
        if (settings || typeof window === "undefined") return;
        settings = resolve(options, scriptBase, location.href);
        begin();
      }),
    identify: (who) =>
      safe(undefined, () => {
        user = who;
        client?.identify(who);
      }),
    track: (name, props) => safe(undefined, () => client?.track(name, props)),
    captureException: (error, attributes) => safe(undefined, () => client?.failed(describe(error), true, attributes)),
    setConsent: (given) =>
      safe(undefined, () => {
        consent = given === true;
        if (consent) return begin();
        client?.forget();
        client = undefined;
        if (settings) forget(settings);
      }),
    getSessionId: () => safe(null, () => client?.sessionId ?? null),
    shutdown: () =>
      safe(undefined, () => {
        ended = true;
        client?.shutdown();
      }),
  };
}
