import { useRef, useState } from "react";
import { useCall, useFrame } from "../../frame/session";
import type { Dashboard, Widget } from "../../gen/api";
import { DashboardMarkdown, DashboardText } from "../../gen/limits";
import type { Definition } from "../../grid/merge";
import { type Reader, Tile } from "../../grid/tile";
import { Field } from "../../parts/form";
import { atMost } from "../../parts/length";
import { Load } from "../../parts/states";
import { DisplayForm } from "./displayform";
import { Findings } from "./inspection";
import { JourneyForm } from "./journeyform";
import { formOf, reformed, statementOf } from "./kinds";
import { leads } from "./leads";
import { QueryForm } from "./queryform";
import { contentOf, rangeOf } from "./reads";

const forms: Array<[string, string]> = [
  ["line", "Line"],
  ["area", "Area"],
  ["bar", "Bar"],
  ["stat", "Number"],
  ["gauge", "Gauge"],
  ["table", "Table"],
  ["hbar", "Ranking"],
  ["pie", "Pie"],
  ["histogram", "Histogram"],
  ["heatmap", "Heatmap"],
  ["list", "List"],
  ["funnel", "Funnel"],
  ["paths", "Paths"],
  ["markdown", "Text"],
];

type Props = {
  widget: Widget;
  stored: Dashboard;
  definition: Definition;
  read: Reader;
  onChange: (w: Widget, kind?: string) => void;
  close: () => void;
};

/** WidgetEditor edits one widget beside its live picture. */
export function WidgetEditor({ widget, stored, definition, read, onChange, close }: Props) {
  const display = widget.display ?? {};
  const source = widget.dataSource ?? {};
  const form = formOf(widget);
  const put = (part: Partial<Widget>, kind?: string): void => onChange({ ...widget, ...part }, kind);
  const show = (part: Partial<NonNullable<Widget["display"]>>, kind?: string): void => put({ display: { ...display, ...part } }, kind);
  const sql = source.kind === "raw_sql";
  const text = form === "markdown";
  const journey = form === "paths" || (form === "funnel" && source.kind === "static");
  const tab = text ? "text" : sql ? "sql" : journey ? "journey" : "query";
  const [checked, setChecked] = useState(false);
  const known = stored.widgets?.find((w) => w.id === widget.id);
  const unchanged = known !== undefined && contentOf(known) === contentOf(widget);
  return (
    <div className="w-widgeteditor">
      <div className="w-picture">
        <div className={`w-live${form === "stat" || form === "gauge" ? " w-low" : ""}`}>
          <Slowly widget={widget} read={read} />
        </div>
        {unchanged ? (
          <button type="button" className="button small" aria-pressed={checked} onClick={() => setChecked(!checked)}>
            Inspect the data
          </button>
        ) : (
          <p className="faint">The picture shows the data of what you edit. The inspection is there after saving.</p>
        )}
        {checked && unchanged && <Inspect board={stored} widget={widget} />}
      </div>
      <div className="panel w-editform">
        <header>
          <h2 className="grow">Widget</h2>
          <button type="button" className="button small primary" onClick={close}>
            Done
          </button>
        </header>
        <div className="body w-stack">
          <div className="formgrid">
            <Field label="Heading">
              {(c) => (
                <input
                  {...c}
                  className="field"
                  {...atMost(DashboardText)}
                  value={display.title ?? ""}
                  onChange={(e) => show({ title: e.target.value }, "title")}
                />
              )}
            </Field>
            <Field label="Note">
              {(c) => (
                <input
                  {...c}
                  className="field"
                  {...atMost(DashboardText)}
                  value={display.description ?? ""}
                  onChange={(e) => show({ description: e.target.value || undefined }, "note")}
                />
              )}
            </Field>
          </div>
          <div className="row wrap w-forms" role="group" aria-label="Form">
            {forms.map(([id, name]) => (
              <button
                key={id}
                type="button"
                className="button small"
                aria-pressed={id === form}
                onClick={() => onChange(reformed(widget, id))}
              >
                {name}
              </button>
            ))}
          </div>
          {!text && form !== "paths" && form !== "list" && (
            <div className="row" role="group" aria-label="Source">
              <button
                type="button"
                className="button small"
                aria-pressed={tab === "query"}
                onClick={() => {
                  if (tab !== "query")
                    onChange(
                      reformed({ ...widget, dataSource: { kind: "query" }, display: { ...display, funnel: undefined } } as Widget, form),
                    );
                }}
              >
                Query
              </button>
              {form === "funnel" && (
                <button
                  type="button"
                  className="button small"
                  aria-pressed={tab === "journey"}
                  onClick={() =>
                    onChange(
                      reformed(
                        {
                          ...widget,
                          dataSource: { kind: "static" },
                          display: { ...display, funnel: { steps: [{ kind: "page", pagePath: "/" }], keyBy: "session" } },
                        },
                        "funnel",
                      ),
                    )
                  }
                >
                  Steps
                </button>
              )}
              <button
                type="button"
                className="button small"
                aria-pressed={tab === "sql"}
                onClick={() => {
                  if (!sql) put({ dataSource: { kind: "raw_sql", displayType: form as "line", sql: statementOf(form) } });
                }}
              >
                SQL
              </button>
            </div>
          )}
          {tab === "query" && <QueryForm widget={widget} variables={definition.variables ?? []} onChange={put} />}
          {tab === "sql" && <SqlForm sql={source.sql ?? ""} onChange={(t) => put({ dataSource: { ...source, sql: t } }, "sql")} />}
          {tab === "journey" && <JourneyForm widget={widget} onChange={put} />}
          {tab === "text" && (
            <Field label="Text (Markdown)" hint="Headings, lists, tables, links, code. Pictures show as links; HTML shows as text.">
              {(c) => (
                <textarea
                  {...c}
                  className="field mono"
                  rows={14}
                  {...atMost(DashboardMarkdown)}
                  value={display.markdown?.content ?? ""}
                  onChange={(e) => show({ markdown: { content: e.target.value } }, "text")}
                />
              )}
            </Field>
          )}
          {!text && <DisplayForm widget={widget} form={form} onChange={put} />}
        </div>
      </div>
    </div>
  );
}

/** Slowly draws the widget as it is after a pause in typing, so that not every key is a query. */
function Slowly({ widget, read }: { widget: Widget; read: Reader }) {
  const [drawn, setDrawn] = useState(widget);
  const wait = useRef(0);
  const last = useRef(widget);
  if (last.current !== widget) {
    last.current = widget;
    clearTimeout(wait.current);
    wait.current = window.setTimeout(() => setDrawn(widget), 500);
  }
  return <Tile widget={drawn} read={read} leads={leads} />;
}

function SqlForm({ sql, onChange }: { sql: string; onChange: (text: string) => void }) {
  const guarded = sql.includes("$__orgFilter");
  return (
    <Field
      label="Statement"
      error={guarded ? "" : "The statement must contain $__orgFilter."}
      hint="One SELECT. $__timeFilter(Timestamp) is the window; $name is the value of a variable. A chart needs columns bucket, name and value; a number needs value."
    >
      {(c) => (
        <textarea {...c} className="field mono" rows={12} spellCheck={false} value={sql} onChange={(e) => onChange(e.target.value)} />
      )}
    </Field>
  );
}

function Inspect({ board, widget }: { board: Dashboard; widget: Widget }) {
  const { span, window: w } = useFrame();
  const found = useCall("DashboardDataService/SearchDashboardWidgetInspection", {
    id: board.id ?? "",
    widgetId: widget.id ?? "",
    ...(widget.timeRange?.type ? {} : { timeRange: rangeOf(span, w) }),
  });
  return (
    <section className="panel">
      <div className="body">
        <Load of={found} lines={3}>
          {(d) => <Findings of={d} />}
        </Load>
      </div>
    </section>
  );
}
