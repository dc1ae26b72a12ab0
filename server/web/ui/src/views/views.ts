import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { type ApiError, call } from "../api/client";
import { href } from "../frame/router";
import { useFrame } from "../frame/session";
import type { SavedView } from "../gen/api";
import { isOneOf } from "../parts/choices";

export type ViewPage = NonNullable<SavedView["page"]>;

/** The pages that have saved views, with their names. */
export const viewPages: Record<ViewPage, string> = {
  services: "Services",
  map: "Map",
  traces: "Traces",
  logs: "Logs",
  errors: "Errors",
  metrics: "Metrics",
  incidents: "Incidents",
  replays: "Replays",
  events: "Events",
  agents: "Agents",
  sql: "SQL",
};

/** Parts of pages that have paths of their own. A view keeps the part as a parameter. */
const parts: Partial<Record<ViewPage, readonly string[]>> = { events: ["funnels", "paths"], agents: ["tools"] };
const hasPart = (page: string | undefined, part: string | undefined): boolean =>
  isOneOf(Object.keys(viewPages) as ViewPage[], page) && (parts[page]?.includes(part ?? "") ?? false);

/** A place in a list: other records stand there when the view is opened. */
const places = ["after", "offset", "i"];

/**
 * stateOf returns the part of an address that a view keeps: its parameters. A window of fixed times is left out, with the box on a heatmap, which has such
 * times: it would show the same past for good.
 */
export function stateOf(address: URL, more: Record<string, string> = {}): string {
  const p = new URLSearchParams(address.search);
  if (!(p.get("from") ?? "-").startsWith("-")) for (const name of ["from", "to", "sel"]) p.delete(name);
  for (const name of places) p.delete(name);
  const [, , , page, part] = address.pathname.split("/");
  if (part && hasPart(page, part)) p.set("part", part);
  for (const [name, value] of Object.entries(more)) p.set(name, value);
  return p.toString();
}

/** addressOf opens a view. Window and environment of the current page go along, unless the view has its own. */
export function addressOf(view: SavedView): string {
  const { part, ...parameters } = Object.fromEntries(new URLSearchParams(view.state ?? ""));
  return href(`/${view.page ?? ""}${hasPart(view.page, part) ? `/${part}` : ""}`, parameters);
}

/** useViews lists the views that the person sees, of one page or of all, by name. */
export function useViews(page?: ViewPage, enabled = true): UseQueryResult<SavedView[], ApiError> {
  const { org } = useFrame();
  return useQuery<SavedView[], ApiError>({
    queryKey: [org.id, "views", page ?? ""],
    enabled,
    queryFn: async ({ signal }) => {
      const all: SavedView[] = [];
      let cursor: string | undefined;
      do {
        const request = { limit: 100, ...(page ? { page } : {}), ...(cursor ? { cursor } : {}) };
        const found = await call("SavedViewsService/ListSavedViews", request, { org: org.id ?? "", signal });
        all.push(...(found.data ?? []));
        cursor = found.hasMore ? found.nextCursor : undefined;
      } while (cursor);
      return all;
    },
  });
}
