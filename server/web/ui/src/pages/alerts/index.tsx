import { type ReactNode, useEffect } from "react";
import { isFree } from "../../frame/keys";
import { href, Link, navigate, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import { count } from "../../parts/format";
import { Deliveries } from "./deliveries";
import { Destinations } from "./destinations";
import { EditRule, NewRule } from "./editor";
import { Incident } from "./incident";
import { Incidents } from "./incidents";
import { Rule } from "./rule";
import { Rules } from "./rules";
import "../home.css";
import "./alerts.css";

const tabs = [
  ["", "Incidents"],
  ["rules", "Rules"],
  ["destinations", "Destinations"],
  ["deliveries", "Deliveries"],
] as const;

/** Alerts leads to the page of incidents, rules, destinations or deliveries that the path names. */
export default function Alerts({ path }: { path: string[] }) {
  const { org } = useFrame();
  const [kind = "", id = "", act = ""] = path;
  useEffect(() => {
    document.title = `Alerts · ${org.name} · svc`;
  }, [org.name, path.join("/")]);
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if (!isFree(e)) return;
      if (e.key === "n" && !id)
        navigate(
          href(kind === "destinations" ? "/alerts/destinations" : "/alerts/rules/new", kind === "destinations" ? { new: "webhook" } : {}),
        );
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [kind, id]);
  if (kind === "incidents" && id) return <Incident key={id} id={id} />;
  if (kind === "rules" && id === "new") return <NewRule />;
  if (kind === "rules" && id && act === "edit") return <EditRule key={id} id={id} />;
  if (kind === "rules" && id) return <Rule key={id} id={id} />;
  return <Lists kind={kind} />;
}

function Lists({ kind }: { kind: string }) {
  const counts = useCall("AlertIncidentsService/ListAlertIncidents", { status: "open", limit: 100 });
  const page: Record<string, ReactNode> = {
    "": <Incidents />,
    rules: <Rules />,
    destinations: <Destinations />,
    deliveries: <Deliveries />,
  };
  const tab = kind in page ? kind : "";
  const open = counts.data?.data?.length ?? 0;
  useAddress();
  return (
    <>
      <div className="pagehead">
        <h1 className="grow">Alerts</h1>
        {tab === "destinations" ? (
          <Link className="button primary" href={href("/alerts/destinations", { new: "webhook" })}>
            New destination
          </Link>
        ) : (
          <Link className="button primary" href={href("/alerts/rules/new")}>
            New rule
          </Link>
        )}
      </div>
      <nav className="tabs" aria-label="Parts of alerts">
        {tabs.map(([key, name]) => (
          <Link key={key} href={href(`/alerts${key && `/${key}`}`)} aria-current={key === tab ? "page" : undefined}>
            {name}
            {key === "" && open > 0 && (
              <span className="bad">
                {" "}
                {count(open)}
                {counts.data?.hasMore ? "+" : ""}
              </span>
            )}
          </Link>
        ))}
      </nav>
      {page[tab]}
    </>
  );
}
