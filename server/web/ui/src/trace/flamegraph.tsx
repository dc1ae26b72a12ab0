import { type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { duration, line, slot } from "../parts/format";
import { paint, useTheme } from "../parts/paint";
import { boxes, hit, layOut } from "./flame";
import { ownTimes } from "./operations";
import type { Tree } from "./tree";
import "./flamegraph.css";

const height = 20;
const most = 640;

type Props = {
  tree: Tree;
  names: string[];
  services: string[];
  selected: string;
  matches: ReadonlySet<number> | null;
  onSelect: (span: string) => void;
};

/**
 * FlameGraph draws each span over its time, below its parent. A click selects a span, a second one or Enter shows its time alone; the
 * wheel with Ctrl, `+`, `-` and the arrows move the view, Escape shows all of it.
 */
export function FlameGraph({ tree, names, services, selected, matches, onSelect }: Props) {
  const flame = useMemo(() => layOut(tree), [tree]);
  const own = useMemo(() => ownTimes(tree), [tree]);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(800);
  const [view, setView] = useState<[number, number]>([0, tree.duration]);
  const [over, setOver] = useState<{ span: number; x: number; y: number } | null>(null);
  const theme = useTheme();
  const [from, to] = view;
  const full = flame.rows.length * height;
  useEffect(() => setView([0, tree.duration]), [tree.duration]);
  useEffect(() => {
    const e = box.current;
    if (!e) return;
    const watch = new ResizeObserver(() => setWidth(Math.max(100, e.clientWidth)));
    watch.observe(e);
    return () => watch.disconnect();
  }, []);
  const [top, setTop] = useState(0);
  const shown = Math.min(full, most);
  // biome-ignore lint: the theme changes the colors
  useEffect(() => {
    const c = canvas.current;
    const g = c?.getContext("2d");
    if (!c || !g) return;
    const scale = devicePixelRatio || 1;
    c.width = width * scale;
    c.height = shown * scale;
    g.setTransform(scale, 0, 0, scale, 0, 0);
    const color = new Map<string, string>();
    const of = (token: string): string => {
      let v = color.get(token);
      if (v === undefined) color.set(token, (v = paint(c.parentElement ?? c, token)));
      return v;
    };
    g.font = `11px ${getComputedStyle(c).fontFamily}`;
    g.textBaseline = "middle";
    g.clearRect(0, 0, width, shown);
    const firstRow = Math.floor(top / height);
    for (let row = firstRow; row < flame.rows.length && row * height < top + shown; row++) {
      const y = row * height - top;
      for (const b of boxes(flame, row, from, to, width)) {
        const s = tree.spans[b.span]!;
        g.globalAlpha = matches && !matches.has(b.span) ? 0.25 : 1;
        g.fillStyle = of(`--s${slot(services[s.service ?? 0] ?? "")}`);
        g.fillRect(b.x, y + 1, Math.max(1, b.width - (b.width > 3 ? 1 : 0)), height - 2);
        if (s.hasError) {
          g.fillStyle = of("--bad");
          g.fillRect(b.x, y + height - 4, Math.max(1, b.width - 1), 3);
        }
        if (b.width > 40) {
          g.fillStyle = of("--back");
          const text = line(names[s.name ?? 0] ?? "", 120);
          g.fillText(text.slice(0, Math.floor((b.width - 8) / 6)), b.x + 4, y + height / 2);
        }
        if (s.id === selected) {
          g.globalAlpha = 1;
          g.strokeStyle = of("--ink");
          g.lineWidth = 2;
          g.strokeRect(b.x + 1, y + 1, Math.max(2, b.width - 2), height - 2);
        }
      }
    }
    g.globalAlpha = 1;
  }, [flame, tree, names, services, selected, matches, from, to, width, shown, top, theme]);

  const spanAt = (e: PointerEvent<HTMLCanvasElement>): { span: number; x: number; y: number } => {
    const r = e.currentTarget.getBoundingClientRect();
    const [x, y] = [e.clientX - r.left, e.clientY - r.top];
    return { span: hit(flame, Math.floor((y + top) / height), from + (x / width) * (to - from), (to - from) / width), x, y };
  };
  const focus = (span: number): void => {
    const s = tree.spans[span];
    if (!s) return;
    const length = Math.max(s.durationMs ?? 0, tree.duration / 1e6);
    setView([(s.offsetMs ?? 0) - length * 0.02, (s.offsetMs ?? 0) + length * 1.02]);
  };
  const zoom = (by: number, at = (from + to) / 2): void => {
    const length = Math.min(tree.duration * 1.04, Math.max(tree.duration / 1e6, (to - from) * by));
    const start = at - ((at - from) / (to - from)) * length;
    setView([start, start + length]);
  };
  const chosen = tree.spans.findIndex((s) => s.id === selected);
  const keys: { [key: string]: () => void } = {
    "+": () => zoom(0.5),
    "-": () => zoom(2),
    ArrowLeft: () => setView([from - (to - from) / 5, to - (to - from) / 5]),
    ArrowRight: () => setView([from + (to - from) / 5, to + (to - from) / 5]),
    ArrowUp: () => chosen >= 0 && (tree.parent[chosen] ?? -1) >= 0 && onSelect(tree.spans[tree.parent[chosen]!]?.id ?? ""),
    ArrowDown: () => onSelect(tree.spans[chosen + 1]?.id ?? selected),
    Enter: () => focus(chosen),
    Escape: () => setView([0, tree.duration]),
  };
  const whole = from <= 0 && to >= tree.duration;
  const at = over && over.span >= 0 ? tree.spans[over.span] : undefined;
  return (
    <div className="flame" ref={box}>
      <div className="row flamehead">
        <span className="faint grow num">
          {whole ? duration(tree.duration) : `${duration(Math.max(0, from))} to ${duration(Math.min(to, tree.duration))}`}
        </span>
        {!whole && (
          <button type="button" className="button small" onClick={() => setView([0, tree.duration])}>
            Show all
          </button>
        )}
      </div>
      <div
        className="flamebox"
        tabIndex={0}
        role="group"
        aria-label="Flame graph. The waterfall lists the same spans."
        style={{ height: shown }}
        onScroll={(e) => setTop(e.currentTarget.scrollTop)}
        onKeyDown={(e) => {
          const does = keys[e.key];
          if (!does || e.ctrlKey || e.metaKey || e.altKey) return;
          e.preventDefault();
          does();
        }}
        onWheel={(e) => e.ctrlKey && zoom(e.deltaY > 0 ? 1.25 : 0.8, from + (e.nativeEvent.offsetX / width) * (to - from))}
      >
        <div style={{ height: full }}>
          <canvas
            ref={canvas}
            style={{ width, height: shown }}
            onPointerMove={(e) => setOver(spanAt(e))}
            onPointerLeave={() => setOver(null)}
            onClick={(e) => {
              const { span } = spanAt(e as unknown as PointerEvent<HTMLCanvasElement>);
              const id = tree.spans[span]?.id;
              if (!id) return;
              if (id === selected) focus(span);
              else onSelect(id);
            }}
          />
        </div>
      </div>
      {at && over && (
        <div
          className="flamecard"
          style={{ left: Math.min(over.x, width - 260), top: Math.min(over.y - (over.y > shown / 2 ? 96 : -44), shown) }}
        >
          <b>{line(names[at.name ?? 0] ?? "", 120)}</b>
          <span className="faint">{line(services[at.service ?? 0] ?? "", 80)}</span>
          <span>
            {duration(at.durationMs ?? 0)}, own {duration(own[over.span])}
            {at.hasError && <span className="bad"> · error</span>}
          </span>
        </div>
      )}
    </div>
  );
}
