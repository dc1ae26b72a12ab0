import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { useCall, useFrame } from "../../frame/session";
import type { AlertPreviewIncident, AlertRulePreview } from "../../gen/api";
import { count, slots, stretch } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { clock, iso, moment } from "../../parts/time";
import { cleaned, type Draft, formatOf, groupName, isRange, rounded } from "./draft";

const Chart = lazy(() => import("../../parts/chart"));
/** The ranges of a preview, in hours. */
const ranges: Array<[number, string]> = [
  [1, "1 hour"],
  [6, "6 hours"],
  [24, "24 hours"],
  [168, "7 days"],
];
const rangeName = (hours: number): string => ranges.find(([h]) => h === hours)?.[1] ?? "";

/** usePreview evaluates a rule over past hours, a moment after the last change. The name and the destinations do not matter to it. */
export function usePreview(d: Draft, hours: number) {
  const { now } = useFrame();
  const end = Math.floor(now / 60_000) * 60_000;
  const rule = useMemo(() => {
    const { destinationIds: _ids, enabled: _on, notes: _notes, ...rest } = cleaned(d);
    return { ...rest, name: rest.name || "Preview", severity: rest.severity ?? "critical" } as const;
  }, [d]);
  const text = JSON.stringify({ ...rule, name: "" });
  const [settled, setSettled] = useState({ text, rule });
  useEffect(() => {
    const wait = setTimeout(() => setSettled({ text, rule }), 500);
    return () => clearTimeout(wait);
    // biome-ignore lint: the text decides
  }, [text]);
  return useCall("AlertRulesService/PreviewAlertRule", {
    rule: { ...settled.rule, name: "Preview" },
    startTime: iso(end - hours * 36e5),
    endTime: iso(end),
  });
}

/** Preview draws what the rule would have seen and done. Its threshold can be dragged. */
export function Preview({
  of,
  draft: d,
  hours,
  setHours,
  onThreshold,
}: {
  of: ReturnType<typeof usePreview>;
  draft: Draft;
  hours: number;
  setHours: (h: number) => void;
  onThreshold: (patch: Partial<Draft>) => void;
}) {
  const [group, setGroup] = useState("");
  return (
    <section className="panel previewed" aria-label="Preview">
      <div className="row range" role="group" aria-label="Range of the preview">
        {ranges.map(([h, name]) => (
          <button key={h} type="button" className="button small" aria-pressed={h === hours} onClick={() => setHours(h)}>
            {name}
          </button>
        ))}
      </div>
      <Load
        of={of}
        lines={8}
        empty={(p) =>
          !p.series?.length && (
            <Empty title={`No data in the past ${rangeName(hours)}`}>
              <p>
                The rule has nothing to judge. Look at the signal, the services and the filter. A rule can be saved before its data arrive.
              </p>
            </Empty>
          )
        }
      >
        {(p) => (
          <Drawn
            p={p}
            d={d}
            hours={hours}
            group={p.series?.some((s) => s.groupKey === group) ? group : ""}
            setGroup={setGroup}
            onThreshold={onThreshold}
          />
        )}
      </Load>
    </section>
  );
}

const length = (i: AlertPreviewIncident, end: number): number => (i.end ? Date.parse(i.end) : end) - Date.parse(i.start ?? "");

function Drawn({
  p,
  d,
  hours,
  group,
  setGroup,
  onThreshold,
}: {
  p: AlertRulePreview;
  d: Draft;
  hours: number;
  group: string;
  setGroup: (g: string) => void;
  onThreshold: (patch: Partial<Draft>) => void;
}) {
  const [dragged, setDragged] = useState<{ index: number; value: number } | null>(null);
  const all = p.series ?? [];
  const fired = (p.wouldFire ?? []).filter((i) => !group || i.groupKey === group);
  const times = useMemo(
    () => [...new Set(all.flatMap((s) => (s.points ?? []).map((x) => Date.parse(x.bucket ?? ""))))].sort((a, b) => a - b),
    [all],
  );
  const end = times.at(-1) ?? 0;
  const lines = useMemo(() => {
    const breaches = (s: (typeof all)[number]): number => (s.points ?? []).filter((x) => x.status === "breached").length;
    const shown = group ? all.filter((s) => s.groupKey === group) : [...all].sort((a, b) => breaches(b) - breaches(a)).slice(0, 12);
    const at = new Map(times.map((t, i) => [t, i]));
    const colors = slots(shown.map((s) => s.groupKey ?? ""));
    return shown.map((s) => {
      const values = new Array<number | null>(times.length).fill(null);
      for (const x of s.points ?? []) values[at.get(Date.parse(x.bucket ?? "")) ?? 0] = x.value ?? null;
      return { label: groupName(s.groupKey), color: `--s${colors.get(s.groupKey ?? "")}`, values };
    });
  }, [all, group, times]);
  const bands = useMemo(
    () => fired.map((i) => ({ start: Date.parse(i.start ?? ""), end: i.end ? Date.parse(i.end) : end })),
    [p, group, end],
  );
  const format = useMemo(() => formatOf(d), [d.signalType, d.queryBuilderDraft, d.burn]);
  const range = isRange(d.comparator);
  const levels = useMemo(() => {
    if (d.baseline) return [];
    const value = (i: number, v: number): number => (dragged?.index === i ? dragged.value : v);
    const level = (i: number, v: number) => ({ value: value(i, v), label: format(value(i, v)) });
    return [level(0, d.threshold ?? 0), ...(range ? [level(1, d.thresholdUpper ?? 0)] : [])];
  }, [d.threshold, d.thresholdUpper, d.baseline, range, dragged, format]);
  const total = fired.reduce((sum, i) => sum + length(i, end), 0);
  return (
    <>
      <header>
        <h2 className="grow">
          {fired.length === 0 ? (
            <>
              <span className="good" aria-hidden="true">
                ✓
              </span>{" "}
              Would not have fired in the past {rangeName(hours)}
            </>
          ) : (
            <>
              <span className="bad" aria-hidden="true">
                ●
              </span>{" "}
              Would have fired {count(fired.length)} {fired.length === 1 ? "time" : "times"}, {stretch(total)}
            </>
          )}
        </h2>
        {p.truncatedToStart && <span className="chip warn">from {moment(Date.parse(p.truncatedToStart))}</span>}
        {(p.bucketSeconds ?? 60) > 60 && (
          <span className="chip" title="A long range is evaluated at every n-th minute">
            every {Math.round((p.bucketSeconds ?? 60) / 60)} min
          </span>
        )}
        <label className="row">
          <span className="sr">Group</span>
          <select className="field" value={group} onChange={(e) => setGroup(e.target.value)}>
            <option value="">
              {all.length > 12 ? `12 of ${all.length} groups` : `${all.length} ${all.length === 1 ? "group" : "groups"}`}
            </option>
            {all.map((s) => (
              <option key={s.groupKey} value={s.groupKey}>
                {groupName(s.groupKey)}
              </option>
            ))}
          </select>
        </label>
      </header>
      <div className="body">
        <Suspense fallback={<div style={{ height: 210 }} />}>
          <Chart
            title="Value of the rule, with its threshold"
            times={times}
            lines={lines}
            format={format}
            height={210}
            least={Math.max(d.threshold ?? 0, 0.001) * 1.4}
            bands={bands}
            levels={levels}
            onLevel={(index, value, done) => {
              const v = rounded(Math.max(0, value));
              setDragged(done ? null : { index, value: v });
              if (done) onThreshold(index === 0 ? { threshold: v } : { thresholdUpper: v });
            }}
          />
        </Suspense>
        {fired.length > 0 && (
          <ul className="fired" aria-label="Would have fired">
            {fired.slice(0, 8).map((i) => (
              <li key={`${i.groupKey}${i.start}`}>
                <button type="button" className="chip" onClick={() => setGroup(i.groupKey ?? "")}>
                  {clock(Date.parse(i.start ?? "")).slice(0, 5)}–{i.end ? clock(Date.parse(i.end)).slice(0, 5) : "now"}{" "}
                  <b className="clip">{groupName(i.groupKey)}</b> {stretch(length(i, end))}
                </button>
              </li>
            ))}
            {fired.length > 8 && <li className="faint">and {fired.length - 8} more</li>}
          </ul>
        )}
      </div>
    </>
  );
}
