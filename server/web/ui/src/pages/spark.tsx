/** Spark is a line without axes. */
export function Spark({ values, label, color = "--accent" }: { values: number[]; label: string; color?: string }) {
  if (values.length < 2) return null;
  const most = Math.max(...values, 1e-9);
  const points = values.map((v, i) => `${(i / (values.length - 1)) * 100},${20 - (v / most) * 18}`);
  return (
    <svg viewBox="0 0 100 20" width="100%" height="20" preserveAspectRatio="none" role="img" aria-label={label}>
      <polygon points={`0,20 ${points.join(" ")} 100,20`} fill={`var(${color})`} opacity="0.15" />
      <polyline points={points.join(" ")} fill="none" stroke={`var(${color})`} strokeWidth="1.2" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
