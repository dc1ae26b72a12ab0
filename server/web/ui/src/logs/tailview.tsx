import { useRef, useState } from "react";
import { change } from "../frame/router";
import type { Log, LogFilters } from "../gen/api";
import { count } from "../parts/format";
import { Virtual, type VirtualList } from "../parts/virtual";
import { useLive } from "./live";
import { keep } from "./tail";

type Props = {
  filters: LogFilters;
  where: string | undefined;
  enabled: boolean;
  children: (log: Log, open: boolean, toggle: () => void) => React.ReactNode;
};

/** Tail shows records as they arrive, the newest at the end. It stands still while a person reads further up. */
export function Tail({ filters, where, enabled, children }: Props) {
  const [paused, pause] = useState(false);
  const [above, setAbove] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const hold = paused || above || open !== null;
  const live = useLive(filters, where, enabled, hold);
  const list = useRef<VirtualList>(null);
  const goOn = (): void => {
    pause(false);
    setAbove(false);
    setOpen(null);
    requestAnimationFrame(() => list.current?.end());
  };
  return (
    <section className="panel">
      <header>
        <h2>Live</h2>
        <span className="faint grow" role="status">
          {!live.began
            ? "Waiting for the first answer …"
            : hold
              ? `Paused, ${count(live.held)} new`
              : `${count(live.rows.length)} ${live.rows.length === 1 ? "record" : "records"}${live.rows.length === keep ? ", the newest" : ""}`}
        </span>
        <button type="button" className="button small" onClick={() => (hold ? goOn() : pause(true))}>
          {hold ? "Go on" : "Pause"}
        </button>
        <button type="button" className="button small" onClick={() => change({ live: null })}>
          Stop
        </button>
      </header>
      {live.error && (
        <p className="notice" role="alert">
          {live.error.message} It is tried again.
        </p>
      )}
      {live.skipped && (
        <p className="notice" role="status">
          Records were left out because more arrived than could be read. A filter or a search shows them.
        </p>
      )}
      {live.began && live.rows.length === 0 ? (
        <p className="fine">No record matches yet. New ones appear here.</p>
      ) : (
        <Virtual
          rows={live.rows}
          keyOf={(l) => l.id ?? ""}
          label="Records as they arrive"
          usual={24}
          className="logs loglive"
          list={list}
          follow={!hold}
          onScroll={(atEnd) => setAbove(!atEnd)}
        >
          {(l) => children(l, open === l.id, () => setOpen(open === l.id ? null : (l.id ?? null)))}
        </Virtual>
      )}
    </section>
  );
}
