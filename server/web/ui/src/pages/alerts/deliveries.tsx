import { change, href, Link, useAddress } from "../../frame/router";
import { useCall } from "../../frame/session";
import { LargestPage } from "../../gen/limits";
import { line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { exact, stamp } from "../../parts/time";

const states = ["queued", "processing", "success", "failed"] as const;

/** Deliveries lists the messages: each attempt, its answer, and what failed. */
export function Deliveries() {
  const address = useAddress();
  const status = states.find((s) => s === address.searchParams.get("status"));
  const destinationId = address.searchParams.get("destination") ?? "";
  const found = useCall("AlertDeliveriesService/ListAlertDeliveries", {
    limit: LargestPage,
    ...(status ? { status } : {}),
    ...(destinationId ? { destinationId } : {}),
  });
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Deliveries</h2>
        {states.map((s) => (
          <button
            key={s}
            type="button"
            className="button small"
            aria-pressed={s === status}
            onClick={() => change({ status: s === status ? null : s })}
          >
            {s}
          </button>
        ))}
        {destinationId && (
          <button type="button" className="button small" onClick={() => change({ destination: null })}>
            all destinations
          </button>
        )}
      </header>
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length && (
            <Empty title={status || destinationId ? "No such message" : "No message was sent yet"}>
              <p>Messages of incidents show here, with the answer of the destination.</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <>
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col" className="w200">
                    Time
                  </th>
                  <th scope="col">Destination</th>
                  <th scope="col" className="w110">
                    Event
                  </th>
                  <th scope="col" className="w160">
                    State
                  </th>
                  <th scope="col">Answer</th>
                  <th scope="col" className="w110">
                    Incident
                  </th>
                </tr>
              </thead>
              <tbody>
                {d.data?.map((m) => (
                  <tr key={m.id}>
                    <td className="faint" title={exact(m.attemptedAt ?? m.scheduledAt)}>
                      {stamp(m.attemptedAt ?? m.scheduledAt).slice(0, 19)}
                    </td>
                    <td>
                      {line(m.destinationName ?? "", 100)} <span className="faint">{m.destinationType}</span>
                    </td>
                    <td>{m.eventType}</td>
                    <td className={m.status === "failed" ? "bad" : m.status === "success" ? "good" : ""}>
                      {m.status === "success" ? "✓ sent" : m.status === "failed" ? "✖ failed" : m.status}
                      {(m.attemptNumber ?? 1) > 1 ? `, attempt ${m.attemptNumber}` : ""}
                    </td>
                    <td className="faint" title={line(m.errorMessage ?? m.providerMessage ?? "", 500)}>
                      {m.responseCode ? `${m.responseCode} ` : ""}
                      {line(m.errorMessage ?? m.providerMessage ?? "", 300)}
                    </td>
                    <td>{m.incidentId && <Link href={href(`/alerts/incidents/${m.incidentId}`)}>incident</Link>}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {d.hasMore && <p className="notice">The newest {LargestPage} are shown.</p>}
          </>
        )}
      </Load>
    </section>
  );
}
