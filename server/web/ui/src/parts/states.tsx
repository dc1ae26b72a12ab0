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
  if (of.error && (of.data === undefined || of.isPlaceholderData)) return <Failed error={of.error} retry={() => of.refetch()} />;
  if (of.data === undefined) return <Waiting lines={lines} />;
  const nothing = empty?.(of.data);
  return (
    <div className={of.isPlaceholderData ? "old" : undefined} aria-busy={of.isFetching}>
      {of.error && (
        <p className="notice" role="status">
          This is older: {of.error.message}
        </p>
      )}
      {nothing || children(of.data)}
    </div>
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
export function Waiting({ lines }: { lines: number }) {
  const seconds = useSeconds();
  return (
    <div className="state" aria-busy="true" style={{ minHeight: lines * 28 }}>
      {seconds >= 1 && <p role="status">Loading{seconds >= 2 ? `, ${seconds} s` : ""} …</p>}
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
