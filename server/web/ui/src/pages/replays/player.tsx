import { type KeyboardEvent as Key, useEffect, useRef } from "react";
import { isFree } from "../../frame/keys";
import { change } from "../../frame/router";
import type { SessionReplayTranscriptEvent } from "../../gen/api";
import { bytes, stretch } from "../../parts/format";
import { Failed } from "../../parts/states";
import { exact } from "../../parts/time";
import { Lanes } from "./lanes";
import { type Player, speeds } from "./useplayer";

const jump = 5000;

type Props = { player: Player; events: SessionReplayTranscriptEvent[] };

/** Screen shows the recording with its controls. The space bar plays, arrows go on and back, `<` and `>` change the speed. */
export function Screen({ player: p, events }: Props) {
  useKeys(p);
  const s = p.state;
  const first = s?.first ?? 0;
  const last = s?.last ?? 0;
  // A link to this page leads to the time at which it stands still.
  const stands = s && !s.playing ? Math.round(s.now - first) : undefined;
  useEffect(() => {
    if (stands === undefined) return;
    const id = setTimeout(() => change({ t: stands > 0 ? String(stands) : null }, true), 400);
    return () => clearTimeout(id);
  }, [stands]);
  if (p.phase === "none") {
    return p.plan?.useless || p.plan?.tooLarge ? (
      <p className="fine">The recording cannot be played: the picture of a page that its parts change is missing, or too large.</p>
    ) : (
      <p className="fine">This session was not recorded: its events say what happened.</p>
    );
  }
  return (
    <div className="replayscreen">
      <iframe
        ref={p.frame}
        src="/ui/player.html"
        title="Recording of the session"
        tabIndex={-1}
        className={p.phase === "broken" ? "off" : ""}
      />
      {p.phase === "failed" && p.error && <Failed error={p.error} retry={p.retry} />}
      {p.phase === "broken" && (
        <p className="notice" role="alert">
          The recording cannot be played. {p.reason}
        </p>
      )}
      <div className="replaycontrols">
        <button type="button" className="button main" disabled={!s} onClick={p.toggle} aria-keyshortcuts="Space">
          {s?.playing ? "Pause" : "Play"}
        </button>
        <span className="num replaytime" title={s ? exact(new Date(s.now).toISOString()) : ""}>
          {minutes((s?.now ?? 0) - first)} / {minutes(last - first)}
        </span>
        <span className="grow faint" role="status">
          {words(p)}
        </span>
        <label className="row">
          <input type="checkbox" checked={p.idle} onChange={(e) => p.setIdle(e.target.checked)} /> Skip idle time
        </label>
        <select className="field" aria-label="Speed" value={p.speed} onChange={(e) => p.setSpeed(Number(e.target.value))}>
          {speeds.map((v) => (
            <option key={v} value={v}>
              {v}×
            </option>
          ))}
        </select>
      </div>
      <div className="replaybarline">
        <Lanes events={events} began={first} length={Math.max(1, last - first)} now={s?.now} />
        <input
          type="range"
          aria-label="Time of the recording"
          min={0}
          max={Math.max(1, last - first)}
          step={1}
          disabled={!s}
          value={(s?.now ?? 0) - first}
          aria-valuetext={stretch((s?.now ?? 0) - first)}
          onChange={(e) => p.seek(first + Number(e.target.value))}
          onKeyDown={(e) => arrows(e, p)}
        />
      </div>
      <Gaps player={p} />
    </div>
  );
}

/** minutes is a time in a recording: 1:07. */
function minutes(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

/** words says what the player does when it is not simply playing. */
function words(p: Player): string {
  if (p.phase === "loading" || p.phase === "waiting")
    return p.state ? `Loading, ${bytes(p.read)} of ${bytes(p.plan?.bytes ?? 0)}` : "Loading …";
  if (p.state?.skipping) return "Skipping idle time";
  return p.state?.ended ? "The end" : "";
}

/** Gaps says which parts of the recording are missing, and why. */
function Gaps({ player: p }: { player: Player }) {
  const parts = [
    p.plan?.missing ? `Parts not received: ${p.plan.missing}.` : "",
    p.plan?.useless ? `Parts without the picture that they change: ${p.plan.useless}.` : "",
    p.plan?.tooLarge ? `Parts too large to be played: ${p.plan.tooLarge}.` : "",
    p.damaged ? `Damaged parts: ${p.damaged}.` : "",
    p.truncated ? "The end is left out: the recording has too many parts." : "",
  ].filter(Boolean);
  return (
    <>
      {parts.length > 0 && (
        <p className="notice" role="status">
          The recording has gaps. {parts.join(" ")}
        </p>
      )}
      {p.phase === "paused loading" && (
        <p className="notice" role="status">
          This recording is large: {bytes(p.read)} of {bytes(p.plan?.bytes ?? 0)} are loaded.{" "}
          <button type="button" className="button small" onClick={p.loadAll}>
            Load the rest
          </button>
        </p>
      )}
    </>
  );
}

function arrows(e: Key, p: Player): void {
  const by = { ArrowLeft: -jump, ArrowRight: jump }[e.key];
  if (by === undefined || !p.state) return;
  e.preventDefault();
  p.seek(p.state.now + by);
}

function useKeys(p: Player): void {
  const held = useRef(p);
  held.current = p;
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      const { state, speed, idle, toggle, seek, setSpeed, setIdle } = held.current;
      if (!state || !isFree(e, "input, textarea, select, button, a, summary, [contenteditable], [role=menuitem]")) return;
      const faster = speeds.indexOf(speed);
      const act: Record<string, () => void> = {
        " ": toggle,
        ArrowLeft: () => seek(state.now - jump),
        ArrowRight: () => seek(state.now + jump),
        i: () => setIdle(!idle),
        "<": () => setSpeed(speeds[faster - 1] ?? speed),
        ">": () => setSpeed(speeds[faster + 1] ?? speed),
      };
      const does = act[e.key];
      if (!does) return;
      e.preventDefault();
      does();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
