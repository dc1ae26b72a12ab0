import { Empty } from "../parts/states";
import { exact, stamp } from "../parts/time";
import { href, Link } from "./router";
import { useCall } from "./session";

const names = { traces: "spans", logs: "log records", metrics: "metrics" };

/** Silence says why a window without a filter is empty: nothing was ever sent, or the last record came at another time. */
export function Silence({ signal, path }: { signal: keyof typeof names; path: string }) {
  const signals = useCall("InstrumentationService/GetTelemetrySignals", {});
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
