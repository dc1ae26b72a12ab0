import type { WidgetDisplay, WidgetFunnel, WidgetPaths } from "../gen/api";
import { count, duration, line, percent } from "../parts/format";
import { num, shown } from "./values";

/** Funnel shows how many actors reach each step, and how long the step took them. */
export function Funnel({ data, display, unit }: { data: WidgetFunnel | undefined; display: WidgetDisplay; unit: string | undefined }) {
  const groups = new Map<string, NonNullable<WidgetFunnel["rows"]>>();
  for (const r of data?.rows ?? []) groups.set(r.group ?? "", [...(groups.get(r.group ?? "") ?? []), r]);
  const format = shown(display, unit);
  const dropoff = display.funnel?.variant === "dropoff";
  return (
    <div className="w-funnel w-scroll" tabIndex={0} role="group" aria-label={display.title || "Funnel"}>
      {[...groups].map(([group, rows]) => {
        const first = num(rows[0]?.value) ?? 0;
        return (
          <section key={group}>
            {group && <h3 className="faint">{line(group, 120)}</h3>}
            <ol>
              {rows.map((r, i) => {
                const v = num(r.value) ?? 0;
                const before = i === 0 ? v : (num(rows[i - 1]?.value) ?? 0);
                const lost = Math.max(0, before - v);
                return (
                  // biome-ignore lint: two steps may have one name
                  <li key={i}>
                    <span className="clip" title={line(r.name ?? "", 300)}>
                      {i + 1}. {line(r.name ?? "", 120)}
                    </span>
                    <span className="bar">
                      <i
                        style={{
                          width: `${first > 0 ? (v / first) * 100 : 0}%`,
                          background: v === 0 ? "var(--bad)" : `var(--s${group ? 1 : 0})`,
                        }}
                      />
                    </span>
                    <b>{format(v)}</b>
                    <span className="faint">
                      {display.funnel?.showStepPercent !== false && i > 0 && `${percent(before > 0 ? v / before : 0)} of the step before`}
                      {r.p50Ms !== undefined && i > 0 && `, ${duration(r.p50Ms)}`}
                      {v === 0 && i > 0 && " nobody took this step"}
                    </span>
                    {dropoff && i > 0 && lost > 0 && (
                      <span className="w-lost warn">
                        {count(lost)} left
                        {r.leavers?.length
                          ? `: ${r.leavers
                              .slice(0, 4)
                              .map((l) => `${line(l.name ?? "", 60) || "nothing more"} ${count(l.count ?? 0)}`)
                              .join(", ")}`
                          : ""}
                      </span>
                    )}
                  </li>
                );
              })}
            </ol>
          </section>
        );
      })}
    </div>
  );
}

/** Paths lists the hops of actors, with the share of each hop. */
export function Paths({ data, display }: { data: WidgetPaths | undefined; display: WidgetDisplay }) {
  const hops = new Map<number, NonNullable<WidgetPaths["rows"]>>();
  for (const r of data?.rows ?? []) hops.set(r.hop ?? 0, [...(hops.get(r.hop ?? 0) ?? []), r]);
  const most = Math.max(...(data?.rows ?? []).map((r) => r.count ?? 0), 1);
  const before = display.paths?.direction === "before";
  return (
    <div className="w-paths w-scroll" tabIndex={0} role="group" aria-label={display.title || "Paths"}>
      {[...hops]
        .sort(([a], [b]) => (before ? b - a : a - b))
        .map(([hop, rows]) => (
          <section key={hop}>
            <h3 className="faint">{before ? `${hop} before` : `Step ${hop}`}</h3>
            <ul>
              {rows.map((r) => (
                <li key={`${r.fromNode}→${r.toNode}`} title={`${line(r.fromNode ?? "", 200)} → ${line(r.toNode ?? "", 200)}`}>
                  <span className="bar">
                    <i style={{ width: `${((r.count ?? 0) / most) * 100}%`, background: "var(--s1)" }} />
                  </span>
                  <span className="clip">
                    <span className="faint">{line(r.fromNode ?? "", 80)} →</span> {line(r.toNode ?? "", 80)}
                  </span>
                  <b>{count(r.count ?? 0)}</b>
                </li>
              ))}
            </ul>
          </section>
        ))}
    </div>
  );
}
