import { useMemo } from "react";
import { choose, usePreference } from "../../frame/preferences";
import { useFrame } from "../../frame/session";
import { block, line } from "../../parts/format";
import { Copy } from "../../parts/states";
import { folded, type Frame, frames } from "./stack";

/** Stack shows a stack trace: frames of the application in full, those of libraries folded; or the text as it came. The choice is kept. */
export function Stack({ text, why }: { text: string; why: string[] }) {
  const { me } = useFrame();
  const raw = usePreference("stackTrace") === "raw";
  const parts = useMemo(() => folded(frames(block(text, 50_000))), [text]);
  if (!text) {
    return why.length > 0 ? (
      <ol className="frames" aria-label="Frames of the group">
        {why.map((f, n) => (
          <li key={`${n}${f}`} className="app">
            <code>{line(f, 300)}</code>
          </li>
        ))}
      </ol>
    ) : (
      <p className="fine">No span of this group recorded an exception with a stack trace.</p>
    );
  }
  const show = (to: "pretty" | "raw"): void => choose(me.user?.id ?? "", "stackTrace", to);
  return (
    <>
      <div className="row fine">
        <button type="button" className="button small" aria-pressed={!raw} onClick={() => show("pretty")}>
          Frames
        </button>
        <button type="button" className="button small" aria-pressed={raw} onClick={() => show("raw")}>
          Raw
        </button>
        <span className="grow" />
        <Copy text={text} />
      </div>
      {raw ? (
        <pre className="stacktext" tabIndex={0} aria-label="Stack trace">
          {block(text, 50_000)}
        </pre>
      ) : (
        <ol className="frames" aria-label="Stack trace" tabIndex={0}>
          {parts.map((p, n) => (
            // biome-ignore lint: a stack never changes its order
            <li key={n} className={typeof p !== "string" && !Array.isArray(p) && p.app ? "app" : undefined}>
              {typeof p === "string" ? (
                <b>{line(p, 600)}</b>
              ) : Array.isArray(p) ? (
                <details>
                  <summary>{p.length} frames of libraries</summary>
                  {p.map((f) => (
                    <One key={f.text} f={f} />
                  ))}
                </details>
              ) : (
                <One f={p} />
              )}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

const One = ({ f }: { f: Frame }) => (
  <code className="frame">
    {f.call && <span>{line(f.call, 300)}</span>} <span className="faint">{line(f.place, 400)}</span>
  </code>
);
