import { useState } from "react";
import { change, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import type { AuditLogEntry } from "../../gen/api";
import { block, line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { exact, iso, stamp } from "../../parts/time";
import { Pages } from "./parts";

const actors = { user: "People", api_key: "Keys", agent: "Agents", system: "The server" } as const;

/** AuditLog lists who changed or read something in the window, with the values before and after. */
export function AuditLog() {
  const { window: w } = useFrame();
  const p = useAddress().searchParams;
  const after = p.get("after");
  const actor = Object.keys(actors).find((a) => a === p.get("actor")) as keyof typeof actors | undefined;
  const denied = p.get("denied") === "1";
  const [open, setOpen] = useState("");
  const narrow = {
    ...(actor ? { actorType: actor } : {}),
    ...(p.get("action") ? { action: p.get("action")! } : {}),
    ...(denied ? { outcome: "denied" as const } : {}),
  };
  const found = useCall("AuditLogService/ListAuditLogEntries", {
    since: iso(w.start),
    until: iso(w.end),
    limit: 50,
    ...narrow,
    ...(after ? { cursor: after } : {}),
  });
  const set = (parameters: Record<string, string | null>): void => change({ ...parameters, after: null });
  return (
    <section className="panel">
      <header>
        <h2>Audit log</h2>
      </header>
      <form
        className="row auditbar"
        role="search"
        onSubmit={(e) => {
          e.preventDefault();
          set({ action: String(new FormData(e.currentTarget).get("action") ?? "").trim() || null });
        }}
      >
        <input
          key={p.get("action")}
          className="field grow"
          data-bar=""
          name="action"
          type="search"
          aria-label="Action"
          placeholder="Action, as in alert_rule.updated"
          defaultValue={p.get("action") ?? ""}
        />
        <select className="field" aria-label="Actor" value={actor ?? ""} onChange={(e) => set({ actor: e.target.value || null })}>
          <option value="">Every actor</option>
          {Object.entries(actors).map(([a, name]) => (
            <option key={a} value={a}>
              {name}
            </option>
          ))}
        </select>
        <button type="button" className="button" aria-pressed={denied} onClick={() => set({ denied: denied ? null : "1" })}>
          Refused
        </button>
      </form>
      <Load
        of={found}
        lines={10}
        empty={(d) =>
          !d.data?.length && (
            <Empty title="No entry matches in this window">
              <button
                type="button"
                className="button"
                onClick={() => set({ actor: null, action: null, denied: null, from: "-30d", to: null })}
              >
                The last 30 days, everything
              </button>
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
                  <th scope="col">Actor</th>
                  <th scope="col">Action</th>
                  <th scope="col">On</th>
                  <th scope="col" className="w160">
                    From
                  </th>
                </tr>
              </thead>
              <tbody>
                {(d.data ?? []).map((e) => (
                  <Entry key={e.id} entry={e} open={open === e.id} toggle={() => setOpen(open === e.id ? "" : (e.id ?? ""))} />
                ))}
              </tbody>
            </table>
            <Pages more={d.hasMore} next={d.nextCursor} after={after} first="Latest" />
          </>
        )}
      </Load>
    </section>
  );
}

function Entry({ entry: e, open, toggle }: { entry: AuditLogEntry; open: boolean; toggle: () => void }) {
  const changed = e.changes?.fields ?? [];
  const details = {
    ...(e.changes ? { changes: e.changes } : {}),
    ...(Object.keys(e.metadata ?? {}).length ? { metadata: e.metadata } : {}),
    request_id: e.requestId,
  };
  return (
    <>
      <tr>
        <td className="faint" title={exact(e.occurredAt)}>
          {stamp(e.occurredAt)}
        </td>
        <td className="free">{line(e.actorName || e.actorId || e.actorType || "", 100)}</td>
        <td className="free">
          <button type="button" className="button small quiet" aria-expanded={open} onClick={toggle}>
            {e.action}
          </button>
          {e.outcome === "denied" && <span className="bad"> refused{e.denialReason ? `: ${line(e.denialReason, 100)}` : ""}</span>}
          {changed.length > 0 && <span className="faint"> {line(changed.join(", "), 120)}</span>}
        </td>
        <td className="free faint">{line([e.resourceType, e.resourceId].filter(Boolean).join(" "), 100)}</td>
        <td className="faint">{line([e.source, e.originIp, e.originCountry].filter(Boolean).join(" "), 80)}</td>
      </tr>
      {open && (
        <tr>
          <td colSpan={5} className="free">
            <pre className="changes">{block(JSON.stringify(details, null, 2))}</pre>
          </td>
        </tr>
      )}
    </>
  );
}
