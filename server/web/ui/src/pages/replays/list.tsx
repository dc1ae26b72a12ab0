import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { times, useCall, useFrame } from "../../frame/session";
import type { SearchSessionReplaysRequest, SessionReplayFacetValue, SessionReplaySummary } from "../../gen/api";
import { count, duration, line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { exact, stamp } from "../../parts/time";
import { Views } from "../../views/save";

type Tag = NonNullable<SearchSessionReplaysRequest["tags"]>[number];

const tags: Array<[Tag, string]> = [
  ["signed_in", "Signed in"],
  ["new_visitor", "New visitor"],
  ["engaged", "Engaged"],
  ["glance", "Glance"],
  ["bounce", "Bounce"],
  ["idle", "Idle"],
  ["bot", "Bot"],
];
const kinds = { service: "serviceName", browser: "browser", country: "country", device: "deviceType" } as const;

/** who names the visitor of a session: the person if known. */
export const who = (s: { userName?: string; userEmail?: string; userId?: string; visitorId?: string }): string =>
  s.userName || s.userEmail || s.userId || (s.visitorId ? `Visitor ${s.visitorId.slice(0, 8)}` : "A visitor");

/** Replays is the list of sessions, the latest first, with the figures of each filter beside it. */
export function Replays() {
  const { window: w } = useFrame();
  const p = useAddress().searchParams;
  const chosen = (Object.keys(kinds) as Array<keyof typeof kinds>).filter((k) => p.get(k));
  const tag = tags.find(([t]) => t === p.get("tag"))?.[0];
  const narrow = {
    ...Object.fromEntries(chosen.map((k) => [kinds[k], p.get(k)])),
    ...(p.get("q") ? { userSearch: p.get("q")! } : {}),
    ...(p.get("path") ? { pagePath: p.get("path")! } : {}),
    ...(p.get("errors") === "1" ? { hasErrors: true } : {}),
    ...(tag ? { tags: [tag] } : {}),
  };
  const filtered = Object.keys(narrow).length > 0;
  const cursor = p.get("after");
  const found = useCall("SessionReplaysService/SearchSessionReplays", { ...times(w), limit: 50, ...narrow, ...(cursor ? { cursor } : {}) });
  const facets = useCall("SessionReplaysService/SearchSessionReplayFacets", { ...times(w), ...narrow });
  const set = (parameters: Record<string, string | null>): void => change({ ...parameters, after: null });
  const clear = (): void =>
    set({ q: null, path: null, errors: null, tag: null, ...Object.fromEntries(Object.keys(kinds).map((k) => [k, null])) });
  return (
    <>
      <div className="pagehead">
        <h1>Replays</h1>
        <span className="faint">{facets.data ? count(facets.data.sessionCount ?? 0) : ""}</span>
        <span className="grow" />
        <Views page="replays" />
      </div>
      <form
        className="row replaybar"
        role="search"
        onSubmit={(e) => {
          e.preventDefault();
          const d = new FormData(e.currentTarget);
          set({ q: String(d.get("q") ?? "").trim() || null, path: String(d.get("path") ?? "").trim() || null });
        }}
      >
        <input
          key={`q${p.get("q")}`}
          className="field grow"
          data-bar=""
          name="q"
          type="search"
          aria-label="Person"
          placeholder="Name, email address or id of a person"
          defaultValue={p.get("q") ?? ""}
        />
        <input
          key={`p${p.get("path")}`}
          className="field"
          name="path"
          type="search"
          aria-label="Path of a page"
          placeholder="Path of a page"
          defaultValue={p.get("path") ?? ""}
        />
        <button type="submit" className="button">
          Search
        </button>
        <button
          type="button"
          className="button"
          aria-pressed={p.get("errors") === "1"}
          onClick={() => set({ errors: p.get("errors") === "1" ? null : "1" })}
        >
          With errors{facets.data ? ` ${count(facets.data.errorCount ?? 0)}` : ""}
        </button>
        <select className="field" aria-label="Kind of session" value={tag ?? ""} onChange={(e) => set({ tag: e.target.value || null })}>
          <option value="">Every kind</option>
          {tags.map(([t, name]) => (
            <option key={t} value={t}>
              {name}
            </option>
          ))}
        </select>
      </form>
      <div className="withfacets">
        <aside className="panel facets" aria-label="Filters" hidden={!facets.data?.sessionCount && !filtered}>
          <Facet name="Service" kind="service" values={facets.data?.services} set={set} chosen={p.get("service")} />
          <Facet name="Browser" kind="browser" values={facets.data?.browsers} set={set} chosen={p.get("browser")} />
          <Facet name="Country" kind="country" values={facets.data?.countries} set={set} chosen={p.get("country")} />
          <Facet name="Device" kind="device" values={facets.data?.devices} set={set} chosen={p.get("device")} />
        </aside>
        <section className="panel">
          <Load
            of={found}
            lines={10}
            empty={(d) =>
              !d.data?.length && (
                <Empty title={filtered ? "No session matches in this window" : "No session was recorded in this window"}>
                  <div className="row">
                    {filtered ? (
                      <button type="button" className="button" onClick={clear}>
                        Show all
                      </button>
                    ) : (
                      <>
                        <Link className="button" href={href("/replays", { from: "-7d", to: undefined })}>
                          Last 7 days
                        </Link>
                        <Link className="button" href={href("/start")}>
                          Get started
                        </Link>
                      </>
                    )}
                  </div>
                </Empty>
              )
            }
          >
            {(d) => (
              <>
                <table className="data fold rows">
                  <thead>
                    <tr>
                      <th scope="col">Visitor</th>
                      <th scope="col" className="num w80">
                        Pages
                      </th>
                      <th scope="col" className="num w80">
                        Clicks
                      </th>
                      <th scope="col" className="num w80">
                        Errors
                      </th>
                      <th scope="col" className="num w80">
                        Traces
                      </th>
                      <th scope="col" className="num w90">
                        Time
                      </th>
                      <th scope="col" className="w160">
                        Device
                      </th>
                      <th scope="col" className="w200">
                        Began
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {(d.data ?? []).map((s) => (
                      <Row key={s.id} session={s} />
                    ))}
                  </tbody>
                </table>
                {(cursor || d.hasMore) && (
                  <p className="fine row">
                    {cursor && (
                      <button type="button" className="button small" onClick={() => change({ after: null })}>
                        Latest
                      </button>
                    )}
                    {d.hasMore && (
                      <button type="button" className="button small" onClick={() => change({ after: d.nextCursor ?? null })}>
                        Older
                      </button>
                    )}
                  </p>
                )}
              </>
            )}
          </Load>
        </section>
      </div>
    </>
  );
}

function Row({ session: s }: { session: SessionReplaySummary }) {
  const to = href(`/replays/${encodeURIComponent(s.id ?? "")}`);
  return (
    // biome-ignore lint: the link in the first cell is the way for the keyboard
    <tr onClick={(e) => !(e.target as Element).closest("a") && navigate(to)}>
      <td>
        <Link className="main" href={to}>
          {line(who(s), 80)}
        </Link>{" "}
        <span className="faint">{line(s.entryPath ?? "", 120)}</span>
        {!s.recorded && <span className="faint"> · not recorded</span>}
      </td>
      <td className="num">{count(s.pageViews ?? 0)}</td>
      <td className="num">{count(s.clickCount ?? 0)}</td>
      <td className={`num ${s.errorCount ? "bad" : "faint"}`}>{count(s.errorCount ?? 0)}</td>
      <td className="num">{count(s.traceCount ?? 0)}</td>
      <td className="num">{s.status === "active" ? "goes on" : duration(s.durationMs)}</td>
      <td className="faint">{line([s.browserName, s.country].filter(Boolean).join(", "), 60)}</td>
      <td className="faint" title={exact(s.startTime)}>
        {stamp(s.startTime)}
      </td>
    </tr>
  );
}

type FacetProps = {
  name: string;
  kind: string;
  values: SessionReplayFacetValue[] | undefined;
  chosen: string | null;
  set: (parameters: Record<string, string | null>) => void;
};

function Facet({ name, kind, values, chosen, set }: FacetProps) {
  const shown = (values ?? []).filter((v) => v.name).slice(0, 8);
  if (shown.length === 0) return null;
  return (
    <details open>
      <summary>{name}</summary>
      <ul>
        {shown.map((v) => (
          <li key={v.name}>
            <button
              type="button"
              aria-pressed={chosen === v.name}
              onClick={() => set({ [kind]: chosen === v.name ? null : (v.name ?? null) })}
            >
              <span className="clip grow">
                {chosen === v.name ? "✓ " : ""}
                {line(v.name ?? "", 60)}
              </span>
              <span className="num">{count(v.count)}</span>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
