import { type ReactNode, useId } from "react";
import type { WidgetBreakdown, WidgetData, WidgetDisplay, WidgetHistogram } from "../gen/api";
import { count, percent } from "../parts/format";
import { spread } from "./series";
import { colorOf, nameOf, num, passed, shown } from "./values";

type Row = { label: string; value: number; color: string; share: number; previous: number | null };

/** rowsOf are the groups of an answer with the values of one column, the largest first. */
export function rowsOf(data: WidgetBreakdown | undefined, display: WidgetDisplay, column = 0): Row[] {
  const rows = data?.rows ?? [];
  const labels = rows.map((r) => nameOf(r, display));
  const slots = spread(labels);
  const out = rows.map((r, i) => ({
    label: labels[i]!,
    value: num(r.values?.[column]?.value) ?? 0,
    previous: num(r.values?.[column]?.previous),
    share: 0,
    color:
      colorOf(display.colorOverrides?.[r.name ?? ""] ?? display.colorOverrides?.[labels[i]!]) ??
      (r.other ? "var(--faint)" : `var(--s${slots.get(labels[i]!) ?? 0})`),
  }));
  const sum = out.reduce((a, r) => a + Math.max(0, r.value), 0) || 1;
  for (const r of out) r.share = Math.max(0, r.value) / sum;
  return out.sort((a, b) => b.value - a.value);
}

/** Bars lists groups as horizontal bars; the text is the accessible form. */
export function Bars({ data, display }: { data: WidgetBreakdown | undefined; display: WidgetDisplay }) {
  const columns = data?.columns ?? [];
  const format = shown(display, columns[0]?.unit);
  const rows = rowsOf(data, display);
  const most = Math.max(...rows.map((r) => Math.abs(r.value)), 1e-12);
  return (
    <ul className="w-bars w-scroll" tabIndex={0} aria-label={display.title || "Groups"}>
      {rows.map((r) => {
        const limit = passed(r.value, display.thresholds);
        return (
          <li key={r.label}>
            <span className="clip" title={r.label}>
              {r.label}
            </span>
            <span className="bar">
              <i style={{ width: `${(Math.abs(r.value) / most) * 100}%`, background: colorOf(limit?.color) ?? r.color }} />
            </span>
            <b>{format(r.value)}</b>
            {r.previous !== null && <span className="faint">{change(r.value, r.previous)}</span>}
          </li>
        );
      })}
    </ul>
  );
}

export function change(now: number, before: number): string {
  if (before === 0) return now === 0 ? "±0" : "new";
  const p = ((now - before) / Math.abs(before)) * 100;
  return `${p > 0 ? "▲" : p < 0 ? "▼" : "±"}\u2009${count(Math.round(Math.abs(p) * 10) / 10)}\u2009%`;
}

/** Pie draws shares; everything beyond twelve parts is one. */
export function Pie({ data, display }: { data: WidgetBreakdown | undefined; display: WidgetDisplay }) {
  const all = rowsOf(data, display).filter((r) => r.value > 0);
  const format = shown(display, data?.columns?.[0]?.unit);
  const rest = all.slice(12);
  const rows = rest.length
    ? [
        ...all.slice(0, 12),
        {
          label: `${rest.length} others`,
          value: rest.reduce((a, r) => a + r.value, 0),
          share: rest.reduce((a, r) => a + r.share, 0),
          color: "var(--faint)",
          previous: null,
        },
      ]
    : all;
  const hole =
    display.pie?.donut === false
      ? 0
      : Math.min(
          90,
          display.pie?.innerRadius && display.pie.innerRadius > 1 ? display.pie.innerRadius : (display.pie?.innerRadius ?? 0.6) * 100,
        );
  let at = 0;
  return (
    <div className="w-pie">
      <svg viewBox="-102 -102 204 204" aria-hidden="true">
        {rows.map((r) => {
          const from = at;
          at += r.share;
          return (
            <path key={r.label} d={slice(from, at, hole)} fill={r.color} stroke="var(--back)" strokeWidth="1.5">
              <title>{`${r.label}: ${format(r.value)}, ${percent(r.share)}`}</title>
            </path>
          );
        })}
        {hole > 30 && (
          <text textAnchor="middle" dominantBaseline="central" fontSize="30" fontWeight="600" fill="var(--ink)">
            {format(rows.reduce((a, r) => a + r.value, 0))}
          </text>
        )}
      </svg>
      <ul className="w-bars w-scroll" tabIndex={0} aria-label={display.title || "Parts"}>
        {rows.map((r) => (
          <li key={r.label}>
            <i className="dot" style={{ background: r.color }} />
            <span className="clip grow" title={r.label}>
              {r.label}
            </span>
            <b>{format(r.value)}</b>
            {display.pie?.showPercent !== false && <span className="faint">{percent(r.share)}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function slice(from: number, to: number, hole: number): string {
  const end = to - from >= 0.99999 ? from + 0.99999 : to;
  const p = (share: number, r: number): string =>
    `${(Math.sin(share * 2 * Math.PI) * r).toFixed(3)} ${(-Math.cos(share * 2 * Math.PI) * r).toFixed(3)}`;
  const large = end - from > 0.5 ? 1 : 0;
  if (hole <= 0) return `M0 0L${p(from, 100)}A100 100 0 ${large} 1 ${p(end, 100)}Z`;
  return `M${p(from, 100)}A100 100 0 ${large} 1 ${p(end, 100)}L${p(end, hole)}A${hole} ${hole} 0 ${large} 0 ${p(from, hole)}Z`;
}

/** Stat is one number, with its change and the small chart behind it. */
export function Stat({ data, display, small }: { data: WidgetData; display: WidgetDisplay; small: number[] }) {
  const value = num(data.value?.value);
  const limit = passed(value, display.thresholds);
  const format = shown(display, data.unit);
  const p = num(data.value?.percentChange);
  return (
    <div className="w-statbox">
      {small.length > 1 && display.sparkline?.enabled !== false && (
        <Spark values={small} color={colorOf(limit?.color) ?? "var(--accent)"} />
      )}
      <b style={limit ? { color: colorOf(limit.color) } : undefined}>{value === null ? "–" : format(value)}</b>
      {(limit?.label || p !== null) && (
        <span className="clip">
          {limit?.label}
          {limit?.label && p !== null ? " · " : ""}
          {p !== null && (
            <span className="faint" title={`before: ${format(data.value?.previous ?? 0)}`}>
              {p > 0 ? "▲" : p < 0 ? "▼" : "±"}&#8201;{count(Math.round(Math.abs(p) * 10) / 10)}&#8201;% against before
            </span>
          )}
        </span>
      )}
    </div>
  );
}

function Spark({ values, color }: { values: number[]; color: string }) {
  const most = Math.max(...values, 1e-12);
  const least = Math.min(0, ...values);
  const y = (v: number): number => 98 - ((v - least) / (most - least || 1)) * 94;
  const d = values.map((v, i) => `${i === 0 ? "M" : "L"}${((i / (values.length - 1)) * 100).toFixed(2)} ${y(v).toFixed(2)}`).join("");
  return (
    <svg className="w-sparkline" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      <path d={`${d}L100 100L0 100Z`} fill={color} opacity="0.14" />
      <path d={d} fill="none" stroke={color} strokeWidth="1.5" vectorEffect="non-scaling-stroke" opacity="0.6" />
    </svg>
  );
}

/** Gauge shows one number between its ends. */
export function Gauge({ data, display }: { data: WidgetData; display: WidgetDisplay }) {
  const id = useId();
  const value = num(data.value?.value);
  const format = shown(display, data.unit);
  const ratio = ["percent", "ratio"].includes(display.unit || data.unit || "");
  const min = display.gauge?.min ?? 0;
  const top = Math.max(...(display.thresholds ?? []).map((t) => (t.value ?? 0) * 1.25), value ?? 0, 1e-12);
  const max = display.gauge?.max ?? (ratio ? 1 : top);
  const share = value === null ? 0 : Math.max(0, Math.min(1, (value - min) / (max - min || 1)));
  const limit = passed(value, display.thresholds);
  const color = colorOf(limit?.color) ?? "var(--accent)";
  const text = value === null ? "–" : format(value);
  if (display.gauge?.style === "bar") {
    return (
      <div
        className="w-gauge flat"
        role="meter"
        aria-labelledby={id}
        aria-valuenow={value ?? min}
        aria-valuemin={min}
        aria-valuemax={max}
        aria-valuetext={text}
      >
        <b id={id}>{text}</b>
        <span className="bar">
          <i style={{ width: `${share * 100}%`, background: color }} />
        </span>
        <div className="w-ends">
          <span className="faint">{format(min)}</span>
          <span className="faint">{format(max)}</span>
        </div>
      </div>
    );
  }
  const arc = (a: number, b: number, r: number): string => {
    const p = (s: number): string => `${(-Math.cos(Math.PI * s) * r).toFixed(2)} ${(-Math.sin(Math.PI * s) * r).toFixed(2)}`;
    return `M${p(a)}A${r} ${r} 0 0 1 ${p(b)}`;
  };
  const marks = (display.thresholds ?? [])
    .map((t) => ({ at: ((t.value ?? 0) - min) / (max - min || 1), color: colorOf(t.color) ?? "var(--bad)" }))
    .filter((m) => m.at > 0 && m.at < 1);
  return (
    <div
      className="w-gauge"
      role="meter"
      aria-label={display.title || "Gauge"}
      aria-valuenow={value ?? min}
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuetext={text}
    >
      <svg viewBox="-104 -106 208 126" aria-hidden="true">
        <path d={arc(0, 1, 90)} fill="none" stroke="var(--soft)" strokeWidth="18" />
        {share > 0 && <path d={arc(0, share, 90)} fill="none" stroke={color} strokeWidth="18" />}
        {marks.map((m) => (
          <path
            key={m.at}
            d={arc(Math.max(0, m.at - 0.004), Math.min(1, m.at + 0.004), 103)}
            stroke={m.color}
            strokeWidth="6"
            fill="none"
          />
        ))}
        <text textAnchor="middle" y="-6" fontSize="26" fontWeight="600" fill="var(--ink)">
          {text}
        </text>
        <text textAnchor="middle" x="-90" y="16" fontSize="12" fill="var(--faint)">
          {format(min)}
        </text>
        <text textAnchor="middle" x="90" y="16" fontSize="12" fill="var(--faint)">
          {format(max)}
        </text>
      </svg>
    </div>
  );
}

/** Histogram draws the number of values in each range. */
export function Ranges({ data, display, unit }: { data: WidgetHistogram | undefined; display: WidgetDisplay; unit: string | undefined }) {
  const buckets = data?.buckets ?? [];
  const log = display.histogram?.logScaleY === true;
  const scale = (n: number): number => (log ? Math.log10(n + 1) : n);
  const most = Math.max(...buckets.map((b) => scale(b.count ?? 0)), 1e-12);
  const format = shown(display, unit);
  const name = (b: { start?: number; end?: number }): string => `${format(b.start ?? 0)} – ${format(b.end ?? 0)}`;
  return (
    <figure className="w-ranges" aria-label={display.title || "Histogram"}>
      <div className="w-plot">
        <svg viewBox={`0 0 ${Math.max(1, buckets.length) * 10} 100`} preserveAspectRatio="none" aria-hidden="true">
          {buckets.map((b, i) => {
            const h = (b.count ?? 0) > 0 ? Math.max(0.8, (scale(b.count ?? 0) / most) * 98) : 0;
            return (
              <g key={b.start ?? 0}>
                <rect x={i * 10} y={0} width={10} height={100} fill="transparent">
                  <title>{`${name(b)}: ${count(b.count ?? 0)}`}</title>
                </rect>
                <rect x={i * 10 + 0.6} y={100 - h} width={8.8} height={h} fill="var(--s0)" pointerEvents="none" />
              </g>
            );
          })}
        </svg>
      </div>
      <div className="w-ends">
        <span className="faint">{format(buckets[0]?.start ?? 0)}</span>
        <span className="faint">
          most {count(Math.max(0, ...buckets.map((b) => b.count ?? 0)))}
          {log ? ", logarithmic" : ""}
        </span>
        <span className="faint">{format(buckets.at(-1)?.end ?? 0)}</span>
      </div>
      <Hidden title={display.title || "Histogram"} heads={["Range", "Values"]} rows={buckets.map((b) => [name(b), count(b.count ?? 0)])} />
    </figure>
  );
}

/** Hidden is the table behind a drawing. */
export function Hidden({ title, heads, rows }: { title: string; heads: string[]; rows: ReactNode[][] }) {
  return (
    <div className="sr">
      {/* a table takes the width of its content, whatever its style says */}
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {heads.map((h) => (
              <th key={h} scope="col">
                {h}
              </th>
            ))}
          </tr>
        </thead>
        {/* biome-ignore lint: rows have no other name than their order */}
        <tbody>
          {rows.slice(0, 200).map((r, i) => (
            <tr key={i}>
              {r.map((c, n) => (
                <td key={heads[n]}>{c}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
