import { type ReactNode, useEffect, useId, useRef } from "react";

/** Dialog stands over the page until it is closed. Escape and a click beside it close it, unless `hold` is set. */
export function Dialog({
  title,
  close,
  children,
  wide = false,
  hold = false,
}: {
  title: string;
  close: () => void;
  children: ReactNode;
  wide?: boolean;
  hold?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "wide" : undefined}
      aria-labelledby={heading}
      onClose={close}
      onCancel={(e) => hold && e.preventDefault()}
      onMouseDown={(e) => e.target === dialog.current && !hold && close()}
    >
      <div className="body">
        <h1 id={heading}>{title}</h1>
        {children}
      </div>
    </dialog>
  );
}

/** Confirm asks before an act that cannot be undone. */
export function Confirm({
  title,
  act,
  close,
  children,
  disabled = false,
  busy = false,
}: {
  title: string;
  act: string;
  close: (yes: boolean) => void;
  children: ReactNode;
  disabled?: boolean;
  busy?: boolean;
}) {
  return (
    <Dialog title={title} close={() => close(false)}>
      {children}
      <div className="row">
        <span className="grow" />
        <button type="button" className="button" onClick={() => close(false)}>
          Cancel
        </button>
        <button type="button" className="button danger" disabled={disabled || busy} onClick={() => close(true)}>
          {busy ? "…" : act}
        </button>
      </div>
    </Dialog>
  );
}
