import { useEffect, useMemo, useRef, useState } from "react";
import { line } from "../parts/format";
import { href, navigate } from "./router";
import { times, useCall, useFrame } from "./session";
import { addressOf, useViews, viewPages } from "../views/views";
import { places } from "./shell";

type Entry = { name: string; kind: string; to: string };

/** fuzzy scores how well a text has the characters of the search in order; 0 means that it has not. */
function fuzzy(text: string, search: string): number {
  const t = text.toLowerCase();
  const s = search.toLowerCase();
  if (s === "") return 1;
  if (t.startsWith(s)) return 4;
  if (t.includes(s)) return 3;
  let i = 0;
  for (const c of t) if (c === s[i]) i++;
  return i === s.length ? 1 : 0;
}

/** Palette leads to every page, saved view and service, and to a trace by its id. */
export function Palette({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const { window: w } = useFrame();
  const services = useCall("ServicesService/ListServices", { ...times(w), limit: 100 });
  const views = useViews();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const found = useMemo(() => {
    const text = search.trim();
    const all: Entry[] = [
      ...places.map((p) => ({ name: p.name, kind: "Page", to: href(p.path) })),
      ...(views.data ?? []).map((v) => ({
        name: line(v.name ?? "", 80),
        kind: `View of ${v.page ? viewPages[v.page] : ""}`,
        to: addressOf(v),
      })),
      ...(services.data?.data ?? []).map((s) => ({
        name: s.name ?? "",
        kind: "Service",
        to: href(`/services/${encodeURIComponent(s.name ?? "")}`),
      })),
    ];
    const list = all
      .map((e) => ({ e, score: fuzzy(e.name, text) }))
      .filter((x) => x.score > 0)
      .sort((a, b) => b.score - a.score)
      .map((x) => x.e)
      .slice(0, 12);
    if (/^[0-9a-f]{32}$/i.test(text)) list.unshift({ name: text.toLowerCase(), kind: "Trace", to: href(`/traces/${text.toLowerCase()}`) });
    if (text) {
      list.push({ name: `Logs with “${text}”`, kind: "Search", to: href("/logs", { q: `"${text.replace(/["\\]/g, "\\$&")}"` }) });
    }
    return list;
  }, [search, services.data, views.data]);
  const go = (e: Entry | undefined): void => {
    if (!e) return;
    close();
    navigate(e.to);
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search or jump"
      onClose={close}
      onClick={(e) => e.target === dialog.current && close()}
    >
      <input
        className="field"
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={`found-${at}`}
        aria-label="Page, view, service, trace id, text of a log"
        placeholder="Page, view, service, trace id, text of a log"
        value={search}
        onChange={(e) => {
          setSearch(e.target.value);
          setAt(0);
        }}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
          else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
          else if (e.key === "Enter") go(found[at]);
          else return;
          e.preventDefault();
        }}
      />
      <ul id="found" role="listbox" aria-label="Results">
        {found.map((e, i) => (
          // biome-ignore lint: the field above has the focus and the keys
          <li
            key={`${e.kind}${e.name}${e.to}`}
            id={`found-${i}`}
            role="option"
            aria-selected={i === at}
            onMouseEnter={() => setAt(i)}
            onClick={() => go(e)}
          >
            <span className="grow clip">{e.name}</span>
            <span className="faint">{e.kind}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}

const keys: Array<[string, string]> = [
  ["⌘K, Ctrl K", "search or jump"],
  ["/", "filter"],
  ["↓ in an empty filter", "saved views"],
  ["t", "time"],
  ["e", "environment"],
  [".", "refresh"],
  ["y, ⇧y", "copy the link with fixed times, as it is"],
  ["j k, ↑ ↓", "next and previous row"],
  ["← →", "fold and unfold a span"],
  ["n N", "next and previous error of a trace"],
  ["Enter", "open"],
  ["Esc", "close, leave the filter"],
  ["1 2 3", "list, groups, heatmap of traces; 1 to 7 parts of a service"],
  ["arrows, ⇧ arrows, Enter", "cells of the heatmap, a box, choose it"],
  ["l", "logs as they arrive"],
  ["Space, < >", "play a recording, its speed"],
  ["?", "these keys"],
  ["e, a, ⇧v", "edit a dashboard, add a widget, versions"],
  ["f, ⇧f", "full screen, kiosk"],
  ["⌘S, ⌘Z", "save and undo in an editor"],
];

/** Help lists the keys. */
export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={close}>
      <div className="body">
        <h1 id="keys">Keys</h1>
        <dl className="keys">
          {[...keys, ...places.map((p): [string, string] => [`g ${p.key}`, p.name])].map(([key, name]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{name}</dd>
            </div>
          ))}
        </dl>
        <button type="button" className="button" onClick={close}>
          Close
        </button>
      </div>
    </dialog>
  );
}
