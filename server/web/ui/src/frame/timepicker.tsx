import { useState } from "react";
import { presets, spanName, typed } from "../parts/time";
import { zone, zoneShort } from "../parts/zone";
import { change } from "./router";
import { useFrame } from "./session";
import { ZoneChoice } from "./zone";

/** TimePicker changes the window of the page: a preset, or a text such as `90m` or `14:02..14:20`. */
export function TimePicker({ copy }: { copy: () => void }) {
  const { span, window: w } = useFrame();
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [bad, setBad] = useState(false);
  const set = (from: string, to: string): void => {
    setOpen(false);
    setText("");
    setBad(false);
    change({ from, to: to === "now" ? null : to });
  };
  return (
    // biome-ignore lint: Escape closes the picker from every part of it
    <div
      className="time"
      onKeyDown={(e) => e.key === "Escape" && setOpen(false)}
      onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && setOpen(false)}
    >
      <button
        type="button"
        className="button"
        data-time=""
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        title={`Times are in ${zone()}.`}
      >
        <span className="clip">{spanName(span)}</span>
        <span className="faint zone">{zoneShort(w.end)}</span>
      </button>
      {open && (
        <div className="float picker">
          <form
            onSubmit={(e) => {
              e.preventDefault();
              const found = typed(text, Date.now());
              if (found) set(found.from, found.to);
              else setBad(true);
            }}
          >
            <label>
              <span className="faint">Window</span>
              {/* biome-ignore lint: the person opened the picker to type */}
              <input
                className="field"
                autoFocus
                value={text}
                aria-invalid={bad}
                aria-describedby="time-help"
                placeholder="90m, 14:02..14:20, 2026-01-31 08:00"
                onChange={(e) => {
                  setText(e.target.value);
                  setBad(false);
                }}
              />
            </label>
            <p id="time-help" className={bad ? "bad" : "faint"}>
              {bad ? "This cannot be read as a time." : `Times are in ${zone()}, ${zoneShort(Date.now())}.`}
            </p>
          </form>
          {presets.map(([from, name]) => (
            <button
              key={from}
              type="button"
              className="button quiet"
              aria-pressed={span.from === from && span.to === "now"}
              onClick={() => set(from, "now")}
            >
              {name}
            </button>
          ))}
          <button
            type="button"
            className="button quiet"
            title="The link shows these times later, too (y)"
            onClick={() => {
              setOpen(false);
              copy();
            }}
          >
            Copy the link with fixed times
          </button>
          <ZoneChoice />
        </div>
      )}
    </div>
  );
}
