import { type ReactNode, useEffect } from "react";
import { href, Link } from "../../frame/router";
import { useFrame } from "../../frame/session";
import { ApiKeys } from "./apikeys";
import { AuditLog } from "./auditlog";
import { General } from "./general";
import { IngestKeys } from "./ingestkeys";
import { Integrations } from "./integrations";
import { Mappings } from "./mappings";
import { Me } from "./me";
import { People } from "./people";
import { Recommendations } from "./recommendations";
import { Repositories } from "./repositories";
import { Sampling } from "./sampling";
import { ScrapeTargets } from "./scrapetargets";
import "../home.css";
import "./settings.css";

const tabs = [
  ["", "General"],
  ["people", "People"],
  ["api-keys", "API keys"],
  ["ingest-keys", "Ingest keys"],
  ["sampling", "Sampling"],
  ["attribute-mappings", "Attribute mappings"],
  ["recommendations", "Recommendations"],
  ["scrape-targets", "Scrape targets"],
  ["integrations", "Integrations"],
  ["repositories", "Repositories"],
  ["audit-log", "Audit log"],
  ["me", "You"],
] as const;
const everybodys = ["audit-log", "me", "repositories"]; // parts in which members change or read all that there is

/** Settings leads to a part of the settings of the organization. */
export default function Settings({ part }: { part: string }) {
  const { org } = useFrame();
  const tab = tabs.find(([key]) => key === part) ?? tabs[0];
  useEffect(() => {
    document.title = `${tab[1]} · Settings · ${org.name} · svc`;
  }, [org.name, tab]);
  const pages: Record<string, ReactNode> = {
    "": <General />,
    people: <People />,
    "api-keys": <ApiKeys />,
    "ingest-keys": <IngestKeys />,
    sampling: <Sampling />,
    "attribute-mappings": <Mappings />,
    recommendations: <Recommendations />,
    "scrape-targets": <ScrapeTargets />,
    integrations: <Integrations />,
    repositories: <Repositories />,
    "audit-log": <AuditLog />,
    me: <Me />,
  };
  return (
    <>
      <div className="pagehead">
        <h1>Settings</h1>
      </div>
      <nav className="tabs" aria-label="Parts of the settings">
        {tabs.map(([key, name]) => (
          <Link key={key} href={href(`/settings${key && `/${key}`}`)} aria-current={key === tab[0] ? "page" : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      {org.role !== "org:admin" && !everybodys.includes(tab[0]) && (
        <p className="notice" role="status">
          Only administrators change settings.
        </p>
      )}
      {pages[tab[0]]}
    </>
  );
}
