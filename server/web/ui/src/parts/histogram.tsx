import { useRef, useState } from "react";
import { count } from "./format";
import { moment } from "./time";

export type Stack = { name: string; color: string; values: number[] };

/** Histogram draws stacked bars over time. A brush selects a window; a table holds the same figures for screen readers. */
export function Histogram({
  title,
  times: known,
  step,
  stacks: given,
  height = 76,
  onBrush,
}: {
  title: string;
  times: number[];
  step: number;
  stacks: Stack[];
  height?: number;
  onBrush: (start: number, end: number) => void;
}) {
  const box = useRef<SVGSVGElement>(null);
  const [brush, setBrush] = useState<[number, number] | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const { times, stacks } = whole(known, step, given);
  const totals = times.map((_, i) => stacks.reduce((sum, s) => sum + (s.values[i] ?? 0), 0));
  const most = Math.max(1, ...totals);
  const n = Math.max(1, times.length);
  const share = (clientX: number): number => {
    const r = box.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - r.left) / r.width));
  };
  const first = times[0] ?? 0;
  const span = n * step;
  return (
    <figure className="histogram">
      <svg
        ref={box}
        viewBox={`0 0 ${n * 10} 100`}
        preserveAspectRatio="none"
        height={height}
        width="100%"
        role="img"
        aria-label={title}
        onPointerDown={(e) => {
          e.currentTarget.setPointerCapture(e.pointerId);
          setBrush([share(e.clientX), share(e.clientX)]);
        }}
        onPointerMove={(e) => {
          const s = share(e.clientX);
          setOver(Math.min(n - 1, Math.floor(s * n)));
          if (brush) setBrush([brush[0], s]);
        }}
        onPointerLeave={() => setOver(null)}
        onPointerUp={() => {
          if (brush && Math.abs(brush[1] - brush[0]) > 0.005) {
            const [a, b] = [Math.min(...brush), Math.max(...brush)];
            onBrush(first + a * span, first + b * span);
          }
          setBrush(null);
        }}
      >
        {times.map((t, i) => {
          let y = 100;
          return (
            <g key={t} opacity={over === i ? 0.75 : 1}>
              <rect x={i * 10} y={0} width={10} height={100} fill="transparent" />
              {stacks.map((s) => {
                const v = s.values[i] ?? 0;
                if (v === 0) return null;
                const h = Math.max(1.2, (v / most) * 96);
                y -= h;
                return <rect key={s.name} x={i * 10 + 0.8} y={y} width={8.4} height={h} fill={`var(${s.color})`} />;
              })}
            </g>
          );
        })}
        {brush && (
          <rect
            x={Math.min(...brush) * n * 10}
            y={0}
            width={Math.abs(brush[1] - brush[0]) * n * 10}
            height={100}
            fill="var(--accent)"
            opacity={0.2}
          />
        )}
      </svg>
      <figcaption className="legend">
        {over !== null && times[over] !== undefined ? (
          <>
            <span>{moment(times[over])}</span>
            {stacks
              .filter((s) => (s.values[over] ?? 0) > 0)
              .map((s) => (
                <span key={s.name}>
                  <i className="dot" style={{ background: `var(${s.color})` }} /> {s.name} {count(s.values[over])}
                </span>
              ))}
          </>
        ) : (
          <>
            {stacks.map((s) => (
              <span key={s.name}>
                <i className="dot" style={{ background: `var(${s.color})` }} /> {s.name} {count(s.values.reduce((a, b) => a + b, 0))}
              </span>
            ))}
          </>
        )}
      </figcaption>
      <div className="sr">
        {/* a table takes the width of its content, whatever its style says */}
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {stacks.map((s) => (
                <th key={s.name} scope="col">
                  {s.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.slice(-40).map((t) => {
              const i = times.indexOf(t);
              return (
                <tr key={t}>
                  <th scope="row">{moment(t)}</th>
                  {stacks.map((s) => (
                    <td key={s.name}>{s.values[i] ?? 0}</td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** whole fills the buckets that an answer leaves out, so that the distance on the axis is time. */
export function whole(times: number[], step: number, stacks: Stack[]): { times: number[]; stacks: Stack[] } {
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) return { times, stacks };
  const n = Math.round((last - first) / step) + 1;
  if (n <= times.length || n > 2000) return { times, stacks };
  const at = times.map((t) => Math.round((t - first) / step));
  const spread = (values: number[]): number[] => {
    const out = new Array<number>(n).fill(0);
    values.forEach((v, i) => {
      out[at[i]!] = v;
    });
    return out;
  };
  return { times: Array.from({ length: n }, (_, i) => first + i * step), stacks: stacks.map((s) => ({ ...s, values: spread(s.values) })) };
}
