// The module for imports.
import { createSDK } from "./api";

export type { Options, SDK, User } from "./api";

/** A module that the ingest server serves knows the address of that server. A bundled one does not. */
const base = /^(https?:\/\/.*)\/sdk\/browser\/[^/]+\/[^/]*$/.exec(import.meta.url)?.[1] ?? "";

const sdk = createSDK(
  {
    replay: () => import("./replay.js" as string),
    vitals: () => import("./vitals.js" as string),
  },
  base,
);

export const { init, identify, track, captureException, setConsent, getSessionId, shutdown } = sdk;
