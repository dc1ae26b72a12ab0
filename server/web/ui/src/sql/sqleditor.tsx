import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql, StandardSQL } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
  tooltips,
} from "@codemirror/view";
import { tags as t } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { complete, type Table } from "./complete";

export type Range = { from: number; to: number };

const mark = StateEffect.define<Range | null>();
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, tr) {
    let next = tr.docChanged ? Decoration.none : set;
    for (const e of tr.effects) {
      if (e.is(mark))
        next =
          e.value && e.value.to <= tr.state.doc.length && e.value.from < e.value.to
            ? Decoration.set(Decoration.mark({ class: "cm-wrong" }).range(e.value.from, e.value.to))
            : Decoration.none;
    }
    return next;
  },
  provide: (f) => EditorView.decorations.from(f),
});

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--back)", fontSize: "12px", height: "100%" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "18px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--back)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--soft) 60%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  ".cm-placeholder": { color: "var(--faint)" },
  ".cm-wrong": { textDecoration: "underline wavy var(--bad) 1.5px", textUnderlineOffset: "3px" },
  ".cm-tooltip": { backgroundColor: "var(--back)", border: "1px solid var(--line)", borderRadius: "6px", boxShadow: "var(--float)" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12px", maxHeight: "260px" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "2px 8px", color: "var(--ink)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--soft)", color: "var(--ink)" },
  ".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal", marginLeft: "12px" },
  ".cm-completionIcon": { display: "none" },
});

const colors = HighlightStyle.define([
  { tag: t.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: [t.string, t.special(t.string)], color: "var(--s2)" },
  { tag: [t.number, t.bool, t.null], color: "var(--s1)" },
  { tag: t.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: [t.typeName, t.standard(t.name)], color: "var(--s3)" },
]);

export type Editor = { insert: (text: string) => void; focus: () => void };

type Props = {
  value: string;
  label: string;
  tables: Table[];
  error: Range | null;
  onChange: (text: string) => void;
  onRun: () => void;
  onHistory: (back: boolean) => string | null;
  editor?: (e: Editor | null) => void;
};

/**
 * SqlEditor edits a statement. It stands in a shadow root, where its styles are adopted style sheets: the policy of the page refuses style
 * elements. Tab leaves the editor; it takes a completion while one is selected.
 */
export default function SqlEditor({ value, label, tables, error, onChange, onRun, onHistory, editor }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null) as { current: EditorView | null };
  const now = useRef({ tables, onChange, onRun, onHistory });
  now.current = { tables, onChange, onRun, onHistory };
  // biome-ignore lint: the editor is made once and reads what changes from the reference
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" });
    root.replaceChildren();
    const older =
      (back: boolean) =>
      (v: EditorView): boolean => {
        const text = now.current.onHistory(back);
        if (text === null) return false;
        v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: text } });
        return true;
      };
    const v = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          keymap.of([
            {
              key: "Mod-Enter",
              run: () => {
                now.current.onRun();
                return true;
              },
            },
            { key: "Alt-ArrowUp", run: older(true) },
            { key: "Alt-ArrowDown", run: older(false) },
            { key: "Tab", run: acceptCompletion },
          ]),
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          marked,
          placeholder("SELECT ServiceName, count() FROM spans WHERE $__timeFilter(Timestamp) GROUP BY ServiceName"),
          sql({ dialect: StandardSQL }),
          syntaxHighlighting(colors),
          look,
          tooltips({ position: "fixed" }),
          autocompletion({
            icons: false,
            override: [
              (c) => {
                const found = complete(c.state.doc.toString(), c.pos, now.current.tables);
                if (
                  !found ||
                  (!c.explicit && found.from === c.pos && !/(\b(from|join)\s+|\.)$/i.test(c.state.sliceDoc(Math.max(0, c.pos - 8), c.pos)))
                )
                  return null;
                const rank = { column: 5, macro: 4, table: 3, function: 2, keyword: 1 };
                return {
                  from: found.from,
                  options: found.offers.map((o) => ({
                    label: o.label,
                    boost: rank[o.type],
                    ...(o.detail ? { detail: o.detail } : {}),
                    ...(o.apply ? { apply: o.apply } : {}),
                  })),
                  validFor: /^[$\w]*$/,
                };
              },
            ],
          }),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
          EditorView.contentAttributes.of({ "aria-label": label, "aria-multiline": "true", tabindex: "0" }),
          // The browser would keep the color of replaced text by an inline style, which the policy of the page refuses.
          EditorView.domEventHandlers({
            beforeinput: (e, v) => {
              if (e.inputType !== "insertText" || !e.data || v.composing || v.state.selection.main.empty || /[()[\]{}'"`]/.test(e.data))
                return false;
              e.preventDefault();
              v.dispatch(v.state.update(v.state.replaceSelection(e.data), { userEvent: "input.type", scrollIntoView: true }));
              return true;
            },
          }),
          EditorView.updateListener.of((u) => {
            if (u.docChanged) now.current.onChange(u.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = v;
    editor?.({
      insert: (text) => {
        v.dispatch(v.state.replaceSelection(text));
        v.focus();
      },
      focus: () => v.focus(),
    });
    return () => {
      editor?.(null);
      v.destroy();
      view.current = null;
    };
  }, []);
  useEffect(() => {
    const v = view.current;
    if (v && v.state.doc.toString() !== value) v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: mark.of(error) });
  }, [error]);
  // Outside of the shadow root, keys seem to come from this element, which is not a field: the keys of the page must not see them.
  // biome-ignore lint: the editor inside has the role and the keys
  return (
    <div
      ref={host}
      className="sqleditor"
      data-bar=""
      onKeyDown={(e) => {
        if (!e.metaKey && !e.ctrlKey) e.stopPropagation();
      }}
    />
  );
}
