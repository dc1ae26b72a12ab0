import { useMemo, useState } from "react";
import type { Dashboard } from "../../gen/api";
import { type Definition, definitionOf, differences, merge } from "../../grid/merge";
import { type Reader, Tile } from "../../grid/tile";
import { Dialog } from "../../parts/dialog";
import { line } from "../../parts/format";
import { stamp } from "../../parts/time";
import { Changes } from "./changes";

const names: Record<string, string> = {
  name: "the name",
  description: "the note",
  tags: "the tags",
  timeRange: "the window",
  sections: "the sections",
  variables: "the variables",
  refreshIntervalSeconds: "the refresh",
};

/** Conflict joins two changes of one dashboard: what one side changed is taken, and a widget that both changed is decided here. */
export function Conflict({
  base,
  mine,
  theirs,
  read,
  busy,
  save,
  close,
}: {
  base: Dashboard;
  mine: Definition;
  theirs: Dashboard;
  read: Reader;
  busy: boolean;
  save: (d: Definition) => void;
  close: () => void;
}) {
  const [keep, setKeep] = useState<ReadonlyMap<string, "mine" | "theirs">>(new Map());
  const other = useMemo(() => definitionOf(theirs), [theirs]);
  const joined = useMemo(() => merge(definitionOf(base), mine, other, keep), [base, mine, other, keep]);
  const changed = useMemo(() => differences(base, other), [base, other]);
  const choose = (key: string, side: "mine" | "theirs"): void => setKeep(new Map([...keep, [key, side]]));
  return (
    <Dialog title="Somebody saved this dashboard meanwhile" close={close} wide hold>
      <p>
        It was saved on {stamp(theirs.updatedAt)}.{" "}
        {joined.conflicts.length === 0
          ? "Their changes and yours touch different parts, and were joined."
          : `Their changes and yours were joined, but ${joined.conflicts.length === 1 ? "one widget was" : `${joined.conflicts.length} widgets were`} changed by both.`}
      </p>
      {joined.both.length > 0 && <p className="warn">Both changed {joined.both.map((f) => names[f] ?? f).join(", ")}: yours stays.</p>}
      <details>
        <summary>What they changed ({changed.length})</summary>
        <div className="w-scroll w-most" tabIndex={0} role="region" aria-label="Their changes">
          <Changes of={changed} />
        </div>
      </details>
      {joined.conflicts.map((c) => {
        const side = keep.get(c.key) ?? "mine";
        return (
          <fieldset key={c.key} className="w-plainset">
            <legend>{line(c.name, 100)}</legend>
            <div className="w-sides">
              {(["mine", "theirs"] as const).map((s) => (
                <div key={s}>
                  <label className="row w-check">
                    <input type="radio" name={`side-${c.key}`} checked={side === s} onChange={() => choose(c.key, s)} />{" "}
                    {s === "mine" ? "Mine" : "Theirs"}
                  </label>
                  <div className="w-side">{c[s] ? <Tile widget={c[s]} read={read} leads={null} /> : <p className="faint">removed</p>}</div>
                </div>
              ))}
            </div>
          </fieldset>
        );
      })}
      <div className="row wrap">
        <button type="button" className="button" disabled={busy} onClick={close}>
          Back to editing
        </button>
        <span className="grow" />
        {joined.conflicts.length > 0 && (
          <button type="button" className="button" disabled={busy} onClick={() => save(merge(definitionOf(base), mine, other).definition)}>
            Keep mine
          </button>
        )}
        <button type="button" className="button primary" disabled={busy} onClick={() => save(joined.definition)}>
          {busy ? "Saving …" : joined.conflicts.length ? "Save as chosen" : "Save both"}
        </button>
      </div>
    </Dialog>
  );
}
