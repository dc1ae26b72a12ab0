type Document = Record<string, unknown>;

/** documentOf reads a file: an export of svc, or a Perses dashboard. The text is the reason why it is neither. */
export function documentOf(text: string): { kind: "svc" | "perses"; document: Document } | string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (e) {
    return `This is no JSON: ${(e as Error).message}.`;
  }
  if (typeof document !== "object" || document === null || Array.isArray(document))
    return "This is no dashboard: the JSON is not an object.";
  const d = document as Document;
  if (d.kind === "Dashboard" && typeof d.spec === "object") return { kind: "perses", document: d };
  if (typeof d.name === "string" && Array.isArray(d.widgets)) {
    const known = [
      "name",
      "description",
      "tags",
      "timeRange",
      "time_range",
      "widgets",
      "sections",
      "variables",
      "refreshIntervalSeconds",
      "refresh_interval_seconds",
    ];
    return { kind: "svc", document: Object.fromEntries(Object.entries(d).filter(([k]) => known.includes(k))) };
  }
  return "This is neither an export of svc (name and widgets) nor a Perses dashboard (kind and spec).";
}
