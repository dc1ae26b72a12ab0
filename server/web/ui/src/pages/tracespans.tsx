import { useInfiniteQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { type ApiError, call } from "../api/client";
import { change, href, Link, navigate, useAddress } from "../frame/router";
import { times, useCall, useFrame } from "../frame/session";
import type { SearchSpansResponse, SpanSummary, TraceFilters } from "../gen/api";
import { FieldName, SpanFields } from "../gen/limits";
import { DurationBar } from "../parts/durationbar";
import { count, line } from "../parts/format";
import { atMost, excess } from "../parts/length";
import { Load, Service } from "../parts/states";
import { exact, stamp } from "../parts/time";
import "../heat/heat.css";
import { More, NothingMatches, useRows } from "./traces";

/** The columns that a person chose, in the address: names of fields, one behind the other. A name with a comma cannot be one. */
const columnsOf = (text: string): string[] => [...new Set(text.split(",").filter((f) => f && !excess(f, FieldName)))].slice(0, SpanFields);

/** Spans lists single spans, the latest or the longest first, with columns of the person's choice. A row opens its trace at the span. */
export default function Spans({ q, filters, where }: { q: string; filters: TraceFilters; where: string | undefined }) {
  const { window: w, org } = useFrame();
  const get = useAddress().searchParams;
  const orderBy = get.get("sort") === "duration" ? ("duration" as const) : ("start_time" as const);
  const columns = columnsOf(get.get("columns") ?? "");
  const list = useInfiniteQuery<SearchSpansResponse, ApiError, { pages: SearchSpansResponse[] }, unknown[], string>({
    queryKey: [org.id, "spans", times(w), filters, where, orderBy, columns],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      call(
        "TracesService/SearchSpans",
        { ...times(w), limit: 100, filters, where, orderBy, fields: columns, ...(pageParam ? { cursor: pageParam } : {}) },
        { org: org.id ?? "", signal },
      ),
    getNextPageParam: (p) => (p.hasMore ? p.nextCursor : undefined),
    placeholderData: (before) => before,
  });
  const rows = list.data?.pages.flatMap((p) => p.data ?? []) ?? [];
  const [at, setAt] = useState(-1);
  useRows(rows.length, at, setAt, () => rows[at] && navigate(pathOf(rows[at])));
  const longest = Math.max(1, ...rows.map((s) => s.durationMs ?? 0));
  const order = orderBy === "duration" ? "longest first" : "newest first";
  return (
    <section className="panel">
      <header>
        <h2 className="grow">{rows.length ? `${count(rows.length)}${list.hasNextPage ? "+" : ""} spans, ${order}` : "Spans"}</h2>
      </header>
      <Columns columns={columns} />
      <Load of={list} empty={() => rows.length === 0 && <NothingMatches q={q} what="span" why={list.data?.pages[0]?.warnings} />}>
        {() => (
          <>
            <table className="data fold rows spanlist">
              <thead>
                <tr>
                  <th scope="col">Span</th>
                  {columns.map((f) => (
                    <th key={f} scope="col" className="w160">
                      {line(f, 80)}
                    </th>
                  ))}
                  <SortHead name="Duration" by="duration" now={orderBy} />
                  <SortHead name="Started" by="start_time" now={orderBy} />
                </tr>
              </thead>
              <tbody>
                {rows.map((s, i) => (
                  // biome-ignore lint: the link in the first cell is the way for the keyboard
                  <tr
                    key={`${s.traceId} ${s.id} ${s.startTime}`}
                    aria-selected={i === at}
                    onClick={(e) => !(e.target as Element).closest("a") && navigate(pathOf(s))}
                  >
                    <td>
                      <Link className="main" href={pathOf(s)}>
                        {line(s.name || "(without a name)", 300)}
                      </Link>{" "}
                      <span className="faint">
                        <Service name={line(s.serviceName ?? "", 100)} />
                      </span>{" "}
                      {s.hasError && <span className="bad">✖ error</span>}{" "}
                      {s.httpStatusCode && <span className="faint">{line(s.httpStatusCode, 10)}</span>}
                    </td>
                    {columns.map((f) => (
                      <td key={f} className="clip mono" title={line(s.fields?.[f] ?? "", 500)}>
                        <span className="label">{line(f, 80)} </span>
                        {s.fields?.[f] === undefined ? <span className="faint">–</span> : line(s.fields[f], 200)}
                      </td>
                    ))}
                    <td>
                      <DurationBar ms={s.durationMs ?? 0} longest={longest} failed={s.hasError} />
                    </td>
                    <td className="faint" title={exact(s.startTime)}>
                      {stamp(s.startTime)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <More list={list} />
          </>
        )}
      </Load>
    </section>
  );
}

const pathOf = (s: SpanSummary): string => href(`/traces/${s.traceId}`, { span: s.id ?? "" });

/** SortHead is the head of a column by which a list can be sorted, the highest first. */
export function SortHead({ name, by, now }: { name: string; by: "start_time" | "duration"; now: string }) {
  return (
    <th scope="col" className="w200" aria-sort={by === now ? "descending" : undefined}>
      <button type="button" onClick={() => change({ sort: by === "start_time" ? null : by })}>
        {name}
        {by === now ? " ↓" : ""}
      </button>
    </th>
  );
}

/** Columns adds a field as a column, or removes one. */
function Columns({ columns }: { columns: string[] }) {
  const { window: w } = useFrame();
  const id = useId();
  const [asked, setAsked] = useState(false);
  const keys = useCall("AttributesService/ListAttributeKeys", { ...times(w), signal: "traces", limit: 100 }, { enabled: asked });
  const known = (keys.data?.data ?? []).map((k) => `${k.scope === "resource" ? "resource" : "attr"}.${k.key}`);
  const show = (all: string[]): void => change({ columns: columnsOf(all.join(",")).join(",") || null });
  return (
    <form
      className="row wrap groupby"
      onSubmit={(e) => {
        e.preventDefault();
        const field = String(new FormData(e.currentTarget).get("field") ?? "").trim();
        if (field) show([...columns, field]);
      }}
    >
      <span className="faint">Columns</span>
      {columns.map((f) => (
        <button
          key={f}
          type="button"
          className="button small"
          aria-label={`Remove the column ${line(f, 80)}`}
          onClick={() => show(columns.filter((other) => other !== f))}
        >
          {line(f, 80)} ✕
        </button>
      ))}
      {columns.length < SpanFields && (
        <input
          key={columns.join()}
          className="field mono"
          name="field"
          aria-label="Field to show as a column"
          placeholder="attr.http.route"
          {...atMost(FieldName)}
          list={id}
          spellCheck={false}
          autoComplete="off"
          onFocus={() => setAsked(true)}
          onChange={(e) => {
            // A choice of the list comes as one change.
            if (known.includes(e.target.value)) show([...columns, e.target.value]);
          }}
        />
      )}
      <datalist id={id}>
        {known
          .filter((f) => !columns.includes(f))
          .map((f) => (
            <option key={f} value={f} />
          ))}
      </datalist>
    </form>
  );
}
