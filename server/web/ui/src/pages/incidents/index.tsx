import { useEffect, useState } from "react";
import { badOf, CauseTabs, figure, kindNames, peopleOf, stepsOf } from "../../frame/cause";
import { AddFinding } from "../../frame/finding";
import { change, href, Link, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { Incident } from "../../gen/api";
import { SearchWindow } from "../../gen/limits";
import { lasts, line, stretch } from "../../parts/format";
import { Empty, Load, Service } from "../../parts/states";
import { clock, exact, moment } from "../../parts/time";
import { Views } from "../../views/save";
import { Lanes } from "./lanes";
import "../home.css";
import "./incidents.css";

/** Incidents finds what went wrong in the window, without a suspect: when, where, the likeliest cause, and for whom. */
export default function Incidents() {
  const { window: w, env, org } = useFrame();
  const address = useAddress();
  const service = address.searchParams.get("service") ?? "";
  const long = w.end - w.start > SearchWindow;
  const window = times(long ? { start: w.end - SearchWindow, end: w.end } : w);
  const request = { ...window, ...(env ? { deploymentEnvironment: env } : {}), ...(service ? { serviceName: service } : {}) };
  const found = useCall("DiagnosisService/SearchIncidents", request);
  const releases = useCall("ServicesService/SearchReleases", {
    ...window,
    limit: 100,
    ...(env ? { deploymentEnvironment: env } : {}),
    ...(service ? { serviceName: service } : {}),
  });
  const markers = useCall("MarkersService/ListMarkers", {
    ...window,
    limit: 100,
    ...(env ? { deploymentEnvironment: env } : {}),
    ...(service ? { serviceName: service } : {}),
  });
  useEffect(() => {
    document.title = `Incidents · ${org.name} · svc`;
  }, [org.name]);
  const end = Date.parse(found.data?.endTime ?? "") || w.end;
  const all = found.data?.data ?? [];
  const at = Math.min(Number(address.searchParams.get("i") ?? -1), all.length - 1);
  return (
    <>
      <div className="pagehead">
        <h1>Incidents</h1>
        {service && (
          <button type="button" className="button small" onClick={() => change({ service: null })}>
            {line(service, 80)} ×
          </button>
        )}
        <span className="grow" />
        {["-6h", "-24h", "-7d"].map((from) => (
          <button
            key={from}
            type="button"
            className="button small"
            aria-pressed={address.searchParams.get("from") === from && !address.searchParams.get("to")}
            onClick={() => change({ from, to: null, i: null })}
          >
            {{ "-6h": "6 hours", "-24h": "24 hours", "-7d": "7 days" }[from]}
          </button>
        ))}
        <Views page="incidents" />
      </div>
      <CauseTabs at="incidents" />
      {long && <p className="panel fine warn">The last {lasts(SearchWindow)} of the window are searched.</p>}
      <Load
        of={found}
        lines={10}
        empty={(d) =>
          !d.data?.length && (
            <div className="panel">
              <Empty title={d.seriesCount ? "Every service is like itself" : "Nothing could be compared"}>
                {d.seriesCount ? (
                  <p>
                    {d.seriesCount} series of services, dependencies, errors, logs and resources were compared with their own past, and none
                    changed in a way that chance does not explain.
                  </p>
                ) : (
                  <p>No service sent data in this window.</p>
                )}
                {(d.seriesCount ?? 0) > 0 && d.beforeIsEmpty && (
                  <p className="warn">The time before the window has no data, so only the quiet parts of the window could be compared.</p>
                )}
                <div className="row">
                  <button type="button" className="button" onClick={() => change({ from: "-24h", to: null })}>
                    Last 24 hours
                  </button>
                  <Link className="button" href={href("/alerts")}>
                    Alerts
                  </Link>
                </div>
              </Empty>
            </div>
          )
        }
      >
        {(d) => (
          <div className="lay">
            <Lanes
              of={d}
              releases={releases.data?.data ?? []}
              markers={markers.data?.data ?? []}
              at={at}
              pick={(i) => {
                change({ i: String(i) }, true);
                document.getElementById(`incident-${i}`)?.scrollIntoView({ block: "start" });
              }}
            />
            {all.map((i, n) => (
              <One key={`${i.serviceName}${i.startTime}`} i={i} n={n} end={end} current={n === at} request={request} />
            ))}
            <p className="faint about">
              {d.seriesCount} series were searched, with {Math.round((d.bucketSeconds ?? 60) / 60)}-minute steps, and compared with the time
              since {moment(Date.parse(d.comparedFrom ?? ""))}.{d.beforeIsEmpty && " The time before the window has no data."}{" "}
              {(d.notSearched ?? []).length > 0 && `Not searched: ${d.notSearched?.map((t) => line(t, 200)).join("; ")}.`}
            </p>
          </div>
        )}
      </Load>
    </>
  );
}

function One({ i, n, end, current, request }: { i: Incident; n: number; end: number; current: boolean; request: Record<string, unknown> }) {
  const from = Date.parse(i.startTime ?? "");
  const to = i.endTime ? Date.parse(i.endTime) : end;
  const people = peopleOf(i);
  const steps = stepsOf(i, end);
  const [all, setAll] = useState(false);
  const more = (i.symptoms?.length ?? 0) - 8;
  return (
    <article id={`incident-${n}`} className={`panel incident${current ? " current" : ""}`} aria-labelledby={`incident-${n}-title`}>
      <header>
        <h2 id={`incident-${n}-title`} className="grow">
          <Service name={line(i.serviceName ?? "", 100)} />: {line(i.cause?.statement ?? "", 600)}
        </h2>
        <span className="chip" title="Kind of the cause">
          {kindNames[i.cause?.kind ?? ""] ?? i.cause?.kind}
        </span>
        <span className="faint" title="Confidence in the cause">
          {Math.round((i.confidence ?? 0) * 100)}
          {"\u2009"}% sure
        </span>
      </header>
      <div className="when">
        <span title={exact(i.startTime)}>
          <b>{clock(from).slice(0, 5)}</b>–<b className={i.endTime ? "" : "bad"}>{i.endTime ? clock(to).slice(0, 5) : "now"}</b>{" "}
          <span className="faint">
            {moment(from).slice(0, 10)}, {stretch(to - from)}
          </span>
        </span>
        {people && (
          <span>
            <b>{people}</b>
          </span>
        )}
        {(i.serviceNames ?? []).length > 1 && (
          <span className="faint">
            also felt in{" "}
            {i.serviceNames?.slice(1, 6).map((s, k) => (
              <span key={s}>
                {k > 0 && ", "}
                <Link href={href(`/services/${encodeURIComponent(s)}`, { from: i.startTime, to: i.endTime ?? "now" })}>{line(s, 60)}</Link>
              </span>
            ))}
          </span>
        )}
        {(i.deploymentEnvironments ?? []).length > 0 && (
          <span className="faint">{i.deploymentEnvironments?.map((e) => line(e || "no environment", 40)).join(", ")}</span>
        )}
      </div>
      <nav className="row wrap steps" aria-label="Next steps">
        {steps.map((s, k) => (
          <Link key={s.name} className={`button${k === 0 ? " primary" : ""}`} href={s.href}>
            {s.name}
          </Link>
        ))}
        <AddFinding
          className="button"
          finding={{
            text: `${i.serviceName}: ${i.cause?.statement}`,
            ...(i.firstSymptom?.value === undefined
              ? {}
              : { value: i.firstSymptom.value, unit: i.firstSymptom.unit === "1" ? "share" : (i.firstSymptom.unit ?? "") }),
            call: "searchIncidents",
            request,
          }}
        />
      </nav>
      <table className="data fold">
        <thead>
          <tr>
            <th scope="col">Symptom</th>
            <th scope="col" className="w160">
              Service
            </th>
            <th scope="col" className="num w110">
              Then
            </th>
            <th scope="col" className="num w110">
              Usual
            </th>
            <th scope="col" className="w160">
              From, to
            </th>
          </tr>
        </thead>
        <tbody>
          {(i.symptoms ?? []).slice(0, all ? undefined : 8).map((s) => (
            <tr key={`${s.kind}${s.serviceName}${s.subject}${s.deploymentEnvironment}`}>
              <td title={line(s.statement ?? "", 500)}>
                {s.kind === "error_group" && s.subject ? (
                  <Link className="main" href={href(`/errors/${s.subject}`, { from: i.startTime, to: i.endTime ?? "now" })}>
                    {line(s.statement ?? "", 300)}
                  </Link>
                ) : (
                  line(s.statement ?? "", 300)
                )}
              </td>
              <td className="faint">{line(s.serviceName ?? "", 60)}</td>
              <td className="num bad">{figure(s, "value")}</td>
              <td className="num faint">{figure(s, "usual")}</td>
              <td className="faint">
                {clock(Date.parse(s.startTime ?? "")).slice(0, 5)}–{s.endTime ? clock(Date.parse(s.endTime)).slice(0, 5) : "now"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && !all && (
        <p className="fine">
          <button type="button" className="button small" onClick={() => setAll(true)}>
            {more} more {more === 1 ? "symptom" : "symptoms"}
          </button>
        </p>
      )}
      {(i.markers ?? []).length > 0 && (
        <p className="fine">
          Changes shortly before and in it:{" "}
          {i.markers?.map((m, k) => (
            <span key={m.id}>
              {k > 0 && "; "}
              <b>{clock(Date.parse(m.occurredAt ?? "")).slice(0, 5)}</b> {m.kind}: {line(m.title ?? "", 120)}
            </span>
          ))}
        </p>
      )}
      {badOf(i).kind === "any" && !people && <p className="fine">No failed trace was found; the change is in load or resources.</p>}
    </article>
  );
}
