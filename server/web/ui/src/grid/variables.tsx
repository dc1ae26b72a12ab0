import { useId, useState } from "react";
import type { DashboardVariable, VariableOption } from "../gen/api";
import { VariableValue } from "../gen/limits";
import { cut, line } from "../parts/format";

export const every = "__all";

/** valuesOf are the chosen values of variables, without those that no variable has. */
export function valuesOf(variables: DashboardVariable[], chosen: (name: string) => string | null): Record<string, string> {
  const out: Record<string, string> = {};
  for (const v of variables) {
    const value = chosen(v.name ?? "");
    if (value === null) continue;
    if (value === every && !v.includeAll) continue;
    if (v.type === "custom" && value !== every && value !== v.defaultValue && !(v.options ?? []).some((o) => o.value === value)) continue;
    out[v.name ?? ""] = cut(value, VariableValue.characters).kept;
  }
  return out;
}

/** startOf is the value that a variable has until a person chooses one. The server uses the same rule. */
export function startOf(v: DashboardVariable): string {
  if (v.defaultValue) return v.defaultValue;
  if (v.type === "custom" && !v.includeAll) return v.options?.[0]?.value ?? "";
  return every;
}

/** Options is a hook that gives the values of a variable while it is open. */
export type Options = (v: DashboardVariable, search: string, on: boolean) => { options: VariableOption[]; more: boolean; error: string };

/** Variables lets a person choose the values of a dashboard's variables. */
export function Variables({
  variables,
  values,
  options,
  onChange,
}: {
  variables: DashboardVariable[];
  values: Record<string, string>;
  options: Options;
  onChange: (name: string, value: string | null) => void;
}) {
  if (variables.length === 0) return null;
  return (
    <div className="w-vars" role="group" aria-label="Variables">
      {variables.map((v) => (
        <One
          key={v.name}
          v={v}
          value={values[v.name ?? ""] ?? startOf(v)}
          options={options}
          onChange={(value) => onChange(v.name ?? "", value === startOf(v) ? null : value)}
        />
      ))}
    </div>
  );
}

function One({
  v,
  value,
  options,
  onChange,
}: {
  v: DashboardVariable;
  value: string;
  options: Options;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const free = v.type !== "custom";
  const found = options(v, typed ?? "", free && typed !== null);
  const name = line(v.label || v.name || "", 60);
  if (!free) {
    return (
      <label>
        <span className="faint">{name}</span>
        <select className="field" value={value} onChange={(e) => onChange(e.target.value)}>
          {v.includeAll && <option value={every}>All</option>}
          {(v.options ?? []).map((o) => (
            <option key={o.value} value={o.value}>
              {line(o.label || o.value || "", 100)}
            </option>
          ))}
          {value !== every && !(v.options ?? []).some((o) => o.value === value) && <option value={value}>{line(value, 100)}</option>}
        </select>
      </label>
    );
  }
  const shown = value === every ? "" : value;
  const done = (): void => {
    if (typed === null) return;
    const t = typed.trim();
    setTyped(null);
    onChange(t === "" ? (v.includeAll || !v.defaultValue ? every : v.defaultValue) : t);
  };
  return (
    <label>
      <span className="faint">{name}</span>
      <input
        className="field"
        list={v.type === "query" ? id : undefined}
        value={typed ?? shown}
        placeholder="All"
        autoComplete="off"
        spellCheck={false}
        title={found.error || undefined}
        onFocus={() => setTyped(shown)}
        onBlur={done}
        onChange={(e) => {
          setTyped(e.target.value);
          if (found.options.some((o) => o.value === e.target.value) && (e.nativeEvent as InputEvent).inputType !== "insertText") {
            setTyped(null);
            onChange(e.target.value);
            e.target.blur();
          }
        }}
        onKeyDown={(e) => {
          if (e.key === "Enter") e.currentTarget.blur();
          if (e.key === "Escape") {
            setTyped(null);
            e.stopPropagation();
          }
        }}
      />
      {v.type === "query" && (
        <datalist id={id}>
          {found.options.map((o) => (
            <option key={o.value} value={o.value}>
              {o.label}
            </option>
          ))}
        </datalist>
      )}
    </label>
  );
}
