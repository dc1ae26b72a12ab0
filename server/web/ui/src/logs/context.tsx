import { useState } from "react";
import { useCall } from "../frame/session";
import type { GetLogContextRequest, Log } from "../gen/api";
import { DefaultLogContext, LogContext } from "../gen/limits";
import { Load } from "../parts/states";

type Scope = NonNullable<GetLogContextRequest["scope"]>;

/** scopesOf are the neighbourhoods of a record, the narrowest first. */
function scopesOf(l: Log): Array<[scope: Scope, name: string]> {
  const of = l.resourceAttributes ?? {};
  const out: Array<[Scope, string]> = [];
  if (of["k8s.pod.name"]) out.push(["pod", "Pod"]);
  if (of["service.instance.id"]) out.push(["instance", "Instance"]);
  out.push(["service", "Service"]);
  if (l.traceId) out.push(["trace", "Trace"]);
  return out;
}

/** Context shows the records before and after one, of the same pod, service or trace, without the filter of the page. */
export function Context({ log, children }: { log: Log; children: (log: Log, here: boolean) => React.ReactNode }) {
  const scopes = scopesOf(log);
  const [scope, setScope] = useState<Scope>(scopes[0]?.[0] ?? "service");
  const [before, setBefore] = useState(DefaultLogContext);
  const [after, setAfter] = useState(DefaultLogContext);
  const found = useCall("LogsService/GetLogContext", { id: log.id ?? "", scope, before, after });
  return (
    <section className="logcontext" aria-label="Context of the record">
      <div className="row wrap">
        <b>Context</b>
        {scopes.length > 1 &&
          scopes.map(([s, name]) => (
            <button key={s} type="button" className="button small" aria-pressed={s === scope} onClick={() => setScope(s)}>
              {name}
            </button>
          ))}
      </div>
      <Load of={found}>
        {(d) => (
          <>
            {d.hasMoreBefore && before < LogContext && (
              <button type="button" className="button small quiet" onClick={() => setBefore(LogContext)}>
                More before
              </button>
            )}
            <div className="logs">
              {d.data?.map((l, i) => {
                const here = i === (d.position ?? 0);
                // Records that are equal in every column share their id.
                const nth = i - (d.data ?? []).findIndex((other) => other.id === l.id);
                return (
                  <div key={`${l.id} ${nth}`} className={here ? "here" : ""} aria-current={here || undefined}>
                    {children(l, here)}
                  </div>
                );
              })}
            </div>
            {d.hasMoreAfter && after < LogContext && (
              <button type="button" className="button small quiet" onClick={() => setAfter(LogContext)}>
                More after
              </button>
            )}
          </>
        )}
      </Load>
    </section>
  );
}
