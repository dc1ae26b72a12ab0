import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import type { Widget } from "../gen/api";
import { line } from "../parts/format";
import { arrange, bounded, type Place, placeOf } from "./layout";
import { cellStyle, placesOf } from "./sections";

const gap = 10;
const row = 60 + gap;

type Props = {
  widgets: Widget[];
  chosen: string;
  onPlaces: (places: Map<string, Place>, kind: string) => void;
  onAct: (id: string, act: "edit" | "duplicate" | "remove") => void;
  tile: (w: Widget, head: ReactNode) => ReactNode;
};

/** EditGrid lets a person move and size the widgets of one grid, by pointer or by keyboard. */
export function EditGrid({ widgets, chosen, onPlaces, onAct, tile }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ id: string; to: Place; places: Map<string, Place> } | null>(null);
  const [said, setSaid] = useState("");
  const stored = placesOf(widgets);
  const places = drag?.places ?? stored;
  const at = (w: Widget): Place => places.get(w.id ?? "") ?? placeOf(w.layout);

  const begin = (e: PointerEvent<HTMLElement>, w: Widget, sizing: boolean): void => {
    if (e.button !== 0 || !box.current) return;
    e.preventDefault();
    const handle = e.currentTarget;
    handle.focus();
    handle.setPointerCapture(e.pointerId);
    const id = w.id ?? "";
    const from = stored.get(id) ?? placeOf(w.layout);
    const column = (box.current.clientWidth + gap) / 12;
    const [x, y] = [e.clientX, e.clientY];
    let last: Map<string, Place> | null = null;
    const move = (m: globalThis.PointerEvent): void => {
      const dx = Math.round((m.clientX - x) / column);
      const dy = Math.round((m.clientY - y) / row);
      const to = bounded(
        sizing
          ? { ...from, w: Math.min(12 - from.x, Math.max(1, from.w + dx)), h: Math.max(1, from.h + dy) }
          : { ...from, x: from.x + dx, y: from.y + dy },
        w.layout,
      );
      last = arrange(stored, id, to);
      setDrag({ id, to, places: last });
    };
    const end = (done: boolean): void => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", up);
      handle.removeEventListener("pointercancel", cancel);
      window.removeEventListener("keydown", escape, true);
      setDrag(null);
      if (done && last) onPlaces(last, "");
    };
    const up = (): void => end(true);
    const cancel = (): void => end(false);
    const escape = (k: globalThis.KeyboardEvent): void => {
      if (k.key !== "Escape") return;
      k.stopPropagation();
      end(false);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", up);
    handle.addEventListener("pointercancel", cancel);
    window.addEventListener("keydown", escape, true);
  };

  const press = (e: KeyboardEvent, w: Widget): void => {
    const id = w.id ?? "";
    const from = stored.get(id) ?? placeOf(w.layout);
    const [dx, dy] = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as Record<string, [number, number]>)[
      e.key
    ] ?? [0, 0];
    if (dx || dy) {
      const step = !e.shiftKey && dy > 0 ? below(stored, id, from) : dy;
      const to = bounded(
        e.shiftKey
          ? { ...from, w: Math.min(12 - from.x, Math.max(1, from.w + dx)), h: Math.max(1, from.h + dy) }
          : { ...from, x: from.x + dx, y: from.y + step },
        w.layout,
      );
      const next = arrange(stored, id, to);
      const p = next.get(id) ?? to;
      setSaid(`Column ${p.x + 1}, row ${p.y + 1}, ${p.w} wide, ${p.h} high`);
      onPlaces(next, `${e.shiftKey ? "size" : "move"} ${id}`);
    } else if (e.key === "Enter") onAct(id, "edit");
    else if (e.key === "Delete" || e.key === "Backspace") onAct(id, "remove");
    else if (e.key === "d") onAct(id, "duplicate");
    else return;
    e.preventDefault();
    e.stopPropagation();
  };

  const sorted = [...widgets].sort(
    (a, b) =>
      (stored.get(a.id ?? "")?.y ?? 0) - (stored.get(b.id ?? "")?.y ?? 0) ||
      (stored.get(a.id ?? "")?.x ?? 0) - (stored.get(b.id ?? "")?.x ?? 0),
  );
  return (
    <div ref={box} className={`w-board w-editable${drag ? " w-dragging" : ""}`}>
      {sorted.map((w) => {
        const name = line(w.display?.title || w.visualization || "widget", 80);
        return (
          <div
            key={w.id}
            className={`w-cell${drag?.id === w.id ? " w-held" : ""}${chosen === w.id ? " w-chosen" : ""}`}
            style={cellStyle(at(w))}
            data-widget={w.id}
          >
            {tile(
              w,
              <button
                type="button"
                className="w-grip"
                aria-label={`${name}: arrows move, Shift and arrows size, Enter edits, D duplicates, Delete removes`}
                title="Drag, or use the arrows; Shift sizes"
                onPointerDown={(e) => begin(e, w, false)}
                onKeyDown={(e) => press(e, w)}
              >
                <span aria-hidden="true">⠿</span>
              </button>,
            )}
            <span className="w-corner" aria-hidden="true" onPointerDown={(e) => begin(e, w, true)} />
          </div>
        );
      })}
      <p className="sr" role="status">
        {said}
      </p>
    </div>
  );
}

/** below is how far a widget moves down to change places with what stands under it. */
function below(places: ReadonlyMap<string, Place>, id: string, from: Place): number {
  const under = [...places]
    .filter(([other, p]) => other !== id && p.y >= from.y + from.h && p.x < from.x + from.w && from.x < p.x + p.w)
    .sort((a, b) => a[1].y - b[1].y)[0]?.[1];
  return under ? under.y + under.h - from.y : 1;
}
