import { useMemo } from "react";
import { useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import type { Dashboard, Widget, WidgetInspection } from "../../gen/api";
import { formatOf } from "../../grid/values";
import { valuesOf } from "../../grid/variables";
import { Dialog } from "../../parts/dialog";
import { count, line } from "../../parts/format";
import { Load } from "../../parts/states";
import { rangeOf } from "./reads";

const verdicts: Record<string, [string, string]> = {
  looks_healthy: ["good", "✓ The data look healthy"],
  suspicious: ["warn", "▲ Something about the data is odd"],
  broken: ["bad", "✖ The widget is broken"],
};

/** Inspection shows what is odd about the data of a stored widget. */
export function Inspection({ board, widget, close }: { board: Dashboard; widget: Widget; close: () => void }) {
  const { span, window: w } = useFrame();
  const address = useAddress();
  const values = useMemo(
    () => valuesOf(board.variables ?? [], (n) => address.searchParams.get(`var.${n}`)),
    [board.variables, address.search],
  );
  const found = useCall("DashboardDataService/SearchDashboardWidgetInspection", {
    id: board.id ?? "",
    widgetId: widget.id ?? "",
    variableValues: values,
    ...(widget.timeRange?.type ? {} : { timeRange: rangeOf(span, w) }),
  });
  return (
    <Dialog title={`Data of ${line(widget.display?.title || widget.id || "", 100)}`} close={close} wide>
      <Load of={found} lines={4}>
        {(d) => <Findings of={d} />}
      </Load>
      <div className="row">
        <span className="grow" />
        <button type="button" className="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

export function Findings({ of }: { of: WidgetInspection }) {
  const [tone, text] = verdicts[of.verdict ?? ""] ?? ["faint", "There is no data to judge"];
  const format = formatOf(of.unit);
  return (
    <div className="w-stack">
      <p className={tone} role="status">
        <b>{of.outcome === "unsupported" ? "This kind of widget has no data to judge" : text}</b>
      </p>
      {of.refusal && <p className="bad">{line(of.refusal, 600)}</p>}
      {(of.notes ?? []).length > 0 && (
        <ul className="w-warnings">
          {of.notes?.map((n) => (
            <li key={n}>{line(n, 500)}</li>
          ))}
        </ul>
      )}
      {(of.queries ?? [])
        .filter((q) => q.error)
        .map((q) => (
          <p key={q.id} className="bad">
            {q.name}: {line(q.error ?? "", 400)}
          </p>
        ))}
      {(of.series ?? []).length > 0 && (
        <div className="w-scroll w-most" tabIndex={0} role="region" aria-label="Figures of the series">
          <table className="data">
            <thead>
              <tr>
                <th scope="col">Series</th>
                <th scope="col" className="num w80">
                  Values
                </th>
                <th scope="col" className="num w80">
                  Missing
                </th>
                <th scope="col" className="num w80">
                  Zero
                </th>
                <th scope="col" className="num w90">
                  Least
                </th>
                <th scope="col" className="num w90">
                  Mean
                </th>
                <th scope="col" className="num w90">
                  Most
                </th>
              </tr>
            </thead>
            <tbody>
              {of.series?.slice(0, 50).map((s) => (
                <tr key={`${s.query}${s.name}`}>
                  <td>{line(s.name || s.query || "", 120)}</td>
                  <td className="num">{count(s.points ?? 0)}</td>
                  <td className="num">{count(s.nulls ?? 0)}</td>
                  <td className="num">{count(s.zeros ?? 0)}</td>
                  <td className="num">{s.min === undefined ? "–" : format(s.min)}</td>
                  <td className="num">{s.avg === undefined ? "–" : format(s.avg)}</td>
                  <td className="num">{s.max === undefined ? "–" : format(s.max)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {of.rawSql && (
        <pre className="w-scroll w-most" tabIndex={0}>
          {of.rawSql}
        </pre>
      )}
    </div>
  );
}
