import { useId, useState } from "react";
import { browserZone, isZone, zones, zoneShort } from "../parts/zone";
import { choose, usePreference } from "./preferences";
import { useFrame } from "./session";

/** ZoneChoice chooses the zone of all times: that of the browser, UTC, or any other of the tz database. */
export function ZoneChoice() {
  const { me, now } = useFrame();
  const chosen = usePreference("timeZone");
  const other = chosen === "browser" || chosen === "UTC" ? "" : chosen;
  const [text, setText] = useState(other);
  const [bad, setBad] = useState(false);
  const id = useId();
  const set = (name: string): void => {
    choose(me.user?.id ?? "", "timeZone", name);
    setText(name === "browser" || name === "UTC" ? "" : name);
    setBad(false);
  };
  const judge = (): void => {
    const name = text.trim();
    if (name === "" || name === other) setBad(false);
    else if (isZone(name)) set(name);
    else setBad(true);
  };
  return (
    <div className="zones" role="group" aria-label="Time zone">
      <div className="row wrap">
        <span className="faint">Times in</span>
        <button
          type="button"
          className="button small"
          aria-pressed={chosen === "browser"}
          title={`${browserZone()}, the zone of this browser`}
          onClick={() => set("browser")}
        >
          Browser
        </button>
        <button type="button" className="button small" aria-pressed={chosen === "UTC"} onClick={() => set("UTC")}>
          UTC
        </button>
        <input
          className="field grow"
          list={`${id}list`}
          aria-label="Another time zone"
          placeholder="Europe/Berlin"
          value={text}
          aria-invalid={bad}
          aria-describedby={`${id}help`}
          autoComplete="off"
          spellCheck={false}
          onChange={(e) => {
            setText(e.target.value);
            setBad(false);
            // A choice of the list is a whole name. One that is typed is taken when it is done.
            if (!(e.nativeEvent as InputEvent).inputType && isZone(e.target.value)) set(e.target.value);
          }}
          onBlur={judge}
          onKeyDown={(e) => e.key === "Enter" && judge()}
        />
        <datalist id={`${id}list`}>
          {zones().map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      <p id={`${id}help`} className={bad ? "bad" : "faint"} role="status">
        {bad ? "No zone has this name." : `Now ${zoneShort(now)}. The hover of a time shows UTC.`}
      </p>
    </div>
  );
}
