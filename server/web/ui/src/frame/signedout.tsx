import { useEffect, useRef } from "react";

/** SignedOut stands over the page when the session has ended. The page stays as it is, and goes on after the sign-in. */
export function SignedOut({ again, first = false }: { again: () => void; first?: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
    const back = (): void => {
      if (document.visibilityState === "visible") again();
    };
    document.addEventListener("visibilitychange", back);
    return () => document.removeEventListener("visibilitychange", back);
  }, [again]);
  const here = location.pathname + location.search;
  return (
    <dialog ref={dialog} aria-labelledby="signed-out" onCancel={(e) => e.preventDefault()}>
      <div className="body">
        <h1 id="signed-out">You were signed out</h1>
        <p>The session has ended. Nothing on this page is lost: sign in in another tab, then come back here.</p>
        <div className="row">
          <a
            className="button primary"
            href={first ? `/login?next=${encodeURIComponent(here)}` : "/login?next=%2Fprograms"}
            target={first ? undefined : "_blank"}
            rel="noreferrer"
          >
            Sign in
          </a>
          <button type="button" className="button" onClick={again}>
            I have signed in
          </button>
        </div>
      </div>
    </dialog>
  );
}
