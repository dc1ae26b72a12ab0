import type { Calls } from "../gen/api";
import { ReadsOfOrganization } from "../gen/limits";

/** An error of the API, in the form that every page shows. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly title: string,
    readonly tag: string,
    readonly recovery: string,
    readonly retryable: boolean,
    readonly requestId: string,
    readonly param: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

type Detail = { tag?: string; title?: string; message?: string; recovery?: string; status?: number; param?: string; retryable?: boolean };

export type Procedure = keyof Calls;
export type RequestOf<P extends Procedure> = Calls[P][0];
export type AnswerOf<P extends Procedure> = Calls[P][1];

/** Calls are counted, so that the frame shows when the page is loading. */
let open = 0;
const watchers = new Set<(open: number) => void>();
function count(change: number): void {
  open += change;
  for (const watch of watchers) watch(open);
}
export function watchCalls(watch: (open: number) => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

/** More calls wait: an organization has no more reads at once, and browsers open no more connections. */
const waiting: Array<() => void> = [];
let running = 0;
async function turn(signal?: AbortSignal): Promise<void> {
  if (running >= ReadsOfOrganization) {
    await new Promise<void>((resolve, reject) => {
      waiting.push(resolve);
      signal?.addEventListener("abort", () => {
        const at = waiting.indexOf(resolve);
        if (at >= 0) {
          waiting.splice(at, 1);
          reject(signal.reason);
        }
      });
    });
  }
  running++;
}
function done(): void {
  running--;
  waiting.shift()?.();
}

let signedOut: () => void = () => {};
export function onSignedOut(call: () => void): void {
  signedOut = call;
}

/** Calls a method of the API by Connect, as JSON. The session's cookie is the credential; the header proves that our script sends it. An anonymous call has neither. */
export async function call<P extends Procedure>(
  procedure: P,
  request: RequestOf<P>,
  { org, signal, anonymous = false }: { org?: string; signal?: AbortSignal; anonymous?: boolean } = {},
): Promise<AnswerOf<P>> {
  await turn(signal);
  count(1);
  try {
    const headers: Record<string, string> = { "Content-Type": "application/json", ...(anonymous ? {} : { "X-Svc-Ui": "1" }) };
    if (org) headers["x-svc-org-id"] = org;
    let answer: Response;
    try {
      answer = await fetch(`/svc.v2.${procedure}`, {
        method: "POST",
        headers,
        body: JSON.stringify(request),
        signal: signal ?? null,
        credentials: anonymous ? "omit" : "same-origin",
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new ApiError("The server cannot be reached. Check your connection.", 0, "No connection", "", "retry", true, "", "");
    }
    if (answer.ok) return (await answer.json()) as AnswerOf<P>;
    throw await failure(answer, anonymous);
  } finally {
    count(-1);
    done();
  }
}

async function failure(answer: Response, anonymous: boolean): Promise<ApiError> {
  let detail: Detail = {};
  let message = "";
  try {
    const body = (await answer.json()) as { message?: string; details?: Array<{ debug?: Detail }> };
    detail = body.details?.[0]?.debug ?? {};
    message = body.message ?? "";
  } catch {
    message = `The server answered with ${answer.status}.`;
  }
  if (answer.status === 401 && !anonymous) signedOut();
  return new ApiError(
    detail.message ?? message,
    detail.status ?? answer.status,
    detail.title ?? `Error ${answer.status}`,
    detail.tag ?? "",
    detail.recovery ?? "",
    detail.retryable ?? [429, 502, 503, 504].includes(answer.status),
    answer.headers.get("x-request-id") ?? "",
    detail.param ?? "",
  );
}
