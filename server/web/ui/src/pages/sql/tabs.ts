import { SQLText } from "../../gen/limits";
/** The statements of a person, as the browser and a link keep them. */
export type Tab = { id: string; name: string; sql: string };
export type Tabs = { list: Tab[]; at: string };

const most = 20;
const size = SQLText.bytes;

export const fresh = (sql = "", n = 1): Tab => ({ id: Math.random().toString(36).slice(2, 10), name: `Statement ${n}`, sql });

/** readTabs reads what was kept. What it cannot read is dropped. */
export function readTabs(text: string | null): Tabs | null {
  try {
    const kept = JSON.parse(text ?? "") as Partial<Tabs>;
    const list = (Array.isArray(kept.list) ? kept.list : [])
      .filter((t) => t && typeof t.id === "string" && typeof t.sql === "string" && typeof t.name === "string")
      .slice(0, most)
      .map((t) => ({ id: t.id.slice(0, 20), name: t.name.slice(0, 60), sql: t.sql.slice(0, size) }));
    const first = list[0];
    return first ? { list, at: list.some((t) => t.id === kept.at) ? String(kept.at) : first.id } : null;
  } catch {
    return null;
  }
}

const flow = async (bytes: Uint8Array<ArrayBuffer>, through: CompressionStream | DecompressionStream): Promise<Uint8Array> =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer());

/** packed is a text for the fragment of a link. */
export async function packed(tabs: Tabs): Promise<string> {
  const bytes = await flow(new TextEncoder().encode(JSON.stringify(tabs)) as Uint8Array<ArrayBuffer>, new CompressionStream("deflate-raw"));
  let text = "";
  for (const b of bytes) text += String.fromCharCode(b);
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** unpacked reads the fragment of a link; null when it cannot. */
export async function unpacked(text: string): Promise<Tabs | null> {
  try {
    const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    return readTabs(new TextDecoder().decode(await flow(bytes, new DecompressionStream("deflate-raw"))));
  } catch {
    return null;
  }
}

/** remembered adds a statement to the history, newest first, once. */
export const remembered = (history: string[], sql: string): string[] => [sql, ...history.filter((h) => h !== sql)].slice(0, 50);

export function readHistory(text: string | null): string[] {
  try {
    const kept = JSON.parse(text ?? "") as unknown;
    return Array.isArray(kept) ? kept.filter((h): h is string => typeof h === "string" && h.length <= size).slice(0, 50) : [];
  } catch {
    return [];
  }
}
