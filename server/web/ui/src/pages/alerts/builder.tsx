import { useId } from "react";
import { times, useCall, useFrame } from "../../frame/session";
import type { QueryDraft } from "../../gen/api";
import { aggregations, aggregationsOfField } from "../../gen/choices";
import { errorOf, Field } from "../../parts/form";
import { blank, type Builder, builderOf } from "./draft";
import type { Part } from "./what";

const sources = { traces: "Traces", logs: "Logs", metrics: "Metrics", product_events: "Product events" } as const;
type Source = keyof typeof sources;

/** Queries edits the query of a rule: one query, or several with a formula. The last shown one gives the value. */
export function Queries({ draft: d, set, error }: Part) {
  const b = builderOf(d.queryBuilderDraft);
  const save = (next: Builder): void => set({ queryBuilderDraft: next as unknown as Record<string, unknown> });
  const query = (i: number, patch: Partial<QueryDraft>): void =>
    save({ ...b, queries: b.queries.map((q, n) => (n === i ? { ...q, ...patch } : q)) });
  const formula = b.formulas?.[0];
  const several = b.queries.length > 1;
  return (
    <div className="queries">
      {b.queries.map((q, i) => (
        <fieldset key={q.id} className="query">
          <legend>{several ? `Query ${q.name}` : "Query"}</legend>
          <Query q={q} set={(patch) => query(i, patch)} error={(name) => errorOf(error, name)} />
          {several && (
            <button
              type="button"
              className="button small"
              onClick={() => save({ ...b, queries: b.queries.filter((_, n) => n !== i), formulas: [] })}
            >
              Remove query {q.name}
            </button>
          )}
        </fieldset>
      ))}
      {several && (
        <Field
          label="Formula"
          error={errorOf(error, "formulas")}
          hint="The value of the rule, for example 100 * B / A. Without one, the value of the first query counts."
        >
          {(c) => (
            <input
              {...c}
              className="field mono"
              value={formula?.expression ?? ""}
              placeholder="B / A"
              onChange={(e) => save({ ...b, formulas: e.target.value ? [{ id: "f", name: "F1", expression: e.target.value }] : [] })}
            />
          )}
        </Field>
      )}
      {b.queries.length < 4 && (
        <button
          type="button"
          className="button small"
          onClick={() =>
            save({ ...b, queries: [...b.queries, { ...blank(b.queries.length), dataSource: b.queries[0]?.dataSource ?? "logs" }] })
          }
        >
          Add a query
        </button>
      )}
      {errorOf(error, "query_builder_draft") && (
        <p className="bad" role="alert">
          {errorOf(error, "query_builder_draft")}
        </p>
      )}
    </div>
  );
}

function Query({ q, set, error }: { q: QueryDraft; set: (patch: Partial<QueryDraft>) => void; error: (name: string) => string }) {
  const { window: w } = useFrame();
  const source: Source = q.dataSource ?? "logs";
  const metrics = useCall(
    "MetricsService/ListMetrics",
    { ...times(w), limit: 100, ...(q.metricName ? { search: q.metricName } : {}) },
    { enabled: source === "metrics" },
  );
  const list = useId();
  const found = metrics.data?.data ?? [];
  return (
    <>
      <div className="formgrid">
        <Field label="Source">
          {(c) => (
            <select
              {...c}
              className="field"
              value={source}
              onChange={(e) =>
                set({ dataSource: e.target.value as Source, aggregation: aggregations[e.target.value as Source][0] ?? "count" })
              }
            >
              {(Object.keys(sources) as Source[]).map((s) => (
                <option key={s} value={s}>
                  {sources[s]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {source === "metrics" && (
          <Field label="Metric" error={error("metric_name")}>
            {(c) => (
              <>
                <input
                  {...c}
                  className="field mono"
                  list={list}
                  value={q.metricName ?? ""}
                  onChange={(e) => {
                    const type = found.find((m) => m.name === e.target.value)?.type as QueryDraft["metricType"];
                    set({ metricName: e.target.value, ...(type ? { metricType: type } : {}) });
                  }}
                />
                <datalist id={list}>
                  {found.map((m) => (
                    <option key={`${m.name}${m.type}`} value={m.name}>
                      {m.type}
                    </option>
                  ))}
                </datalist>
              </>
            )}
          </Field>
        )}
        <Field label="Value" error={error("aggregation")}>
          {(c) => (
            <select {...c} className="field" value={q.aggregation} onChange={(e) => set({ aggregation: e.target.value })}>
              {aggregations[source].map((a) => (
                <option key={a} value={a}>
                  {a.replaceAll("_", " ")}
                </option>
              ))}
            </select>
          )}
        </Field>
        {source !== "metrics" && aggregationsOfField.has(q.aggregation ?? "") && (
          <Field label="of the field" error={error("value_field")}>
            {(c) => (
              <input
                {...c}
                className="field mono"
                value={q.valueField ?? ""}
                placeholder="attr.cart.size"
                onChange={(e) => set({ valueField: e.target.value })}
              />
            )}
          </Field>
        )}
      </div>
      <Field
        label="Where"
        error={error("where_clause")}
        hint={
          source === "logs"
            ? "service.name = cart AND severity = ERROR"
            : source === "traces"
              ? "service.name = cart AND has_error = true"
              : undefined
        }
      >
        {(c) => (
          <input
            {...c}
            className="field mono"
            value={q.whereClause ?? ""}
            spellCheck={false}
            onChange={(e) => set({ whereClause: e.target.value })}
          />
        )}
      </Field>
    </>
  );
}
