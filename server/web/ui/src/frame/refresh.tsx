import { useEffect, useState } from "react";
import { stretch } from "../parts/format";
import { clock } from "../parts/time";
import { useFrame } from "./session";

const choices: Array<[number, string]> = [
  [0, "Off"],
  [10, "10 s"],
  [30, "30 s"],
  [60, "1 min"],
  [300, "5 min"],
];
const kept = "refresh";

/** read is the choice of this tab. A new tab asks nothing by itself. */
function read(): number {
  try {
    const seconds = Number(sessionStorage.getItem(kept));
    return choices.some(([n]) => n === seconds) ? seconds : 0;
  } catch {
    return 0; // a browser without storage
  }
}

/** typing says that a person is in a field or a dialog of the page. New data would move it under the hands. */
function typing(): boolean {
  const at = document.activeElement;
  return (
    document.querySelector("dialog[open]") !== null ||
    (at !== null && at.closest("main") !== null && at.matches("input, textarea, select, [contenteditable], [data-bar]"))
  );
}

/** Refresh asks for new data: now, or by itself each so many seconds while the window ends now. It says how old the page is. */
export function Refresh() {
  const { now, refresh, span } = useFrame();
  const [every, setEvery] = useState(read);
  const [age, setAge] = useState(0); // minutes
  const live = span.to === "now";
  useEffect(() => {
    const look = (): void => {
      const passed = Date.now() - now;
      setAge(Math.floor(passed / 60_000));
      if (every > 0 && live && passed >= every * 1000 && document.visibilityState === "visible" && !typing()) refresh();
    };
    look();
    const id = setInterval(look, 1000);
    return () => clearInterval(id);
  }, [now, every, live, refresh]);
  const old = live && age > 0;
  return (
    <div className="refresh">
      <button
        type="button"
        className={`button${old && age >= 5 ? " warn" : ""}`}
        onClick={refresh}
        aria-label="Refresh"
        title={`Refresh (.). The page is of ${clock(now)}.`}
      >
        <svg
          viewBox="0 0 24 24"
          width="16"
          height="16"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.8"
          strokeLinecap="round"
          strokeLinejoin="round"
          aria-hidden="true"
        >
          <path d="M20 11a8 8 0 1 0-2 6M20 5v6h-6" />
        </svg>
        {old && <span>{stretch(age * 60_000)} old</span>}
      </button>
      <select
        className="field"
        aria-label="Refresh by itself"
        title="Refresh by itself"
        value={every}
        onChange={(e) => {
          const seconds = Number(e.target.value);
          setEvery(seconds);
          try {
            sessionStorage.setItem(kept, String(seconds));
          } catch {
            // A browser without storage forgets it with the page.
          }
        }}
      >
        {choices.map(([n, name]) => (
          <option key={n} value={n}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
