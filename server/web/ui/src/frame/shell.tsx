import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { ApiError, call, onSignedOut, watchCalls } from "../api/client";
import { Failed, Waiting } from "../parts/states";
import { windowOf } from "../parts/time";
import { useZone } from "../parts/zone";
import type { Preferences, Session, SessionOrganization } from "../gen/api";
import { copyLink, linkOf } from "./copylink";
import { pair } from "./keys";
import { useLabels } from "./labels";
import { adopt, choose, themes, usePreference } from "./preferences";
import { Help, Palette } from "./palette";
import { Refresh } from "./refresh";
import { change, href, Link, navigate, useAddress } from "./router";
import { FrameContext, times, useCall, useFrame } from "./session";
import { SignedOut } from "./signedout";
import { TimePicker } from "./timepicker";
import "./shell.css";

export const places: Array<{ key: string; path: string; name: string; icon: string }> = [
  { key: "h", path: "", name: "Home", icon: "M3 10.5 12 3l9 7.5V21h-6v-6H9v6H3z" },
  { key: "s", path: "/services", name: "Services", icon: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z" },
  { key: "m", path: "/map", name: "Map", icon: "M4 4h5v5H4zM15 15h5v5h-5zM15 4h5v5h-5zM9 6.5h6M17.5 9v6M9 8l6 8" },
  { key: "t", path: "/traces", name: "Traces", icon: "M3 5h12M7 12h12M11 19h10" },
  { key: "l", path: "/logs", name: "Logs", icon: "M4 5h16M4 10h16M4 15h10M4 20h13" },
  { key: "e", path: "/errors", name: "Errors", icon: "M12 3 2 20h20zM12 10v4M12 17v.5" },
  { key: "x", path: "/metrics", name: "Metrics", icon: "M4 20V10M10 20V4M16 20v-8M21 20H3" },
  { key: "n", path: "/incidents", name: "Incidents", icon: "M12 3v7l5 3M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18" },
  { key: "a", path: "/alerts", name: "Alerts", icon: "M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21h4" },
  { key: "d", path: "/dashboards", name: "Dashboards", icon: "M4 4h9v7H4zM15 4h5v7h-5zM4 13h5v7H4zM11 13h9v7h-9z" },
  { key: "r", path: "/replays", name: "Replays", icon: "M4 5h16v11H4zM10 8l5 2.5-5 2.5zM8 20h8" },
  { key: "p", path: "/events", name: "Events", icon: "M4 4h16l-6 8v7l-4-2v-5z" },
  { key: "i", path: "/agents", name: "Agents", icon: "M6 8h12v10H6zM12 8V4M9 12v2M15 12v2M3 12v3M21 12v3" },
  { key: "q", path: "/sql", name: "SQL", icon: "M5 6c0-4 14-4 14 0v12c0 4-14 4-14 0zM5 6c0 4 14 4 14 0M5 12c0 4 14 4 14 0" },
  {
    key: ",",
    path: "/settings",
    name: "Settings",
    icon: "M4 7h10M18 7h2M4 17h4M12 17h8M14 7a2 2 0 1 0 4 0 2 2 0 0 0-4 0M8 17a2 2 0 1 0 4 0 2 2 0 0 0-4 0",
  },
  { key: "b", path: "/start", name: "Get started", icon: "M5 12h14M13 6l6 6-6 6" },
];

export function Icon({ d }: { d: string }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={d} />
    </svg>
  );
}

const lastOrganization = "organization";

/** Entry asks who is signed in, and opens an organization: the one of the path, else the one used last. */
export function Entry({ page }: { page: (path: string) => ReactNode }) {
  const address = useAddress();
  const me = useQuery<Session, ApiError>({
    queryKey: ["session"],
    queryFn: ({ signal }) => call("SessionsService/GetSession", {}, { signal }),
    staleTime: 60_000,
  });
  // Here and not in Shell, which begins anew with each organization and would adopt the same answer again, after a change.
  const user = me.data?.user?.id ?? "";
  const preferences = useQuery<Preferences, ApiError>({
    queryKey: ["preferences", user],
    queryFn: ({ signal }) => call("PreferencesService/GetPreferences", {}, { signal }),
    enabled: user !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (preferences.data) adopt(user, preferences.data);
  }, [user, preferences.data]);
  const [expired, setExpired] = useState(false);
  useEffect(() => onSignedOut(() => setExpired(true)), []);
  const orgs = me.data?.organizations ?? [];
  const parts = address.pathname.split("/");
  const slug = parts[1] === "o" ? decodeURIComponent(parts[2] ?? "") : "";
  const org = orgs.find((o) => o.slug === slug);
  const kept = org?.slug;
  useEffect(() => {
    if (kept) localStorage.setItem(lastOrganization, kept);
  }, [kept]);
  const first = me.data
    ? (orgs.find((o) => o.slug === localStorage.getItem(lastOrganization)) ?? me.data.organization ?? orgs[0])
    : undefined;
  // A short link opens in the organization that it names, else in the one used last.
  const short = ["traces", "dashboards", "errors", "replays", "alerts", "settings"].includes(parts[1] ?? "") ? address.pathname : "";
  const named = orgs.find((o) => o.id === address.searchParams.get("org")) ?? first;
  address.searchParams.delete("org");
  const search = address.searchParams.size > 0 ? `?${address.searchParams}` : "";
  useEffect(() => {
    if (named?.slug && parts[1] !== "o") navigate(`/o/${named.slug}${short}${search}`, true);
  }, [named?.slug, parts[1], short, search]);

  if (me.error && !me.data) {
    return (
      <>
        {me.error.status === 401 ? <SignedOut again={() => me.refetch()} first /> : <Failed error={me.error} retry={() => me.refetch()} />}
      </>
    );
  }
  if (!me.data) return <Waiting lines={10} />;
  if (orgs.length === 0) return <Message title="You do not belong to any organization">Ask an administrator for an invitation.</Message>;
  if (!org) {
    if (parts[1] !== "o") return <Waiting lines={10} />;
    return (
      <Message title={`You have no organization “${slug}”`}>
        <ul>
          {orgs.map((o) => (
            <li key={o.id}>
              <Link href={`/o/${o.slug}`}>{o.name}</Link>
            </li>
          ))}
        </ul>
      </Message>
    );
  }
  return (
    <>
      <Shell key={org.id} me={me.data} org={org} page={page} />
      {expired && (
        <SignedOut
          again={() => {
            setExpired(false);
            void me.refetch();
          }}
        />
      )}
    </>
  );
}

function Message({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="state" tabIndex={-1}>
      <h1>{title}</h1>
      {children}
    </main>
  );
}

function Shell({ me, org, page }: { me: Session; org: SessionOrganization; page: (path: string) => ReactNode }) {
  const address = useAddress();
  const client = useQueryClient();
  const [now, setNow] = useState(() => Date.now());
  const [menu, setMenu] = useState(false);
  const [open, setOpen] = useState<"" | "palette" | "help">("");
  const refresh = useCallback(() => {
    setNow(Date.now());
    void client.invalidateQueries();
  }, [client]);
  const from = address.searchParams.get("from") ?? "-1h";
  const to = address.searchParams.get("to") ?? "now";
  const frame = useMemo(() => {
    const span = { from, to };
    return { me, org, env: address.searchParams.get("env") ?? "", span, window: windowOf(span, now), now, refresh };
  }, [me, org, from, to, now, refresh, address.searchParams.get("env")]);
  const path = address.pathname.split("/").slice(3).join("/");
  useLabels();
  useZone(); // all times of the page change with it
  const [told, setTold] = useState("");
  const copy = useCallback(
    (fixed: boolean) =>
      void copyLink(linkOf(new URL(location.href), fixed ? frame.window : undefined), fixed).then((text) => {
        setTold(text);
        setTimeout(() => setTold(""), 2500);
      }),
    [frame.window],
  );
  useKeys(setOpen, refresh, copy);
  useEffect(() => setMenu(false), [path]);
  return (
    <FrameContext.Provider value={frame}>
      <div className={`shell${menu ? " open" : ""}`}>
        <a
          className="skip"
          href="#main"
          onClick={(e) => {
            e.preventDefault();
            document.getElementById("main")?.focus();
          }}
        >
          Skip to the content
        </a>
        <header className="top">
          <button type="button" className="button quiet menu" aria-label="Navigation" aria-expanded={menu} onClick={() => setMenu(!menu)}>
            <Icon d="M4 6h16M4 12h16M4 18h16" />
          </button>
          <Link href={href("")} className="brand" aria-label="svc, home">
            <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
              <rect width="32" height="32" rx="8" fill="var(--accent)" />
              <path
                d="M6 18h5l3-9 5 15 3-6h4"
                fill="none"
                stroke="var(--accent-ink)"
                strokeWidth="2.4"
                strokeLinecap="round"
                strokeLinejoin="round"
              />
            </svg>
            <b>svc</b>
          </Link>
          <Organizations />
          <button type="button" className="jump" onClick={() => setOpen("palette")}>
            <Icon d="M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l5 5" />
            <span className="grow clip">Search or jump to …</span>
            <kbd>⌘K</kbd>
          </button>
          <Environments />
          <TimePicker copy={() => copy(true)} />
          <Refresh />
          <Account />
        </header>
        <Progress />
        <p className={told ? "told float" : "sr"} role="status">
          {told}
        </p>
        <Places path={path} />
        <main id="main" tabIndex={-1}>
          {page(path)}
        </main>
      </div>
      {open === "palette" && <Palette close={() => setOpen("")} />}
      {open === "help" && <Help close={() => setOpen("")} />}
    </FrameContext.Provider>
  );
}

/** Places are the pages. Alerts says how many fire, whatever page is open. */
function Places({ path }: { path: string }) {
  const open = useCall("AlertIncidentsService/ListAlertIncidents", { status: "open", limit: 20 }, { every: 60_000 }).data;
  const firing = open?.data?.length ?? 0;
  return (
    <nav className="side" aria-label="Pages">
      {places.map((p) => {
        const here = p.path === "" ? path === "" : `/${path}`.startsWith(p.path);
        return (
          <Link
            key={p.path}
            href={href(p.path)}
            aria-current={here ? "page" : undefined}
            title={`g ${p.key}`}
            data-firing={p.path === "/alerts" && firing > 0 ? `${firing}${open?.hasMore ? "+" : ""}` : undefined}
          >
            <Icon d={p.icon} />
            {p.name}
          </Link>
        );
      })}
      <span className="grow" />
      <a href="/v2/docs">API reference</a>
      <a href="/programs">Programs and keys</a>
    </nav>
  );
}

/** Progress shows that the page is loading, after a moment. */
function Progress() {
  const [busy, set] = useState(false);
  useEffect(() => {
    let id = 0;
    return watchCalls((open) => {
      clearTimeout(id);
      id = window.setTimeout(() => set(open > 0), open > 0 ? 150 : 0);
    });
  }, []);
  return <div className={`progress${busy ? " busy" : ""}`} aria-hidden="true" />;
}

function Organizations() {
  const { me, org } = useFrame();
  const all = me.organizations ?? [];
  if (all.length < 2) return <span className="org clip">{org.name}</span>;
  return (
    <select
      className="field org"
      aria-label="Organization"
      value={org.slug}
      onChange={(e) => navigate(`/o/${e.target.value}/${location.pathname.split("/")[3] ?? ""}`)}
    >
      {all.map((o) => (
        <option key={o.id} value={o.slug}>
          {o.name}
        </option>
      ))}
    </select>
  );
}

function Environments() {
  const { env, window: w } = useFrame();
  const found = useCall("EnvironmentsService/ListEnvironments", times(w));
  const names = (found.data?.data ?? []).map((e) => e.name ?? "");
  if (env && !names.includes(env)) names.unshift(env);
  return (
    <select className="field env" aria-label="Environment" value={env} onChange={(e) => change({ env: e.target.value })}>
      <option value="">All environments</option>
      {names.map((n) => (
        <option key={n} value={n}>
          {n}
        </option>
      ))}
    </select>
  );
}

function Account() {
  const { me } = useFrame();
  const [open, setOpen] = useState(false);
  const now = usePreference("theme");
  const name = me.user?.name || me.user?.email || "?";
  const leave = async (): Promise<void> => {
    await fetch("/logout", { method: "POST", headers: { "Content-Type": "application/json", "X-Svc-Ui": "1" }, body: "{}" });
    location.assign("/login");
  };
  return (
    // biome-ignore lint: Escape closes the menu from every part of it
    <div
      className="account"
      onKeyDown={(e) => e.key === "Escape" && setOpen(false)}
      onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && setOpen(false)}
    >
      <button
        type="button"
        className="button quiet face"
        aria-expanded={open}
        aria-label={`Account of ${name}`}
        onClick={() => setOpen(!open)}
      >
        {name
          .split(/\s+/)
          .map((p) => p[0])
          .join("")
          .slice(0, 2)
          .toUpperCase()}
      </button>
      {open && (
        <div className="float accountmenu">
          <p className="clip">
            <b>{name}</b>
          </p>
          <p className="faint clip">{me.user?.email}</p>
          <fieldset>
            <legend className="faint">Theme</legend>
            {themes.map((t) => (
              <button
                key={t}
                type="button"
                className="button small"
                aria-pressed={now === t}
                onClick={() => choose(me.user?.id ?? "", "theme", t)}
              >
                {t}
              </button>
            ))}
          </fieldset>
          <Link href={href("/settings/me")} onClick={() => setOpen(false)}>
            Account
          </Link>
          <a href="/programs">Programs</a>
          <button type="button" className="button small" onClick={() => void leave()}>
            Sign out
          </button>
        </div>
      )}
    </div>
  );
}

/** The keys of the frame. A key in a field belongs to the field. */
function useKeys(open: (what: "palette" | "help") => void, refresh: () => void, copy: (fixed: boolean) => void): void {
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        open("palette");
        return;
      }
      const target = e.target as HTMLElement;
      // The keys of the page work again once the bar is left.
      if (e.key === "Escape" && target.matches?.("[data-bar], .env") && !document.querySelector("dialog[open]")) target.blur();
      if (
        e.metaKey ||
        e.ctrlKey ||
        e.altKey ||
        target.matches?.("input, textarea, select, [contenteditable]") ||
        document.querySelector("dialog[open]")
      )
        return;
      if (pair.open) {
        pair.open = false;
        e.preventDefault();
        const place = places.find((p) => p.key === e.key);
        if (place) navigate(href(place.path));
        return;
      }
      if (e.defaultPrevented) return;
      if (e.key === "g") pair.open = true;
      else if (e.key === "?") open("help");
      else if (e.key === ".") refresh();
      else if (e.key === "y" || e.key === "Y") copy(e.key === "y");
      else if (e.key === "/") {
        e.preventDefault();
        document.querySelector<HTMLElement>("[data-bar]")?.focus();
      } else if (e.key === "t") document.querySelector<HTMLElement>("[data-time]")?.click();
      else if (e.key === "e") document.querySelector<HTMLElement>(".env")?.focus();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [open, refresh, copy]);
}
