import { type ReactNode, type Ref, type RefObject, useEffect, useImperativeHandle, useLayoutEffect, useReducer, useRef } from "react";
import { Heights } from "./heights";

export type VirtualList = {
  /** show scrolls a row into sight. */
  show: (index: number) => void;
  /** end scrolls to the last row. */
  end: () => void;
};

type Props<T> = {
  rows: T[];
  keyOf: (row: T) => string;
  label: string;
  children: (row: T, index: number) => ReactNode;
  /** The usual height of a row. */
  usual?: number;
  className?: string;
  columns?: string;
  list?: Ref<VirtualList>;
  /** The list stays at its end while rows come. */
  follow?: boolean;
  /** Called as a person scrolls: whether the end is in sight. */
  onScroll?: (atEnd: boolean) => void;
  /** Called when fewer than two pages are left below. */
  onNearEnd?: () => void;
  head?: ReactNode;
  foot?: ReactNode;
};

/** Virtual is a list of many rows. Only those in sight are in the document, at most 60. Rows may have different heights. */
export function Virtual<T>({
  rows,
  keyOf,
  label,
  children,
  usual = 24,
  className = "",
  columns,
  list,
  follow = false,
  onScroll,
  onNearEnd,
  head,
  foot,
}: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef<Heights>(null) as RefObject<Heights | null>;
  heights.current ??= new Heights(usual);
  const h = heights.current;
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const view = useRef({ top: 0, height: 900 });
  const pending = useRef(0);
  const watch = useRef<ResizeObserver>(null) as RefObject<ResizeObserver | null>;
  h.rows(rows.map(keyOf), usual);
  const start = useRef<HTMLDivElement>(null);
  const later = (): void => {
    if (pending.current) return;
    pending.current = requestAnimationFrame(() => {
      pending.current = 0;
      redraw();
    });
  };
  const look = (): void => {
    const e = box.current;
    if (!e) return;
    view.current = { top: Math.max(0, e.scrollTop - (start.current?.offsetTop ?? 0)), height: e.clientHeight };
  };
  useEffect(() => {
    const resized = new ResizeObserver(() => {
      look();
      later();
    });
    if (box.current) resized.observe(box.current);
    return () => {
      resized.disconnect();
      cancelAnimationFrame(pending.current);
      pending.current = 0;
    };
    // biome-ignore lint: the box lives as long as the list
  }, []);
  watch.current ??= new ResizeObserver((all) => {
    let other = false;
    for (const entry of all) {
      const e = entry.target as HTMLElement;
      if (e.isConnected && e.dataset.key && e.offsetHeight > 0) other = h.measure(e.dataset.key, e.offsetHeight) || other;
    }
    if (other) later();
  });
  useEffect(() => () => watch.current?.disconnect(), []);
  useLayoutEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
    look();
  });
  useImperativeHandle(list, () => ({
    show: (index) => {
      const e = box.current;
      if (!e) return;
      const top = h.top(index) + (start.current?.offsetTop ?? 0);
      const bottom = h.top(index + 1) + (start.current?.offsetTop ?? 0);
      if (top - 28 < e.scrollTop) e.scrollTop = top - 28;
      else if (bottom > e.scrollTop + e.clientHeight) e.scrollTop = Math.min(top - 28, bottom - e.clientHeight);
    },
    end: () => {
      if (box.current) box.current.scrollTop = box.current.scrollHeight;
    },
  }));
  const near = useRef(onNearEnd);
  near.current = onNearEnd;
  useEffect(() => {
    if (near.current && view.current.top + view.current.height * 3 > h.total) near.current();
  });
  const [first, last] = h.visible(view.current.top, view.current.height);
  return (
    <div
      ref={box}
      className={`virtual ${className}`}
      tabIndex={0}
      role="group"
      aria-label={label}
      style={columns ? { ["--cols" as string]: columns } : undefined}
      onScroll={(e) => {
        look();
        later();
        onScroll?.(e.currentTarget.scrollTop + e.currentTarget.clientHeight >= e.currentTarget.scrollHeight - 4);
      }}
    >
      {head}
      <div ref={start} style={{ height: h.total, position: "relative" }}>
        {rows.slice(first, last).map((row, i) => {
          const key = keyOf(row);
          return (
            <div
              key={key}
              data-key={key}
              className="virtualrow"
              style={{ transform: `translateY(${h.top(first + i)}px)` }}
              ref={(e) => {
                if (e) watch.current?.observe(e);
                return () => {
                  if (e) watch.current?.unobserve(e);
                };
              }}
            >
              {children(row, first + i)}
            </div>
          );
        })}
      </div>
      {foot}
    </div>
  );
}
