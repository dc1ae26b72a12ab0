import { useMemo, useState } from "react";
import type { SqlResult } from "../../gen/api";
import { Dialog } from "../../parts/dialog";
import { block, line } from "../../parts/format";
import { Copy } from "../../parts/states";
import { Virtual } from "../../parts/virtual";
import { isNumber, sorted, text, widths } from "./result";

/** Grid shows up to 10,000 rows. A head sorts by its column, and a cell opens in full. */
export function Grid({ result: r }: { result: SqlResult }) {
  const [sort, setSort] = useState<{ column: number; down: boolean } | null>(null);
  const [cell, setCell] = useState<{ name: string; value: string } | null>(null);
  const columns = r.columns ?? [];
  const rows = useMemo(() => {
    const all = (r.rows ?? []).map((row, i) => [i, ...row]);
    return sort ? sorted(all, sort.column + 1, isNumber(columns[sort.column] ?? {}), sort.down) : all;
    // biome-ignore lint: the columns come with the result
  }, [r, sort]);
  const template = useMemo(
    () =>
      `56px ${widths(r)
        .map((n) => `minmax(${n}ch, 1fr)`)
        .join(" ")}`,
    [r],
  );
  const head = (
    <div className="gridrow gridhead" role="row">
      <span role="columnheader">
        <span className="sr">Row</span>
      </span>
      {columns.map((c, i) => (
        <span
          key={`${c.name}${i}`}
          role="columnheader"
          className={isNumber(c) ? "num" : undefined}
          aria-sort={sort?.column === i ? (sort.down ? "descending" : "ascending") : "none"}
        >
          <button
            type="button"
            className="clip"
            title={c.type}
            onClick={() => setSort(sort?.column === i ? (sort.down ? { column: i, down: false } : null) : { column: i, down: true })}
          >
            {line(c.name ?? "", 100)}
            {sort?.column === i ? (sort.down ? " ↓" : " ↑") : ""}
          </button>
        </span>
      ))}
    </div>
  );
  return (
    <>
      <div role="table" aria-label="Result" aria-rowcount={rows.length + 1} className="gridbox">
        <Virtual
          rows={rows}
          keyOf={(row) => String(row[0])}
          label="Rows of the result"
          className="grid-rows"
          columns={template}
          head={head}
        >
          {(row, i) => (
            <div className="gridrow" role="row" aria-rowindex={i + 2}>
              <span role="rowheader" className="faint num">
                {Number(row[0]) + 1}
              </span>
              {columns.map((c, k) => {
                const value = text(row[k + 1]);
                return (
                  // biome-ignore lint: a long cell opens in full; the text itself can be read and selected
                  <span
                    key={`${c.name}${k}`}
                    role="cell"
                    className={`${isNumber(c) ? "num" : ""}${row[k + 1] === null ? " faint" : ""}`}
                    onDoubleClick={() => setCell({ name: c.name ?? "", value })}
                  >
                    {value.length > 40 ? (
                      <button type="button" className="clip" title="Open" onClick={() => setCell({ name: c.name ?? "", value })}>
                        {line(value, 200)}
                      </button>
                    ) : (
                      line(value)
                    )}
                  </span>
                );
              })}
            </div>
          )}
        </Virtual>
      </div>
      {cell && (
        <Dialog title={line(cell.name, 100)} close={() => setCell(null)} wide>
          <pre className="cellvalue" tabIndex={0} aria-label="Value">
            {block(cell.value)}
          </pre>
          <div className="row">
            <Copy text={cell.value} />
            <span className="grow" />
            <button type="button" className="button" onClick={() => setCell(null)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
