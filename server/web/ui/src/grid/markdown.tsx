import type { Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { Fragment, type ReactNode, useMemo } from "react";
import { DashboardMarkdown } from "../gen/limits";
import { block } from "../parts/format";

/** Markdown renders a text as elements. HTML in it is shown as text, and pictures are links: this page loads nothing from other hosts. */
export default function Markdown({ text }: { text: string }) {
  const tree = useMemo(
    () => fromMarkdown(block(text, DashboardMarkdown.characters), { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }),
    [text],
  );
  return <div className="w-markdown">{children(tree)}</div>;
}

/** address is the target of a link, when it leads to a page. */
export function address(url: string): string | undefined {
  try {
    const to = new URL(url, location.origin);
    return ["http:", "https:", "mailto:"].includes(to.protocol) ? to.href : undefined;
  } catch {
    return undefined;
  }
}

const out = (url: string, content: ReactNode): ReactNode => {
  const href = address(url);
  return href ? (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {content}
    </a>
  ) : (
    content
  );
};

function children(node: Root | Nodes): ReactNode {
  if (!("children" in node)) return null;
  // biome-ignore lint: nodes have no other name than their order
  return node.children.map((c, i) => <Fragment key={i}>{one(c as Nodes)}</Fragment>);
}

function one(n: Nodes): ReactNode {
  switch (n.type) {
    case "heading": {
      const H = `h${Math.min(6, n.depth + 2)}` as "h3";
      return <H>{children(n)}</H>;
    }
    case "paragraph":
      return <p>{children(n)}</p>;
    case "text":
      return n.value;
    case "html":
      return n.value;
    case "emphasis":
      return <em>{children(n)}</em>;
    case "strong":
      return <strong>{children(n)}</strong>;
    case "delete":
      return <del>{children(n)}</del>;
    case "inlineCode":
      return <code>{n.value}</code>;
    case "code":
      return <pre tabIndex={0}>{n.value}</pre>;
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "blockquote":
      return <blockquote>{children(n)}</blockquote>;
    case "list":
      return n.ordered ? <ol start={n.start ?? 1}>{children(n)}</ol> : <ul>{children(n)}</ul>;
    case "listItem":
      return (
        <li className={typeof n.checked === "boolean" ? "w-task" : undefined}>
          {typeof n.checked === "boolean" && (
            <span aria-label={n.checked ? "done" : "open"} role="img">
              {n.checked ? "☑" : "☐"}
            </span>
          )}{" "}
          {n.spread ? children(n) : n.children.map((c, i) => <Fragment key={i}>{c.type === "paragraph" ? children(c) : one(c)}</Fragment>)}
        </li>
      );
    case "link":
      return out(n.url, children(n));
    case "image":
      return out(n.url, n.alt || n.url);
    case "table":
      return (
        <table className="data">
          {/* biome-ignore lint: rows have no other name than their order */}
          <tbody>
            {n.children.map((r, i) => (
              <tr key={i}>
                {r.children.map((c, k) =>
                  i === 0 ? (
                    <th key={k} scope="col">
                      {children(c)}
                    </th>
                  ) : (
                    <td key={k}>{children(c)}</td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      );
    default:
      return children(n);
  }
}
