import { useEffect, useId, useMemo, useRef, useState } from "react";
import { times, useCall, useFrame } from "../frame/session";
import { addressOf, useViews } from "../views/views";
import { navigate } from "../frame/router";
import { line } from "../parts/format";
import { quote } from "./parse";
import { type Bar, besides } from "./text";
import "./bar.css";

type Props = {
  value: string;
  signal: Bar;
  builtin: string[];
  error?: { message: string; at: number } | undefined;
  placeholder: string;
  onSubmit: (text: string) => void;
};

/** Offer completes the text, or opens a saved view. */
type Offer = { key: string; text: string; shown: string; note?: string; to?: string };

/** The word under the cursor, and the field before its operator, when the word is a value. */
function place(text: string, at: number): { word: string; start: number; field: string } {
  const before = text.slice(0, at);
  const word = /("(?:[^"\\]|\\.)*|[^\s"=<>!(),]*)$/.exec(before)?.[0] ?? "";
  const start = at - word.length;
  const field =
    /([^\s"=<>!(),]+)\s*(?:=|!=|>=|<=|contains|(?:!|\snot\s+|\s)in\s*\((?:[^()]*,)?)\s*$/i.exec(before.slice(0, start))?.[1] ?? "";
  return { word: word.replace(/^"/, ""), start, field };
}

const fixed: Record<string, string[]> = {
  severity: ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"],
  status: ["Ok", "Error", "Unset"],
  has_error: ["true", "false"],
  root: ["true"],
  duration: [],
};

/** WhereBar edits the filter of a list. It completes fields and values of the window, and never stands in the way of typing. */
export function WhereBar({ value, signal: bar, builtin, error, placeholder, onSubmit }: Props) {
  const { window: w } = useFrame();
  const signal = bar === "logs" ? ("logs" as const) : ("traces" as const); // errors are spans
  const [text, setText] = useState(value);
  const [cursor, setCursor] = useState(value.length);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const [listed, setListed] = useState(false); // ↓ in an empty bar lists the saved views
  const saved = useViews(bar, listed);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => setText(value), [value]);
  const here = place(text, cursor);
  const [slow, setSlow] = useState(here);
  useEffect(() => {
    const wait = setTimeout(() => setSlow(here), 150);
    return () => clearTimeout(wait);
    // biome-ignore lint: the parts of the place decide
  }, [here.word, here.field, here.start]);
  const keys = useCall("AttributesService/ListAttributeKeys", { ...times(w), signal, limit: 100 }, { enabled: open });
  const valued = open && slow.field !== "" && !fixed[slow.field.toLowerCase()];
  const wanted = { ...times(w), signal, key: slow.field, limit: 20, ...(slow.word ? { search: slow.word } : {}) };
  // biome-ignore lint: the filter besides the word under the cursor changes with these
  const others = useMemo(() => besides(text, slow.start, bar), [slow.field, slow.start, bar]);
  const fitting = useCall(
    "AttributesService/ListAttributeValues",
    { ...wanted, where: others },
    { enabled: valued && others !== "", keep: false },
  );
  // While another condition is incomplete, the bar offers all values.
  const every = useCall("AttributesService/ListAttributeValues", wanted, {
    enabled: valued && (others === "" || fitting.error !== null),
    keep: false,
  });
  const values = others === "" || fitting.error !== null ? every : fitting;
  const offers = useMemo((): Offer[] => {
    if (listed && !text)
      return (saved.data ?? []).map((v) => ({
        key: v.id ?? "",
        text: "",
        shown: line(v.name ?? "", 80),
        note: v.visibility === "shared" ? "shared view" : "view",
        to: addressOf(v),
      }));
    const begins = (v: string): boolean => v.toLowerCase().includes(here.word.toLowerCase());
    if (here.field) {
      const known =
        fixed[here.field.toLowerCase()] ?? (slow.field === here.field ? (values.data?.data ?? []).map((v) => v.value ?? "") : []);
      return known
        .filter(begins)
        .slice(0, 10)
        .map((v) => ({ key: v, text: quote(v), shown: v }));
    }
    if (!here.word) return [];
    const found = (keys.data?.data ?? []).map((k) => (k.scope === "resource" ? `resource.${k.key}` : `attr.${k.key}`));
    return [...builtin, ...found]
      .filter(begins)
      .slice(0, 10)
      .map((v) => ({ key: v, text: `${v} `, shown: v }));
  }, [listed, text, saved.data, here.word, here.field, slow.field, keys.data, values.data, builtin]);
  const shown = open && offers.length > 0;
  const take = (offer: Offer | undefined): void => {
    if (!offer) return;
    if (offer.to) {
      setOpen(false);
      setListed(false);
      navigate(offer.to);
      return;
    }
    const tail = text.slice(cursor);
    const next = text.slice(0, here.start) + offer.text + (here.field && !tail ? " " : "") + tail;
    setText(next);
    setAt(-1);
    const end = here.start + offer.text.length + 1;
    setCursor(Math.min(end, next.length));
    requestAnimationFrame(() => input.current?.setSelectionRange(end, end));
  };
  return (
    <form
      className="where"
      role="search"
      onSubmit={(e) => {
        e.preventDefault();
        setOpen(false);
        onSubmit(text.trim());
      }}
    >
      <div className="wherebox">
        <input
          ref={input}
          className="field mono"
          data-bar=""
          aria-label="Filter"
          role="combobox"
          aria-expanded={shown}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={shown && at >= 0 ? `${id}-${at}` : undefined}
          aria-invalid={error !== undefined}
          spellCheck={false}
          autoComplete="off"
          placeholder={placeholder}
          value={text}
          onChange={(e) => {
            setText(e.target.value);
            setCursor(e.target.selectionStart ?? 0);
            setOpen(true);
            setListed(false);
            setAt(-1);
          }}
          onSelect={(e) => setCursor(e.currentTarget.selectionStart ?? 0)}
          onBlur={() => setOpen(false)}
          onKeyDown={(e) => {
            if (e.key === "Escape") {
              if (shown) e.stopPropagation();
              setOpen(false);
              setListed(false);
            } else if (e.key === "ArrowDown" && !text && !(shown && listed)) {
              setOpen(true);
              setListed(true);
              setAt(0);
            } else if (shown && e.key === "ArrowDown") setAt((at + 1) % offers.length);
            else if (shown && e.key === "ArrowUp") setAt((at - 1 + offers.length) % offers.length);
            else if (shown && (e.key === "Tab" || e.key === "Enter") && at >= 0) take(offers[at]);
            else return;
            if (e.key !== "Escape") e.preventDefault();
          }}
        />
        <ul id={id} className="float" role="listbox" aria-label={listed ? "Saved views" : "Completions"} hidden={!shown}>
          {offers.map((o, i) => (
            // biome-ignore lint: the field has the focus and the keys
            <li
              key={o.key}
              id={`${id}-${i}`}
              role="option"
              aria-selected={i === at}
              className={o.to ? "row" : "mono clip"}
              onMouseDown={(e) => {
                e.preventDefault();
                take(o);
              }}
            >
              {o.to ? <span className="grow clip">{o.shown}</span> : o.shown}
              {o.note && <span className="faint">{o.note}</span>}
            </li>
          ))}
        </ul>
      </div>
      <button type="submit" className="button primary">
        Run
      </button>
      {text && (
        <button
          type="button"
          className="button quiet"
          onClick={() => {
            setText("");
            onSubmit("");
          }}
        >
          Clear
        </button>
      )}
      {error && (
        <p className="bad whereerror" role="alert">
          {error.message} (character {error.at + 1}){" "}
          {value && (
            <code className="whereat" aria-hidden="true">
              {value.slice(Math.max(0, error.at - 24), error.at)}
              <u>{[...value.slice(error.at)][0] ?? "\u00a0"}</u>
              {value.slice(error.at + ([...value.slice(error.at)][0]?.length ?? 0)).slice(0, 24)}
            </code>
          )}
        </p>
      )}
    </form>
  );
}
