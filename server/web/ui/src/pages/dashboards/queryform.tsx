import { useState } from "react";
import { times, useCall, useFrame } from "../../frame/session";
import type { DashboardVariable, QueryDraft, QueryFormula, Widget } from "../../gen/api";
import { aggregationsOfField } from "../../gen/choices";
import { DashboardText, DefaultListRows, GroupBy, ListRows, Queries } from "../../gen/limits";
import { Field } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Many } from "../../parts/many";
import { aggregationsOf, draftOf, shapeOf } from "./kinds";

type Put = (part: Partial<Widget>, kind?: string) => void;
const sources: Array<[NonNullable<QueryDraft["dataSource"]>, string]> = [
  ["traces", "Spans"],
  ["logs", "Logs"],
  ["metrics", "Metrics"],
  ["product_events", "Product events"],
];
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** QueryForm edits the queries and formulas of a widget. */
export function QueryForm({ widget, variables, onChange }: { widget: Widget; variables: DashboardVariable[]; onChange: Put }) {
  const source = widget.dataSource ?? {};
  const queries = source.queries ?? [];
  const formulas = source.formulas ?? [];
  const list = widget.visualization === "list";
  const put = (part: Partial<typeof source>, kind?: string): void =>
    onChange({ dataSource: { ...source, kind: "query", resultShape: source.resultShape ?? shapeOf(widget.visualization), ...part } }, kind);
  const set = (i: number, q: QueryDraft, kind?: string): void => {
    const next = queries.map((x, n) => (n === i ? q : x));
    if (list) {
      onChange(
        {
          dataSource: { ...source, queries: next },
          display: {
            ...widget.display,
            listDataSource: q.dataSource === "logs" ? "logs" : "traces",
            listWhereClause: undefined,
          } as Widget["display"] & object,
        },
        kind,
      );
    } else put({ queries: next }, kind);
  };
  const free = letters.split("").find((l) => !queries.some((q) => q.name === l)) ?? "Z";
  return (
    <div className="w-stack">
      {queries.map((q, i) => (
        <One
          key={q.id}
          q={q}
          list={list}
          only={queries.length === 1}
          variables={variables}
          onChange={(x, kind) => set(i, x, kind && `${q.id} ${kind}`)}
          onRemove={() => put({ queries: queries.filter((_, n) => n !== i) })}
        />
      ))}
      {list ? (
        <>
          <Many
            label="More columns"
            hint="Fields as in the filter: attr.KEY, resource.KEY."
            values={source.columns ?? []}
            onChange={(columns) => put({ columns })}
          />
          <div className="formgrid">
            <Field label="Rows">
              {(c) => (
                <input
                  {...c}
                  className="field"
                  type="number"
                  min={1}
                  max={ListRows}
                  value={widget.display?.listLimit ?? DefaultListRows}
                  onChange={(e) =>
                    onChange(
                      {
                        display: { ...widget.display, listLimit: Math.max(1, Math.min(ListRows, Number(e.target.value) || 1)) },
                        dataSource: { ...source, limit: undefined } as Widget["dataSource"] & object,
                      },
                      "rows",
                    )
                  }
                />
              )}
            </Field>
            {queries[0]?.dataSource !== "logs" && (
              <label className="row w-check">
                <input
                  type="checkbox"
                  checked={widget.display?.listRootOnly === true}
                  onChange={(e) => onChange({ display: { ...widget.display, listRootOnly: e.target.checked } })}
                />{" "}
                Root spans only
              </label>
            )}
          </div>
        </>
      ) : (
        <>
          {formulas.map((f, i) => (
            <Formula
              key={f.id}
              f={f}
              onChange={(x, kind) => put({ formulas: formulas.map((y, n) => (n === i ? x : y)) }, kind && `${f.id} ${kind}`)}
              onRemove={() => put({ formulas: formulas.filter((_, n) => n !== i) })}
            />
          ))}
          <div className="row wrap">
            <button
              type="button"
              className="button small"
              disabled={queries.length >= Queries}
              onClick={() => put({ queries: [...queries, draftOf(free, { dataSource: queries[0]?.dataSource ?? "traces" })] })}
            >
              + Query
            </button>
            <button
              type="button"
              className="button small"
              disabled={queries.length < 1}
              onClick={() => {
                const n = formulas.length + 1;
                put({
                  formulas: [...formulas, { id: `f${n}`, name: `F${n}`, expression: queries.length > 1 ? "A / B" : "A * 100", legend: "" }],
                });
              }}
            >
              + Formula
            </button>
            <label className="row w-check">
              <input
                type="checkbox"
                checked={source.comparison?.mode === "previous_period"}
                onChange={(e) =>
                  put({ comparison: e.target.checked ? { mode: "previous_period", includePercentChange: true } : undefined } as Partial<
                    typeof source
                  >)
                }
              />{" "}
              Compare with the period before
            </label>
          </div>
        </>
      )}
    </div>
  );
}

function One({
  q,
  list,
  only,
  variables,
  onChange,
  onRemove,
}: {
  q: QueryDraft;
  list: boolean;
  only: boolean;
  variables: DashboardVariable[];
  onChange: (q: QueryDraft, kind?: string) => void;
  onRemove: () => void;
}) {
  const { window: w } = useFrame();
  const [more, setMore] = useState(Boolean(q.having || q.limit || q.stepInterval || q.legend));
  const [search, setSearch] = useState("");
  const of = q.dataSource ?? "traces";
  const metrics = useCall(
    "MetricsService/ListMetrics",
    { ...times(w), limit: 50, ...(search ? { search } : {}) },
    { enabled: of === "metrics" },
  );
  const keys = useCall("AttributesService/ListAttributeKeys", { ...times(w), signal: of, limit: 100 });
  const fields = [
    "service.name",
    ...(of === "traces"
      ? ["span.name", "span.kind", "status", "deployment.environment"]
      : of === "logs"
        ? ["severity", "deployment.environment"]
        : []),
    ...(keys.data?.data ?? []).map((k) => `${k.scope === "resource" ? "resource" : "attr"}.${k.key}`),
  ];
  const known = aggregationsOf(of);
  const clause = (part: Partial<QueryDraft>, on: keyof NonNullable<QueryDraft["addOns"]>, set: boolean, kind?: string): void =>
    onChange({ ...q, ...part, addOns: { ...q.addOns, [on]: set } }, kind);
  return (
    <fieldset className="w-query">
      <legend>
        <b>{line(q.name ?? "", 10)}</b>
      </legend>
      <div className="formgrid">
        <Field label="Data">
          {(c) => (
            <select
              {...c}
              className="field"
              value={of}
              onChange={(e) => {
                const next = e.target.value as typeof of;
                const { metricName: _m, metricType: _t, isMonotonic: _i, signalSource: _s, valueField: _v, ...rest } = q;
                onChange({
                  ...rest,
                  dataSource: next,
                  aggregation: aggregationsOf(next).includes(q.aggregation ?? "") ? (q.aggregation ?? "count") : aggregationsOf(next)[0]!,
                });
              }}
            >
              {sources
                .filter(([s]) => !list || s === "traces" || s === "logs")
                .map(([s, name]) => (
                  <option key={s} value={s}>
                    {name}
                  </option>
                ))}
            </select>
          )}
        </Field>
        {of === "metrics" && (
          <Field label="Metric" hint={line([q.metricType, q.isMonotonic ? "grows only" : ""].filter(Boolean).join(", "), 80) || undefined}>
            {(c) => (
              <>
                <input
                  {...c}
                  className="field"
                  list={`${c.id}-list`}
                  value={q.metricName ?? ""}
                  autoComplete="off"
                  spellCheck={false}
                  onChange={(e) => {
                    setSearch(e.target.value);
                    const m = metrics.data?.data?.find((x) => x.name === e.target.value);
                    onChange(
                      {
                        ...q,
                        metricName: e.target.value,
                        ...(m && m.type !== "summary" ? { metricType: m.type as "sum", isMonotonic: m.isMonotonic ?? false } : {}),
                      },
                      "metric",
                    );
                  }}
                />
                <datalist id={`${c.id}-list`}>
                  {[...new Set((metrics.data?.data ?? []).map((m) => m.name))].map((n) => (
                    <option key={n} value={n} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
        )}
        {!list && (
          <Field label="Value">
            {(c) => (
              <select {...c} className="field" value={q.aggregation} onChange={(e) => onChange({ ...q, aggregation: e.target.value })}>
                {(known.includes(q.aggregation ?? "") ? known : [q.aggregation ?? "", ...known]).map((a) => (
                  <option key={a} value={a}>
                    {a.replaceAll("_", " ")}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {of === "traces" && aggregationsOfField.has(q.aggregation ?? "") && (
          <Field label="Of field">
            {(c) => (
              <input
                {...c}
                className="field mono"
                placeholder="attr.cart.size"
                value={q.valueField ?? ""}
                onChange={(e) => onChange({ ...q, valueField: e.target.value }, "field")}
              />
            )}
          </Field>
        )}
      </div>
      <Field
        label="Filter"
        hint={variables.length ? `Variables: ${variables.map((v) => `$${v.name}`).join(", ")}` : "service.name = cart AND duration > 250ms"}
      >
        {(c) => (
          <input
            {...c}
            className="field mono"
            spellCheck={false}
            autoComplete="off"
            value={q.whereClause ?? ""}
            onChange={(e) => onChange({ ...q, whereClause: e.target.value }, "where")}
          />
        )}
      </Field>
      {!list && (
        <Many
          label="Group by"
          values={q.addOns?.groupBy === false ? [] : (q.groupBy ?? [])}
          offers={fields}
          onChange={(all) => {
            const groupBy = all.slice(0, GroupBy);
            clause({ groupBy }, "groupBy", groupBy.length > 0);
          }}
        />
      )}
      {!list && more && (
        <div className="formgrid">
          <Field label="Name of the series">
            {(c) => (
              <input
                {...c}
                className="field"
                {...atMost(DashboardText)}
                value={q.legend ?? ""}
                onChange={(e) => clause({ legend: e.target.value }, "legend", e.target.value !== "", "legend")}
              />
            )}
          </Field>
          <Field label="Having" hint="value > 10">
            {(c) => (
              <input
                {...c}
                className="field mono"
                value={q.having ?? ""}
                onChange={(e) => clause({ having: e.target.value }, "having", e.target.value !== "", "having")}
              />
            )}
          </Field>
          <Field label="Most groups">
            {(c) => (
              <input
                {...c}
                className="field"
                inputMode="numeric"
                pattern="[0-9]*"
                value={q.limit ?? ""}
                onChange={(e) => {
                  const v = e.target.value.replace(/\D/g, "").replace(/^0+/, "");
                  clause({ limit: v, seriesLimit: v }, "limit", v !== "", "limit");
                }}
              />
            )}
          </Field>
          <Field label="Order">
            {(c) => (
              <select
                {...c}
                className="field"
                value={q.orderByDirection ?? "desc"}
                onChange={(e) => onChange({ ...q, orderByDirection: e.target.value as "desc" })}
              >
                <option value="desc">largest first</option>
                <option value="asc">smallest first</option>
              </select>
            )}
          </Field>
          <Field label="Bucket" hint="60, 5m, 1h; empty: by the window">
            {(c) => (
              <input
                {...c}
                className="field"
                value={q.stepInterval ?? ""}
                onChange={(e) => onChange({ ...q, stepInterval: e.target.value.trim() }, "step")}
              />
            )}
          </Field>
        </div>
      )}
      <div className="row wrap">
        {!list && (
          <button type="button" className="button small quiet" aria-expanded={more} onClick={() => setMore(!more)}>
            {more ? "Less" : "More"}
          </button>
        )}
        {!list && (
          <label className="row w-check">
            <input type="checkbox" checked={q.hidden === true} onChange={(e) => onChange({ ...q, hidden: e.target.checked })} /> For
            formulas only
          </label>
        )}
        <span className="grow" />
        {!only && (
          <button type="button" className="button small quiet" aria-label={`Remove query ${q.name}`} onClick={onRemove}>
            Remove
          </button>
        )}
      </div>
    </fieldset>
  );
}

function Formula({ f, onChange, onRemove }: { f: QueryFormula; onChange: (f: QueryFormula, kind?: string) => void; onRemove: () => void }) {
  return (
    <fieldset className="w-query">
      <legend>
        <b>{line(f.name ?? "", 10)}</b> formula
      </legend>
      <div className="formgrid">
        <Field label="Expression" hint="Arithmetic over the names of queries: A / B * 100">
          {(c) => (
            <input
              {...c}
              className="field mono"
              value={f.expression ?? ""}
              onChange={(e) => onChange({ ...f, expression: e.target.value }, "expression")}
            />
          )}
        </Field>
        <Field label="Name of the series">
          {(c) => (
            <input {...c} className="field" value={f.legend ?? ""} onChange={(e) => onChange({ ...f, legend: e.target.value }, "legend")} />
          )}
        </Field>
      </div>
      <div className="row">
        <span className="grow" />
        <button type="button" className="button small quiet" aria-label={`Remove formula ${f.name}`} onClick={onRemove}>
          Remove
        </button>
      </div>
    </fieldset>
  );
}
