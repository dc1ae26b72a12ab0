import { type FormEvent, useState } from "react";
import { change, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { SourceRepository } from "../../gen/api";
import {
  ListSourceRepositoriesRequest_search,
  SearchSourceCodeRequest_query,
  SetTrackedBranchRequest_tracked_branch,
} from "../../gen/limits";
import { Dialog } from "../../parts/dialog";
import { FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Menu } from "../../parts/menu";
import { Empty, Load } from "../../parts/states";
import { Pages, useConfirm } from "./parts";

/** Repositories lists the repositories of connected accounts, and searches the source code of one. */
export function Repositories() {
  const { org } = useFrame();
  const admin = org.role === "org:admin";
  const p = useAddress().searchParams;
  const after = p.get("after");
  const search = p.get("q");
  const found = useCall("SourceHostingService/ListSourceRepositories", {
    limit: 50,
    ...(after ? { cursor: after } : {}),
    ...(search ? { search } : {}),
  });
  const remove = useAct("SourceHostingService/DeleteSourceRepository", () => sure.done());
  const sure = useConfirm(remove.error, remove.isPending);
  const opened = found.data?.data?.find((r) => r.id === p.get("repository"));
  const tracked = found.data?.data?.find((r) => r.id === p.get("track"));
  return (
    <>
      <section className="panel">
        <header>
          <h2 className="grow">Repositories</h2>
          <input
            className="field"
            type="search"
            aria-label="Part of the name of a repository"
            placeholder="Part of the name"
            defaultValue={search ?? ""}
            {...atMost(ListSourceRepositoriesRequest_search)}
            onChange={(e) => change({ q: e.target.value || null, after: null })}
          />
        </header>
        <Load
          of={found}
          empty={(d) =>
            !d.data?.length &&
            !after && (
              <Empty title={search ? "No repository has this in its name" : "No repository yet"}>
                <p>Repositories appear after an account is connected under Integrations.</p>
              </Empty>
            )
          }
        >
          {(d) => (
            <>
              <table className="data fold">
                <thead>
                  <tr>
                    <th scope="col">Repository</th>
                    <th scope="col">Tracked branch</th>
                    <th scope="col" className="w200">
                      <span className="sr">Act</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {(d.data ?? []).map((r) => (
                    <tr key={r.id}>
                      <td className="free">
                        <a href={r.htmlUrl} rel="noreferrer">
                          {line(r.fullName ?? "", 140)}
                        </a>{" "}
                        <span className="faint">
                          {r.isPrivate ? "private" : "public"}
                          {r.isArchived && ", archived"}
                        </span>
                        {r.status === "removed" && <span className="bad"> · removed: {line(r.lastSyncError ?? "", 140)}</span>}
                      </td>
                      <td>{line(r.trackedBranch ?? "none", 80)}</td>
                      <td>
                        <span className="row">
                          {r.status === "active" && (
                            <button type="button" className="button small" onClick={() => change({ repository: r.id ?? null })}>
                              Search code
                            </button>
                          )}
                          {admin && (
                            <Menu
                              label={`More about ${line(r.fullName ?? "", 80)}`}
                              items={
                                r.status === "active"
                                  ? [{ name: "Track another branch", act: () => change({ track: r.id ?? null }) }]
                                  : [
                                      {
                                        name: "Delete",
                                        danger: true,
                                        act: () =>
                                          sure.ask({
                                            title: `Delete ${line(r.fullName ?? "", 80)}?`,
                                            act: "Delete",
                                            text: "Only our record of it is deleted. Nothing changes at the source host.",
                                            run: () => remove.mutate({ id: r.id ?? "" }),
                                          }),
                                      },
                                    ]
                              }
                            >
                              ⋯
                            </Menu>
                          )}
                        </span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <Pages more={d.hasMore} next={d.nextCursor} after={after} />
            </>
          )}
        </Load>
        {sure.dialog}
        {tracked && <Track of={tracked} close={() => change({ track: null })} />}
      </section>
      {opened && <Code key={opened.id} of={opened} />}
    </>
  );
}

/** Track asks for the branch that is read where nobody names one. */
function Track({ of, close }: { of: SourceRepository; close: () => void }) {
  const [branch, setBranch] = useState(of.trackedBranch ?? "");
  const set = useAct("SourceHostingService/SetTrackedBranch", close);
  const send = (e: FormEvent): void => {
    e.preventDefault();
    set.mutate({ id: of.id ?? "", trackedBranch: branch });
  };
  return (
    <Dialog title={`Tracked branch of ${line(of.fullName ?? "", 80)}`} close={close}>
      <form onSubmit={send}>
        <label className="field">
          Branch
          <input value={branch} {...atMost(SetTrackedBranchRequest_tracked_branch)} required onChange={(e) => setBranch(e.target.value)} />
        </label>
        <FormError error={set.error} />
        <div className="row">
          <span className="grow" />
          <button type="submit" className="button primary" disabled={set.isPending}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Code searches the source code of a repository and shows the places. */
function Code({ of }: { of: SourceRepository }) {
  const [query, setQuery] = useState("");
  const search = useAct("SourceCodeService/SearchSourceCode");
  const send = (e: FormEvent): void => {
    e.preventDefault();
    search.mutate({ id: of.id ?? "", query });
  };
  const found = search.data;
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Source code of {line(of.fullName ?? "", 100)}</h2>
        <button type="button" className="button small" onClick={() => change({ repository: null })}>
          Close
        </button>
      </header>
      <form className="row codesearch" onSubmit={send}>
        <input
          type="search"
          className="grow"
          aria-label="Words, a phrase in quotes, or a regular expression between slashes"
          placeholder='Words, "phrase" or /regular expression/'
          value={query}
          {...atMost(SearchSourceCodeRequest_query)}
          required
          onChange={(e) => setQuery(e.target.value)}
        />
        <button type="submit" className="button primary" disabled={search.isPending}>
          {search.isPending ? "Searching…" : "Search"}
        </button>
      </form>
      <FormError error={search.error} />
      {found && (
        <p className="fine" role="status">
          {found.totalFiles ?? 0} {found.totalFiles === 1 ? "file matches" : "files match"} at {(found.commitSha ?? "").slice(0, 12)} (
          {line(found.ref ?? "", 60)}){found.incomplete && "; the search ended early, so files may be missing"}.
        </p>
      )}
      {(found?.matches ?? []).map((m) => (
        <article key={m.path} className="codematch">
          <h3>
            <a href={m.htmlUrl} rel="noreferrer">
              {line(m.path ?? "", 200)}
            </a>
          </h3>
          {(m.snippets ?? []).map((s) => (
            <pre key={s.line}>
              {(s.text ?? "").split("\n").map((text, i) => {
                const n = (s.startLine ?? 1) + i;
                return (
                  <span key={n} className={n === s.line ? "hit" : undefined}>
                    <span className="faint">{String(n).padStart(5)} </span>
                    {line(text.replaceAll("\t", "    "), 400)}
                    {"\n"}
                  </span>
                );
              })}
            </pre>
          ))}
        </article>
      ))}
    </section>
  );
}
