import { useEffect, useState } from "react";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { Dashboard, DashboardVersion } from "../../gen/api";
import { differences } from "../../grid/merge";
import { Sketch } from "../../grid/sketch";
import { Confirm } from "../../parts/dialog";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { ago, exact, stamp } from "../../parts/time";
import { Changes, tilesOf } from "./changes";
import "./dashboards.css";

/** Versions lists the changes of a dashboard, and shows what one of them changed against the version before or against now. */
export default function Versions({ id }: { id: string }) {
  const { org, now } = useFrame();
  const address = useAddress();
  const chosen = address.searchParams.get("version") ?? "";
  const after = address.searchParams.get("after") ?? "";
  const board = useCall("DashboardsService/GetDashboard", { id });
  const found = useCall("DashboardsService/ListDashboardVersions", { id, limit: 50, ...(after ? { cursor: after } : {}) });
  const name = board.data?.name ?? "";
  useEffect(() => {
    document.title = `Versions of ${line(name, 60)} · ${org.name} · svc`;
  }, [name, org.name]);
  const all = found.data?.data ?? [];
  const at = Math.max(
    0,
    all.findIndex((v) => v.id === chosen),
  );
  const one = all[at];
  return (
    <>
      <div className="pagehead">
        <h1>
          <Link href={href("/dashboards")}>Dashboards</Link> › <Link href={href(`/dashboards/${id}`)}>{line(name, 100) || "…"}</Link> ›
          Versions
        </h1>
      </div>
      <div className="w-versions">
        <section className="panel">
          <Load of={found} lines={8} empty={(d) => !d.data?.length && <Empty title="No versions" />}>
            {(d) => (
              <>
                <ul className="w-versionlist">
                  {all.map((v, i) => (
                    <li key={v.id}>
                      <button type="button" aria-pressed={i === at} onClick={() => change({ version: v.id ?? "" })}>
                        <b>{v.versionNumber}</b>
                        <span className="clip grow" title={line(v.changeSummary ?? "", 400)}>
                          {line(v.changeSummary || (v.changeKind ?? "").replaceAll("_", " "), 200)}
                        </span>
                        <span className="faint" title={exact(v.createdAt)}>
                          {ago(v.createdAt, now)}
                        </span>
                      </button>
                    </li>
                  ))}
                </ul>
                {(d.hasMore || after) && (
                  <p className="notice row">
                    <span className="grow" />
                    {after && (
                      <button type="button" className="button small" onClick={() => change({ after: null, version: null })}>
                        Newest
                      </button>
                    )}
                    {d.hasMore && (
                      <button type="button" className="button small" onClick={() => change({ after: d.nextCursor ?? null, version: null })}>
                        Older
                      </button>
                    )}
                  </p>
                )}
              </>
            )}
          </Load>
        </section>
        {one && board.data && (
          <One key={one.id} id={id} version={one} before={all[at + 1]} current={board.data} newest={at === 0 && !after} />
        )}
      </div>
    </>
  );
}

function One({
  id,
  version,
  before,
  current,
  newest,
}: {
  id: string;
  version: DashboardVersion;
  before: DashboardVersion | undefined;
  current: Dashboard;
  newest: boolean;
}) {
  const address = useAddress();
  const against = address.searchParams.get("against") === "now" && !newest ? "now" : "before";
  const [ask, setAsk] = useState(false);
  const mine = useCall("DashboardsService/GetDashboardVersion", { id, versionId: version.id ?? "" }, { keep: false });
  const other = useCall(
    "DashboardsService/GetDashboardVersion",
    { id, versionId: before?.id ?? "" },
    { enabled: against === "before" && before !== undefined, keep: false },
  );
  const restore = useAct("DashboardsService/RestoreDashboardVersion", () => navigate(href(`/dashboards/${id}`)));
  const shown = mine.data?.snapshot;
  const base = against === "now" ? current : other.data?.snapshot;
  return (
    <section className="panel">
      <header>
        <h2 className="grow">
          Version {version.versionNumber} <span className="faint">{stamp(version.createdAt)}</span>
        </h2>
        <div className="row" role="group" aria-label="Compared with">
          <button type="button" className="button small" aria-pressed={against === "before"} onClick={() => change({ against: null })}>
            What it changed
          </button>
          {!newest && (
            <button type="button" className="button small" aria-pressed={against === "now"} onClick={() => change({ against: "now" })}>
              Against now
            </button>
          )}
        </div>
        <button type="button" className="button small" disabled={newest} onClick={() => setAsk(true)}>
          Restore
        </button>
      </header>
      <div className="body w-stack">
        <Load of={mine} lines={6}>
          {() => (
            <>
              <div className="w-sketches">
                {base && (
                  <figure>
                    <figcaption className="faint">{against === "now" ? "Now" : `Version ${before?.versionNumber}`}</figcaption>
                    <Sketch tiles={tilesOf(base)} whole />
                  </figure>
                )}
                <figure>
                  <figcaption className="faint">Version {version.versionNumber}</figcaption>
                  <Sketch tiles={tilesOf(shown ?? {})} whole />
                </figure>
              </div>
              {base && shown ? (
                <Changes of={differences(base, shown)} />
              ) : (
                <p className="faint">{before ? "…" : "This is the first version that is kept."}</p>
              )}
            </>
          )}
        </Load>
      </div>
      {ask && (
        <Confirm
          title={`Restore version ${version.versionNumber}?`}
          act="Restore"
          busy={restore.isPending}
          close={(yes) => (yes ? restore.mutate({ id, versionId: version.id ?? "" }) : setAsk(false))}
        >
          <p>The dashboard gets the definition of that version, as a new version. The present one stays in this list.</p>
          <FormError error={restore.error} />
        </Confirm>
      )}
    </section>
  );
}
