import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { type ApiError, call } from "../../api/client";
import { change, href, Link, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import type { GetSessionReplayTranscriptResponse, SessionReplay, SessionReplayTranscriptEvent } from "../../gen/api";
import { count, duration, line } from "../../parts/format";
import { Copy, Empty, Failed, Load, Waiting } from "../../parts/states";
import { stamp } from "../../parts/time";
import { Virtual, type VirtualList } from "../../parts/virtual";
import { indexAt } from "../../player/plan";
import { At, Logs, Traces } from "./beside";
import { Lanes } from "./lanes";
import { who } from "./list";
import { Screen } from "./player";
import { type Player, usePlayer } from "./useplayer";
import { laneOf, lanes, wordsOf } from "./words";

const perPage = 100;

/** A session with more events has marks for the first ones until a person scrolls to the others. */
const mostMarks = 2000;

/** Replay shows one session: the visitor, a line of time with a lane for each kind of event, the events in words, and the traces. */
export function Replay({ id }: { id: string }) {
  const found = useCall("SessionReplaysService/GetSessionReplay", { id });
  return (
    <>
      <div className="pagehead">
        <h1>{found.data ? line(who(found.data), 80) : "Session"}</h1>
        <span className="grow" />
        <Copy text={id} label="Copy the id" />
      </div>
      <Load of={found} lines={4}>
        {(s) => (
          <>
            <About session={s} />
            <Played session={s} />
          </>
        )}
      </Load>
    </>
  );
}

function About({ session: s }: { session: SessionReplay }) {
  const facts: Array<[string, string]> = [
    ["Began", stamp(s.startTime)],
    ["Time", s.status === "active" ? "goes on" : duration(s.durationMs)],
    ["Active", duration(s.activeTimeMs)],
    ["Pages", count(s.pageViews ?? 0)],
    ["Clicks", count(s.clickCount ?? 0)],
    ["Errors", count(s.errorCount ?? 0)],
    ["Traces", count(s.traceCount ?? 0)],
    ["Browser", [s.browserName, s.osName, s.deviceType].filter(Boolean).join(", ")],
    ["Country", s.country ?? ""],
    ["Service", s.serviceName ?? ""],
    ["Came from", s.referrerHost || s.utmSource || ""],
    ["First page", s.entryPath ?? ""],
    ["Last page", s.exitPath ?? ""],
  ];
  return (
    <section className="panel" aria-label="The session">
      <dl className="replayfacts">
        {facts
          .filter(([, value]) => value && value !== "–")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd className={name === "Errors" && value !== "0" ? "bad" : ""}>{line(value, 200)}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

/** useTranscript reads the events of a session page after page, as they are scrolled to. */
function useTranscript(id: string, errorsOnly: boolean) {
  const { org } = useFrame();
  return useInfiniteQuery<GetSessionReplayTranscriptResponse, ApiError, { pages: GetSessionReplayTranscriptResponse[] }, unknown[], string>(
    {
      queryKey: [org.id, "transcript", id, errorsOnly],
      initialPageParam: "",
      queryFn: ({ pageParam, signal }) =>
        call(
          "SessionReplaysService/GetSessionReplayTranscript",
          { id, limit: perPage, ...(errorsOnly ? { errorsOnly } : {}), ...(pageParam ? { cursor: pageParam } : {}) },
          { org: org.id ?? "", signal },
        ),
      getNextPageParam: (p) => (p.hasMore ? p.nextCursor : undefined),
    },
  );
}

/** Played is the recording beside the events and the traces, which follow its time. */
function Played({ session: s }: { session: SessionReplay }) {
  const q = useAddress().searchParams;
  const [start] = useState(Math.max(0, Number(q.get("t")) || 0));
  const errorsOnly = q.get("errors") === "1";
  const player = usePlayer(s, start);
  const list = useTranscript(s.id ?? "", errorsOnly);
  const events = useMemo(() => (list.data?.pages ?? []).flatMap((p) => p.data ?? []), [list.data]);
  // The marks on the bar of time are those of all events.
  const { hasNextPage, isFetching, fetchNextPage, error } = list;
  useEffect(() => {
    if (player.state && hasNextPage && !isFetching && !error && events.length < mostMarks) void fetchNextPage();
  }, [player.state === undefined, hasNextPage, isFetching, error, events.length]);
  return (
    <div className="replaysession">
      <section className="panel" aria-label="The recording">
        <Screen player={player} events={events} />
      </section>
      <section className="panel replayevents">
        <header>
          <h2>Events</h2>
          <span className="faint">{list.data ? `${count(events.length)}${list.hasNextPage ? "+" : ""}` : ""}</span>
          <span className="grow" />
          <button
            type="button"
            className="button small"
            aria-pressed={errorsOnly}
            onClick={() => change({ errors: errorsOnly ? null : "1" }, true)}
          >
            Errors only
          </button>
        </header>
        {list.error ? (
          <Failed error={list.error} retry={() => list.refetch()} />
        ) : !list.data ? (
          <Waiting lines={8} />
        ) : events.length === 0 ? (
          <Empty title={errorsOnly ? "The session has no errors" : "The session has no events yet"} />
        ) : (
          <Events
            session={s}
            events={events}
            player={player}
            onNearEnd={() => {
              if (list.hasNextPage && !list.isFetching) void list.fetchNextPage();
            }}
          />
        )}
      </section>
      <div className="replaybeside">
        <Traces id={s.id ?? ""} started={Date.parse(s.startTime ?? "")} player={player} />
        <Logs session={s} player={player} />
      </div>
    </div>
  );
}

type EventsProps = { session: SessionReplay; events: SessionReplayTranscriptEvent[]; player: Player; onNearEnd: () => void };

/** Events lists what happened. The event at the time of the recording is marked, and stays in sight while it plays. */
function Events({ session: s, events, player, onNearEnd }: EventsProps) {
  const began = Date.parse(s.startTime ?? "");
  const times = useMemo(() => events.map((e) => Date.parse(e.timestamp ?? "")), [events]);
  const current = player.state ? indexAt(times, player.state.now) : -1;
  const list = useRef<VirtualList>(null);
  const playing = player.state?.playing ?? false;
  useEffect(() => {
    if (playing && current >= 0) list.current?.show(current);
  }, [playing, current]);
  return (
    <>
      {player.phase === "none" && <Lanes events={events} began={began} length={Math.max(s.durationMs ?? 0, 1)} />}
      <Virtual
        rows={events}
        keyOf={(e) => `${e.timestamp} ${e.seq}`}
        label="Events of the session"
        usual={30}
        className="replaylist"
        list={list}
        onNearEnd={onNearEnd}
      >
        {(e, i) => <Event event={e} began={began} player={player} current={i === current} />}
      </Virtual>
    </>
  );
}

function Event({
  event: e,
  began,
  player,
  current,
}: {
  event: SessionReplayTranscriptEvent;
  began: number;
  player: Player;
  current: boolean;
}) {
  const lane = laneOf(e);
  const at = Date.parse(e.timestamp ?? "");
  return (
    <div className={`replayevent${current ? " current" : ""}`} aria-current={current ? "time" : undefined}>
      <At at={at} began={began} player={player} />
      <span className={lane === "error" ? "bad" : "faint"}>{lanes[lane]}</span>
      <span className="replaywords">{line(wordsOf(e), 600)}</span>
      {e.traceId ? <Link href={href(`/traces/${e.traceId}`)}>Trace</Link> : <span />}
    </div>
  );
}
