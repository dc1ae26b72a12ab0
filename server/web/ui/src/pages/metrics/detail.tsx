import { change, href, Link } from "../../frame/router";
import type { MetricAttribute } from "../../gen/api";
import { count, line } from "../../parts/format";
import { Load } from "../../parts/states";
import { stamp } from "../../parts/time";
import { parametersOf, type Query, withCondition } from "./query";
import { formatOf } from "./units";
import { useMetric, usual } from "./use";

/** Detail says what a metric is, who sends it, and which attributes it has. A click on an attribute groups, one on a value filters. */
export function Detail({ query: q }: { query: Query }) {
  const detail = useMetric(q.metric);
  return (
    <section className="panel">
      <Load of={detail}>
        {(d) => {
          const { of, type } = usual(q, d);
          const rows: Array<[string, MetricAttribute]> = [
            ...(of?.attributes ?? []).map((a): [string, MetricAttribute] => ["attr.", a]),
            ...(of?.resourceAttributes ?? []).map((a): [string, MetricAttribute] => ["resource.", a]),
          ];
          return (
            <>
              <header>
                <h2 className="clip">{line(q.metric, 200)}</h2>
                <span className="chip">
                  {type.replace("_", " ")}
                  {of?.isMonotonic ? ", grows" : ""}
                </span>
                {of?.unit && <span className="chip">{line(of.unit, 40)}</span>}
                <span className="grow" />
                <span className="faint">
                  {count(of?.seriesCount)} series, {count(of?.dataPointCount)} points
                  {of?.latestValue !== undefined && <>, latest {formatOf(of.unit ?? "")(of.latestValue)}</>}, {stamp(of?.lastSeen)}
                </span>
              </header>
              <div className="body metricabout">
                {of?.description && <p>{line(of.description, 600)}</p>}
                <p className="faint">
                  Sent by{" "}
                  {(of?.services ?? []).slice(0, 20).map((s, i) => (
                    <span key={s}>
                      {i > 0 && ", "}
                      <Link href={href(`/services/${encodeURIComponent(s)}`)}>{line(s, 80)}</Link>
                    </span>
                  ))}
                  {(of?.services?.length ?? 0) > 20 && ` and ${count((of?.services?.length ?? 0) - 20)} more`}.{" "}
                  {(of?.services ?? []).slice(0, 1).map((s) => (
                    <Link key={s} href={href("/traces", { q: `service.name = "${s.replace(/["\\]/g, "\\$&")}"` })}>
                      Traces of this window
                    </Link>
                  ))}
                </p>
              </div>
              {rows.length > 0 && (
                <table className="data fold">
                  <thead>
                    <tr>
                      <th scope="col" className="w200">
                        Attribute
                      </th>
                      <th scope="col" className="num w80">
                        Values
                      </th>
                      <th scope="col">The most frequent</th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.slice(0, 60).map(([prefix, a]) => {
                      const field = `${prefix}${a.key}`;
                      return (
                        <tr key={field}>
                          <td>
                            <button
                              type="button"
                              className="linkish mono"
                              aria-pressed={q.by === field}
                              title={`Group by ${line(field, 100)}`}
                              onClick={() => change(parametersOf(q.letter, { by: q.by === field ? "" : field }))}
                            >
                              {line(a.key ?? "", 100)}
                            </button>
                          </td>
                          <td className="num">{count(a.valueCount)}</td>
                          <td className="free">
                            {(a.values ?? []).slice(0, 8).map((v) => (
                              <button
                                key={v}
                                type="button"
                                className="button small quiet"
                                title={`${line(field, 60)} = ${line(v, 100)}; with Shift, leave it out`}
                                onClick={(e) =>
                                  change(parametersOf(q.letter, { where: withCondition(q.where, field, e.shiftKey ? "!=" : "=", v) }))
                                }
                              >
                                {line(v, 40) || "(empty)"}
                              </button>
                            ))}
                          </td>
                        </tr>
                      );
                    })}
                  </tbody>
                </table>
              )}
            </>
          );
        }}
      </Load>
    </section>
  );
}
