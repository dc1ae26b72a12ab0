import { useEffect } from "react";
import { href, Link, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import { Waiting } from "../../parts/states";
import { Views } from "../../views/save";
import ErrorGroup from "./group";
import Groups from "./groups";
import { Inbox } from "./inbox";
import { Issue } from "./issue";
import { Policies } from "./policies";
import "../home.css";
import "./errors.css";

const tabs = [
  ["", "For work"],
  ["new", "New"],
  ["regressed", "Regressed"],
  ["mine", "Mine"],
  ["all", "All"],
  ["window", "In this window"],
  ["policies", "Messages"],
] as const;

/** Errors is the inbox of error issues, one issue, or the groups of the window. */
export default function Errors({ id }: { id: string }) {
  if (id.startsWith("iss_")) return <Issue key={id} id={id} />;
  if (id) return <ByFingerprint key={id} fingerprint={id} />;
  return <Lists />;
}

/** ByFingerprint shows the issue of a group, or the group alone when no issue has it. */
function ByFingerprint({ fingerprint }: { fingerprint: string }) {
  const found = useCall(
    "ErrorIssuesService/ListErrorIssues",
    { fingerprintHash: fingerprint, includeArchived: true, limit: 1 },
    { keep: false },
  );
  const issue = found.data?.data?.[0]?.id;
  if (!found.data && !found.error) return <Waiting lines={10} />;
  return issue ? <Issue id={issue} /> : <ErrorGroup fingerprint={fingerprint} />;
}

function Lists() {
  const { org } = useFrame();
  const tab = tabs.find(([key]) => key === useAddress().searchParams.get("tab"))?.[0] ?? "";
  useEffect(() => {
    document.title = `Errors · ${org.name} · svc`;
  }, [org.name]);
  return (
    <>
      <div className="pagehead">
        <h1>Errors</h1>
        <span className="grow" />
        <Views page="errors" />
      </div>
      <nav className="tabs" aria-label="Parts of errors">
        {tabs.map(([key, name]) => (
          <Link key={key} href={href("/errors", { tab: key })} aria-current={key === tab ? "page" : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      {tab === "window" ? <Groups /> : tab === "policies" ? <Policies /> : <Inbox key={tab} tab={tab} />}
    </>
  );
}
