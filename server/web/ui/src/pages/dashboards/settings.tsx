import { useState } from "react";
import type { DashboardSection, DashboardVariable } from "../../gen/api";
import { DashboardName, DashboardText, Sections, Tabs, VariableValue, Variables } from "../../gen/limits";
import { freshId } from "../../grid/layout";
import type { Definition } from "../../grid/merge";
import { rangeName } from "../../grid/tile";
import { Dialog } from "../../parts/dialog";
import { Field } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Many } from "../../parts/many";

const parts = ["General", "Variables", "Sections"] as const;
const facets = ["service", "environment", "span_name", "http_method", "http_status_code", "log_severity"] as const;

/** Settings edits what belongs to the dashboard as a whole. Each change is a step that can be undone. */
export function Settings({
  definition: d,
  onChange,
  close,
}: {
  definition: Definition;
  onChange: (d: Definition, kind?: string) => void;
  close: () => void;
}) {
  const [part, setPart] = useState<(typeof parts)[number]>("General");
  return (
    <Dialog title="Settings of the dashboard" close={close} wide>
      <div className="row" role="group" aria-label="Parts">
        {parts.map((p) => (
          <button key={p} type="button" className="button small" aria-pressed={p === part} onClick={() => setPart(p)}>
            {p}
          </button>
        ))}
      </div>
      <div className="w-scroll w-settingsbody">
        {part === "General" && <General d={d} onChange={onChange} />}
        {part === "Variables" && (
          <VariableList all={d.variables ?? []} onChange={(variables, kind) => onChange({ ...d, variables }, kind)} />
        )}
        {part === "Sections" && <SectionList d={d} onChange={onChange} />}
      </div>
      <div className="row">
        <span className="grow faint">Changes are part of the draft. Save the dashboard to keep them.</span>
        <button type="button" className="button primary" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

function General({ d, onChange }: { d: Definition; onChange: (d: Definition, kind?: string) => void }) {
  const own = d.timeRange?.type === "relative" ? (d.timeRange.value ?? "12h") : "absolute";
  const ranges = ["15m", "1h", "6h", "12h", "24h", "7d", "30d"];
  return (
    <div className="w-stack">
      <Field label="Name" error={d.name?.trim() ? "" : "A dashboard needs a name."}>
        {(c) => (
          <input
            {...c}
            className="field"
            {...atMost(DashboardName)}
            value={d.name ?? ""}
            onChange={(e) => onChange({ ...d, name: e.target.value }, "name")}
          />
        )}
      </Field>
      <Field label="Note">
        {(c) => (
          <textarea
            {...c}
            className="field"
            rows={2}
            {...atMost(DashboardText)}
            value={d.description ?? ""}
            onChange={(e) => onChange({ ...d, description: e.target.value }, "description")}
          />
        )}
      </Field>
      <Many label="Tags" values={d.tags ?? []} onChange={(tags) => onChange({ ...d, tags })} />
      <div className="formgrid">
        <Field label="Window">
          {(c) => (
            <select
              {...c}
              className="field"
              value={own}
              onChange={(e) => onChange({ ...d, timeRange: { type: "relative", value: e.target.value } })}
            >
              {ranges.map((r) => (
                <option key={r} value={r}>
                  last {r}
                </option>
              ))}
              {own === "absolute" ? (
                <option value="absolute">{rangeName({ timeRange: d.timeRange ?? {} })}</option>
              ) : (
                !ranges.includes(own) && <option value={own}>last {own}</option>
              )}
            </select>
          )}
        </Field>
        <Field label="Ask again">
          {(c) => (
            <select
              {...c}
              className="field"
              value={d.refreshIntervalSeconds ?? 0}
              onChange={(e) => onChange({ ...d, refreshIntervalSeconds: Number(e.target.value) })}
            >
              {[
                [0, "by hand"],
                [5, "each 5 s"],
                [10, "each 10 s"],
                [30, "each 30 s"],
                [60, "each minute"],
                [300, "each 5 min"],
                [900, "each 15 min"],
              ].map(([v, name]) => (
                <option key={v} value={v}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
    </div>
  );
}

function VariableList({ all, onChange }: { all: DashboardVariable[]; onChange: (all: DashboardVariable[], kind?: string) => void }) {
  const add = (): void =>
    onChange([
      ...all,
      {
        name: freshId(
          "service",
          all.map((v) => v.name ?? ""),
        ).replaceAll("-", "_"),
        type: "query",
        includeAll: true,
        source: { kind: "facet", facet: "service" },
      },
    ]);
  return (
    <div className="w-stack">
      {all.length === 0 && (
        <p className="faint">
          A variable is a value that readers choose. A filter refers to it as <code>$name</code>.
        </p>
      )}
      {all.map((v, i) => (
        // biome-ignore lint: the name of a variable is edited here
        <VariableForm
          key={i}
          v={v}
          taken={all.some((x, n) => n !== i && x.name === v.name)}
          onChange={(x, kind) =>
            onChange(
              all.map((y, n) => (n === i ? x : y)),
              kind && `variable ${i} ${kind}`,
            )
          }
          onRemove={() => onChange(all.filter((_, n) => n !== i))}
        />
      ))}
      <div>
        <button type="button" className="button small" disabled={all.length >= Variables} onClick={add}>
          + Variable
        </button>
      </div>
    </div>
  );
}

function VariableForm({
  v,
  taken,
  onChange,
  onRemove,
}: {
  v: DashboardVariable;
  taken: boolean;
  onChange: (v: DashboardVariable, kind?: string) => void;
  onRemove: () => void;
}) {
  const bad = taken
    ? "Another variable has this name."
    : /^[A-Za-z][A-Za-z0-9_]*$/.test(v.name ?? "")
      ? ""
      : "Letters, digits and _, beginning with a letter.";
  const retype = (type: string): void => {
    const { source: _s, options: _o, ...rest } = v;
    if (type === "query") onChange({ ...rest, type, source: { kind: "facet", facet: "service" } });
    else if (type === "custom") onChange({ ...rest, type, options: v.options?.length ? v.options : [{ value: "a" }, { value: "b" }] });
    else onChange({ ...rest, type: "textbox" });
  };
  return (
    <fieldset className="w-query">
      <legend className="mono">${line(v.name ?? "", 60)}</legend>
      <div className="formgrid">
        <Field label="Name" error={bad}>
          {(c) => (
            <input
              {...c}
              className="field mono"
              {...atMost(DashboardName)}
              value={v.name ?? ""}
              onChange={(e) => onChange({ ...v, name: e.target.value.trim() }, "name")}
            />
          )}
        </Field>
        <Field label="Label">
          {(c) => (
            <input
              {...c}
              className="field"
              {...atMost(DashboardText)}
              value={v.label ?? ""}
              onChange={(e) => onChange({ ...v, label: e.target.value || undefined } as DashboardVariable, "label")}
            />
          )}
        </Field>
        <Field label="Values">
          {(c) => (
            <select {...c} className="field" value={v.type ?? "query"} onChange={(e) => retype(e.target.value)}>
              <option value="query">from the telemetry</option>
              <option value="custom">a fixed list</option>
              <option value="textbox">typed by the reader</option>
            </select>
          )}
        </Field>
        {v.type === "query" && (
          <Field label="Of">
            {(c) => (
              <select
                {...c}
                className="field"
                value={v.source?.kind === "attribute" ? `attribute ${v.source.scope ?? "span"}` : (v.source?.facet ?? "service")}
                onChange={(e) =>
                  onChange({
                    ...v,
                    source: e.target.value.startsWith("attribute ")
                      ? {
                          kind: "attribute",
                          scope: e.target.value.slice(10) as "span",
                          attributeKey: v.source?.attributeKey ?? "http.route",
                        }
                      : { kind: "facet", facet: e.target.value as "service" },
                  })
                }
              >
                {facets.map((f) => (
                  <option key={f} value={f}>
                    {f.replaceAll("_", " ")}
                  </option>
                ))}
                <option value="attribute span">an attribute of spans</option>
                <option value="attribute resource">an attribute of resources</option>
              </select>
            )}
          </Field>
        )}
        {v.source?.kind === "attribute" && (
          <Field label="Key">
            {(c) => (
              <input
                {...c}
                className="field mono"
                value={v.source?.attributeKey ?? ""}
                onChange={(e) => onChange({ ...v, source: { ...v.source, attributeKey: e.target.value } } as DashboardVariable, "key")}
              />
            )}
          </Field>
        )}
        <Field label="Value at first">
          {(c) => (
            <input
              {...c}
              className="field"
              {...atMost(VariableValue)}
              placeholder={v.includeAll ? "all" : ""}
              value={v.defaultValue ?? ""}
              onChange={(e) => onChange({ ...v, defaultValue: e.target.value || undefined } as DashboardVariable, "default")}
            />
          )}
        </Field>
      </div>
      {v.type === "custom" && (
        <Many
          label="List"
          values={(v.options ?? []).map((o) => o.value ?? "")}
          onChange={(values) => onChange({ ...v, options: values.map((value) => v.options?.find((o) => o.value === value) ?? { value }) })}
        />
      )}
      <div className="row">
        <label className="row w-check">
          <input type="checkbox" checked={v.includeAll === true} onChange={(e) => onChange({ ...v, includeAll: e.target.checked })} />{" "}
          Readers may choose all
        </label>
        <span className="grow" />
        <button type="button" className="button small quiet" aria-label={`Remove variable ${v.name}`} onClick={onRemove}>
          Remove
        </button>
      </div>
    </fieldset>
  );
}

function SectionList({ d, onChange }: { d: Definition; onChange: (d: Definition, kind?: string) => void }) {
  const all = d.sections ?? [];
  const set = (i: number, s: DashboardSection, kind?: string): void =>
    onChange({ ...d, sections: all.map((x, n) => (n === i ? s : x)) }, kind && `section ${s.id} ${kind}`);
  const swap = (i: number, j: number): void => {
    const next = [...all];
    [next[i], next[j]] = [next[j]!, next[i]!];
    onChange({ ...d, sections: next });
  };
  const remove = (s: DashboardSection): void =>
    onChange({
      ...d,
      sections: all.filter((x) => x.id !== s.id),
      widgets: (d.widgets ?? []).map((w) => (w.sectionId === s.id ? { ...w, sectionId: undefined, tabId: undefined } : w)) as NonNullable<
        Definition["widgets"]
      >,
    });
  const retab = (s: DashboardSection, i: number, names: string[]): void => {
    const tabs = names.map(
      (title) =>
        s.tabs?.find((t) => t.title === title) ?? {
          id: freshId(
            title,
            (s.tabs ?? []).map((t) => t.id ?? ""),
          ),
          title,
        },
    );
    const known = new Set(tabs.map((t) => t.id));
    const widgets = (d.widgets ?? []).map((w) =>
      w.sectionId === s.id && tabs.length > 0 && !known.has(w.tabId)
        ? { ...w, tabId: tabs[0]?.id }
        : w.sectionId === s.id && tabs.length === 0
          ? { ...w, tabId: undefined }
          : w,
    ) as NonNullable<Definition["widgets"]>;
    onChange({
      ...d,
      widgets,
      sections: all.map((x, n) => (n === i ? { ...s, tabs: tabs.length ? tabs : undefined } : x)) as DashboardSection[],
    });
  };
  return (
    <div className="w-stack">
      {all.length === 0 && <p className="faint">A section groups widgets under a heading; it can be folded, and can have tabs.</p>}
      {all.map((s, i) => (
        <fieldset key={s.id} className="w-query">
          <legend>{line(s.title || s.id || "", 80)}</legend>
          <Field label="Heading">
            {(c) => (
              <input
                {...c}
                className="field"
                {...atMost(DashboardName)}
                value={s.title ?? ""}
                onChange={(e) => set(i, { ...s, title: e.target.value }, "title")}
              />
            )}
          </Field>
          <Many
            label="Tabs"
            hint="Without tabs, the section is one grid."
            values={(s.tabs ?? []).map((t) => t.title || t.id || "")}
            onChange={(names) => retab(s, i, names.slice(0, Tabs))}
          />
          <div className="row wrap">
            <label className="row w-check">
              <input type="checkbox" checked={s.collapsible !== false} onChange={(e) => set(i, { ...s, collapsible: e.target.checked })} />{" "}
              Readers may fold it
            </label>
            <label className="row w-check">
              <input type="checkbox" checked={s.collapsed === true} onChange={(e) => set(i, { ...s, collapsed: e.target.checked })} />{" "}
              Folded at first
            </label>
            <span className="grow" />
            <button
              type="button"
              className="button small quiet"
              disabled={i === 0}
              onClick={() => swap(i, i - 1)}
              aria-label={`Move ${s.title} up`}
            >
              ↑
            </button>
            <button
              type="button"
              className="button small quiet"
              disabled={i === all.length - 1}
              onClick={() => swap(i, i + 1)}
              aria-label={`Move ${s.title} down`}
            >
              ↓
            </button>
            <button type="button" className="button small quiet" aria-label={`Remove section ${s.title}`} onClick={() => remove(s)}>
              Remove
            </button>
          </div>
        </fieldset>
      ))}
      <div>
        <button
          type="button"
          className="button small"
          disabled={all.length >= Sections}
          onClick={() =>
            onChange({
              ...d,
              sections: [
                ...all,
                {
                  id: freshId(
                    "section",
                    all.map((s) => s.id ?? ""),
                  ),
                  title: "New section",
                  collapsible: true,
                },
              ],
            })
          }
        >
          + Section
        </button>
      </div>
    </div>
  );
}
