import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { batches } from "../../api/batch";
import { ApiError, call } from "../../api/client";
import { change, useAddress } from "../../frame/router";
import type {
  ResolvedShare,
  SharedDashboard,
  ShareTimeRange,
  ShareWidgetRequest,
  ShareWidgetResult,
  Widget,
  WidgetData,
} from "../../gen/api";
import { SharedWidgets, TimeseriesWindow } from "../../gen/limits";
import { Sections, Shelves } from "../../grid/sections";
import { type Reader, Tile } from "../../grid/tile";
import { valuesOf, Variables } from "../../grid/variables";
import { line } from "../../parts/format";
import { Failed, Waiting } from "../../parts/states";
import { iso, presets, type Span, spanName, windowOf } from "../../parts/time";
import { useSectionChoice } from "./choice";
import { Kiosk } from "./full";
import { spanOf } from "./reads";
import "./dashboards.css";

const framed = window.top !== window;

/** Shared shows the content of a share link to people who are perhaps not signed in. It sends no cookie, unless the link asks for members. */
export default function Shared({ token }: { token: string }) {
  const [member, setMember] = useState(false);
  const found = useQuery<ResolvedShare, ApiError>({
    queryKey: ["share", token, member],
    queryFn: ({ signal }) => call("ShareService/ResolveShare", { token }, { signal, anonymous: !member }),
    retry: (times, e) => times < 2 && e.retryable === true,
    staleTime: 60_000,
  });
  const status = found.error?.status ?? 0;
  const asks = found.error?.tag.endsWith("/ShareSignInRequiredError") === true || status === 401;
  // A frame of another site never gets the person's cookie.
  useEffect(() => {
    if (asks && !member && !framed) setMember(true);
  }, [asks, member]);
  const board = found.data?.dashboard;
  useEffect(() => {
    if (board?.name) document.title = `${line(board.name, 100)} · svc`;
  }, [board?.name]);
  if (found.data && board) return <Content token={token} share={found.data} board={board} member={member} />;
  if (!found.error || (asks && !member && !framed))
    return (
      <main>
        <Waiting lines={10} />
      </main>
    );
  return (
    <main className="w-shared">
      {asks ? (
        <Message title="This is for members of an organization">
          <p>Sign in to the organization to see it.</p>
          <a
            className="button primary"
            href={`/login?next=${encodeURIComponent(location.pathname + location.search)}`}
            target={framed ? "_blank" : undefined}
            rel="noreferrer"
          >
            Sign in
          </a>
        </Message>
      ) : status === 403 ? (
        <Message title="This belongs to another organization">
          <p>You are signed in, but not as a member of it.</p>
        </Message>
      ) : status === 404 || status === 400 ? (
        <Message title="There is no such link">
          <p>It was ended, or got a new token. Ask the person who gave it to you.</p>
        </Message>
      ) : (
        <Failed error={found.error} retry={() => found.refetch()} />
      )}
    </main>
  );
}

function Message({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="state">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

type Ask = { request: ShareWidgetRequest; range: ShareTimeRange; values: Record<string, string> };

function Content({ token, share, board, member }: { token: string; share: ResolvedShare; board: SharedDashboard; member: boolean }) {
  const address = useAddress();
  const client = useQueryClient();
  const [now, setNow] = useState(() => Date.now());
  const longest = share.limits?.maxRangeSeconds ? share.limits.maxRangeSeconds * 1000 : TimeseriesWindow;
  const usual = spanOf(board.timeRange);
  const from = address.searchParams.get("from") ?? usual.from;
  const to = address.searchParams.get("from") ? (address.searchParams.get("to") ?? "now") : usual.to;
  const variables = useMemo(() => board.variables ?? [], [board.variables]);
  // biome-ignore lint: the text of the address decides
  const values = useMemo(() => valuesOf(variables, (n) => address.searchParams.get(`var.${n}`)), [variables, address.search]);
  const ask = useMemo(
    () =>
      batches<Ask, ShareWidgetResult>(
        async (asks) =>
          (
            await call(
              "ShareService/ResolveShareWidgetData",
              { token, requests: asks.map((a) => a.request), timeRange: asks[0]!.range, variableValues: asks[0]!.values },
              { anonymous: !member },
            )
          ).results ?? [],
        (a) => JSON.stringify([a.range, a.values]),
        SharedWidgets,
      ),
    [token, member],
  );
  const read = useMemo<Reader>(() => {
    const rangeFor = (span: Span): ShareTimeRange => {
      const w = windowOf(span, now);
      return { startTime: iso(Math.max(w.start, w.end - longest + 1000)), endTime: iso(w.end) };
    };
    return function useShared(widget: Widget, { on, points, source }) {
      const range = rangeFor(widget.timeRange?.type ? spanOf(widget.timeRange) : { from, to });
      return useQuery<WidgetData, ApiError>({
        queryKey: ["share", token, member, widget.id, source, points, range, values],
        queryFn: async () => {
          const r = await ask({ request: { widgetId: widget.id ?? "", source, maxDataPoints: points }, range, values });
          if (r.ok && r.data) return { ...r.data, ...(r.narrowedToSeconds ? { narrowedToSeconds: r.narrowedToSeconds } : {}) };
          throw new ApiError(
            r.message ?? "The data cannot be read.",
            0,
            r.reason === "failed" ? "It failed" : "No data",
            r.reason ?? "",
            "",
            false,
            "",
            "",
          );
        },
        enabled: on,
        retry: (times, e) => times < 2 && e.retryable === true,
        placeholderData: keepPreviousData,
      });
    };
  }, [ask, from, to, longest, member, now, token, values]);
  const kiosk = address.searchParams.has("kiosk");
  const every = board.refreshIntervalSeconds || (kiosk ? 60 : 0);
  useEffect(() => {
    if (!every) return;
    const id = setInterval(() => document.visibilityState === "visible" && setNow(Date.now()), Math.max(15, every) * 1000);
    return () => clearInterval(id);
  }, [every]);
  useEffect(() => {
    const asked = address.searchParams.get("theme");
    if (asked === "light" || asked === "dark") document.documentElement.dataset.theme = asked;
  }, [address]);
  const choice = useSectionChoice();
  const widgets = board.widgets ?? [];
  const one = share.scope === "widget" ? widgets[0] : widgets.find((w) => w.id === address.searchParams.get("widget"));
  const tile = (w: Widget) => <Tile widget={w} read={read} leads={null} onBrush={(a, b) => change({ from: iso(a), to: iso(b) })} />;
  const offered = presets.filter(
    ([p]) => windowOf({ from: p, to: "now" }, now).end - windowOf({ from: p, to: "now" }, now).start <= longest,
  );
  const known = to === "now" && offered.some(([p]) => p === from);
  const bare = kiosk || (framed && share.scope === "widget");
  return (
    <main id="main" className={`w-shared${one ? " w-one" : ""}`} tabIndex={-1}>
      <div className={`pagehead${bare ? " sr" : ""}`}>
        <h1 className="clip" title={line(board.description ?? "", 500)}>
          {line(board.name ?? "", 200) || "Shared dashboard"}
        </h1>
        <span className="grow" />
        <select
          className="field"
          aria-label="Window"
          value={known ? from : ""}
          onChange={(e) => change({ from: e.target.value, to: null })}
        >
          {!known && <option value="">{spanName({ from, to })}</option>}
          {offered.map(([p, name]) => (
            <option key={p} value={p}>
              {name}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="button"
          aria-label="Refresh"
          onClick={() => {
            setNow(Date.now());
            void client.invalidateQueries({ queryKey: ["share", token] });
          }}
        >
          ⟳
        </button>
      </div>
      {!bare && (
        <Variables variables={variables} values={values} options={none} onChange={(name, value) => change({ [`var.${name}`]: value })} />
      )}
      {one ? (
        <div className="w-alone">{tile(one)}</div>
      ) : (
        <Sections
          sections={board.sections ?? []}
          widgets={widgets}
          choice={choice}
          grid={(shelf) => <Shelves widgets={shelf.widgets} tile={tile} />}
        />
      )}
      {kiosk && <Kiosk sections={board.sections ?? []} choice={choice} />}
    </main>
  );
}

/** A link does not list the values in the telemetry; a reader types them. */
const none = () => ({ options: [], more: false, error: "" });
