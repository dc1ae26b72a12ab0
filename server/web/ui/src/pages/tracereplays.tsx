import { href, Link } from "../frame/router";
import { useCall } from "../frame/session";
import type { TraceSkeleton } from "../gen/api";

const day = 86_400_000;

/** TraceReplays leads to the sessions of visitors in which a trace happened, at its time. */
export function TraceReplays({ id, skeleton }: { id: string; skeleton: TraceSkeleton }) {
  const at = Date.parse(skeleton.startTime ?? "");
  const found = useCall("SessionReplaysService/ListSessionReplaysForTrace", {
    traceId: id,
    startTime: new Date(at - day).toISOString(),
    endTime: new Date(at + day).toISOString(),
    limit: 3,
  });
  return (
    <>
      {(found.data?.data ?? []).map((s) => {
        const after = at - Date.parse(s.startTime ?? "");
        return (
          <Link
            key={s.id}
            className="button"
            href={href(`/replays/${encodeURIComponent(s.id ?? "")}`, after > 0 ? { t: String(after) } : {})}
          >
            Session
          </Link>
        );
      })}
    </>
  );
}
