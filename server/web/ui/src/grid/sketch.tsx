import type { DashboardTemplateTile } from "../gen/api";

/** Sketch is a small picture of a dashboard: the places of its widgets, and a mark for what each draws. */
export function Sketch({ tiles, whole = false }: { tiles: DashboardTemplateTile[]; whole?: boolean }) {
  const rows = Math.max(9, ...tiles.map((t) => (t.y ?? 0) + (t.h ?? 1)));
  return (
    <svg
      className={`w-sketch${whole ? " w-whole" : ""}`}
      viewBox={`0 0 120 ${Math.min(whole ? 200 : 16, rows) * 8}`}
      preserveAspectRatio={whole ? "xMidYMin meet" : "xMidYMin slice"}
      aria-hidden="true"
    >
      {tiles.map((t, i) => {
        const x = (t.x ?? 0) * 10 + 1;
        const y = (t.y ?? 0) * 8 + 1;
        const w = (t.w ?? 1) * 10 - 2;
        const h = (t.h ?? 1) * 8 - 2;
        return (
          // biome-ignore lint: tiles have no other name than their order
          <g key={i} transform={`translate(${x} ${y})`}>
            <rect width={w} height={h} rx="1.5" fill="var(--back)" stroke="var(--line)" />
            <Mark kind={t.kind ?? "line"} w={w} h={h} />
          </g>
        );
      })}
    </svg>
  );
}

function Mark({ kind, w, h }: { kind: string; w: number; h: number }) {
  const ink = { fill: "none", stroke: "var(--s0)", strokeWidth: 0.9 };
  const l = 3;
  const r = w - 3;
  const t = Math.min(5, h * 0.35);
  const b = h - 3;
  const wave = [0.7, 0.35, 0.55, 0.2, 0.5, 0.1, 0.4]
    .map((v, i) => `${i ? "L" : "M"}${(l + ((r - l) * i) / 6).toFixed(1)} ${(t + (b - t) * v).toFixed(1)}`)
    .join("");
  const bars = (n: number): number[] => Array.from({ length: n }, (_, i) => ((i * 7 + 3) % 10) / 10 + 0.1);
  switch (kind) {
    case "stat":
    case "gauge":
      return <rect x={l} y={h / 2 - 2} width={Math.min(14, w - 6)} height={4} rx="1" fill="var(--s0)" />;
    case "area":
      return (
        <>
          <path d={`${wave}L${r} ${b}L${l} ${b}Z`} fill="var(--s0)" opacity="0.25" />
          <path d={wave} {...ink} />
        </>
      );
    case "table":
    case "list":
      return (
        <>
          {Array.from({ length: Math.max(1, Math.floor((b - t) / 4) + 1) }, (_, i) => (
            <path key={i} d={`M${l} ${t + i * 4}H${r}`} stroke="var(--faint)" strokeWidth="0.8" opacity={i ? 0.5 : 1} />
          ))}
        </>
      );
    case "hbar":
    case "funnel":
      return (
        <>
          {Array.from({ length: Math.max(1, Math.floor((b - t) / 5) + 1) }, (_, i) => (
            <rect key={i} x={l} y={t + i * 5} width={(r - l) * (1 - i * 0.18)} height="2.6" fill="var(--s1)" />
          ))}
        </>
      );
    case "bar":
    case "histogram":
      return (
        <>
          {bars(8).map((v, i) => (
            <rect
              key={i}
              x={l + ((r - l) / 8) * i}
              y={b - (b - t) * Math.min(1, v)}
              width={(r - l) / 10}
              height={(b - t) * Math.min(1, v)}
              fill="var(--s1)"
            />
          ))}
        </>
      );
    case "pie":
      return <circle cx={w / 2} cy={h / 2} r={Math.min(w, h) / 3.4} fill="none" stroke="var(--s2)" strokeWidth="3" />;
    case "heatmap":
      return (
        <>
          {Array.from({ length: 24 }, (_, i) => (
            <rect
              key={i}
              x={l + ((r - l) / 8) * (i % 8)}
              y={t + ((b - t) / 3) * Math.floor(i / 8)}
              width={(r - l) / 9}
              height={(b - t) / 3.6}
              fill="var(--s2)"
              opacity={((i * 5) % 9) / 10 + 0.1}
            />
          ))}
        </>
      );
    case "markdown":
      return <path d={`M${l} ${t}H${w * 0.7}M${l} ${t + 3}H${w * 0.5}`} stroke="var(--faint)" strokeWidth="0.8" />;
    default:
      return <path d={wave} {...ink} />;
  }
}
