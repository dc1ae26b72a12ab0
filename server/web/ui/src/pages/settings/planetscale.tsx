import { useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { PlanetScaleIntegration } from "../../gen/api";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { useConfirm } from "./parts";

/** PlanetScale is the connected account of the database platform. */
export function PlanetScale({ available, next }: { available: boolean; next: string }) {
  const { org } = useFrame();
  const admin = org.role === "org:admin";
  const found = useCall("DatabasePlatformService/GetPlanetScaleIntegration", {}, { every: 15_000 });
  const connect = useAct("DatabasePlatformService/ConnectPlanetScaleIntegration");
  const remove = useAct("DatabasePlatformService/DisconnectPlanetScaleIntegration", () => sure.done());
  const sure = useConfirm(remove.error, remove.isPending);
  const start = (): void => connect.mutate({}, { onSuccess: (r) => r.redirectUrl && window.location.assign(r.redirectUrl) });
  return (
    <section className="panel">
      <header>
        <h2 className="grow">PlanetScale</h2>
        {admin && available && found.data && !found.data.connected && (
          <button type="button" className="button primary" disabled={connect.isPending} onClick={start}>
            Connect an account
          </button>
        )}
        {admin && found.data?.connected && (
          <Menu
            label="More about PlanetScale"
            items={[
              { name: "Connect again", act: start },
              {
                name: "Disconnect",
                danger: true,
                act: () =>
                  sure.ask({
                    title: "Disconnect PlanetScale?",
                    act: "Disconnect",
                    text: "Its databases and events are deleted here, and its metrics are scraped no more. Stored metrics stay.",
                    run: () => remove.mutate({}),
                  }),
              },
            ]}
          >
            ⋯
          </Menu>
        )}
      </header>
      <p className="fine">Metrics of each branch, deploy requests, and figures about queries.</p>
      <FormError error={connect.error} />
      <Load
        of={found}
        empty={(d) =>
          !d.connected &&
          !d.revokedAt && (
            <Empty title={available ? "No account connected" : "Not set up on this server"}>
              <p>{next}</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <>
            <State of={d} />
            {admin && d.connected && <Organization of={d} />}
            {admin && d.connected && d.organization && d.metricsAuth === "missing" && <MetricsToken organization={d.organization} />}
            {d.organization && <Databases />}
            {d.organization && <Events />}
            {admin && d.organization && <Webhook />}
          </>
        )}
      </Load>
      {sure.dialog}
    </section>
  );
}

function State({ of }: { of: PlanetScaleIntegration }) {
  const { now } = useFrame();
  const target = of.scrapeTarget;
  return (
    <p className="fine">
      <span className={of.connected ? "good" : "bad"}>{of.connected ? "connected" : "access withdrawn"}</span>
      {of.organization && <> · {line(of.organization, 100)}</>}
      {of.lastInventoryAt && <span title={exact(of.lastInventoryAt)}> · databases read {ago(of.lastInventoryAt, now)}</span>}
      {of.lastInventoryError && <span className="bad"> · {line(of.lastInventoryError, 200)}</span>}
      {target?.lastScrapeAt && <span title={exact(target.lastScrapeAt)}> · metrics read {ago(target.lastScrapeAt, now)}</span>}
      {target?.lastScrapeError && <span className="bad"> · {line(target.lastScrapeError, 200)}</span>}
    </p>
  );
}

const patterns = (text: string): string[] =>
  text
    .split(",")
    .map((p) => p.trim())
    .filter(Boolean);

function Organization({ of }: { of: PlanetScaleIntegration }) {
  const found = useCall("DatabasePlatformService/ListPlanetScaleOrganizations", {});
  const select = useAct("DatabasePlatformService/SelectPlanetScaleOrganization");
  const [chosen, setChosen] = useState(of.organization ?? "");
  const [include, setInclude] = useState((of.scrapeTarget?.includeBranches ?? []).join(", "));
  const [exclude, setExclude] = useState((of.scrapeTarget?.excludeBranches ?? []).join(", "));
  const list = found.data?.organizations ?? [];
  const value = chosen || (list.length === 1 ? (list[0]?.name ?? "") : "");
  return (
    <form
      className="settingsform"
      onSubmit={(e) => {
        e.preventDefault();
        select.mutate({ organization: value, includeBranches: patterns(include), excludeBranches: patterns(exclude) });
      }}
    >
      <Field label="Organization at PlanetScale" error={errorOf(select.error, "organization")}>
        {(c) => (
          <select {...c} className="field" required value={value} onChange={(e) => setChosen(e.target.value)}>
            <option value="">Choose one</option>
            {value && !list.some((o) => o.name === value) && <option value={value}>{value}</option>}
            {list.map((o) => (
              <option key={o.id} value={o.name}>
                {line(o.name ?? "", 100)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Branches to scrape"
        hint="Patterns with commas between them. Empty: all."
        error={errorOf(select.error, "include_branches")}
      >
        {(c) => (
          <input {...c} className="field mono" value={include} placeholder="main, release-*" onChange={(e) => setInclude(e.target.value)} />
        )}
      </Field>
      <Field label="Branches to leave out" error={errorOf(select.error, "exclude_branches")}>
        {(c) => (
          <input {...c} className="field mono" value={exclude} placeholder="preview-*" onChange={(e) => setExclude(e.target.value)} />
        )}
      </Field>
      <FormError error={select.error ?? found.error} fields={["organization", "include_branches", "exclude_branches"]} />
      <div className="row">
        <button type="submit" className="button" disabled={!value || select.isPending}>
          {select.isPending ? "Saving …" : "Save"}
        </button>
      </div>
    </form>
  );
}

function MetricsToken({ organization }: { organization: string }) {
  const [id, setId] = useState("");
  const [secret, setSecret] = useState("");
  const save = useAct("DatabasePlatformService/SetPlanetScaleMetricsToken");
  return (
    <form
      className="settingsform"
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate({ tokenId: id, tokenSecret: secret });
      }}
    >
      <p>
        PlanetScale does not give metrics to the connected account. Make a service token of {line(organization, 100)} there with the
        permission <code>read_metrics_endpoints</code>.
      </p>
      <Field label="Id of the token" error={errorOf(save.error, "token_id")}>
        {(c) => <input {...c} className="field mono" required autoComplete="off" value={id} onChange={(e) => setId(e.target.value)} />}
      </Field>
      <Field label="Token" error={errorOf(save.error, "token_secret")}>
        {(c) => (
          <input
            {...c}
            className="field mono"
            type="password"
            required
            autoComplete="off"
            value={secret}
            onChange={(e) => setSecret(e.target.value)}
          />
        )}
      </Field>
      <FormError error={save.error} fields={["token_id", "token_secret"]} />
      <div className="row">
        <button type="submit" className="button" disabled={save.isPending}>
          {save.isPending ? "Checking …" : "Check and save"}
        </button>
      </div>
    </form>
  );
}

function Databases() {
  const found = useCall("DatabasePlatformService/ListPlanetScaleDatabases", {}, { every: 60_000 });
  return (
    <Load of={found} empty={(d) => !d.databases?.length && <p className="fine">No database is listed yet.</p>}>
      {(d) => (
        <table className="data fold">
          <thead>
            <tr>
              <th scope="col">Database</th>
              <th scope="col">Kind</th>
              <th scope="col">State</th>
              <th scope="col">Branches</th>
            </tr>
          </thead>
          <tbody>
            {(d.databases ?? []).map((b) => (
              <tr key={b.id}>
                <td className="free">
                  <b>{line(b.name ?? "", 100)}</b>{" "}
                  <span className="faint">
                    {line(b.region ?? "", 40)} {line(b.plan ?? "", 40)}
                  </span>
                </td>
                <td>{b.kind}</td>
                <td>{line(b.state ?? "", 40)}</td>
                <td className="free">{line((b.branches ?? []).map((x) => x.name).join(", "), 200)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Load>
  );
}

/** Events lists the changes of the past week. */
function Events() {
  const { now } = useFrame();
  const [end] = useState(() => new Date());
  const start = new Date(end.getTime() - 7 * 86_400_000);
  const found = useCall("DatabasePlatformService/ListPlanetScaleEvents", {
    startTime: start.toISOString(),
    endTime: end.toISOString(),
    limit: 20,
  });
  return (
    <Load of={found} empty={(d) => !d.data?.length && <p className="fine">Nothing has changed in the past week.</p>}>
      {(d) => (
        <table className="data fold">
          <thead>
            <tr>
              <th scope="col">Change in the past week</th>
              <th scope="col">Database</th>
              <th scope="col">By</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {(d.data ?? []).map((e) => (
              <tr key={e.id}>
                <td className="free">
                  {line(e.title ?? "", 200)} {e.state && <span className="faint">{line(e.state, 40)}</span>}
                </td>
                <td>{line(e.databaseName ?? "", 100)}</td>
                <td>{line(e.actorLogin ?? "", 100)}</td>
                <td title={exact(e.occurredAt)}>{ago(e.occurredAt, now)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Load>
  );
}

/** Webhook shows the secret address for deliveries on request. */
function Webhook() {
  const [shown, setShown] = useState(false);
  const found = useCall("DatabasePlatformService/GetPlanetScaleWebhookConfig", {}, { enabled: shown });
  if (!shown)
    return (
      <p className="row auditbar">
        <span className="grow faint">A webhook of PlanetScale makes changes appear at once.</span>
        <button type="button" className="button small" onClick={() => setShown(true)}>
          Show the secret address
        </button>
      </p>
    );
  return (
    <Load of={found} empty={() => null}>
      {(d) => (
        <p className="secret fine">
          <code>{d.url}</code>
        </p>
      )}
    </Load>
  );
}
