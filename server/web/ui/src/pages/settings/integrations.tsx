import { change, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import type { Integration } from "../../gen/api";
import { Load } from "../../parts/states";
import { Chats } from "./chats";
import { Hosting } from "./hosting";
import { LogPush } from "./logpush";
import { PlanetScale } from "./planetscale";
import { SourceHost, sourceHosts } from "./sourcehosts";

const outcomes: Record<string, { text: string; good: boolean }> = {
  connected: { text: "The account is connected. What belongs to it appears within a minute.", good: true },
  linked: { text: "Your identity is linked.", good: true },
  cancelled: { text: "Nothing was connected.", good: false },
  requested: { text: "An owner of the account has to approve the installation. Connect it again after that.", good: false },
  failed: { text: "The account was not connected.", good: false },
};

/** Integrations lists the providers with their accounts. Accounts are connected and disconnected here, and nowhere else. */
export function Integrations() {
  const p = useAddress().searchParams;
  const result = outcomes[p.get("result") ?? ""];
  const { org } = useFrame();
  const found = useCall("IntegrationsService/ListIntegrations", {}, { every: 15_000 });
  const steps = (rows: Integration[]): Record<string, string | undefined> =>
    Object.fromEntries(rows.filter((i) => !i.id).map((i) => [i.provider ?? "", step(i, org.role === "org:admin")]));
  return (
    <>
      {result && (
        <p className={`notice row ${result.good ? "good" : ""}`} role="status">
          <span className="grow">{result.text}</span>
          <button type="button" className="button small" onClick={() => change({ result: null, integration: null })}>
            Close
          </button>
        </p>
      )}
      <Load of={found} empty={() => null}>
        {(d) => (
          <div className="panels">
            {sourceHosts.map((host) => (
              <SourceHost key={host.provider} host={host} next={steps(d.data ?? [])[host.provider] ?? ""} />
            ))}
            <Chats next={steps(d.data ?? [])} />
            <Hosting platform="platform_a" next={steps(d.data ?? []).platform_a ?? ""} />
            <Hosting platform="platform_b" next={steps(d.data ?? []).platform_b ?? ""} />
            <PlanetScale
              available={(d.data ?? []).some((i) => i.provider === "planetscale" && i.status !== "not_configured")}
              next={steps(d.data ?? []).planetscale ?? ""}
            />
            <LogPush />
          </div>
        )}
      </Load>
    </>
  );
}

/** step is the next step with a provider that has no account, in words for this page, which is where accounts are connected. */
function step(of: Integration, admin: boolean): string | undefined {
  if (of.status !== "available") return of.nextAction;
  return admin ? "Connect an account with the button above." : "An administrator of the organization connects an account on this page.";
}
