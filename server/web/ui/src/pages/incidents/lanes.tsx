import { Link, href } from "../../frame/router";
import type { IncidentSearch, Marker, Release } from "../../gen/api";
import { line, slots } from "../../parts/format";
import { clock, moment } from "../../parts/time";
import { offset } from "../../parts/zone";

/** The distances of the times on the axis, in minutes. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

/** Lanes draws the window with one lane for each service that had symptoms: incidents, symptoms, releases and markers. */
export function Lanes({
  of,
  releases,
  markers,
  at,
  pick,
}: {
  of: IncidentSearch;
  releases: Release[];
  markers: Marker[];
  at: number;
  pick: (i: number) => void;
}) {
  const start = Date.parse(of.startTime ?? "");
  const end = Date.parse(of.endTime ?? "");
  const all = of.data ?? [];
  const names = [...new Set(all.flatMap((i) => [i.serviceName ?? "", ...(i.serviceNames ?? [])]))].slice(0, 14);
  const colors = slots(names);
  const x = (ms: number): number => Math.min(100, Math.max(0, ((ms - start) / (end - start)) * 100));
  const span = (from: string | undefined, to: string | undefined): { left: string; width: string } => {
    const a = x(Date.parse(from ?? ""));
    return { left: `${a}%`, width: `${Math.max(0.4, x(to ? Date.parse(to) : end) - a)}%` };
  };
  const day = end - start > 86_400_000 * 1.5;
  const step = 60_000 * (steps.find((m) => (end - start) / 60_000 / m <= 8) ?? 1440);
  const shift = offset(start);
  const first = Math.ceil((start + shift) / step) * step - shift;
  const ticks = Array.from({ length: Math.max(0, Math.floor((end - first) / step) + 1) }, (_, i) => first + i * step);
  const begun = (r: Release): boolean => Date.parse(r.firstSeen ?? "") > start + 60_000 && r.previous !== undefined;
  return (
    <section className="panel lanes" aria-label="Timeline by service">
      <div className="lane axis">
        <span />
        <div>
          {ticks.map((t) => (
            <i key={t} className="faint" style={{ left: `${x(t)}%` }}>
              {day ? moment(t).slice(5) : clock(t).slice(0, 5)}
            </i>
          ))}
        </div>
      </div>
      {names.map((name) => {
        const changes = [
          ...releases
            .filter((r) => r.serviceName === name && begun(r))
            .map((r) => ({
              at: Date.parse(r.firstSeen ?? ""),
              title: `${r.version} released${r.state === "rolled_back" ? ", rolled back later" : ""}`,
              key: `r${r.version}${r.deploymentEnvironment}`,
            })),
          ...markers
            .filter((m) => m.serviceName === name || !m.serviceName)
            .map((m) => ({ at: Date.parse(m.occurredAt ?? ""), title: `${m.kind}: ${m.title}`, key: m.id ?? "" })),
        ];
        return (
          <div key={name} className="lane">
            <Link className="clip" href={href(`/services/${encodeURIComponent(name)}`)}>
              {line(name, 60)}
            </Link>
            <div>
              {all.flatMap((i) =>
                (i.symptoms ?? [])
                  .filter((s) => s.serviceName === name)
                  .map((s) => (
                    <i
                      key={`${i.startTime}${s.kind}${s.subject}${s.deploymentEnvironment}`}
                      className="symptom"
                      style={{ ...span(s.startTime, s.endTime), background: `var(--s${colors.get(name)})` }}
                      title={line(s.statement ?? "", 300)}
                    />
                  )),
              )}
              {changes.map((c) => (
                <i
                  key={c.key}
                  className="changed"
                  style={{ left: `${x(c.at)}%` }}
                  title={`${clock(c.at).slice(0, 5)} ${line(c.title, 120)}`}
                />
              ))}
              {all.map(
                (i, n) =>
                  i.serviceName === name && (
                    <button
                      key={`${i.startTime}`}
                      type="button"
                      className={n === at ? "hit current" : "hit"}
                      style={span(i.startTime, i.endTime)}
                      aria-label={`Incident ${n + 1}: ${line(i.cause?.statement ?? "", 200)}`}
                      title={line(i.cause?.statement ?? "", 300)}
                      onClick={() => pick(n)}
                    />
                  ),
              )}
            </div>
          </div>
        );
      })}
      <p className="legend">
        <span>
          <i className="dot hitdot" /> cause
        </span>
        <span>
          <i className="dot" style={{ background: "var(--s1)" }} /> symptom
        </span>
        <span>▾ release or marker</span>
      </p>
    </section>
  );
}
