import { href, Link, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { Recommendation } from "../../gen/api";
import { FormError } from "../../parts/form";
import { count, line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { Pages } from "./parts";

const states: Record<string, string> = { open: "● open", dismissed: "○ dismissed", applied: "✓ mapped", resolved: "✓ no longer sent" };

/** Recommendations lists attributes of spans that have a better name, and makes mappings of them. */
export function Recommendations() {
  const { org, now } = useFrame();
  const admin = org.role === "org:admin";
  const after = useAddress().searchParams.get("after");
  const found = useCall("InstrumentationService/ListInstrumentationRecommendations", { limit: 50, ...(after ? { cursor: after } : {}) });
  const dismiss = useAct("InstrumentationService/DismissInstrumentationRecommendation");
  const reopen = useAct("InstrumentationService/ReopenInstrumentationRecommendation");
  return (
    <section className="panel">
      <header>
        <h2>Recommendations</h2>
      </header>
      <FormError error={dismiss.error ?? reopen.error} />
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length &&
          !after && (
            <Empty title="No recommendation">
              <p>The server looks for attributes of spans with deprecated or unusual names.</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <>
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col">Attribute</th>
                  <th scope="col">Services</th>
                  <th scope="col" className="num w110">
                    Spans a day
                  </th>
                  <th scope="col" className="w160">
                    State
                  </th>
                  <th scope="col" className="w200">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {(d.data ?? []).map((r) => (
                  <tr key={r.id}>
                    <td className="free">
                      <Advice of={r} />
                    </td>
                    <td className="free faint">{line((r.services ?? []).map((s) => s.name).join(", "), 200)}</td>
                    <td className="num">{count(r.usageCount ?? 0)}</td>
                    <td className={r.status === "open" ? "" : "faint"} title={exact(r.updatedAt)}>
                      {states[r.status ?? ""] ?? r.status} {ago(r.updatedAt, now)}
                    </td>
                    <td>
                      {admin && (
                        <span className="row">
                          {r.status === "open" && r.canonicalKey && (
                            <Link
                              className="button small"
                              href={href("/settings/attribute-mappings", { new: "1", source: r.sourceKey, target: r.canonicalKey })}
                              aria-label={`Map ${line(r.sourceKey ?? "", 80)}`}
                            >
                              Map
                            </Link>
                          )}
                          {r.status === "open" && (
                            <button
                              type="button"
                              className="button small"
                              disabled={dismiss.isPending}
                              aria-label={`Dismiss ${line(r.sourceKey ?? "", 80)}`}
                              onClick={() => dismiss.mutate({ id: r.id ?? "" })}
                            >
                              Dismiss
                            </button>
                          )}
                          {r.status === "dismissed" && (
                            <button
                              type="button"
                              className="button small"
                              disabled={reopen.isPending}
                              aria-label={`Reopen ${line(r.sourceKey ?? "", 80)}`}
                              onClick={() => reopen.mutate({ id: r.id ?? "" })}
                            >
                              Reopen
                            </button>
                          )}
                        </span>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <Pages more={d.hasMore} next={d.nextCursor} after={after} />
          </>
        )}
      </Load>
    </section>
  );
}

function Advice({ of: r }: { of: Recommendation }) {
  const better = r.canonicalKey && <code>{line(r.canonicalKey, 200)}</code>;
  return (
    <>
      <code>{line(r.sourceKey ?? "", 200)}</code>{" "}
      <span className="faint">
        {r.kind === "naming" ? "is not dotted lower case" : r.kind === "double-emission" ? "is sent beside " : "is deprecated"}
        {r.kind !== "double-emission" && better && "; better: "}
      </span>
      {better}
    </>
  );
}
