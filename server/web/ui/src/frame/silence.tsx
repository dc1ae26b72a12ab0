import { stretch } from "../parts/format";
import { Empty, Waiting } from "../parts/states";
import { exact, stamp } from "../parts/time";
import { href, Link } from "./router";
import { useCall, useFrame } from "./session";

const names = { traces: "spans", logs: "log records", metrics: "metrics" };

/** Silence says why a window without a filter is empty: nothing was ever sent, or the last record came at another time. */
export function Silence({ signal, path }: { signal: keyof typeof names; path: string }) {
  const signals = useCall("InstrumentationService/GetTelemetrySignals", {});
  if (signals.isPending) return <Waiting lines={4} />; // a person who has data is not told how to begin
  const known = signals.data?.signals?.find((s) => s.signal === signal);
  const last = Date.parse(known?.lastSeen ?? "");
  if (known?.status === "present" && !Number.isNaN(last)) {
    const at = (ms: number): string => new Date(ms).toISOString();
    return (
      <Empty title={`No ${names[signal]} in this window`}>
        <p>
          The last one came at <span title={exact(known.lastSeen)}>{stamp(known.lastSeen).slice(0, 19)}</span>.
        </p>
        <Link className="button primary" href={href(path, { from: at(last - 36e5), to: at(last + 6e4) })}>
          Show the last hour with data
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title={known?.status === "absent" ? `No ${names[signal]} were sent yet` : `No ${names[signal]} in this window`}>
      <p>Any OpenTelemetry SDK or Collector can send them. It takes a minute.</p>
      <Link className="button primary" href={href("/start")}>
        Get started
      </Link>
    </Empty>
  );
}

const late = 10 * 60_000;

/** Stale says that telemetry has stopped. All figures of a window that ends now are then from before that. */
export function Stale() {
  const { now, span } = useFrame();
  const signals = useCall("InstrumentationService/GetTelemetrySignals", {});
  const last = signals.data?.signals?.find((s) => s.signal === "traces")?.lastSeen;
  const silent = now - Date.parse(last ?? "");
  if (span.to !== "now" || !(silent > late)) return null;
  return (
    <p className="panel fine" role="status">
      <b className="warn">No span came for {stretch(silent)}.</b> The last one is of{" "}
      <span title={exact(last)}>{stamp(last).slice(0, 19)}</span>, so the figures below may be from before the problem.{" "}
      <Link href={href("/start")}>See what arrives</Link>
    </p>
  );
}
