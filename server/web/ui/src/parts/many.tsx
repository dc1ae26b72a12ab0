import { useId, useState } from "react";
import { line } from "./format";

/** Many edits a list of texts: each is a chip that can be removed, and the field adds one. Offers complete it. */
export function Many({
  label,
  hint,
  values,
  offers = [],
  error = "",
  placeholder,
  onChange,
}: {
  label: string;
  hint?: string | undefined;
  values: string[];
  offers?: string[];
  error?: string;
  placeholder?: string | undefined;
  onChange: (values: string[]) => void;
}) {
  const [text, setText] = useState("");
  const id = useId();
  const add = (value: string): void => {
    const v = value.trim();
    setText("");
    if (v && !values.includes(v)) onChange([...values, v]);
  };
  return (
    <div className="formfield">
      <label htmlFor={id}>{label}</label>
      <div className="many">
        {values.map((v) => (
          <span key={v} className="chip">
            <span className="clip">{line(v, 100)}</span>
            <button type="button" aria-label={`Remove ${line(v, 100)}`} onClick={() => onChange(values.filter((x) => x !== v))}>
              ×
            </button>
          </span>
        ))}
        <input
          id={id}
          className="field"
          list={`${id}-list`}
          value={text}
          placeholder={placeholder}
          autoComplete="off"
          aria-describedby={error || hint ? `${id}-about` : undefined}
          aria-invalid={error ? true : undefined}
          onChange={(e) => {
            if (offers.includes(e.target.value) && !(e.nativeEvent as InputEvent).inputType?.startsWith("insertText")) add(e.target.value);
            else setText(e.target.value);
          }}
          onKeyDown={(e) => {
            if ((e.key === "Enter" || e.key === ",") && text.trim()) {
              e.preventDefault();
              add(text);
            } else if (e.key === "Backspace" && !text) onChange(values.slice(0, -1));
          }}
          onBlur={() => add(text)}
        />
        <datalist id={`${id}-list`}>
          {offers
            .filter((o) => !values.includes(o))
            .map((o) => (
              <option key={o} value={o} />
            ))}
        </datalist>
      </div>
      {(error || hint) && (
        <p id={`${id}-about`} className={error ? "bad" : "faint"}>
          {error || hint}
        </p>
      )}
    </div>
  );
}
