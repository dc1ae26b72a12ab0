import { type ReactNode, useState } from "react";
import type { ApiError } from "../../api/client";
import { change } from "../../frame/router";
import { Confirm, Dialog } from "../../parts/dialog";
import { FormError } from "../../parts/form";
import { Copy } from "../../parts/states";

/** Secret shows a secret once. It is not kept anywhere, so the dialog says so. */
export function Secret({ title, secret, close }: { title: string; secret: string; close: () => void }) {
  return (
    <Dialog title={title} close={close} hold>
      <p>Copy it now: it is never shown again.</p>
      <p className="row secret">
        <code>{secret}</code>
        <Copy text={secret} />
      </p>
      <div className="row">
        <span className="grow" />
        <button type="button" className="button primary" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

type Asked = { title: string; act: string; text: ReactNode; run: () => void };

/** useConfirm asks before a change that cannot be undone. The dialog closes when the page calls `done`. */
export function useConfirm(error: ApiError | null, busy: boolean): { ask: (asked: Asked) => void; done: () => void; dialog: ReactNode } {
  const [asked, setAsked] = useState<Asked | null>(null);
  return {
    ask: setAsked,
    done: () => setAsked(null),
    dialog: asked && (
      <Confirm title={asked.title} act={asked.act} busy={busy} close={(yes) => (yes ? asked.run() : setAsked(null))}>
        <p>{asked.text}</p>
        <FormError error={error} />
      </Confirm>
    ),
  };
}

/** Pages leads to the next page of a list, and back to the first. */
export function Pages({
  more,
  next,
  after,
  first = "First page",
}: {
  more: boolean | undefined;
  next: string | undefined;
  after: string | null;
  first?: string;
}) {
  if (!after && !more) return null;
  return (
    <p className="fine row">
      {after && (
        <button type="button" className="button small" onClick={() => change({ after: null })}>
          {first}
        </button>
      )}
      {more && (
        <button type="button" className="button small" onClick={() => change({ after: next ?? null })}>
          Next page
        </button>
      )}
    </p>
  );
}
