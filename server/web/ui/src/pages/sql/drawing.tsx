import { lazy, Suspense, useMemo } from "react";
import { change } from "../../frame/router";
import type { SqlResult } from "../../gen/api";
import { count, line } from "../../parts/format";
import { Empty } from "../../parts/states";
import { iso } from "../../parts/time";
import { drawn } from "./result";

const Chart = lazy(() => import("../../parts/chart"));

/** Drawing is the result as lines over time, or as bars. */
export function Drawing({ result }: { result: SqlResult }) {
  const d = useMemo(() => drawn(result), [result]);
  if (d.kind === "none")
    return (
      <Empty title="No chart">
        <p>{d.why}</p>
      </Empty>
    );
  if (d.kind === "lines") {
    return (
      <div className="sqlchart">
        <Suspense fallback={null}>
          <Chart
            title="Result over time"
            times={d.times}
            lines={d.lines}
            format={count}
            height={300}
            onBrush={(a, b) => change({ from: iso(a), to: iso(b) })}
          />
        </Suspense>
      </div>
    );
  }
  const most = Math.max(1e-9, ...d.rows.map((r) => Math.abs(r.value)));
  return (
    <table className="data">
      <thead>
        <tr>
          <th scope="col" className="w200">
            {line(d.label, 60)}
          </th>
          <th scope="col" className="num w110">
            {line(d.value, 60)}
          </th>
          <th scope="col">
            <span className="sr">Bar</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {d.rows.map((r, i) => (
          <tr key={`${r.name}${i}`}>
            <td>{line(r.name, 120)}</td>
            <td className="num">{count(r.value)}</td>
            <td>
              <span className="bar">
                <i style={{ width: `${(Math.abs(r.value) / most) * 100}%` }} />
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
