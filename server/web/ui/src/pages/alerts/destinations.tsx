import { useState } from "react";
import { change, href, Link, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { AlertDestination } from "../../gen/api";
import { Confirm } from "../../parts/dialog";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago } from "../../parts/time";
import { DestinationForm } from "./destinationform";

/** Destinations lists the places that messages are sent to. Their secrets are never shown. */
export function Destinations() {
  const { now, org } = useFrame();
  const address = useAddress();
  const found = useCall("AlertDestinationsService/ListAlertDestinations", { limit: 100 });
  const [removing, setRemoving] = useState<AlertDestination | null>(null);
  const [told, setTold] = useState<{ id: string; text: string; good: boolean } | null>(null);
  const update = useAct("AlertDestinationsService/UpdateAlertDestination");
  const remove = useAct("AlertDestinationsService/DeleteAlertDestination", () => setRemoving(null));
  const test = useAct("AlertDestinationsService/TestAlertDestination");
  const member = org.role === "org:member";
  const editing = found.data?.data?.find((d) => d.id === address.searchParams.get("edit"));
  const send = (d: AlertDestination): void => {
    setTold(null);
    test.mutate(
      { id: d.id ?? "" },
      {
        onSuccess: (r) => setTold({ id: d.id ?? "", good: r.success ?? false, text: r.message || "The message arrived." }),
        onError: (e) => setTold({ id: d.id ?? "", good: false, text: e.message }),
      },
    );
  };
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Destinations</h2>
      </header>
      <FormError error={update.error ?? remove.error} />
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length && (
            <Empty title="No destination yet">
              <p>
                A webhook, PagerDuty, Discord, Telegram, a channel of Slack or Discord, or e-mail to members. Rules name the destinations of
                their messages.
              </p>
              {!member && (
                <Link className="button primary" href={href("/alerts/destinations", { new: "webhook" })}>
                  New destination
                </Link>
              )}
            </Empty>
          )
        }
      >
        {(a) => (
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col">Destination</th>
                <th scope="col" className="w110">
                  Type
                </th>
                <th scope="col">Target</th>
                <th scope="col">State</th>
                <th scope="col" className="w200">
                  <span className="sr">Act</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {a.data?.map((d) => (
                <tr key={d.id} aria-label={line(d.name ?? "", 100)}>
                  <td>
                    <b>{line(d.name ?? "", 100)}</b>
                  </td>
                  <td>{d.type}</td>
                  <td className="faint">{line(d.summary ?? "", 200)}</td>
                  <td className="free">
                    {d.enabled ? (
                      <span className="good">✓ on</span>
                    ) : d.disabledReason ? (
                      <span className="bad">✖ off: {line(d.disabledReason, 200)}</span>
                    ) : (
                      <span className="faint">○ off</span>
                    )}
                    {told?.id === d.id ? (
                      <span className={told?.good ? "good" : "bad"} role="status">
                        {" "}
                        · {line(told?.text ?? "", 200)}
                      </span>
                    ) : d.lastTestError ? (
                      <span className="bad">
                        {" "}
                        · test {ago(d.lastTestedAt, now)}: {line(d.lastTestError, 160)}
                      </span>
                    ) : d.lastTestedAt ? (
                      <span className="faint"> · tested {ago(d.lastTestedAt, now)}</span>
                    ) : null}
                  </td>
                  <td>
                    {!member && (
                      <span className="row">
                        <button type="button" className="button small" disabled={test.isPending} onClick={() => send(d)}>
                          Test
                        </button>
                        <Link
                          className="button small"
                          href={href("/alerts/destinations", { edit: d.id })}
                          aria-label={`Edit ${line(d.name ?? "", 80)}`}
                        >
                          Edit
                        </Link>
                        <Menu
                          label={`More about ${line(d.name ?? "", 80)}`}
                          items={[
                            {
                              name: d.enabled ? "Switch off" : "Switch on",
                              act: () => update.mutate({ id: d.id ?? "", type: d.type as "webhook", enabled: !d.enabled }),
                            },
                            { name: "Deliveries", href: href("/alerts/deliveries", { destination: d.id }) },
                            { name: "Delete", danger: true, act: () => setRemoving(d) },
                          ]}
                        >
                          ⋯
                        </Menu>
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Load>
      {address.searchParams.get("new") && !member && (
        <DestinationForm type={address.searchParams.get("new") ?? ""} close={() => change({ new: null })} />
      )}
      {editing && !member && (
        <DestinationForm key={editing.id} of={editing} type={editing.type ?? ""} close={() => change({ edit: null })} />
      )}
      {removing && (
        <Confirm
          title={`Delete ${line(removing.name ?? "", 100)}?`}
          act="Delete"
          busy={remove.isPending}
          close={(yes) => (yes ? remove.mutate({ id: removing.id ?? "" }) : setRemoving(null))}
        >
          <p>Messages that wait for it are dropped. A destination that a rule names is not deleted.</p>
          <FormError error={remove.error} />
        </Confirm>
      )}
    </section>
  );
}
