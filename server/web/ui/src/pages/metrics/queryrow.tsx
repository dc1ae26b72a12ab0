import { change } from "../../frame/router";
import { line } from "../../parts/format";
import { parametersOf, type Query } from "./query";
import { fits, unfit } from "./units";
import { useMetric, usual } from "./use";

/** QueryRow edits one query: the metric, its type when there are several, the aggregation, the groups, and conditions. */
export function QueryRow({ query: q, alone }: { query: Query; alone: boolean }) {
  const detail = useMetric(q.metric);
  const { of, type, agg } = usual(q, detail.data);
  const choices = fits(type, of?.isMonotonic ?? false);
  const groups = [
    "service.name",
    ...(of?.attributes ?? []).map((a) => `attr.${a.key}`),
    ...(of?.resourceAttributes ?? []).map((a) => `resource.${a.key}`),
  ];
  const set = (part: Partial<Query>): void => change(parametersOf(q.letter, part));
  return (
    <form
      className="queryrow"
      onSubmit={(e) => {
        e.preventDefault();
        set({ where: String(new FormData(e.currentTarget).get("where") ?? "").trim() });
      }}
    >
      <span className="letter">{q.letter}</span>
      <b className="clip mono" title={q.metric}>
        {line(q.metric, 200)}
      </b>
      {(detail.data?.types?.length ?? 0) > 1 && (
        <select className="field" aria-label={`Type of ${q.letter}`} value={type} onChange={(e) => set({ type: e.target.value, agg: "" })}>
          {detail.data?.types?.map((t) => (
            <option key={t.type}>{t.type}</option>
          ))}
        </select>
      )}
      <select className="field" aria-label={`Aggregation of ${q.letter}`} value={agg} onChange={(e) => set({ agg: e.target.value })}>
        {choices.map((a) => (
          <option key={a}>{a}</option>
        ))}
      </select>
      <select className="field" aria-label={`Groups of ${q.letter}`} value={q.by} onChange={(e) => set({ by: e.target.value })}>
        <option value="">no groups</option>
        {[...new Set(q.by ? [q.by, ...groups] : groups)].map((g) => (
          <option key={g} value={g}>
            {line(g, 60)}
          </option>
        ))}
      </select>
      <input
        key={q.where}
        className="field mono grow"
        name="where"
        aria-label={`Conditions of ${q.letter}`}
        placeholder="service.name = cart"
        defaultValue={q.where}
        spellCheck={false}
      />
      {!alone && (
        <button
          type="button"
          className="button small quiet"
          aria-label={`Remove query ${q.letter}`}
          onClick={() => change({ ...parametersOf(q.letter, null), fx: null })}
        >
          ×
        </button>
      )}
      {q.agg && of && !choices.includes(q.agg) && (
        <p className="notice">
          {unfit(q.agg, type, of.isMonotonic ?? false)} This shows {agg}.
        </p>
      )}
      {detail.error && (
        <p className="bad" role="alert">
          {detail.error.message}
        </p>
      )}
    </form>
  );
}
