import { useState } from "react";
import { times, useCall, useFrame } from "../../frame/session";
import type { Step } from "./steps";

/** useEventNames are the names and the pages of the window, for completion. */
function useEventNames(kind: Step["kind"]): string[] {
  const { window: w } = useFrame();
  const found = useCall("ProductEventAnalyticsService/QueryProductEventBreakdown", {
    ...times(w),
    aggregation: "count",
    groupBy: kind === "event" ? "event_name" : "page_path",
    limit: 100,
  });
  return (found.data?.data ?? []).filter((r) => !r.other && r.name && r.name !== "(none)").map((r) => r.name ?? "");
}

/** StepField edits one step: an event or a page, with the names of the window. */
export function StepField({ step, label, onChange }: { step: Step; label: string; onChange: (step: Step) => void }) {
  const names = useEventNames(step.kind);
  const [text, setText] = useState(step.value);
  const id = `names-${label.replace(/\W/g, "")}`;
  const done = (value: string): void => {
    if (value.trim() && value !== step.value) onChange({ ...step, value: value.trim() });
  };
  return (
    <>
      <select
        className="field"
        aria-label={`Kind of ${label}`}
        value={step.kind}
        onChange={(e) => {
          setText("");
          onChange({ kind: e.target.value as Step["kind"], value: "" });
        }}
      >
        <option value="event">event</option>
        <option value="page">page</option>
      </select>
      <input
        className="field grow"
        aria-label={label}
        list={id}
        value={text}
        placeholder={step.kind === "event" ? "checkout_completed" : "/cart"}
        spellCheck={false}
        onChange={(e) => {
          setText(e.target.value);
          if (names.includes(e.target.value)) done(e.target.value);
        }}
        onBlur={() => done(text)}
        onKeyDown={(e) => {
          if (e.key === "Enter") done(text);
        }}
      />
      <datalist id={id}>
        {names.map((n) => (
          <option key={n} value={n} />
        ))}
      </datalist>
    </>
  );
}
