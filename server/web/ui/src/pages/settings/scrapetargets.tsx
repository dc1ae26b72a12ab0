import { useState } from "react";
import { change, href, Link, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { ScrapeTarget } from "../../gen/api";
import { Dialog } from "../../parts/dialog";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { ago, exact, stamp } from "../../parts/time";
import { Pages, useConfirm } from "./parts";
import { TargetForm } from "./targetform";

/** ScrapeTargets lists the endpoints that the server scrapes, with the outcome of the last scrape. */
export function ScrapeTargets() {
  const { org, now } = useFrame();
  const admin = org.role === "org:admin";
  const p = useAddress().searchParams;
  const after = p.get("after");
  const found = useCall("ScrapeTargetsService/ListScrapeTargets", { limit: 50, ...(after ? { cursor: after } : {}) }, { every: 30_000 });
  const [told, setTold] = useState<{ id: string; text: string; good: boolean } | null>(null);
  const update = useAct("ScrapeTargetsService/UpdateScrapeTarget");
  const remove = useAct("ScrapeTargetsService/DeleteScrapeTarget", () => sure.done());
  const probe = useAct("ScrapeTargetsService/ProbeScrapeTarget");
  const sure = useConfirm(remove.error, remove.isPending);
  const editing = found.data?.data?.find((t) => t.id === p.get("edit"));
  const checked = found.data?.data?.find((t) => t.id === p.get("checks"));
  const scrape = (t: ScrapeTarget): void => {
    setTold(null);
    probe.mutate(
      { id: t.id ?? "" },
      {
        onSuccess: (r) =>
          setTold({ id: t.id ?? "", good: r.success ?? false, text: r.success ? "It answers." : (r.lastScrapeError ?? "It failed.") }),
        onError: (e) => setTold({ id: t.id ?? "", good: false, text: e.message }),
      },
    );
  };
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Scrape targets</h2>
        {admin && (
          <Link className="button primary" href={href("/settings/scrape-targets", { new: "1" })}>
            New target
          </Link>
        )}
      </header>
      <FormError error={update.error} />
      <Load
        of={found}
        empty={(d) =>
          !d.data?.length &&
          !after && (
            <Empty title="No scrape target yet">
              <p>The server reads metrics from endpoints in the formats of Prometheus and OpenMetrics.</p>
            </Empty>
          )
        }
      >
        {(d) => (
          <>
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col">Target</th>
                  <th scope="col">State</th>
                  <th scope="col" className="num w80">
                    Every
                  </th>
                  <th scope="col" className="w200">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {(d.data ?? []).map((t) => (
                  <tr key={t.id}>
                    <td className="free">
                      <b>{line(t.name ?? "", 100)}</b> <span className="faint">{line(t.url ?? "", 200)}</span>
                    </td>
                    <td className="free">
                      <State target={t} now={now} />
                      {told?.id === t.id && (
                        <span className={told?.good ? "good" : "bad"} role="status">
                          {" "}
                          · {line(told?.text ?? "", 200)}
                        </span>
                      )}
                    </td>
                    <td className="num">{t.scrapeIntervalSeconds} s</td>
                    <td>
                      <span className="row">
                        <Link
                          className="button small"
                          href={href("/settings/scrape-targets", { checks: t.id })}
                          aria-label={`Checks of ${line(t.name ?? "", 80)}`}
                        >
                          Checks
                        </Link>
                        {admin && (
                          <>
                            <button
                              type="button"
                              className="button small"
                              disabled={probe.isPending}
                              aria-label={`Probe ${line(t.name ?? "", 80)}`}
                              onClick={() => scrape(t)}
                            >
                              Probe
                            </button>
                            <Menu
                              label={`More about ${line(t.name ?? "", 80)}`}
                              items={[
                                { name: "Edit", href: href("/settings/scrape-targets", { edit: t.id }) },
                                {
                                  name: t.enabled ? "Switch off" : "Switch on",
                                  act: () => update.mutate({ id: t.id ?? "", enabled: !t.enabled, updateMask: "enabled" }),
                                },
                                { name: "Metrics", href: href("/metrics", { q: "" }) },
                                {
                                  name: "Delete",
                                  danger: true,
                                  act: () =>
                                    sure.ask({
                                      title: `Delete ${line(t.name ?? "", 80)}?`,
                                      act: "Delete",
                                      text: "It is not scraped any more. Its metrics stay until their retention ends.",
                                      run: () => remove.mutate({ id: t.id ?? "" }),
                                    }),
                                },
                              ]}
                            >
                              ⋯
                            </Menu>
                          </>
                        )}
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <Pages more={d.hasMore} next={d.nextCursor} after={after} />
          </>
        )}
      </Load>
      {sure.dialog}
      {admin && p.get("new") && <TargetForm close={() => change({ new: null })} />}
      {admin && editing && <TargetForm key={editing.id} of={editing} close={() => change({ edit: null })} />}
      {checked && <Checks key={checked.id} target={checked} close={() => change({ checks: null })} />}
    </section>
  );
}

function State({ target: t, now }: { target: ScrapeTarget; now: number }) {
  if (!t.enabled) return <span className="faint">○ off</span>;
  if (t.lastScrapeError)
    return (
      <span className="bad">
        ✖ {t.lastScrapeAt ? `${ago(t.lastScrapeAt, now)}: ` : ""}
        {line(t.lastScrapeError, 200)}
      </span>
    );
  if (t.lastScrapeAt) return <span className="good">✓ scraped {ago(t.lastScrapeAt, now)}</span>;
  return <span className="faint">not scraped yet</span>;
}

function Checks({ target, close }: { target: ScrapeTarget; close: () => void }) {
  const found = useCall("ScrapeTargetsService/ListScrapeTargetChecks", { id: target.id ?? "", limit: 50 });
  return (
    <Dialog title={`Checks of ${line(target.name ?? "", 80)}`} close={close} wide>
      <Load of={found} empty={(d) => !d.data?.length && <p className="fine">No check yet.</p>}>
        {(d) => (
          <table className="data fold">
            <thead>
              <tr>
                <th scope="col" className="w200">
                  Time
                </th>
                <th scope="col">Outcome</th>
                <th scope="col" className="num w110">
                  Samples
                </th>
                <th scope="col" className="num w90">
                  Took
                </th>
              </tr>
            </thead>
            <tbody>
              {(d.data ?? []).map((c) => (
                <tr key={`${c.timestamp} ${c.subTargetKey}`}>
                  <td className="faint" title={exact(c.timestamp)}>
                    {stamp(c.timestamp)}
                  </td>
                  <td className={`free ${c.success ? "good" : "bad"}`}>{c.success ? "✓ scraped" : `✖ ${line(c.message ?? "", 200)}`}</td>
                  <td className="num">{c.samplesScraped ?? "–"}</td>
                  <td className="num">{c.durationSeconds === undefined ? "–" : `${c.durationSeconds.toFixed(2)} s`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Load>
    </Dialog>
  );
}
