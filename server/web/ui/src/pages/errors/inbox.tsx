import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type ApiError, call } from "../../api/client";
import { isFree } from "../../frame/keys";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import type { ErrorIssue, ListErrorIssuesRequest, ListErrorIssuesResponse } from "../../gen/api";
import { FormError } from "../../parts/form";
import { count, line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { ago, exact, iso } from "../../parts/time";
import { Acts } from "./acts";
import { severities, severityColor, type State, stateColor, stateNames, titleOf, useEach, usePeople } from "./work";

const day = 86_400_000;

/** filterOf is the filter that a tab stands for. */
export function filterOf(tab: string, now: number, myId: string | undefined): ListErrorIssuesRequest | null {
  if (tab === "new") return { workflowState: "triage", introducedAfter: iso(Math.floor((now - day) / 60_000) * 60_000) };
  if (tab === "regressed") return { workflowState: "regressed" };
  if (tab === "mine") return myId ? { assignedActorId: myId } : null;
  if (tab === "all") return {};
  return { actionable: "true" };
}

/** Inbox lists error issues for triage. x selects, s sets the state, a assigns. */
export function Inbox({ tab }: { tab: string }) {
  const { env, now, org } = useFrame();
  const address = useAddress();
  const people = usePeople();
  const each = useEach();
  const state = (Object.keys(stateNames) as State[]).find((s) => s === address.searchParams.get("state"));
  const severity = ([...severities, "unset"] as const).find((s) => s === address.searchParams.get("severity"));
  const sort = address.searchParams.get("sort") === "severity" ? "severity" : "last_seen";
  const kind = address.searchParams.get("kind") === "alert" ? "alert" : "error";
  const service = address.searchParams.get("service") ?? "";
  const search = address.searchParams.get("q") ?? "";
  const base = filterOf(tab, now, people.myId);
  const filter: ListErrorIssuesRequest = {
    ...base,
    limit: 50,
    sort,
    kind,
    // Incidents of alerts belong to no environment.
    ...(env && kind === "error" ? { deploymentEnvironment: env } : {}),
    ...(state && tab === "all" ? { workflowState: state } : {}),
    ...(severity ? { severity } : {}),
    ...(service ? { serviceName: service } : {}),
    ...(search ? { search } : {}),
    ...(address.searchParams.get("archived") ? { includeArchived: true } : {}),
  };
  const services = useCall("ErrorIssuesService/ListErrorIssueServiceCounts", {});
  const list = useInfiniteQuery<ListErrorIssuesResponse, ApiError, { pages: ListErrorIssuesResponse[] }, unknown[], string>({
    queryKey: [org.id, "issues", filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      call("ErrorIssuesService/ListErrorIssues", { ...filter, ...(pageParam ? { cursor: pageParam } : {}) }, { org: org.id ?? "", signal }),
    getNextPageParam: (p) => (p.hasMore ? p.nextCursor : undefined),
    placeholderData: (before) => before,
    enabled: base !== null,
  });
  const rows = base === null ? [] : (list.data?.pages.flatMap((p) => p.data ?? []) ?? []);
  const [at, setAt] = useState(-1);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const picked = rows.filter((r) => chosen.has(r.id ?? ""));
  const acting = picked.length > 0 ? picked : rows[at] ? [rows[at]] : [];
  const toggle = (id: string): void => setChosen((c) => new Set(c.has(id) ? [...c].filter((x) => x !== id) : [...c, id]));
  useKeys(rows, at, setAt, toggle, () => setChosen(new Set()));
  useEffect(() => setChosen(new Set()), [tab, kind, state, severity, service, search]);
  const nothing =
    base === null ? (
      <Empty title="Nothing is assigned to you">
        <p>
          Select an issue and press <kbd>a</kbd> to assign it.
        </p>
      </Empty>
    ) : (
      <Nothing tab={tab} filtered={Boolean(kind === "alert" || severity || service || search || (state && tab === "all"))} />
    );
  return (
    <section className="panel">
      <header className="wrap">
        <form
          className="grow"
          onSubmit={(e) => {
            e.preventDefault();
            change({ q: String(new FormData(e.currentTarget).get("q") ?? "") });
          }}
        >
          <input
            key={search}
            className="field search"
            data-bar=""
            name="q"
            type="search"
            aria-label="Search issues"
            placeholder="Type, message, frame"
            defaultValue={search}
          />
        </form>
        <select
          className="field"
          aria-label="Kind"
          value={kind}
          onChange={(e) => change({ kind: e.target.value === "alert" ? "alert" : null })}
        >
          <option value="error">errors</option>
          <option value="alert">alerts</option>
        </select>
        <select className="field" aria-label="Service" value={service} onChange={(e) => change({ service: e.target.value })}>
          <option value="">all services</option>
          {(services.data?.data ?? []).map((s) => (
            <option key={s.serviceName} value={s.serviceName}>
              {line(s.serviceName ?? "", 60)} ({s.openCount ?? 0})
            </option>
          ))}
        </select>
        {tab === "all" && (
          <select className="field" aria-label="State" value={state ?? ""} onChange={(e) => change({ state: e.target.value })}>
            <option value="">all states</option>
            {(Object.keys(stateNames) as State[]).map((s) => (
              <option key={s} value={s}>
                {stateNames[s]}
              </option>
            ))}
          </select>
        )}
        <select className="field" aria-label="Severity" value={severity ?? ""} onChange={(e) => change({ severity: e.target.value })}>
          <option value="">all severities</option>
          {[...severities, "unset"].map((s) => (
            <option key={s} value={s}>
              {s === "unset" ? "no severity" : s}
            </option>
          ))}
        </select>
        <select
          className="field"
          aria-label="Order"
          value={sort}
          onChange={(e) => change({ sort: e.target.value === "severity" ? "severity" : null })}
        >
          <option value="last_seen">last seen</option>
          <option value="severity">most severe</option>
        </select>
        {tab === "all" && (
          <button
            type="button"
            className="button small"
            aria-pressed={address.searchParams.has("archived")}
            onClick={() => change({ archived: address.searchParams.has("archived") ? null : "1" })}
          >
            archived, too
          </button>
        )}
      </header>
      <div className="bulk">
        <label className="tick">
          <input
            type="checkbox"
            aria-label="Select all shown issues"
            checked={rows.length > 0 && picked.length === rows.length}
            onChange={(e) => setChosen(new Set(e.target.checked ? rows.map((r) => r.id ?? "") : []))}
          />
        </label>{" "}
        <span className="faint">
          {picked.length > 0 ? (
            `${picked.length} selected`
          ) : (
            <span className="keyhint" title="j k move, x selects, s state, a assign">
              <kbd>x</kbd> selects, <kbd>s</kbd> state, <kbd>a</kbd> assign
            </span>
          )}
        </span>
        <Acts issues={acting} people={people} each={each} merge done={() => setChosen(new Set())} />
      </div>
      <FormError error={each.error} />
      <Load
        of={base === null ? { ...list, data: { pages: [] }, error: null, isPlaceholderData: false } : list}
        lines={8}
        empty={() => rows.length === 0 && nothing}
      >
        {() => (
          <>
            <table className="data fold rows issues">
              <thead>
                <tr>
                  <th scope="col" className="w40">
                    <span className="sr">Selected</span>
                  </th>
                  <th scope="col">Issue</th>
                  <th scope="col" className="w160">
                    Service
                  </th>
                  <th scope="col" className="w110">
                    State
                  </th>
                  <th scope="col" className="w90">
                    Severity
                  </th>
                  <th scope="col" className="w110">
                    Assignee
                  </th>
                  <th scope="col" className="num w80">
                    Count
                  </th>
                  <th scope="col" className="w90">
                    First
                  </th>
                  <th scope="col" className="w90">
                    Last
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((r, i) => (
                  // biome-ignore lint: the link in the second cell is the way for the keyboard
                  <tr
                    key={r.id}
                    aria-selected={i === at}
                    onClick={(e) => !(e.target as Element).closest("a, input, label") && navigate(href(`/errors/${r.id}`))}
                  >
                    <td>
                      <input
                        type="checkbox"
                        aria-label={`Select ${line(titleOf(r), 80)}`}
                        checked={chosen.has(r.id ?? "")}
                        onChange={() => toggle(r.id ?? "")}
                        onFocus={() => setAt(i)}
                      />
                    </td>
                    <td>
                      <Link className="main" href={href(`/errors/${r.id}`)} onFocus={() => setAt(i)}>
                        {line(titleOf(r), 200)}
                      </Link>{" "}
                      <span className="faint">
                        {r.exceptionMessage && r.exceptionMessage !== r.errorLabel ? line(r.exceptionMessage, 300) : ""}{" "}
                        {r.topFrame && <code>{line(r.topFrame, 200)}</code>}
                      </span>
                    </td>
                    <td>{line(r.serviceName ?? "", 80)}</td>
                    <td className={stateColor(r.workflowState)}>
                      {r.hasOpenIncident && (
                        <span className="bad" title="It occurs now">
                          ●{" "}
                        </span>
                      )}
                      {stateNames[r.workflowState as State] ?? r.workflowState}
                    </td>
                    <td className={severityColor(r.severity)}>{r.severity ?? <span className="faint">–</span>}</td>
                    <td className="faint">
                      {line(people.nameOf(r.assignedActor) || (r.leaseHolder ? `${people.nameOf(r.leaseHolder)} works on it` : "–"), 60)}
                    </td>
                    <td className="num" title={`${count(r.occurrenceCount)} received`}>
                      {count(Math.round(r.estimatedOccurrenceCount ?? r.occurrenceCount ?? 0))}
                    </td>
                    <td className="faint" title={exact(r.firstSeenAt)}>
                      {ago(r.firstSeenAt, now)}
                    </td>
                    <td className="faint" title={exact(r.lastSeenAt)}>
                      {ago(r.lastSeenAt, now)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {list.hasNextPage && (
              <p className="fine">
                <button type="button" className="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                  {list.isFetchingNextPage ? "Loading …" : "Load 50 more"}
                </button>
              </p>
            )}
          </>
        )}
      </Load>
    </section>
  );
}

function Nothing({ tab, filtered }: { tab: string; filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="No issue matches">
        <button type="button" className="button" onClick={() => change({ q: null, service: null, severity: null, state: null })}>
          Drop the filters
        </button>
      </Empty>
    );
  const words: Record<string, [string, string]> = {
    "": ["Nothing asks for work", "Every known error is done, set aside, or somebody works on it."],
    new: ["No new errors in the past day", "An error that occurs for the first time shows here within seconds."],
    regressed: ["Nothing came back", "An issue that is done and occurs in a later version shows here."],
    mine: ["Nothing is assigned to you", "Select an issue and press a to assign it."],
    all: ["No errors yet", "Every failed span and every log record with an exception becomes part of an issue."],
  };
  const [title, text] = words[tab] ?? words[""]!;
  return (
    <Empty title={title}>
      <p>{text}</p>
      {tab !== "all" && (
        <Link className="button" href={href("/errors", { tab: "all" })}>
          All issues
        </Link>
      )}
    </Empty>
  );
}

function useKeys(rows: ErrorIssue[], at: number, setAt: (i: number) => void, toggle: (id: string) => void, clear: () => void): void {
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if (!isFree(e, "input:not([type=checkbox]), textarea, select, [role=menuitem]")) return;
      const button = (name: string): void => document.querySelector<HTMLElement>(`[data-acts] [aria-label="${name}"]`)?.click();
      if (e.key === "j") setAt(Math.min(at + 1, rows.length - 1));
      else if (e.key === "k") setAt(Math.max(at - 1, 0));
      else if (e.key === "x" && rows[at]) toggle(rows[at].id ?? "");
      else if (e.key === "s") button("State");
      else if (e.key === "a") button("Assign");
      else if (e.key === "Escape") clear();
      else if (e.key === "Enter" && rows[at] && !(e.target as Element).matches("a, button, input"))
        navigate(href(`/errors/${rows[at].id}`));
      else return;
      e.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
  useEffect(() => {
    if (at >= 0) document.querySelector('tr[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at]);
}
