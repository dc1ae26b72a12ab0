import { href, Link } from "../../frame/router";
import { useCall } from "../../frame/session";
import type { Log, SessionReplay, SessionReplayTrace } from "../../gen/api";
import { count, duration, line, stretch } from "../../parts/format";
import { Load } from "../../parts/states";
import { exact, iso } from "../../parts/time";
import { indexAt } from "../../player/plan";
import { sessionOf } from "./sessionid";
import type { Player } from "./useplayer";

/** At is a time in the session. It leads the recording there. */
export function At({ at, began, player }: { at: number; began: number; player: Player }) {
  const text = stretch(Math.max(0, at - began));
  const title = exact(new Date(at).toISOString());
  if (!player.state)
    return (
      <span className="num faint" title={title}>
        {text}
      </span>
    );
  return (
    <button type="button" className="num replayat" title={title} aria-label={`Go to ${text}`} onClick={() => player.seek(at)}>
      {text}
    </button>
  );
}

/** Traces lists the traces of a session. Those that run at the time of the recording are marked. */
export function Traces({ id, started, player }: { id: string; started: number; player: Player }) {
  const found = useCall("SessionReplaysService/ListSessionReplayTraces", { id, limit: 100 });
  return (
    <section className="panel">
      <header>
        <h2>Traces</h2>
        <span className="faint">{found.data ? `${count(found.data.data?.length ?? 0)}${found.data.hasMore ? "+" : ""}` : ""}</span>
      </header>
      <Load of={found} empty={(d) => !d.data?.length && <p className="fine">No span names this session.</p>}>
        {(d) => (
          <ul className="list">
            {(d.data ?? []).map((t) => (
              <Trace key={t.traceId} trace={t} started={started} player={player} />
            ))}
          </ul>
        )}
      </Load>
    </section>
  );
}

function Trace({ trace: t, started, player }: { trace: SessionReplayTrace; started: number; player: Player }) {
  const at = Date.parse(t.startTime ?? "");
  const now = player.state?.now;
  const runs = now !== undefined && at <= now && now <= at + (t.durationMs ?? 0) + 1000; // short ones stay in sight for a second
  return (
    <li className={runs ? "current" : ""}>
      <Link href={href(`/traces/${t.traceId ?? ""}`)} className="clip">
        {line(t.rootSpanName || t.traceId || "", 100)}
      </Link>
      <span className="faint clip">{line(t.rootServiceName ?? "", 60)}</span>
      <span className="grow" />
      {t.hasError && <span className="bad">error</span>}
      <span className="num">{duration(t.durationMs)}</span>
      <At at={at} began={started} player={player} />
    </li>
  );
}

/** Logs lists the log records that name the session, in the order of time. The last one before the time of the recording is marked. */
export function Logs({ session: s, player }: { session: SessionReplay; player: Player }) {
  const began = Date.parse(s.startTime ?? "");
  const last = Math.max(began + (s.durationMs ?? 0), Date.parse(s.endTime ?? s.lastActivityAt ?? "") || 0);
  const window = { start: iso(began - 1000), end: iso(Math.min(last + 60_000, began + 86_400_000)) };
  const id = sessionOf(s.id ?? "");
  const found = useCall(
    "LogsService/SearchLogs",
    {
      startTime: window.start,
      endTime: window.end,
      limit: 100,
      filters: { attributes: [{ key: "session.id", operator: "equals", value: id ?? "" }] },
    },
    { enabled: id !== null },
  );
  if (id === null) return null;
  const rows = [...(found.data?.data ?? [])].reverse();
  const times = rows.map((l) => Date.parse(l.timestamp ?? ""));
  const current = player.state ? indexAt(times, player.state.now) : -1;
  return (
    <section className="panel">
      <header>
        <h2>Logs</h2>
        <span className="faint">{found.data ? `${count(rows.length)}${found.data.hasMore ? "+" : ""}` : ""}</span>
        <span className="grow" />
        <Link
          className="button small"
          href={href("/logs", { q: `session.id = ${JSON.stringify(id)}`, from: window.start, to: window.end })}
        >
          All
        </Link>
      </header>
      <Load of={found} empty={(d) => !d.data?.length && <p className="fine">No log record names this session.</p>}>
        {() => (
          <ul className="list replaylogs">
            {rows.map((l, i) => (
              <LogLine key={l.id} log={l} began={began} player={player} current={i === current} />
            ))}
          </ul>
        )}
      </Load>
    </section>
  );
}

function LogLine({ log: l, began, player, current }: { log: Log; began: number; player: Player; current: boolean }) {
  return (
    <li className={current ? "current" : ""} aria-current={current ? "time" : undefined}>
      <span className={(l.severityNumber ?? 0) >= 17 ? "bad" : "faint"}>{line(l.severityText ?? "", 10)}</span>
      <span className="clip grow">{line(l.body ?? "", 200)}</span>
      {l.traceId && <Link href={href(`/traces/${l.traceId}`)}>Trace</Link>}
      <At at={Date.parse(l.timestamp ?? "")} began={began} player={player} />
    </li>
  );
}
