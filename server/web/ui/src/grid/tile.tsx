import { type ReactNode, useEffect, useRef, useState } from "react";
import type { ApiError } from "../api/client";
import type { Widget, WidgetData } from "../gen/api";
import { line } from "../parts/format";
import { Draw, remarks } from "./draw";
import type { Leads } from "./tables";

export type Read = {
  data?: WidgetData | undefined;
  error: ApiError | null;
  isPlaceholderData: boolean;
  isFetching: boolean;
  refetch: () => unknown;
};
/** Reader is a hook that reads the data of a widget while `on` is true. */
export type Reader = (widget: Widget, ask: { on: boolean; points: number; source: "primary" | "sparkline" }) => Read;

type Props = {
  widget: Widget;
  read: Reader;
  leads: Leads | null;
  onBrush?: ((start: number, end: number) => void) | undefined;
  head?: ReactNode;
  menu?: ReactNode;
  onData?: ((d: WidgetData | undefined) => void) | undefined;
};

const windows: Record<string, string> = { m: "min", h: "h", d: "d", w: "weeks", mo: "months" };
/** rangeName is the window of a widget in words. */
export function rangeName(w: Widget): string {
  const r = w.timeRange;
  if (!r?.type) return "";
  if (r.type === "relative") {
    const [, n, unit = ""] = /^(\d+)(mo|[mhdw])$/.exec(r.value ?? "") ?? [];
    return n ? `last ${n} ${windows[unit]}` : "";
  }
  return `${(r.startTime ?? "").slice(0, 16).replace("T", " ")} – ${(r.endTime ?? "").slice(0, 16).replace("T", " ")} UTC`;
}

/** Tile is a widget with its heading and its state. It asks for data while it is on the screen, and fails alone. */
export function Tile({ widget, read, leads, onBrush, head, menu, onData }: Props) {
  const box = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(false);
  const [wide, setWide] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new IntersectionObserver(
      ([e]) => {
        setSeen(e?.isIntersecting ?? false);
        setWide(element.clientWidth);
      },
      { rootMargin: "120px" },
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const display = widget.display ?? {};
  const still = widget.visualization === "markdown";
  const points = Math.max(20, Math.min(300, Math.round(wide / 8 / 20) * 20));
  const found = read(widget, { on: seen && !still && wide > 0, points, source: "primary" });
  const own = widget.visualization === "stat" && display.sparkline?.enabled === true && display.sparkline.dataSource !== undefined;
  const small = read(widget, { on: seen && own && wide > 0, points: 40, source: "sparkline" });
  useEffect(() => onData?.(found.data), [found.data, onData]);
  const range = rangeName(widget);
  const said = remarks(found.data);
  const broken = found.error && (found.data === undefined || found.isPlaceholderData) ? found.error : null;
  const bare = still && !display.title && !head && !menu;
  return (
    <section
      ref={box}
      className={`w-tile${bare ? " w-bare" : ""}`}
      aria-label={line(display.title || widget.visualization || "Widget", 200)}
      aria-busy={found.isFetching}
    >
      {!bare && (
        <header>
          {head}
          <h2 className="clip" title={line([display.title, display.description].filter(Boolean).join(": "), 600)}>
            {line(display.title ?? "", 200)}
          </h2>
          {display.description && (
            <span className="w-hint faint" title={line(display.description, 600)} role="img" aria-label={line(display.description, 600)}>
              ⓘ
            </span>
          )}
          <span className="grow" />
          {range && (
            <span className="chip" title="This widget has a window of its own.">
              {range}
            </span>
          )}
          {menu}
        </header>
      )}
      <div className={`w-inside${found.isPlaceholderData ? " old" : ""}`}>
        {broken ? (
          <Broken error={broken} retry={found.refetch} />
        ) : (
          <Draw widget={widget} data={found.data} small={small.data} leads={leads} onBrush={onBrush} nothing={<Nothing />} />
        )}
        {!still && !broken && !found.data && seen && <Slow />}
      </div>
      {found.error && !broken && (
        <p className="w-remark warn" role="status">
          This is older: {line(found.error.message, 300)}
        </p>
      )}
      {said.texts.length > 0 && !broken && (
        <p className={`w-remark clip ${said.mild ? "faint" : "warn"}`} title={line(said.texts.join(" "), 1200)}>
          {line(said.texts.join(" "), 400)}
        </p>
      )}
    </section>
  );
}

function Broken({ error, retry }: { error: ApiError; retry: () => unknown }) {
  return (
    <div className="w-broken" role="alert">
      <b className="bad">✖ {line(error.title || "It failed", 100)}</b>
      <p>{line(error.message, 400)}</p>
      <div className="row">
        <button type="button" className="button small" onClick={() => void retry()}>
          Try again
        </button>
        {error.requestId && (
          <code className="faint clip" title="id of the request">
            {error.requestId}
          </code>
        )}
      </div>
    </div>
  );
}

const Nothing = () => <div className="w-nothing faint">No data in this window</div>;

/** Slow says after a moment that the data are on their way. */
function Slow() {
  const [seconds, set] = useState(0);
  useEffect(() => {
    const id = setInterval(() => set((s) => s + 1), 1000);
    return () => clearInterval(id);
  }, []);
  return seconds > 0 ? (
    <div className="w-nothing faint" role="status">
      Loading{seconds > 1 ? `, ${seconds} s` : ""} …
    </div>
  ) : null;
}
