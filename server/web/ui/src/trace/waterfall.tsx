import { type CSSProperties, type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { duration, line, slot } from "../parts/format";
import { type Tree, visible } from "./tree";
import "./waterfall.css";

const rowHeight = 24;
const deepest = 24;

type Props = {
  tree: Tree;
  names: string[];
  services: string[];
  selected: string;
  matches: ReadonlySet<number> | null;
  onSelect: (id: string) => void;
};

/** The colors of the tokens, read once for a theme. */
function palette(element: Element): { series: string[]; bad: string; ink: string; line: string; soft: string; back: string } {
  const probe = document.createElement("i");
  element.append(probe);
  const read = (token: string): string => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const colors = {
    series: Array.from({ length: 10 }, (_, i) => read(`--s${i}`)),
    bad: read("--bad"),
    ink: read("--ink"),
    line: read("--line"),
    soft: read("--soft"),
    back: read("--back"),
  };
  probe.remove();
  return colors;
}

/**
 * Waterfall draws the spans of a trace. The names are rows of a tree, of which the page holds those that show; the bars are a canvas, so
 * that a trace of 100,000 spans scrolls as one of ten does.
 */
export function Waterfall({ tree, names, services, selected, matches, onSelect }: Props) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [range, setRange] = useState<[number, number]>([0, 1]);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const box = useRef<HTMLDivElement>(null);
  const bars = useRef<HTMLCanvasElement>(null);
  const map = useRef<HTMLCanvasElement>(null);
  const rows = useMemo(() => visible(tree, folded), [tree, folded]);
  const first = Math.max(0, Math.floor(top / rowHeight) - 2);
  const last = Math.min(rows.length, first + Math.ceil(size.height / rowHeight) + 4);
  const at = useMemo(() => rows.findIndex((row) => tree.spans[row]!.id === selected), [rows, tree, selected]);
  const from = range[0] * tree.duration;
  const length = (range[1] - range[0]) * tree.duration;

  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  // A span that is chosen elsewhere comes into view.
  useEffect(() => {
    const element = box.current;
    if (at < 0 || !element) return;
    const y = at * rowHeight;
    if (y < element.scrollTop || y > element.scrollTop + element.clientHeight - 2 * rowHeight)
      element.scrollTop = Math.max(0, y - element.clientHeight / 3);
  }, [at]);

  useLayoutEffect(() => {
    const canvas = bars.current;
    if (!canvas || size.height === 0) return;
    const scale = devicePixelRatio || 1;
    const width = canvas.clientWidth;
    canvas.width = width * scale;
    canvas.height = size.height * scale;
    const g = canvas.getContext("2d");
    if (!g) return;
    const colors = palette(canvas.parentElement!);
    g.scale(scale, scale);
    g.clearRect(0, 0, width, size.height);
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    g.strokeStyle = colors.line;
    for (let i = 1; i < 5; i++) {
      const x = Math.round((i / 5) * width) + 0.5;
      g.beginPath();
      g.moveTo(x, 0);
      g.lineTo(x, size.height);
      g.stroke();
    }
    for (let i = first; i < last; i++) {
      const row = rows[i]!;
      const s = tree.spans[row]!;
      const y = i * rowHeight - top;
      if (s.id === selected) {
        g.fillStyle = colors.soft;
        g.fillRect(0, y, width, rowHeight);
      }
      const x = (((s.offsetMs ?? 0) - from) / length) * width;
      const w = Math.max(2, ((s.durationMs ?? 0) / length) * width);
      g.globalAlpha = matches && !matches.has(row) ? 0.25 : 1;
      g.fillStyle = s.hasError ? colors.bad : colors.series[slot(services[s.service ?? 0] ?? "")]!;
      g.beginPath();
      g.roundRect(Math.max(-4, x), y + 6, Math.min(w, width + 8), rowHeight - 12, 2);
      g.fill();
      const text = duration(s.durationMs ?? 0);
      const right = Math.min(width, x + w) + 6;
      g.fillStyle = colors.ink;
      if (right + 60 < width) g.fillText(text, Math.max(right, 2), y + rowHeight / 2);
      else {
        g.textAlign = "right";
        if (x > 70) g.fillText(text, Math.min(x - 6, width - 4), y + rowHeight / 2);
        else {
          g.fillStyle = colors.back;
          g.fillText(text, Math.min(x + w, width) - 6, y + rowHeight / 2);
        }
        g.textAlign = "left";
      }
      g.globalAlpha = 1;
    }
  });

  // The minimap shows all spans; a brush on it zooms.
  useLayoutEffect(() => {
    const canvas = map.current;
    if (!canvas) return;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    canvas.width = width;
    canvas.height = height;
    const g = canvas.getContext("2d");
    if (!g) return;
    const colors = palette(canvas.parentElement!);
    const n = tree.spans.length;
    const step = Math.max(1, Math.floor(n / 4000));
    const rise = Math.min(5, (height - 2) / n);
    for (let pass = 0; pass < 2; pass++) {
      for (let i = 0; i < n; i += pass === 0 ? step : 1) {
        const s = tree.spans[i]!;
        if (pass === 1 && !s.hasError) continue;
        g.fillStyle = s.hasError ? colors.bad : colors.series[slot(services[s.service ?? 0] ?? "")]!;
        g.fillRect(
          ((s.offsetMs ?? 0) / tree.duration) * width,
          i * rise,
          Math.max(1, ((s.durationMs ?? 0) / tree.duration) * width),
          Math.max(1, rise - 0.5),
        );
      }
    }
  }, [tree, services, size.width]);

  const fold = (id: string, on: boolean): void => {
    const next = new Set(folded);
    if (on) next.add(id);
    else next.delete(id);
    setFolded(next);
  };
  const jump = (direction: 1 | -1): void => {
    for (let i = at + direction; i >= 0 && i < rows.length; i += direction) {
      if (tree.spans[rows[i]!]!.hasError) {
        onSelect(tree.spans[rows[i]!]!.id ?? "");
        return;
      }
    }
  };
  const press = (e: KeyboardEvent): void => {
    const span = at >= 0 ? tree.spans[rows[at]!]! : undefined;
    const go = (i: number): void => onSelect(tree.spans[rows[Math.min(Math.max(i, 0), rows.length - 1)]!]?.id ?? "");
    switch (e.key) {
      case "ArrowDown":
        go(at + 1);
        break;
      case "ArrowUp":
        go(at - 1);
        break;
      case "Home":
        go(0);
        break;
      case "End":
        go(rows.length - 1);
        break;
      case "ArrowRight":
        if (span && folded.has(span.id ?? "")) fold(span.id ?? "", false);
        else go(at + 1);
        break;
      case "ArrowLeft":
        if (span && tree.children[rows[at]!]! > 0 && !folded.has(span.id ?? "")) fold(span.id ?? "", true);
        else if (span && tree.parent[rows[at]!]! >= 0) onSelect(tree.spans[tree.parent[rows[at]!]!]!.id ?? "");
        break;
      case "n":
        jump(1);
        break;
      case "N":
        jump(-1);
        break;
      case "z":
        if (span) {
          const a = (span.offsetMs ?? 0) / tree.duration;
          setRange([Math.max(0, a - 0.005), Math.min(1, a + Math.max((span.durationMs ?? 0) / tree.duration, 0.0005) + 0.005)]);
        }
        break;
      case "Escape":
        if (range[0] === 0 && range[1] === 1) return;
        setRange([0, 1]);
        break;
      default:
        return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div className="waterfall" style={{ "--rows": rows.length } as CSSProperties}>
      <Minimap canvas={map} range={range} onRange={setRange} />
      <div className="scale" aria-hidden="true">
        {[0, 1, 2, 3, 4].map((i) => (
          <span key={i} style={{ left: `${i * 20}%` }}>
            {duration(from + (length * i) / 5)}
          </span>
        ))}
      </div>
      {/* biome-ignore lint: a tree grid takes the focus and the keys */}
      <div
        className="spans"
        ref={box}
        tabIndex={0}
        role="treegrid"
        aria-label="Spans"
        aria-rowcount={rows.length}
        aria-activedescendant={at >= first && at < last ? `span-${at}` : undefined}
        onKeyDown={press}
        onScroll={(e) => setTop(e.currentTarget.scrollTop)}
      >
        <div style={{ height: rows.length * rowHeight }} role="presentation">
          <div className="viewport" role="presentation" style={{ height: size.height }}>
            <div className="names" role="presentation" style={{ transform: `translateY(${first * rowHeight - top}px)` }}>
              {Array.from(rows.subarray(first, last), (row, k) => {
                const s = tree.spans[row]!;
                const i = first + k;
                const service = services[s.service ?? 0] ?? "";
                const isFolded = folded.has(s.id ?? "");
                const kids = tree.children[row]!;
                return (
                  // biome-ignore lint: the tree grid around it has the focus
                  <div
                    key={row}
                    id={`span-${i}`}
                    role="row"
                    aria-level={tree.depth[row]! + 1}
                    aria-selected={s.id === selected}
                    aria-expanded={kids > 0 ? !isFolded : undefined}
                    className={`spanrow${matches && !matches.has(row) ? " dim" : ""}`}
                    onClick={() => onSelect(s.id ?? "")}
                  >
                    <div role="gridcell" className="spanname" style={{ paddingLeft: Math.min(tree.depth[row]!, deepest) * 12 + 4 }}>
                      {tree.depth[row]! > deepest && <span className="faint">{tree.depth[row]}</span>}
                      {kids > 0 ? (
                        <button
                          type="button"
                          tabIndex={-1}
                          aria-label={isFolded ? "Unfold" : "Fold"}
                          onClick={(e) => {
                            e.stopPropagation();
                            fold(s.id ?? "", !isFolded);
                          }}
                        >
                          {isFolded ? "▸" : "▾"}
                        </button>
                      ) : (
                        <i className="leaf" />
                      )}
                      <i className="dot" style={{ background: `var(--s${slot(service)})` }} aria-hidden="true" />
                      <span className="clip">
                        <span className="faint">{line(service, 60)}</span> {line(names[s.name ?? 0] ?? "", 300)}
                      </span>
                      {s.hasError && (
                        <span className="bad" title="error">
                          ✖
                        </span>
                      )}
                      {isFolded && (
                        <span className="faint">
                          {tree.end[row]! - row - 1} inside{tree.errors[row]! > 0 ? `, ${tree.errors[row]} ✖` : ""}
                        </span>
                      )}
                      <span className="sr">{duration(s.durationMs ?? 0)}</span>
                    </div>
                  </div>
                );
              })}
            </div>
            <canvas
              ref={bars}
              className="bars"
              style={{ height: size.height }}
              aria-hidden="true"
              onClick={(e) => {
                const i = Math.floor((e.nativeEvent.offsetY + top) / rowHeight);
                const row = rows[i];
                if (row !== undefined) onSelect(tree.spans[row]!.id ?? "");
              }}
            />
          </div>
        </div>
      </div>
    </div>
  );
}

function Minimap({
  canvas,
  range,
  onRange,
}: {
  canvas: React.RefObject<HTMLCanvasElement | null>;
  range: [number, number];
  onRange: (r: [number, number]) => void;
}) {
  const [brush, setBrush] = useState<[number, number] | null>(null);
  const share = (e: React.PointerEvent<HTMLDivElement>): number => {
    const r = e.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (e.clientX - r.left) / r.width));
  };
  const shown = brush ?? range;
  return (
    <div
      className="minimap"
      aria-hidden="true"
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        setBrush([share(e), share(e)]);
      }}
      onPointerMove={(e) => brush && setBrush([brush[0], share(e)])}
      onPointerUp={() => {
        if (brush) onRange(Math.abs(brush[1] - brush[0]) > 0.002 ? [Math.min(...brush), Math.max(...brush)] : [0, 1]);
        setBrush(null);
      }}
      title="Drag to zoom; click to see all"
    >
      <canvas ref={canvas} />
      <i style={{ left: 0, width: `${Math.min(...shown) * 100}%` }} />
      <i style={{ right: 0, width: `${(1 - Math.max(...shown)) * 100}%` }} />
    </div>
  );
}
