/** Frame is one line of a stack. `app` is code of the application, as far as its path or package says. */
export type Frame = { text: string; call: string; place: string; app: boolean };

const foreign =
  /node_modules|node:internal|\(internal\/|site-packages|dist-packages|\/usr\/l(?:ib|ocal\/go)\/|\/lib\/python|\/pkg\/mod\/|\/vendor\/|<anonymous>|webpack\/|\bruntime\/(?:proc|panic|asm)|net\/http\.|^\s*at (?:java|javax|jdk|sun|com\.sun|kotlin|scala|org\.springframework|org\.apache|org\.hibernate|io\.netty|io\.grpc|reactor|okhttp3|com\.zaxxer|org\.postgresql|com\.mysql|io\.opentelemetry)[./]/;

/** frames reads the frames of a stack trace of JavaScript, Java, Python, Go and languages that write alike. A line that is no frame is kept as text. */
export function frames(stack: string): Array<Frame | string> {
  const lines = stack.replace(/\r/g, "").split("\n");
  const out: Array<Frame | string> = [];
  for (let i = 0; i < lines.length; i++) {
    const text = lines[i]!;
    const next = lines[i + 1] ?? "";
    const at = /^\s*at (?:(.+?) ?\((.*)\)|(.+))\s*$/.exec(text);
    const python = /^\s*File "(.+)", line (\d+)(?:, in (.+))?/.exec(text);
    const go = /^\S.*\)$/.test(text) && /^\t\S+:\d+/.test(next);
    if (at) out.push({ text, call: at[1] ?? "", place: at[2] ?? at[3] ?? "", app: !foreign.test(text) });
    else if (python) {
      const code = /^\s{4,}\S/.test(next) && !/^\s*File "/.test(next);
      out.push({
        text: code ? `${text}\n${next}` : text,
        call: `${python[3] ?? ""}${code ? `: ${next.trim()}` : ""}`,
        place: `${python[1]}:${python[2]}`,
        app: !foreign.test(text),
      });
      if (code) i++;
    } else if (go) {
      out.push({
        text: `${text}\n${next}`,
        call: text.replace(/\(.*\)$/, ""),
        place: next.trim().replace(/ \+0x.*/, ""),
        app: !foreign.test(text) && !foreign.test(next),
      });
      i++;
    } else if (text.trim()) out.push(text);
  }
  return out;
}

/** folded joins neighbours that are not of the application. Without a frame of the application all stay. */
export function folded(all: Array<Frame | string>): Array<Frame | string | Frame[]> {
  if (!all.some((f) => typeof f !== "string" && f.app)) return all;
  const out: Array<Frame | string | Frame[]> = [];
  for (const f of all) {
    const last = out.at(-1);
    if (typeof f === "string" || f.app) out.push(f);
    else if (Array.isArray(last)) last.push(f);
    else out.push([f]);
  }
  return out.map((f) => (Array.isArray(f) && f.length === 1 ? f[0]! : f));
}
