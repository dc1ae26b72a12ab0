export type Table = { name: string; columns: Array<{ name: string; type: string }>; description: string };
export type Offer = { label: string; type: "table" | "column" | "function" | "macro" | "keyword"; detail?: string; apply?: string };

/** The macros of a statement, with what they stand for. */
export const macros: Offer[] = [
  { label: "$__timeFilter(Timestamp)", type: "macro", detail: "the window of the page" },
  { label: "$__timeGroup(Timestamp)", type: "macro", detail: "start of the interval" },
  { label: "$__startTime", type: "macro", detail: "start of the window" },
  { label: "$__endTime", type: "macro", detail: "end of the window" },
  { label: "$__interval_s", type: "macro", detail: "seconds of an interval" },
];

const functions = [
  "count",
  "countIf",
  "uniq",
  "uniqExact",
  "sum",
  "sumIf",
  "avg",
  "avgIf",
  "min",
  "max",
  "any",
  "argMax",
  "argMin",
  "avgWeighted",
  "quantileTDigestWeighted(0.95)",
  "quantilesTDigestWeighted(0.5, 0.95, 0.99)",
  "quantile(0.95)",
  "quantiles(0.5, 0.95, 0.99)",
  "median",
  "groupArray",
  "topK(10)",
  "toStartOfMinute",
  "toStartOfHour",
  "toStartOfInterval",
  "toDateTime",
  "toUnixTimestamp",
  "now",
  "dateDiff",
  "if",
  "multiIf",
  "coalesce",
  "nullIf",
  "round",
  "toString",
  "toFloat64",
  "toUInt64",
  "lower",
  "upper",
  "concat",
  "substring",
  "position",
  "match",
  "extract",
  "replaceRegexpAll",
  "splitByChar",
  "length",
  "has",
  "arrayJoin",
  "arrayMap",
  "mapKeys",
  "mapValues",
  "mapContains",
  "JSONExtractString",
  "row_number",
  "lagInFrame",
];
const keywords =
  "SELECT FROM WHERE GROUP BY ORDER LIMIT HAVING AND OR NOT IN AS JOIN LEFT INNER ON USING WITH DISTINCT BETWEEN LIKE ILIKE CASE WHEN THEN ELSE END ASC DESC UNION ALL OVER PARTITION INTERVAL IS NULL ARRAY PREWHERE SAMPLE OFFSET".split(
    " ",
  );

/** inText reports whether a place lies in a string or a comment, where nothing is offered. */
export function inText(sql: string, at: number): boolean {
  let quote = "";
  for (let i = 0; i < at; i++) {
    const c = sql[i]!;
    if (quote === "--") {
      if (c === "\n") quote = "";
    } else if (quote === "/*") {
      if (c === "*" && sql[i + 1] === "/") {
        quote = "";
        i++;
      }
    } else if (quote) {
      if (c === "\\") i++;
      else if (c === quote) quote = "";
    } else if (c === "'") quote = c;
    else if (c === "-" && sql[i + 1] === "-") quote = "--";
    else if (c === "/" && sql[i + 1] === "*") quote = "/*";
  }
  return quote !== "";
}

/** complete offers what can stand at a place: tables after FROM and JOIN; else columns of the tables of the statement, macros, functions and words. */
export function complete(sql: string, at: number, tables: Table[]): { from: number; offers: Offer[] } | null {
  if (inText(sql, at)) return null;
  const word = /[$\w]*$/.exec(sql.slice(0, at))![0];
  const from = at - word.length;
  const before = sql.slice(0, from);
  const names = tables.map((t): Offer => ({ label: t.name, type: "table", detail: t.description.split(".")[0] ?? "" }));
  if (/\b(from|join)\s+$/i.test(before) || /\bfrom\s+[\w\s,]*,\s*$/i.test(before)) return { from, offers: names };
  const columns = (of: Table[]): Offer[] => {
    const seen = new Map<string, Offer>();
    for (const t of of)
      for (const c of t.columns)
        if (!seen.has(c.name)) seen.set(c.name, { label: c.name, type: "column", detail: c.type.replace(/LowCardinality\((\w+)\)/, "$1") });
    return [...seen.values()];
  };
  const used = [...sql.matchAll(/\b(?:from|join)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?/gi)];
  const qualified = /(\w+)\.$/.exec(before)?.[1];
  if (qualified) {
    const name = used.find((u) => u[2]?.toLowerCase() === qualified.toLowerCase())?.[1] ?? qualified;
    const table = tables.find((t) => t.name === name);
    return table ? { from, offers: columns([table]) } : null;
  }
  const known = tables.filter((t) => used.some((u) => u[1] === t.name));
  return {
    from,
    offers: [
      ...columns(known.length ? known : tables.slice(0, 2)),
      ...macros,
      ...functions.map((f): Offer => ({ label: f, type: "function", apply: `${f}(` })),
      ...names,
      ...keywords.map((k): Offer => ({ label: k, type: "keyword" })),
    ],
  };
}
