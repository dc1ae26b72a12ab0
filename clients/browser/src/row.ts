// The row about a session.
import { parseAgent } from "./agent";
import type { Visitor } from "./identity";
import type { Stored } from "./session";
import { cut, stamp } from "./texts";

export type Status = "active" | "ended";

export interface Surroundings {
  /** The cleaned address of the page. */
  page: string;
  service: string;
  resource: Record<string, string>;
  visitor: Visitor | undefined;
}

/** sessionRow describes the session as it is now. Its version replaces lower ones. */
export function sessionRow(s: Stored, status: Status, around: Surroundings): object {
  const agent = parseAgent(navigator.userAgent, navigator.maxTouchPoints);
  return {
    session_id: s.id,
    version: s.version,
    status,
    start_time: stamp(s.startedAt),
    end_time: status === "ended" ? stamp(s.lastActivityAt) : null,
    last_activity_at: stamp(s.lastActivityAt),
    duration_ms: Math.max(0, s.lastActivityAt - s.startedAt),
    url_initial: s.url,
    referrer: s.referrer,
    ...s.utm,
    exit_path: around.page ? cut(new URL(around.page, location.href).pathname, 1024) : "",
    user_agent: cut(navigator.userAgent, 1024),
    browser_name: agent.browser,
    os_name: agent.os,
    device_type: agent.device,
    language: cut(navigator.language || "", 128),
    service_name: around.service,
    page_views: s.pages,
    click_count: s.clicks,
    error_count: s.errors,
    trace_ids: s.traceIds,
    resource_attributes: { ...around.resource, "session.id": s.id },
    visitor_id: around.visitor?.id,
    visitor_is_new: around.visitor ? Number(around.visitor.isNew) : undefined,
    ...s.user,
  };
}
