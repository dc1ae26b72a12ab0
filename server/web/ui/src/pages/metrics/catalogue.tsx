import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { type ApiError, call } from "../../api/client";
import { change, href, Link, navigate } from "../../frame/router";
import { times, useFrame } from "../../frame/session";
import type { ListMetricsResponse } from "../../gen/api";
import { count, line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { prefixOf } from "./units";

type One = { points: number; type: string; unit: string; services: number };
export type Names = { all: Array<[string, One]>; list: ReturnType<typeof useList>; more: boolean };

const most = 2000;

function useList(search: string) {
  const { window: w, org } = useFrame();
  return useInfiniteQuery<ListMetricsResponse, ApiError, { pages: ListMetricsResponse[] }, unknown[], string>({
    queryKey: [org.id, "metrics", times(w), search],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      call(
        "MetricsService/ListMetrics",
        { ...times(w), limit: 100, ...(search ? { search } : {}), ...(pageParam ? { cursor: pageParam } : {}) },
        { org: org.id ?? "", signal },
      ),
    getNextPageParam: (p) => (p.hasMore ? p.nextCursor : undefined),
    placeholderData: (before) => before,
  });
}

/** useNames reads the names of the window, page by page, up to 2,000 rows. */
export function useNames(search: string): Names {
  const list = useList(search);
  const pages = list.data?.pages;
  const rows = (pages?.length ?? 0) * 100;
  const more = list.hasNextPage && rows >= most;
  useEffect(() => {
    if (list.hasNextPage && !list.isFetchingNextPage && !list.isPlaceholderData && !list.error && rows < most) void list.fetchNextPage();
  }, [list.hasNextPage, list.isFetchingNextPage, list.isPlaceholderData, list.error, rows, list.fetchNextPage]);
  const all = useMemo(() => {
    const found = new Map<string, One>();
    for (const m of pages?.flatMap((p) => p.data ?? []) ?? []) {
      const known = found.get(m.name ?? "");
      found.set(m.name ?? "", {
        points: (known?.points ?? 0) + (m.dataPointCount ?? 0),
        type: m.type ?? "",
        unit: m.unit ?? "",
        services: (known?.services ?? 0) + 1,
      });
    }
    return [...found].sort(([a], [b]) => a.localeCompare(b));
  }, [pages]);
  return { all, list, more };
}

type Props = {
  names: Names;
  search: string;
  at: string[];
  link: (name: string) => string;
  onPick: (name: string, add: boolean) => void;
  full: boolean;
};

/** Catalogue lists the metrics by the beginning of their names. */
export function Catalogue({ names, search, at, link, onPick, full }: Props) {
  const groups = useMemo(() => {
    const out = new Map<string, Array<[string, One]>>();
    for (const [n, m] of names.all) out.set(prefixOf(n), [...(out.get(prefixOf(n)) ?? []), [n, m]]);
    return [...out];
  }, [names.all]);
  const few = names.all.length <= 30 || search !== "";
  return (
    <section className="panel catalogue" aria-label="Metrics">
      <header>
        <form
          className="grow"
          onSubmit={(e) => {
            e.preventDefault();
            change({ q: String(new FormData(e.currentTarget).get("q") ?? "") || null });
          }}
        >
          <input
            key={search}
            className="field"
            data-bar=""
            name="q"
            type="search"
            aria-label="Search metrics"
            placeholder="Search metrics"
            defaultValue={search}
          />
        </form>
      </header>
      <Load
        of={names.list}
        empty={() =>
          names.all.length === 0 && (
            <Empty title={search ? "No metric matches" : "No metrics in this window"}>
              <button type="button" className="button" onClick={() => (search ? change({ q: null }) : navigate(href("/start")))}>
                {search ? "Drop the search" : "Get started"}
              </button>
            </Empty>
          )
        }
      >
        {() => (
          <>
            <p className="fine">
              {count(names.all.length)} metrics{names.list.hasNextPage && !names.more ? ", more come …" : ""}
            </p>
            {groups.map(([prefix, list]) =>
              list.length === 1 ? (
                <ul key={prefix}>
                  <Item name={list[0]![0]} of={list[0]![1]} at={at} link={link} onPick={onPick} full={full} />
                </ul>
              ) : (
                <details key={prefix} open={few || list.some(([n]) => at.includes(n)) || undefined}>
                  <summary>
                    <code className="grow clip">{line(prefix, 80)}</code>
                    <span className="faint">{list.length}</span>
                  </summary>
                  <ul>
                    {list.map(([n, m]) => (
                      <Item key={n} name={n} of={m} at={at} link={link} onPick={onPick} full={full} />
                    ))}
                  </ul>
                </details>
              ),
            )}
            {names.more && <p className="notice">More metrics exist. Search for others.</p>}
          </>
        )}
      </Load>
    </section>
  );
}

function Item({
  name,
  of: m,
  at,
  link,
  onPick,
  full,
}: {
  name: string;
  of: One;
  at: string[];
  link: (name: string) => string;
  onPick: (name: string, add: boolean) => void;
  full: boolean;
}) {
  return (
    <li>
      <Link
        href={link(name)}
        aria-current={at.includes(name) ? "page" : undefined}
        title={`${name}: ${m.type}${m.unit ? `, ${m.unit}` : ""}, ${count(m.points)} points`}
        onClick={(e) => {
          e.preventDefault();
          onPick(name, (e.metaKey || e.ctrlKey) && at.length > 0 && !full);
        }}
      >
        <span className="clip grow">{line(name, 200)}</span>
        <span className="faint">{m.type.replace("exponential_histogram", "exp. histogram")}</span>
      </Link>
    </li>
  );
}
