import type { ErrorEventDetail, ErrorFrame, ErrorIssueDetail } from "../../gen/api";
import { block, line } from "../../parts/format";
import { stamp } from "../../parts/time";

const known: Record<string, string> = {
  exact: "the commit that the telemetry names",
  tag: "the tag with the name of the version",
  deployment: "the commit that was deployed then",
  branch: "the tracked branch now, whose lines may have moved",
};

/** Sources shows the lines of the calls that are found in a connected repository, the first one opened. */
export function Sources({ detail: d }: { detail: ErrorEventDetail }) {
  const found = (d.frames ?? []).filter((f) => f.source);
  const first = found[0]?.source;
  if (!first) return d.sourceProblem ? <p className="fine">Source: {line(d.sourceProblem, 400)}</p> : null;
  return (
    <div className="sources">
      <h3>
        Source{" "}
        <span className="faint">
          {line(first.repository ?? "", 200)} at <code>{(first.commitSha ?? "").slice(0, 7)}</code>, {known[first.confidence ?? ""]}
        </span>
      </h3>
      {found.map((f, n) => (
        <details key={`${f.file}:${f.line}:${n}`} open={n === 0}>
          <summary>
            <code>
              {line(f.source?.path ?? "", 300)}:{f.line}
            </code>{" "}
            <span className="faint">{line(f.function ?? "", 200)}</span>
          </summary>
          <Lines of={f} />
        </details>
      ))}
    </div>
  );
}

function Lines({ of: f }: { of: ErrorFrame }) {
  const s = f.source;
  const start = s?.startLine ?? 1;
  return (
    <>
      <ol className="code" start={start} tabIndex={0} aria-label={`Lines of ${line(s?.path ?? "", 300)}`}>
        {(s?.lines ?? []).map((text, n) => (
          // biome-ignore lint: lines never change their order
          <li key={n} aria-current={start + n === f.line ? "true" : undefined}>
            <code>{block(text, 300) || " "}</code>
          </li>
        ))}
      </ol>
      {/^https?:\/\//.test(s?.htmlUrl ?? "") && (
        <a href={s?.htmlUrl} target="_blank" rel="noreferrer">
          Open at the source host
        </a>
      )}
    </>
  );
}

/** Suspects shows the commits that may have brought an issue. */
export function Suspects({ issue: i }: { issue: ErrorIssueDetail }) {
  const list = i.suspectCommits ?? [];
  if (list.length === 0 && !i.suspectProblem) return null;
  return (
    <section className="panel">
      <header>
        <h2 className="grow">Suspect commits</h2>
      </header>
      {list.length === 0 && <p className="fine">{line(i.suspectProblem ?? "", 400)}</p>}
      <ol className="suspects">
        {list.map((c) => (
          <li key={c.sha}>
            <p>
              <Commit url={c.htmlUrl ?? ""} sha={c.sha ?? ""} /> <b>{line(c.message ?? "", 200)}</b>
            </p>
            <p className="faint">
              {line(c.authorName ?? "", 100)}, {stamp(c.committedAt)}
            </p>
            <p>{line(c.reason ?? "", 600)}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

const Commit = ({ url, sha }: { url: string; sha: string }) =>
  /^https?:\/\//.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer">
      <code>{sha.slice(0, 7)}</code>
    </a>
  ) : (
    <code>{sha.slice(0, 7)}</code>
  );
