import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, call } from "../api/client";
import { useFrame } from "../frame/session";
import type { Log, LogFilters } from "../gen/api";
import { Load } from "../parts/states";
import { merge, nearest, type Page } from "./tail";

const few = 10;
const most = 90; // a page holds 100
const farthest = 3_600_000;

/** scopesOf are the neighbourhoods of a record, the narrowest first. */
function scopesOf(l: Log): Array<[name: string, filters: LogFilters]> {
  const out: Array<[string, LogFilters]> = [];
  const service: LogFilters = l.serviceName ? { serviceName: l.serviceName } : {};
  for (const [name, key] of [
    ["Pod", "k8s.pod.name"],
    ["Instance", "service.instance.id"],
  ] as const) {
    const value = l.resourceAttributes?.[key];
    if (value) out.push([name, { ...service, resourceAttributes: [{ key, operator: "equals", value }] }]);
  }
  if (l.serviceName) out.push(["Service", service]);
  if (l.traceId) out.push(["Trace", { traceId: l.traceId }]);
  return out.length ? out : [["All", {}]];
}

/** Context shows the records before and after one, of the same pod, service or trace, without the filter of the page. */
export function Context({ log, children }: { log: Log; children: (log: Log, here: boolean) => React.ReactNode }) {
  const { org } = useFrame();
  const scopes = scopesOf(log);
  const [scope, setScope] = useState(scopes[0]?.[0] ?? "");
  const [before, setBefore] = useState(few);
  const [after, setAfter] = useState(few);
  const filters = scopes.find(([name]) => name === scope)?.[1] ?? {};
  const found = useQuery<{ rows: Log[]; earlier: boolean; later: boolean }, ApiError>({
    queryKey: [org.id, "context", log.id, scope, before, after],
    placeholderData: (last) => last,
    queryFn: async ({ signal }) => {
      const at = Date.parse(log.timestamp ?? "");
      const read = async (start: number, end: number): Promise<Page> => {
        const p = await call(
          "LogsService/SearchLogs",
          {
            startTime: new Date(start).toISOString(),
            endTime: new Date(end).toISOString(),
            limit: 100,
            filters,
          },
          { org: org.id ?? "", signal },
        );
        return { rows: p.data ?? [], more: p.hasMore ?? false };
      };
      // Windows end with whole milliseconds, so both halves may have records of the other. The order puts them right.
      const [past, next] = await Promise.all([
        read(at - farthest, at + 1),
        nearest((ms) => read(at, at + ms), Math.min(100, after + 10), farthest),
      ]);
      const { rows } = merge([], [...past.rows, ...next, log]);
      const here = rows.findIndex((l) => l.id === log.id);
      return {
        rows: rows.slice(Math.max(0, here - before), here + after + 1),
        earlier: here > before,
        later: rows.length > here + after + 1,
      };
    },
  });
  return (
    <section className="logcontext" aria-label="Context of the record">
      <div className="row wrap">
        <b>Context</b>
        {scopes.length > 1 &&
          scopes.map(([name]) => (
            <button key={name} type="button" className="button small" aria-pressed={name === scope} onClick={() => setScope(name)}>
              {name}
            </button>
          ))}
      </div>
      <Load of={found}>
        {(d) => (
          <>
            {d.earlier && before < most && (
              <button type="button" className="button small quiet" onClick={() => setBefore(most)}>
                More before
              </button>
            )}
            <div className="logs">
              {d.rows.map((l) => (
                <div key={l.id} className={l.id === log.id ? "here" : ""} aria-current={l.id === log.id || undefined}>
                  {children(l, l.id === log.id)}
                </div>
              ))}
            </div>
            {d.later && after < most && (
              <button type="button" className="button small quiet" onClick={() => setAfter(most)}>
                More after
              </button>
            )}
          </>
        )}
      </Load>
    </section>
  );
}
