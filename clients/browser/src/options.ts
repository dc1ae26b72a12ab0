// The options of init, and their defaults.

/** User is the person in front of the page, as the page knows them. */
export interface User {
  id?: string;
  email?: string;
  username?: string;
  groupId?: string;
  groupName?: string;
  /** At most 24 traits, with keys of 64 bytes and values of 256 bytes. */
  traits?: Record<string, unknown>;
}

export interface Options {
  /** The public ingest key of the organization. */
  ingestKey: string;
  serviceName: string;
  /** Address of the ingest server, or a path of the own site that is passed on to it. Default: where the script came from. */
  endpoint?: string;
  serviceNamespace?: string;
  serviceVersion?: string;
  commitSha?: string;
  environment?: string;
  user?: User;
  tracing?: {
    enabled?: boolean;
    instrumentFetch?: boolean;
    captureErrors?: boolean;
    /** Part of sessions whose spans are sent, from 0 to 1. */
    sampleRate?: number;
    /** Addresses of other origins that get the header `traceparent`: a text that the address begins with, or an expression. */
    propagateTraceHeaderCorsUrls?: (string | RegExp)[];
  };
  timeline?: { console?: boolean };
  replay?: {
    enabled?: boolean;
    /** Part of sessions that are recorded, from 0 to 1. */
    sampleRate?: number;
    /** Keeps the last minute of the other sessions in memory, and sends it when an error comes. */
    onError?: boolean;
  };
  vitals?: { enabled?: boolean };
  privacy?: {
    maskAllInputs?: boolean;
    maskAllText?: boolean;
    /** Returns the address that is sent in place of one; an empty text for none. */
    sanitizeUrl?: (url: string) => string;
    persistVisitorId?: boolean;
    crossSubdomainCookie?: boolean;
    cookieDomain?: string;
    requireConsent?: boolean;
    captureUserEmail?: boolean;
    respectDoNotTrack?: boolean;
  };
}

export type Settings = ReturnType<typeof resolve>;

/** resolve checks options and fills in the defaults. It throws a TypeError that names the bad option. */
export function resolve(o: Options, scriptBase: string, page: string) {
  const required = (name: "ingestKey" | "serviceName") => {
    const v = o?.[name];
    if (typeof v !== "string" || !v) throw new TypeError(`${name} must be a text`);
    return v;
  };
  const ingestKey = required("ingestKey");
  const serviceName = required("serviceName");
  if (!o.endpoint && !scriptBase) throw new TypeError("endpoint must be the address of the ingest server");
  const endpoint = new URL(o.endpoint || scriptBase, page).href.replace(/\/+$/, "");
  const { tracing = {}, replay = {}, privacy = {} } = o;
  return {
    ingestKey,
    serviceName,
    endpoint,
    serviceNamespace: o.serviceNamespace ?? "",
    serviceVersion: o.serviceVersion ?? "",
    commitSha: o.commitSha ?? "",
    environment: o.environment ?? "",
    user: o.user,
    tracing: {
      enabled: tracing.enabled ?? true,
      fetch: tracing.instrumentFetch ?? true,
      errors: tracing.captureErrors ?? true,
      sampleRate: rate("tracing.sampleRate", tracing.sampleRate),
      propagate: tracing.propagateTraceHeaderCorsUrls ?? [],
    },
    console: o.timeline?.console ?? true,
    replay: {
      enabled: replay.enabled ?? true,
      sampleRate: rate("replay.sampleRate", replay.sampleRate),
      onError: replay.onError ?? false,
    },
    vitals: o.vitals?.enabled ?? true,
    privacy: {
      maskAllInputs: privacy.maskAllInputs ?? true,
      maskAllText: privacy.maskAllText ?? false,
      sanitizeUrl: privacy.sanitizeUrl,
      persistVisitorId: privacy.persistVisitorId ?? false,
      crossSubdomainCookie: privacy.crossSubdomainCookie ?? false,
      cookieDomain: privacy.cookieDomain ?? "",
      requireConsent: privacy.requireConsent ?? false,
      captureUserEmail: privacy.captureUserEmail ?? false,
      respectDoNotTrack: privacy.respectDoNotTrack ?? true,
    },
  };
}

function rate(name: string, v: number | undefined): number {
  if (v === undefined) return 1;
  if (typeof v !== "number" || !(v >= 0 && v <= 1)) throw new TypeError(`${name} must be a number from 0 to 1`);
  return v;
}
