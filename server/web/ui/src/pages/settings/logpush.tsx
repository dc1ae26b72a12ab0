import { useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { LogpushConnector } from "../../gen/api";
import {
  CreateLogpushConnectorRequest_name,
  CreateLogpushConnectorRequest_service_name,
  CreateLogpushConnectorRequest_zone_name,
} from "../../gen/limits";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { Secret, useConfirm } from "./parts";

/** LogPush lists the doors through which a CDN pushes its request logs. */
export function LogPush() {
  const { org, now } = useFrame();
  const admin = org.role === "org:admin";
  const found = useCall("LogpushConnectorsService/ListLogpushConnectors", { limit: 100 }, { every: 15_000 });
  const [edited, setEdited] = useState<LogpushConnector | "new" | null>(null);
  const [destination, setDestination] = useState("");
  const update = useAct("LogpushConnectorsService/UpdateLogpushConnector");
  const rotate = useAct("LogpushConnectorsService/RotateLogpushConnector", (c) => {
    sure.done();
    setDestination(c.setup?.destinationConf ?? "");
  });
  const remove = useAct("LogpushConnectorsService/DeleteLogpushConnector", () => sure.done());
  const sure = useConfirm(rotate.error ?? remove.error, rotate.isPending || remove.isPending);
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Cloudflare log push</h2>
        {admin && (
          <button type="button" className="button primary" onClick={() => setEdited("new")}>
            New connector
          </button>
        )}
      </header>
      <p className="fine">Cloudflare pushes the request logs of a zone to an address of its own. They are stored as logs of a service.</p>
      <FormError error={update.error} />
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length && (
            <Empty title="No zone pushes its logs">
              <p>An administrator makes a connector and gives its destination to a Logpush job with the data set http_requests.</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <>
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col">Connector</th>
                  <th scope="col">Service</th>
                  <th scope="col">State</th>
                  <th scope="col" className="w80">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {(d.data ?? []).map((c) => (
                  <tr key={c.id}>
                    <td className="free">
                      <b>{line(c.name ?? "", 100)}</b> <span className="faint">{line(c.zoneName ?? "", 100)}</span>{" "}
                      <code className="faint">{c.secretPrefix}</code>
                    </td>
                    <td className="free">{line(c.serviceName ?? "", 100)}</td>
                    <td className="free">
                      <State of={c} now={now} />
                    </td>
                    <td>
                      {admin && (
                        <Menu
                          label={`Change ${line(c.name ?? "", 80)}`}
                          items={[
                            { name: "Edit", act: () => setEdited(c) },
                            {
                              name: c.enabled ? "Switch off" : "Switch on",
                              act: () => update.mutate({ id: c.id ?? "", enabled: !c.enabled, updateMask: "enabled" }),
                            },
                            {
                              name: "New secret",
                              act: () =>
                                sure.ask({
                                  title: `A new secret for ${line(c.name ?? "", 80)}?`,
                                  act: "New secret",
                                  text: "Within a minute, pushes to the present destination are refused, until Cloudflare has the new one.",
                                  run: () => rotate.mutate({ id: c.id ?? "" }),
                                }),
                            },
                            {
                              name: "Delete",
                              danger: true,
                              act: () =>
                                sure.ask({
                                  title: `Delete ${line(c.name ?? "", 80)}?`,
                                  act: "Delete",
                                  text: "Its pushes are refused within a minute. The logs that it brought stay.",
                                  run: () => remove.mutate({ id: c.id ?? "" }),
                                }),
                            },
                          ]}
                        >
                          ⋯
                        </Menu>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {d.hasMore && <p className="fine">There are more connectors; the API lists all of them.</p>}
          </>
        )}
      </Load>
      {sure.dialog}
      {edited && (
        <Form
          of={edited === "new" ? undefined : edited}
          close={() => setEdited(null)}
          made={(text) => {
            setEdited(null);
            setDestination(text);
          }}
        />
      )}
      {destination && <Secret title="The destination of the Logpush job" secret={destination} close={() => setDestination("")} />}
    </section>
  );
}

function State({ of, now }: { of: LogpushConnector; now: number }) {
  return (
    <>
      {of.enabled ? <span className="good">on</span> : <span className="bad">off</span>}{" "}
      {of.lastReceivedAt ? (
        <span className="faint" title={exact(of.lastReceivedAt)}>
          pushed {ago(of.lastReceivedAt, now)}
        </span>
      ) : (
        <span className="faint">nothing pushed yet</span>
      )}
      {of.lastError && <span className="bad"> · {line(of.lastError, 200)}</span>}
    </>
  );
}

/** Form makes a connector, or changes one. */
function Form({ of, close, made }: { of?: LogpushConnector | undefined; close: () => void; made: (destination: string) => void }) {
  const create = useAct("LogpushConnectorsService/CreateLogpushConnector", (c) => made(c.setup?.destinationConf ?? ""));
  const update = useAct("LogpushConnectorsService/UpdateLogpushConnector", close);
  const error = create.error ?? update.error;
  return (
    <Dialog title={of ? "Edit the connector" : "New log push connector"} close={close} hold>
      <form
        className="settingsform"
        onSubmit={(e) => {
          e.preventDefault();
          const d = new FormData(e.currentTarget);
          const text = (name: string): string => String(d.get(name) ?? "").trim();
          const fields = { name: text("name"), zoneName: text("zone"), serviceName: text("service") };
          if (of) update.mutate({ id: of.id ?? "", ...fields, updateMask: "name,zoneName,serviceName" });
          else create.mutate(fields);
        }}
      >
        <Field label="Name" error={errorOf(error, "name")}>
          {(c) => (
            <input
              {...c}
              className="field"
              name="name"
              required
              autoComplete="off"
              {...atMost(CreateLogpushConnectorRequest_name)}
              defaultValue={of?.name ?? ""}
            />
          )}
        </Field>
        <Field label="Zone" hint="As Cloudflare names it, example.com." error={errorOf(error, "zone_name")}>
          {(c) => (
            <input
              {...c}
              className="field"
              name="zone"
              required
              autoComplete="off"
              {...atMost(CreateLogpushConnectorRequest_zone_name)}
              defaultValue={of?.zoneName ?? ""}
            />
          )}
        </Field>
        <Field
          label="Service"
          hint={of ? "Later logs are stored under it." : "Left out, it is cloudflare/ and the zone."}
          error={errorOf(error, "service_name")}
        >
          {(c) => (
            <input
              {...c}
              className="field"
              name="service"
              required={!!of}
              autoComplete="off"
              {...atMost(CreateLogpushConnectorRequest_service_name)}
              defaultValue={of?.serviceName ?? ""}
            />
          )}
        </Field>
        <FormError error={error} fields={["name", "zone_name", "service_name"]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || update.isPending}>
            {of ? "Save" : "Create"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
