import { duration } from "./format";

/** DurationBar shows a duration in milliseconds, with a bar of its part of the longest one in the list. */
export function DurationBar({ ms, longest, failed }: { ms: number; longest: number; failed?: boolean }) {
  return (
    <span className="durcell">
      <span>{duration(ms)}</span>
      <span className="bar">
        <i style={{ width: `${(ms / longest) * 100}%`, background: failed ? "var(--bad)" : undefined }} />
      </span>
    </span>
  );
}
