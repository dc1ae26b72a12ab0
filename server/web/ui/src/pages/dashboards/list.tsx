import { useEffect, useMemo, useState } from "react";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import { DashboardName } from "../../gen/limits";
import { Dialog } from "../../parts/dialog";
import { Field, FormError, errorOf } from "../../parts/form";
import { line } from "../../parts/format";
import { Empty, Load } from "../../parts/states";
import { ago, exact } from "../../parts/time";
import { rangeName } from "../../grid/tile";
import { atMost } from "../../parts/length";
import { ImportDialog } from "./import";
import "./dashboards.css";

/** List shows the dashboards, searched by their name, note and tags. */
export default function List() {
  const { org, now } = useFrame();
  const address = useAddress();
  const search = address.searchParams.get("search") ?? "";
  const tag = address.searchParams.get("tag") ?? "";
  const cursor = address.searchParams.get("after") ?? "";
  const [open, setOpen] = useState<"" | "new" | "import">("");
  const found = useCall("DashboardsService/ListDashboards", { limit: 100, ...(cursor ? { cursor } : {}) });
  useEffect(() => {
    document.title = `Dashboards · ${org.name} · svc`;
  }, [org.name]);
  const all = found.data?.data ?? [];
  const tags = useMemo(() => {
    const n = new Map<string, number>();
    for (const d of all) for (const t of d.tags ?? []) n.set(t, (n.get(t) ?? 0) + 1);
    return [...n].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  }, [all]);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = all.filter(
    (d) =>
      (!tag || d.tags?.includes(tag)) &&
      words.every((w) => `${d.name} ${d.description ?? ""} ${(d.tags ?? []).join(" ")}`.toLowerCase().includes(w)),
  );
  return (
    <>
      <div className="pagehead">
        <h1>Dashboards</h1>
        <form className="grow w-find" role="search" onSubmit={(e) => e.preventDefault()}>
          <input
            className="field w-search"
            data-bar=""
            type="search"
            aria-label="Search dashboards"
            placeholder="Search name, note, tag"
            value={search}
            onChange={(e) => change({ search: e.target.value }, true)}
          />
        </form>
        <button type="button" className="button" onClick={() => setOpen("import")}>
          Import
        </button>
        <Link className="button" href={href("/dashboards/templates")}>
          From a template
        </Link>
        <button type="button" className="button primary" onClick={() => setOpen("new")}>
          New dashboard
        </button>
      </div>
      {tags.length > 0 && (
        <div className="row wrap" role="group" aria-label="Tags">
          {tags.slice(0, 24).map(([t, n]) => (
            <button
              key={t}
              type="button"
              className="button small"
              aria-pressed={t === tag}
              onClick={() => change({ tag: t === tag ? null : t })}
            >
              {line(t, 40)} <span className="faint">{n}</span>
            </button>
          ))}
        </div>
      )}
      <section className="panel">
        <Load of={found} lines={8} empty={() => all.length === 0 && <None create={() => setOpen("new")} />}>
          {(d) => (
            <>
              {shown.length === 0 ? (
                <Empty title="No dashboard matches">
                  <button type="button" className="button" onClick={() => change({ search: null, tag: null })}>
                    Show all {all.length}
                  </button>
                </Empty>
              ) : (
                <table className="data fold">
                  <thead>
                    <tr>
                      <th scope="col">Name</th>
                      <th scope="col" className="w200">
                        Tags
                      </th>
                      <th scope="col" className="num w80">
                        Widgets
                      </th>
                      <th scope="col" className="w110">
                        Window
                      </th>
                      <th scope="col" className="w110">
                        Changed
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {shown.map((b) => (
                      <tr key={b.id}>
                        <td>
                          <Link className="main" href={href(`/dashboards/${b.id}`)}>
                            {line(b.name ?? "", 200)}
                          </Link>
                          {b.description && <span className="faint"> {line(b.description, 160)}</span>}
                        </td>
                        <td className="faint">
                          {(b.tags ?? [])
                            .slice(0, 4)
                            .map((t) => line(t, 24))
                            .join(", ")}
                        </td>
                        <td className="num">{b.widgets?.length ?? 0}</td>
                        <td className="faint">{rangeName({ timeRange: b.timeRange ?? {} })}</td>
                        <td className="faint" title={exact(b.updatedAt)}>
                          {ago(b.updatedAt, now)}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
              {(d.hasMore || cursor) && (
                <p className="notice row">
                  <span className="grow">Search and tags apply to this page of {all.length}.</span>
                  {cursor && (
                    <button type="button" className="button small" onClick={() => change({ after: null })}>
                      First page
                    </button>
                  )}
                  {d.hasMore && (
                    <button type="button" className="button small" onClick={() => change({ after: d.nextCursor ?? null })}>
                      Next page
                    </button>
                  )}
                </p>
              )}
            </>
          )}
        </Load>
      </section>
      {open === "new" && <NewDialog close={() => setOpen("")} />}
      {open === "import" && <ImportDialog close={() => setOpen("")} />}
    </>
  );
}

function None({ create }: { create: () => void }) {
  return (
    <Empty title="No dashboards yet">
      <p>A template shows services, errors, databases or machines at once. Any chart of another page can be added to a dashboard, too.</p>
      <div className="row">
        <Link className="button primary" href={href("/dashboards/templates")}>
          Choose a template
        </Link>
        <button type="button" className="button" onClick={create}>
          Begin with an empty one
        </button>
      </div>
    </Empty>
  );
}

function NewDialog({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [tags, setTags] = useState("");
  const create = useAct("DashboardsService/CreateDashboard", (d) => navigate(href(`/dashboards/${d.id}`, { edit: "1" })));
  return (
    <Dialog title="New dashboard" close={close}>
      <form
        className="w-stack"
        onSubmit={(e) => {
          e.preventDefault();
          create.mutate({ name: name.trim(), tags: tagsOf(tags) });
        }}
      >
        <Field label="Name" error={errorOf(create.error, "name")}>
          {(c) => (
            <input
              {...c}
              className="field"
              required
              {...atMost(DashboardName)}
              autoFocus
              value={name}
              onChange={(e) => setName(e.target.value)}
            />
          )}
        </Field>
        <Field label="Tags" hint="With commas between them." error={errorOf(create.error, "tags")}>
          {(c) => <input {...c} className="field" value={tags} onChange={(e) => setTags(e.target.value)} />}
        </Field>
        <FormError error={create.error} fields={["name", "tags"]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || !name.trim()}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** tagsOf reads tags with commas between them. */
export const tagsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((t) => t.trim())
      .filter(Boolean),
  ),
];
