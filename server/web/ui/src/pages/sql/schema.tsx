import { useState } from "react";
import type { Called } from "../../frame/session";
import { line } from "../../parts/format";
import { Load } from "../../parts/states";

/** Schema is the tree of tables. A click on a name writes it into the statement. */
export function Schema({
  of,
  onPick,
  onExample,
}: {
  of: Called<"SqlService/ListSqlTables">;
  onPick: (text: string) => void;
  onExample: (sql: string) => void;
}) {
  const [search, setSearch] = useState("");
  const s = search.toLowerCase();
  return (
    <section className="panel schema" aria-label="Tables">
      <header>
        <input
          className="field"
          type="search"
          aria-label="Search tables and columns"
          placeholder="Search tables and columns"
          value={search}
          onChange={(e) => setSearch(e.target.value)}
        />
      </header>
      <Load of={of}>
        {(d) => (
          <div className="schemalist">
            {(d.data ?? [])
              .filter((t) => !s || t.name?.toLowerCase().includes(s) || t.columns?.some((c) => c.name?.toLowerCase().includes(s)))
              .map((t) => (
                <details key={t.name} open={s !== "" || undefined}>
                  <summary title={t.description}>
                    <code>{t.name}</code>
                  </summary>
                  <p className="faint">{t.description}</p>
                  <p className="row wrap">
                    <button type="button" className="button small" onClick={() => onPick(t.name ?? "")}>
                      Insert
                    </button>
                    {t.example && (
                      <button type="button" className="button small" onClick={() => onExample(t.example ?? "")}>
                        Example
                      </button>
                    )}
                  </p>
                  <ul>
                    {(t.columns ?? [])
                      .filter((c) => !s || t.name?.toLowerCase().includes(s) || c.name?.toLowerCase().includes(s))
                      .map((c) => (
                        <li key={c.name}>
                          <button type="button" onClick={() => onPick(c.name ?? "")} title={c.type}>
                            <code className="clip grow">{t.sortKey?.includes(c.name ?? "") ? <b>{c.name}</b> : c.name}</code>
                            <span className="faint clip">{line((c.type ?? "").replace(/LowCardinality\(([^()]*)\)/g, "$1"), 40)}</span>
                          </button>
                        </li>
                      ))}
                  </ul>
                  {t.notes?.map((n) => (
                    <p key={n} className="faint">
                      {n}
                    </p>
                  ))}
                </details>
              ))}
          </div>
        )}
      </Load>
    </section>
  );
}
