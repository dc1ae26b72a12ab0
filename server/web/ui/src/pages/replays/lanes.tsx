import type { SessionReplayTranscriptEvent } from "../../gen/api";
import { laneOf, lanes } from "./words";

/** Lanes draws each kind of event along the time of the session, and the time of the recording. It repeats the list below, so readers of a screen skip it. */
export function Lanes({
  events,
  began,
  length,
  now,
}: {
  events: SessionReplayTranscriptEvent[];
  began: number;
  length: number;
  now?: number | undefined;
}) {
  const kinds = (Object.keys(lanes) as Array<keyof typeof lanes>).filter((k) => events.some((e) => laneOf(e) === k));
  const place = (t: number): number => Math.min(1000, Math.max(0, ((t - began) / length) * 1000));
  return (
    <div className="replaylanes" aria-hidden="true">
      {kinds.map((k) => (
        <div key={k}>
          <span className="faint">{lanes[k]}</span>
          <svg viewBox="0 0 1000 10" preserveAspectRatio="none" width="100%" height="10">
            {events
              .filter((e) => laneOf(e) === k)
              .map((e) => {
                const x = place(Date.parse(e.timestamp ?? ""));
                return (
                  <line
                    key={`${e.timestamp} ${e.seq}`}
                    x1={x}
                    x2={x}
                    y1="0"
                    y2="10"
                    stroke={k === "error" ? "var(--bad)" : "var(--accent)"}
                    vectorEffect="non-scaling-stroke"
                  />
                );
              })}
            {now !== undefined && (
              <line x1={place(now)} x2={place(now)} y1="0" y2="10" stroke="var(--ink)" vectorEffect="non-scaling-stroke" />
            )}
          </svg>
        </div>
      ))}
    </div>
  );
}
