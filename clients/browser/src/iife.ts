// The file for a script tag. It sets window.svc, does the calls that waited for it, and reads options from the tag itself.
import { createSDK, type SDK } from "./api";
import { originals } from "./guard";

type Queued = { q?: [keyof SDK, ...unknown[]][] };

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : undefined;
const folder = script ? script.src.slice(0, script.src.lastIndexOf("/") + 1).replace(/[?#].*$/, "") : "";
const base = /^(.*)\/sdk\/browser\/[^/]+\/$/.exec(folder)?.[1] ?? "";
const part = (name: string) => import(/* @vite-ignore */ folder + name);

const sdk = createSDK({ replay: () => part("replay.js"), vitals: () => part("vitals.js") }, base);

// The browser hides failures that pass through a script of another origin, unless the tag has the attribute. The page would not hear of
// failed requests that it does not handle.
if (script && script.crossOrigin === null && new URL(script.src).origin !== location.origin)
  originals.warn("svc: the script tag needs the attribute crossorigin.");

const holder = window as unknown as { svc?: SDK & Queued };
const waiting = holder.svc?.q ?? [];
holder.svc = sdk;
const data = script?.dataset;
if (data?.ingestKey && data.serviceName)
  sdk.init({
    ingestKey: data.ingestKey,
    serviceName: data.serviceName,
    endpoint: data.endpoint,
    serviceNamespace: data.serviceNamespace,
    serviceVersion: data.serviceVersion,
    commitSha: data.commitSha,
    environment: data.environment,
    privacy: { requireConsent: "requireConsent" in data },
  });
for (const [name, ...args] of waiting) {
  const call = sdk[name] as ((...a: unknown[]) => void) | undefined;
  if (typeof call === "function") call(...args);
}
