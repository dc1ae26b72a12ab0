import { useMemo } from "react";
import { count, line } from "../../parts/format";
import { Empty, Load, Unread } from "../../parts/states";
import { ago } from "../../parts/time";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import { LargestPage } from "../../gen/limits";
import { WhereBar } from "../../where/bar";
import { askedErrors, problemOf } from "../../where/text";
import "../home.css";
import "../../parts/lists.css";
import "../logs.css";

const orders = [
  ["count", "Most frequent"],
  ["last_seen", "Last seen"],
  ["first_seen", "First seen"],
] as const;

const fields = [
  "service.name",
  "span.name",
  "span.kind",
  "duration",
  "root",
  "http.route",
  "http.status_code",
  "status.message",
  "trace_id",
];

/** Groups lists the groups of errors of the window. */
export default function Groups() {
  const { window: w, env, now } = useFrame();
  const address = useAddress();
  const order = orders.find(([key]) => key === address.searchParams.get("sort"))?.[0] ?? "count";
  const search = address.searchParams.get("q") ?? "";
  const { filters, where, back } = useMemo(() => askedErrors(search, env), [search, env]);
  const found = useCall("ErrorEventsService/SearchErrorEvents", { ...times(w), limit: LargestPage, orderBy: order, filters, where });
  const problem = problemOf(found.error, back);
  const totals = found.data?.totals;
  return (
    <>
      <WhereBar
        value={search}
        signal="errors"
        builtin={fields}
        error={problem}
        placeholder='service.name = cart AND duration > 250ms, or "text of the error"'
        onSubmit={(q) => change({ q })}
      />
      <div className="row wrap">
        {totals && (
          <span className="faint">
            {count(totals.estimatedOccurrences ?? totals.occurrences)} in {count(totals.fingerprints)} groups,{" "}
            {count(totals.affectedServicesCount)} services, {count(totals.affectedTracesCount)} traces
          </span>
        )}
        <span className="grow" />
        <select className="field" aria-label="Order" value={order} onChange={(e) => change({ sort: e.target.value })}>
          {orders.map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {problem ? (
        <Unread />
      ) : (
        <section className="panel">
          <Load
            of={found}
            empty={(d) =>
              !d.data?.length && (
                <Empty title={search ? "No error matches in this window" : "No errors in this window"}>
                  {d.warnings?.map((w) => (
                    <p key={w}>{line(w, 500)}</p>
                  ))}
                  <div className="row">
                    {search && (
                      <button type="button" className="button" onClick={() => change({ q: null })}>
                        Drop the filter
                      </button>
                    )}
                    <Link className="button" href={href("/errors", { tab: "window", from: "-24h", to: undefined })}>
                      Last 24 hours
                    </Link>
                  </div>
                </Empty>
              )
            }
          >
            {(d) => (
              <>
                <table className="data fold rows">
                  <thead>
                    <tr>
                      <th scope="col">Error</th>
                      <th scope="col" className="w160">
                        Services
                      </th>
                      <th scope="col" className="num w80">
                        Count
                      </th>
                      <th scope="col" className="num w80">
                        Traces
                      </th>
                      <th scope="col" className="w110">
                        First seen
                      </th>
                      <th scope="col" className="w110">
                        Last seen
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {d.data?.map((e) => (
                      // biome-ignore lint: the link in the first cell is the way for the keyboard
                      <tr
                        key={e.fingerprintHash}
                        onClick={(c) => !(c.target as Element).closest("a") && navigate(href(`/errors/${e.fingerprintHash}`))}
                      >
                        <td>
                          <Link className="main" href={href(`/errors/${e.fingerprintHash}`)}>
                            {line(e.errorLabel || e.exceptionType || "error", 200)}
                          </Link>{" "}
                          <span className="faint">
                            {e.sampleMessage === e.errorLabel ? "" : line(e.sampleMessage ?? "", 300)}{" "}
                            {e.topFrame && <code>{line(e.topFrame, 200)}</code>}
                          </span>
                        </td>
                        <td>
                          {(e.services ?? [])
                            .slice(0, 3)
                            .map((s) => line(s, 60))
                            .join(", ")}
                        </td>
                        <td className="num">{count(Math.round(e.estimatedCount ?? 0))}</td>
                        <td className="num">{count(e.affectedTracesCount ?? 0)}</td>
                        <td className="faint">{ago(e.firstSeen, now)}</td>
                        <td className="faint">{ago(e.lastSeen, now)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                {d.hasMore && <p className="notice">The first {LargestPage} groups are shown. Search to see others.</p>}
              </>
            )}
          </Load>
        </section>
      )}
    </>
  );
}
