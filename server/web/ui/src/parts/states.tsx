import { useQueryClient } from "@tanstack/react-query";
import { slot as slotOf } from "./format";
import { type ReactNode, useEffect, useState } from "react";
import type { ApiError } from "../api/client";

type Loaded<T> = {
  data?: T | undefined;
  error: ApiError | null;
  isPending: boolean;
  isPlaceholderData: boolean;
  isFetching: boolean;
  refetch: () => unknown;
};

const hints: Record<string, string> = {
  fix_request: "Change the filter or the window, then try again.",
  retry: "The server may be busy. Try again in a moment.",
  retry_later: "The server is busy. Try again in a moment.",
  contact_support: "Give the request id to the operator of this server.",
};

/** Load shows one of the states of an answer: it loads, it failed, there is nothing, or here it is. */
export function Load<T>({
  of,
  empty,
  children,
  lines = 3,
}: {
  of: Loaded<T>;
  empty?: (data: T) => ReactNode;
  children: (data: T) => ReactNode;
  lines?: number;
}) {
  const client = useQueryClient();
  const [stopped, setStopped] = useState(false);
  useEffect(() => {
    if (of.isFetching) setStopped(false);
  }, [of.isFetching]);
  // The calls of a page belong together: one that waits for the others would begin as soon as they end.
  const stop = (): void => void client.cancelQueries({ predicate: (q) => q.state.fetchStatus === "fetching" }).then(() => setStopped(true));
  const again = (
    <button type="button" className="button small" onClick={() => void of.refetch()}>
      Load it
    </button>
  );
  if (of.error && (of.data === undefined || of.isPlaceholderData)) return <Failed error={of.error} retry={() => of.refetch()} />;
  if (of.data === undefined && stopped && !of.isFetching) return <Empty title="You stopped it">{again}</Empty>;
  if (of.data === undefined) return <Waiting lines={lines} stop={stop} />;
  const nothing = empty?.(of.data);
  return (
    <>
      {of.isPlaceholderData && (of.isFetching ? <Slow stop={stop} /> : stopped && <p className="notice row">This is older. {again}</p>)}
      <div className={of.isPlaceholderData ? "old" : undefined} aria-busy={of.isFetching}>
        {of.error && (
          <p className="notice" role="status">
            This is older: {of.error.message}
          </p>
        )}
        {nothing || children(of.data)}
      </div>
    </>
  );
}

/** Slow says that what is shown is older, once that lasts. */
function Slow({ stop }: { stop: () => void }) {
  const seconds = useSeconds();
  if (seconds < 2) return null;
  return (
    <p className="notice row" role="status">
      Loading, {seconds} s …
      <button type="button" className="button small" onClick={stop}>
        Stop
      </button>
    </p>
  );
}

export function Failed({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div className="state failed" role="alert">
      <h2>{error.title || "It failed"}</h2>
      <p>{error.message}</p>
      <p>{hints[error.recovery] ?? ""}</p>
      <div className="row">
        {retry && (
          <button type="button" className="button" onClick={retry}>
            Try again
          </button>
        )}
        {error.requestId && <Copy text={error.requestId} label="Copy the request id" />}
      </div>
    </div>
  );
}

/** Unread stands in place of what a filter selects that cannot be read. The bar says what is wrong. */
export function Unread() {
  return (
    <section className="panel">
      <Empty title="The filter cannot be read">
        <p>The line below the filter says what is wrong.</p>
      </Empty>
    </section>
  );
}

/** Waiting shows nothing for a moment: most answers come before a person would see it. */
export function Waiting({ lines, stop }: { lines: number; stop?: () => void }) {
  const seconds = useSeconds();
  return (
    <div className="state" aria-busy="true" style={{ minHeight: lines * 28 }}>
      {seconds >= 1 && <p role="status">Loading{seconds >= 2 ? `, ${seconds} s` : ""} …</p>}
      {seconds >= 2 && stop && (
        <button type="button" className="button small" onClick={stop}>
          Stop
        </button>
      )}
    </div>
  );
}

function useSeconds(): number {
  const [seconds, set] = useState(0);
  useEffect(() => {
    const id = setInterval(() => set((s) => s + 1), 1000);
    return () => clearInterval(id);
  }, []);
  return seconds;
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Copy({ text, label = "Copy", quiet = false }: { text: string; label?: string; quiet?: boolean }) {
  const [copied, set] = useState(false);
  return (
    <button
      type="button"
      className={`button small${quiet ? " quiet" : ""}`}
      onClick={() => {
        void navigator.clipboard?.writeText(text).then(() => {
          set(true);
          setTimeout(() => set(false), 1500);
        });
      }}
    >
      {copied ? "Copied" : label}
    </button>
  );
}

export function Service({ name }: { name: string }) {
  return (
    <>
      <i className="dot" style={{ background: `var(--s${slotOf(name)})` }} aria-hidden="true" /> {name}
    </>
  );
}
