import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type ApiError, call } from "../../api/client";
import { change, href, Link, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import type { GetSessionReplayTranscriptResponse, SessionReplay, SessionReplayTrace, SessionReplayTranscriptEvent } from "../../gen/api";
import { count, duration, line, stretch } from "../../parts/format";
import { Copy, Empty, Failed, Load, Waiting } from "../../parts/states";
import { exact, stamp } from "../../parts/time";
import { Virtual } from "../../parts/virtual";
import { laneOf, lanes, wordsOf } from "./words";
import { who } from "./list";

const perPage = 100;

/** Replay shows one session: the visitor, a line of time with a lane for each kind of event, the events in words, and the traces. */
export function Replay({ id }: { id: string }) {
  const found = useCall("SessionReplaysService/GetSessionReplay", { id });
  return (
    <>
      <div className="pagehead">
        <h1>{found.data ? line(who(found.data), 80) : "Session"}</h1>
        <span className="grow" />
        <Copy text={id} label="Copy the id" />
        <Link className="button" href={href("/logs", { q: `session.id = ${JSON.stringify(id)}` })}>Logs</Link>
      </div>
      <Load of={found} lines={4}>
        {(s) => (
          <>
            <About session={s} />
            <div className="replaysession">
              <Events session={s} />
              <Traces id={id} started={Date.parse(s.startTime ?? "")} />
            </div>
          </>
        )}
      </Load>
    </>
  );
}

function About({ session: s }: { session: SessionReplay }) {
  const facts: Array<[string, string]> = [
    ["Began", stamp(s.startTime)], ["Time", s.status === "active" ? "goes on" : duration(s.durationMs)], ["Active", duration(s.activeTimeMs)],
    ["Pages", count(s.pageViews ?? 0)], ["Clicks", count(s.clickCount ?? 0)], ["Errors", count(s.errorCount ?? 0)], ["Traces", count(s.traceCount ?? 0)],
    ["Browser", [s.browserName, s.osName, s.deviceType].filter(Boolean).join(", ")], ["Country", s.country ?? ""], ["Service", s.serviceName ?? ""],
    ["Came from", s.referrerHost || s.utmSource || ""], ["First page", s.entryPath ?? ""], ["Last page", s.exitPath ?? ""],
  ];
  return (
    <section className="panel" aria-label="The session">
      <dl className="replayfacts">
        {facts.filter(([, value]) => value && value !== "–").map(([name, value]) => (
          <div key={name}><dt>{name}</dt><dd className={name === "Errors" && value !== "0" ? "bad" : ""}>{line(value, 200)}</dd></div>
        ))}
      </dl>
    </section>
  );
}

/** useTranscript reads the events of a session page after page, as they are scrolled to. */
function useTranscript(id: string, errorsOnly: boolean) {
  const { org } = useFrame();
  return useInfiniteQuery<GetSessionReplayTranscriptResponse, ApiError, { pages: GetSessionReplayTranscriptResponse[] }, unknown[], string>({
    queryKey: [org.id, "transcript", id, errorsOnly],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => call(
      "SessionReplaysService/GetSessionReplayTranscript",
      { id, limit: perPage, ...(errorsOnly ? { errorsOnly } : {}), ...(pageParam ? { cursor: pageParam } : {}) }, { org: org.id ?? "", signal },
    ),
    getNextPageParam: (p) => (p.hasMore ? p.nextCursor : undefined),
  });
}

function Events({ session: s }: { session: SessionReplay }) {
  const errorsOnly = useAddress().searchParams.get("errors") === "1";
  const list = useTranscript(s.id ?? "", errorsOnly);
  const events = useMemo(() => (list.data?.pages ?? []).flatMap((p) => p.data ?? []), [list.data]);
  const began = Date.parse(s.startTime ?? "");
  return (
    <section className="panel replayevents">
      <header>
        <h2>Events</h2>
        <span className="faint">{list.data ? `${count(events.length)}${list.hasNextPage ? "+" : ""}` : ""}</span>
        <span className="grow" />
        <button type="button" className="button small" aria-pressed={errorsOnly} onClick={() => change({ errors: errorsOnly ? null : "1" }, true)}>Errors only</button>
      </header>
      {list.error ? <Failed error={list.error} retry={() => list.refetch()} /> : !list.data ? <Waiting lines={8} /> : events.length === 0 ? (
        <Empty title={errorsOnly ? "The session has no errors" : "The session has no events yet"} />
      ) : (
        <>
          <Lanes events={events} began={began} length={Math.max(s.durationMs ?? 0, 1)} />
          <Virtual
            rows={events} keyOf={(e) => `${e.timestamp} ${e.seq}`} label="Events of the session" usual={30} className="replaylist"
            onNearEnd={() => { if (list.hasNextPage && !list.isFetching) void list.fetchNextPage(); }}
          >
            {(e) => <Event event={e} began={began} />}
          </Virtual>
        </>
      )}
    </section>
  );
}

function Event({ event: e, began }: { event: SessionReplayTranscriptEvent; began: number }) {
  const lane = laneOf(e);
  return (
    <div className="replayevent">
      <span className="num faint" title={exact(e.timestamp)}>{stretch(Math.max(0, Date.parse(e.timestamp ?? "") - began))}</span>
      <span className={lane === "error" ? "bad" : "faint"}>{lanes[lane]}</span>
      <span className="replaywords">{line(wordsOf(e), 600)}</span>
      {e.traceId ? <Link href={href(`/traces/${e.traceId}`)}>Trace</Link> : <span />}
    </div>
  );
}

/** Lanes draws each kind of event along the time of the session. It repeats the list below, so readers of a screen skip it. */
function Lanes({ events, began, length }: { events: SessionReplayTranscriptEvent[]; began: number; length: number }) {
  const kinds = (Object.keys(lanes) as Array<keyof typeof lanes>).filter((k) => events.some((e) => laneOf(e) === k));
  return (
    <div className="replaylanes" aria-hidden="true">
      {kinds.map((k) => (
        <div key={k}>
          <span className="faint">{lanes[k]}</span>
          <svg viewBox="0 0 1000 10" preserveAspectRatio="none" width="100%" height="10">
            {events.filter((e) => laneOf(e) === k).map((e) => {
              const x = Math.min(1000, Math.max(0, ((Date.parse(e.timestamp ?? "") - began) / length) * 1000));
              return <line key={`${e.timestamp} ${e.seq}`} x1={x} x2={x} y1="0" y2="10" stroke={k === "error" ? "var(--bad)" : "var(--accent)"} vectorEffect="non-scaling-stroke" />;
            })}
          </svg>
        </div>
      ))}
    </div>
  );
}

function Traces({ id, started }: { id: string; started: number }) {
  const found = useCall("SessionReplaysService/ListSessionReplayTraces", { id, limit: 100 });
  return (
    <section className="panel">
      <header><h2>Traces</h2><span className="faint">{found.data ? `${count(found.data.data?.length ?? 0)}${found.data.hasMore ? "+" : ""}` : ""}</span></header>
      <Load of={found} empty={(d) => !d.data?.length && <p className="fine">No span names this session.</p>}>
        {(d) => <ul className="list">{(d.data ?? []).map((t) => <Trace key={t.traceId} trace={t} started={started} />)}</ul>}
      </Load>
    </section>
  );
}

function Trace({ trace: t, started }: { trace: SessionReplayTrace; started: number }) {
  return (
    <li>
      <Link href={href(`/traces/${t.traceId ?? ""}`)} className="clip">{line(t.rootSpanName || t.traceId || "", 100)}</Link>
      <span className="faint clip">{line(t.rootServiceName ?? "", 60)}</span>
      <span className="grow" />
      {t.hasError && <span className="bad">error</span>}
      <span className="num">{duration(t.durationMs)}</span>
      <span className="num faint">after {stretch(Math.max(0, Date.parse(t.startTime ?? "") - started))}</span>
    </li>
  );
}
