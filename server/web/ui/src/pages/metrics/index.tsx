import { useEffect, useMemo } from "react";
import { change, href, useAddress } from "../../frame/router";
import { useFrame } from "../../frame/session";
import { line } from "../../parts/format";
import { Empty } from "../../parts/states";
import { Views } from "../../views/save";
import { Catalogue, useNames } from "./catalogue";
import { Results } from "./chart";
import { Detail } from "./detail";
import { QueryRow } from "./queryrow";
import { letters, next, parametersOf, queriesOf } from "./query";
import "../home.css";
import "./metrics.css";

const formulas = ["A / B", "A * 100 / B", "A - B"];

/** Metrics is the catalogue, and the queries of a person over metrics: several, with formulas, beside the window before. */
export default function Metrics() {
  const { org } = useFrame();
  const address = useAddress();
  const p = address.searchParams;
  const queries = useMemo(() => queriesOf(p), [address.search]);
  const search = p.get("q") ?? "";
  const names = useNames(search);
  const first = queries[0];
  const free = next(queries);
  const formula = p.get("fx") ?? "";
  const compare = p.get("cmp") === "prev";
  useEffect(() => {
    document.title = `${first ? line(first.metric, 60) : "Metrics"} · ${org.name} · svc`;
  }, [first?.metric, org.name]);
  useEffect(() => {
    let before = "";
    const press = (e: KeyboardEvent): void => {
      const target = e.target as Element;
      const plain =
        !e.metaKey &&
        !e.ctrlKey &&
        !e.altKey &&
        !target.matches?.("input, textarea, select") &&
        !document.querySelector("dialog[open], [role=menu]");
      if (plain && before !== "g" && e.key === "n" && names.all.length) {
        const at = names.all.findIndex(([n]) => n === first?.metric);
        const to = names.all[(at + 1) % names.all.length];
        if (to) change(parametersOf("A", { metric: to[0], type: "", agg: "", by: "", where: "" }));
      }
      before = e.key;
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [names.all, first?.metric]);
  const setFormula = (text: string): void => change({ fx: text || null });
  const pick = (name: string, add: boolean): void => {
    if (add && free) change(parametersOf(free, { metric: name }));
    else
      change({
        ...Object.fromEntries(letters.slice(1).flatMap((l) => Object.entries(parametersOf(l, null)))),
        ...parametersOf("A", { metric: name, type: "", agg: "", by: "", where: "" }),
        fx: null,
      });
  };
  return (
    <>
      <div className="pagehead">
        <h1>Metrics</h1>
        <span className="grow" />
        <button type="button" className="button" aria-pressed={compare} onClick={() => change({ cmp: compare ? null : "prev" }, true)}>
          Compare with before
        </button>
        <Views page="metrics" />
      </div>
      <div className="withlist">
        <Catalogue
          names={names}
          search={search}
          at={queries.map((q) => q.metric)}
          link={(n) => href("/metrics", { m: n, q: search })}
          onPick={pick}
          full={!free}
        />
        {!first ? (
          <section className="panel">
            <Empty title="Choose a metric">
              <p>Its chart, its attributes and their values show here. With ⌘ or Ctrl, a click adds a second one.</p>
            </Empty>
          </section>
        ) : (
          <div className="metricmain">
            <section className="panel queries">
              {queries.map((q) => (
                <QueryRow key={q.letter} query={q} alone={queries.length === 1} />
              ))}
              <div className="row wrap queryfoot">
                {formula ? (
                  <form
                    className="row grow"
                    onSubmit={(e) => {
                      e.preventDefault();
                      setFormula(String(new FormData(e.currentTarget).get("fx") ?? "").trim());
                    }}
                  >
                    <label className="row grow">
                      <span className="letter">ƒ</span>
                      <input
                        className="field mono grow"
                        name="fx"
                        aria-label="Formula"
                        key={formula}
                        defaultValue={formula}
                        spellCheck={false}
                      />
                    </label>
                    <button type="submit" className="button small">
                      Apply
                    </button>
                    <button type="button" className="button small quiet" aria-label="Remove the formula" onClick={() => setFormula("")}>
                      ×
                    </button>
                  </form>
                ) : (
                  queries.length > 1 &&
                  formulas.map((f) => (
                    <button
                      key={f}
                      type="button"
                      className="button small"
                      onClick={() => setFormula(f.replace(/\bA\b/, queries[0]!.letter).replace(/\bB\b/, queries[1]!.letter))}
                    >
                      {f}
                    </button>
                  ))
                )}
                {queries.length === 1 && (
                  <span className="faint">⌘ or Ctrl and a click in the list adds a metric; two of them make a formula.</span>
                )}
              </div>
            </section>
            <Results queries={queries} formula={formula} compare={compare} />
            <Detail key={first.metric} query={first} />
          </div>
        )}
      </div>
    </>
  );
}
