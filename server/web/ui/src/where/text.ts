import { logFilters, parse, type Problem, quoted, traceFilters, traceProblem } from "./parse";

/**
 * Texts of the bar in the query language. The bar takes that language, and besides it bare words that search text, conditions without
 * AND between them, `root` for root_only, and levels by name after `severity >=`. The rest of a text stays as a person typed it.
 */
export type Bar = "traces" | "logs" | "errors";

const token = /(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"'=<>!(),\\`])+|==|!=|<>|>=|<=|[=<>!(),]/y;
type Token = { text: string; at: number; end: number };

function tokens(text: string): Token[] | undefined {
  const out: Token[] = [];
  for (let at = 0; ;) {
    while (/\s/.test(text[at] ?? "")) at++;
    if (at >= text.length) return out;
    token.lastIndex = at;
    const m = token.exec(text);
    if (!m) return undefined;
    out.push({ text: m[0], at, end: token.lastIndex });
    at = token.lastIndex;
  }
}

/** A condition, words that stand together, or a parenthesis, with all NOTs before it. */
type Term = { kind: "condition" | "words" | "open" | "close"; at: number; end: number; parts: Token[]; after: "" | "and" | "or" };

const compares = /^(?:==|!=|<>|>=|<=|=|>|<|contains)$/i;
const flags = /^(?:has_error|errors_only|root_only|root\.only|is_root|is_entry|entry_only)$/i;
const isWord = (t: Token | undefined): t is Token => t !== undefined && !/^[=<>!(),]/.test(t.text);
const isJoint = (t: Token | undefined): boolean => /^(?:and|or)$/i.test(t?.text ?? "");

/** How many tokens the condition takes that begins here; 0 if none does. */
function lengthAt(list: Token[], i: number): number {
  if (!isWord(list[i])) return 0;
  if (compares.test(list[i + 1]?.text ?? "")) {
    const valued = isWord(list[i + 2]) && !isJoint(list[i + 2]) && !compares.test(list[i + 3]?.text ?? "");
    return valued ? 3 : 2;
  }
  const negated = /^(?:not|!)$/i.test(list[i + 1]?.text ?? "") ? 1 : 0;
  const op = list[i + 1 + negated]?.text.toLowerCase();
  if (op === "exists") return 2 + negated;
  if (negated && op === "contains") return isWord(list[i + 3]) ? 4 : 3;
  if (op !== "in") return 0;
  let n = 2 + negated;
  while (list[i + n] && list[i + n]!.text !== ")") n++;
  return n + 1;
}

function terms(text: string): Term[] | undefined {
  const list = tokens(text);
  if (!list) return undefined;
  const out: Term[] = [];
  for (let i = 0; i < list.length;) {
    const before = out.at(-1);
    if (isJoint(list[i]) && before) {
      before.after = list[i]!.text.toLowerCase() as "and" | "or";
      i++;
      continue;
    }
    const at = list[i]!.at;
    while (/^not$/i.test(list[i]?.text ?? "") && list[i + 1]) i++;
    const first = list[i]!;
    let n = lengthAt(list, i);
    let kind: Term["kind"] = "condition";
    if (n === 0 && isWord(first) && flags.test(first.text)) n = 1;
    else if (n === 0) {
      kind = first.text === "(" ? "open" : first.text === ")" ? "close" : "words";
      n = 1;
      while (kind === "words" && isWord(list[i + n]) && !/^(?:and|or|not)$/i.test(list[i + n]!.text) && lengthAt(list, i + n) === 0) n++;
    }
    const parts = list.slice(i, i + n);
    out.push({ kind, at, end: parts.at(-1)!.end, parts, after: "" });
    i += n;
  }
  return out;
}

/** The text of a word without its quotes. */
const plain = (t: Token): string => t.text.replace(/(["'])((?:(?!\1)[^\\]|\\.)*)\1/g, (_, __, s: string) => s.replace(/\\(.)/gs, "$1"));

const levels = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/** severities is a condition on levels by their order; records without a number have only a text. It is undefined for other conditions. */
function severities(parts: Token[]): string | undefined {
  const [field, op, value] = parts;
  if (!field || !op || !value || !/^(?:severity|level)$/i.test(field.text) || !/^(?:>=|<=|>|<)$/.test(op.text)) return undefined;
  const i = levels.indexOf(plain(value).toUpperCase().replace("WARNING", "WARN"));
  if (i < 0) return undefined;
  // A level has four numbers: WARN has 13 to 16.
  const number = op.text === ">=" || op.text === "<" ? 1 + 4 * i : 4 + 4 * i;
  const named = levels.filter((_, n) => (op.text === ">=" ? n >= i : op.text === ">" ? n > i : op.text === "<" ? n < i : n <= i));
  const numbered = `severity_number ${op.text} ${number}`;
  const texts = named.map(quoted).concat(named.includes("WARN") ? ['"WARNING"'] : []);
  return texts.length ? `(${numbered} OR (NOT severity_number exists AND severity in (${texts.join(", ")})))` : numbered;
}

const searched: Record<Bar, string[]> = {
  traces: ["span.name"],
  logs: ["body"],
  errors: ["event.exception.message", "status.message"],
};

type Edit = { at: number; end: number; text: string };

/** Language is a text in the query language, and the way back from a character of it to one of the bar. */
export type Language = { where: string; back: (at: number) => number };

export function language(text: string, bar: Bar): Language {
  const edits: Edit[] = [];
  const list = terms(text) ?? [];
  list.forEach((t, i) => {
    const before = list[i - 1];
    if (t.kind === "words" && !isWord(t.parts[0])) return; // a stray sign, which the server names
    if (before && !before.after && before.kind !== "open" && t.kind !== "close")
      edits.push({ at: t.at, end: t.at, text: /\s/.test(text[t.at - 1] ?? "") ? "AND " : " AND " });
    const first = t.parts[0]!;
    if (t.kind === "words") {
      const value = quoted(t.parts.map(plain).join(" "));
      const either = searched[bar].map((f) => `${f} contains ${value}`);
      edits.push({ at: first.at, end: t.end, text: either.length > 1 ? `(${either.join(" OR ")})` : either[0]! });
    } else if (t.kind === "condition" && bar !== "logs" && /^root$/i.test(first.text)) {
      edits.push({ at: first.at, end: first.end, text: "root_only" });
    } else if (t.kind === "condition" && bar === "logs") {
      const by = severities(t.parts);
      if (by) edits.push({ at: first.at, end: t.end, text: by });
    }
  });
  let where = "";
  let last = 0;
  const moved: Array<{ from: number; to: number; at: number; whole: boolean }> = [];
  for (const e of [...edits, { at: text.length, end: text.length, text: "" }]) {
    moved.push({ from: where.length, to: where.length + e.at - last, at: last, whole: true });
    where += text.slice(last, e.at);
    moved.push({ from: where.length, to: where.length + e.text.length, at: e.at, whole: false });
    where += e.text;
    last = e.end;
  }
  // The server counts characters, of which some are two in a string here.
  const back = (characters: number): number => {
    const at = [...where].slice(0, characters).join("").length;
    const m = moved.find((p) => at < p.to) ?? { from: 0, at: text.length, whole: false };
    return m.whole ? m.at + at - m.from : m.at;
  };
  return { where: where.trim() === "" ? "" : where, back };
}

/** Asked is the request of a page: conditions of the search method where they can say the text, and else the query language. */
export type Asked<F> = { filters: F; where?: string; error?: Problem; back: (at: number) => number };

/** Some texts that parse reads as words are conditions of the language. */
const isLanguage = (text: string): boolean => /\sin\s*\(|[=<>]\s*'/i.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'));

const ofEnvironment = (env: string): { deploymentEnvironment?: string } => (env ? { deploymentEnvironment: env } : {});

export function askedLogs(text: string, env: string): Asked<ReturnType<typeof logFilters>["filters"]> {
  const { filters, error } = logFilters(text, env);
  return error || isLanguage(text) ? { filters: ofEnvironment(env), ...language(text, "logs") } : { filters, back: (at) => at };
}

export function askedTraces(text: string, env: string): Asked<ReturnType<typeof traceFilters>["filters"]> {
  const all = traceProblem(text);
  const { filters, error } = traceFilters(text, env);
  // A text that reads as plain conditions, of which one has a wrong value, is told without asking.
  if (all && !parse(text).error && !isLanguage(text)) return { filters: {}, error: all, back: (at) => at };
  return error || isLanguage(text) ? { filters: ofEnvironment(env), ...language(text, "traces") } : { filters, back: (at) => at };
}

export function askedErrors(text: string, env: string): Asked<{ deploymentEnvironment?: string; search?: string }> {
  const p = parse(text);
  if (p.error || p.conditions.length > 0 || isLanguage(text)) return { filters: ofEnvironment(env), ...language(text, "errors") };
  return { filters: { ...ofEnvironment(env), ...(p.words.length ? { search: p.words.join(" ") } : {}) }, back: (at) => at };
}

/** problemOf is the fault of the text that the server found, at its character of the bar. */
export function problemOf(error: { param: string; message: string } | null, back: (at: number) => number): Problem | undefined {
  if (error?.param !== "where" && error?.param !== "filters") return undefined;
  const m = /at character (\d+): ([\s\S]*)$/.exec(error.message);
  if (!m) return { message: error.message, at: 0 };
  const message = m[2]!;
  return { message: message.charAt(0).toUpperCase() + message.slice(1), at: back(Number(m[1]) - 1) };
}

/**
 * besides is the filter without the condition at a place, so that values for that condition can be offered that fit the others. Beside
 * an OR only the conditions of its own side count.
 */
export function besides(text: string, at: number, bar: Bar): string {
  const list = terms(text);
  if (!list) return "";
  let side = 0;
  let depth = 0;
  let parts: Term[] = [];
  // The conditions of the outermost level, each with all that its parentheses hold; a new list after each OR.
  const outer: Array<{ at: number; end: number; side: number }> = [];
  for (const t of list) {
    if (t.kind === "close" && depth > 0) depth--;
    parts.push(t);
    if (t.kind === "open") depth++;
    if (depth > 0) continue;
    outer.push({ at: parts[0]!.at, end: t.end, side });
    parts = [];
    if (t.after === "or") side++;
  }
  if (parts.length) outer.push({ at: parts[0]!.at, end: text.length, side });
  const here = outer.findLast((o) => o.at <= at) ?? outer[0];
  if (!here) return "";
  const rest = outer.filter((o) => o.side === here.side && o !== here).map((o) => text.slice(o.at, o.end));
  return language(rest.join(" AND "), bar).where;
}
