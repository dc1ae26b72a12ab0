import { useMemo } from "react";
import { change, href, Link, useAddress } from "../frame/router";
import { useCall } from "../frame/session";
import { count, duration, line, percent, slot } from "../parts/format";
import { Failed, Load, Waiting } from "../parts/states";
import { type Compared, compare, type Operation, operationsOf } from "../trace/operations";
import { build, type Tree } from "../trace/tree";
import { useSkeleton } from "./traceskeleton";

type PathProps = { id: string; start: string | undefined; selected: string; onSelect: (span: string) => void };

/** CriticalPath lists the spans that the trace waited for, as the server computes them, with their own share of its time. */
export function CriticalPath({ id, start, selected, onSelect }: PathProps) {
  const found = useCall("DiagnosisService/GetTraceCriticalPath", { traceId: id, ...(start ? { timestamp: start } : {}) });
  return (
    <Load of={found} lines={6} empty={(d) => !d.steps?.length && <p className="fine">The trace has no span to wait for.</p>}>
      {(d) => {
        const total = Math.max(d.durationMs ?? 0, 1e-6);
        return (
          <>
            {d.truncated && (
              <p className="notice" role="status">
                The trace is large: its first spans alone are looked at.
              </p>
            )}
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col">Span</th>
                  <th scope="col" className="w160">
                    Service
                  </th>
                  <th scope="col" className="num w90">
                    Own time
                  </th>
                  <th scope="col" className="num w80">
                    Share
                  </th>
                </tr>
              </thead>
              <tbody>
                {d.steps?.map((s, i) => (
                  // biome-ignore lint: a span can be on the path several times
                  <tr key={`${s.spanId} ${i}`} aria-current={s.spanId === selected || undefined}>
                    <td>
                      <button type="button" className="button small quiet clip" onClick={() => onSelect(s.spanId ?? "")}>
                        {line(s.spanName ?? "", 200)}
                      </button>
                    </td>
                    <td className="clip">
                      <i className="dot" style={{ background: `var(--s${slot(s.serviceName ?? "")})` }} /> {line(s.serviceName ?? "", 80)}
                    </td>
                    <td className="num">{duration(s.selfMs)}</td>
                    <td className="num">{percent((s.selfMs ?? 0) / total)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {(d.repeatedOperations ?? []).map((r) => (
              <p key={`${r.serviceName} ${r.spanName}`} className="notice">
                {line(r.spanName ?? "", 200)} of {line(r.serviceName ?? "", 80)} ran {count(r.count)} times under one span,{" "}
                {duration(r.totalMs)} together.
              </p>
            ))}
          </>
        );
      }}
    </Load>
  );
}

type OperationsProps = { id: string; tree: Tree; names: string[]; services: string[]; partial: boolean; onSelect: (span: string) => void };

/** Operations sums the trace by operation, beside another trace if one is chosen. */
export function Operations({ id, tree, names, services, partial, onSelect }: OperationsProps) {
  const other = useAddress().searchParams.get("with") ?? "";
  const here = useMemo(() => operationsOf(tree, names, services), [tree, names, services]);
  return (
    <>
      <form
        className="row wrap flamehead"
        onSubmit={(e) => {
          e.preventDefault();
          change({ with: String(new FormData(e.currentTarget).get("with") ?? "").trim() || null });
        }}
      >
        <label className="row grow">
          <span className="faint">Compare with</span>
          <input key={other} className="field grow mono" name="with" placeholder="Id of another trace" defaultValue={other} />
        </label>
        <button type="submit" className="button small">
          Compare
        </button>
        {other && (
          <button type="button" className="button small quiet" onClick={() => change({ with: null })}>
            Clear
          </button>
        )}
      </form>
      {partial && <p className="notice">Spans are still loading. The sums grow.</p>}
      {other && other !== id ? <Side here={here} other={other} onSelect={onSelect} /> : <Sums all={here} onSelect={onSelect} />}
    </>
  );
}

function Sums({ all, onSelect }: { all: Operation[]; onSelect: (span: string) => void }) {
  return (
    <table className="data fold">
      <thead>
        <tr>
          <th scope="col">Operation</th>
          <th scope="col" className="w160">
            Service
          </th>
          <th scope="col" className="num w80">
            Spans
          </th>
          <th scope="col" className="num w80">
            Errors
          </th>
          <th scope="col" className="num w90">
            Own time
          </th>
          <th scope="col" className="num w90">
            Sum
          </th>
          <th scope="col" className="num w90">
            Longest
          </th>
        </tr>
      </thead>
      <tbody>
        {all.slice(0, 500).map((o) => (
          <tr key={JSON.stringify([o.service, o.name])}>
            <td>
              <button type="button" className="button small quiet clip" title="Show the longest" onClick={() => onSelect(o.slowest)}>
                {line(o.name, 200)}
              </button>
            </td>
            <td className="clip">
              <i className="dot" style={{ background: `var(--s${slot(o.service)})` }} /> {line(o.service, 80)}
            </td>
            <td className="num">{count(o.count)}</td>
            <td className={`num ${o.errors ? "bad" : "faint"}`}>{count(o.errors)}</td>
            <td className="num">{duration(o.own)}</td>
            <td className="num">{duration(o.total)}</td>
            <td className="num">{duration(o.longest)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Side compares the trace with another one, operation by operation. */
function Side({ here, other, onSelect }: { here: Operation[]; other: string; onSelect: (span: string) => void }) {
  const loaded = useSkeleton(other);
  const rows = useMemo(() => {
    const tree = build(loaded.spans);
    return compare(here, operationsOf(tree, loaded.names, loaded.services));
  }, [here, loaded.spans, loaded.names, loaded.services]);
  if (loaded.error) return <Failed error={loaded.error} retry={loaded.again} />;
  if (!loaded.skeleton || loaded.more) return <Waiting lines={6} />;
  return (
    <table className="data fold">
      <thead>
        <tr>
          <th scope="col">Operation</th>
          <th scope="col" className="num w90">
            Spans
          </th>
          <th scope="col" className="num w90">
            <Link href={href(`/traces/${other}`)}>There</Link>
          </th>
          <th scope="col" className="num w90">
            Own time
          </th>
          <th scope="col" className="num w90">
            There
          </th>
          <th scope="col" className="num w90">
            Difference
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, 500).map((c) => (
          <Both key={JSON.stringify([c.service, c.name])} of={c} onSelect={onSelect} />
        ))}
      </tbody>
    </table>
  );
}

function Both({ of: c, onSelect }: { of: Compared; onSelect: (span: string) => void }) {
  const more = c.difference > 0;
  return (
    <tr>
      <td>
        {c.here ? (
          <button type="button" className="button small quiet clip" onClick={() => onSelect(c.here?.slowest ?? "")}>
            {line(c.name, 200)}
          </button>
        ) : (
          <span className="clip">{line(c.name, 200)}</span>
        )}{" "}
        <span className="faint">
          {line(c.service, 80)}
          {!c.here && ", only there"}
          {!c.there && ", only here"}
        </span>
      </td>
      <td className="num">{c.here ? count(c.here.count) : "–"}</td>
      <td className="num">{c.there ? count(c.there.count) : "–"}</td>
      <td className="num">{c.here ? duration(c.here.own) : "–"}</td>
      <td className="num">{c.there ? duration(c.there.own) : "–"}</td>
      <td className={`num ${more ? "bad" : ""}`}>
        {more ? "+" : c.difference < 0 ? "−" : ""}
        {duration(Math.abs(c.difference))}
      </td>
    </tr>
  );
}
