// Ids, texts within limits, and times as the server reads them.

const encoder = new TextEncoder();

export function bytes(text: string): number {
  return encoder.encode(text).length;
}

/** cut shortens a text to at most `most` bytes of UTF-8, at a whole character. */
export function cut(text: string, most: number): string {
  if (text.length * 3 <= most) return text;
  const all = encoder.encode(text);
  if (all.length <= most) return text;
  let end = most;
  while (end > 0 && (all[end]! & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(all.subarray(0, end));
}

function random(n: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(n));
}

export function hexId(n: 8 | 16): string {
  return Array.from(random(n), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** uuid makes a random UUID. crypto.randomUUID exists on secure pages only. */
export function uuid(): string {
  const b = random(16);
  b[6] = (b[6]! & 0x0f) | 0x40;
  b[8] = (b[8]! & 0x3f) | 0x80;
  const h = Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
  return [h.slice(0, 8), h.slice(8, 12), h.slice(12, 16), h.slice(16, 20), h.slice(20)].join("-");
}

/** chosen decides by the id of a session, so all pages of it decide alike, and a lower rate chooses part of what a higher one does. */
export function chosen(id: string, rate: number): boolean {
  let h = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) h = Math.imul(h ^ id.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296 < rate;
}

/** stamp writes a time as `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
export function stamp(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").replace("Z", "");
}

/** nanos writes a time in milliseconds as nanoseconds, which are too many for a number. */
export function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.min(999999, Math.round((ms - whole) * 1e6))).padStart(6, "0")}`;
}

const secretName =
  /pass(word|wd|phrase)?|secret|token|api[-_]?key|^auth$|auth[-_]|authoriz|credential|session|signature|jwt|otp|^(email|pwd)$/i;
/** In an address these are codes of a sign-in and keys of shared files. Elsewhere they are ordinary words. */
const secretParameter = /^(sig|code|key)$/i;

/** isSecret reports whether a name is that of a secret value. */
export function isSecret(name: string): boolean {
  return secretName.test(name);
}

/** cleanUrl removes credentials, and the values of parameters that look like secrets. */
export function cleanUrl(url: string, own?: (url: string) => string): string {
  if (!url) return "";
  if (own) {
    // A failing function of the page must not let the address through.
    try {
      return cut(String(own(url) ?? ""), 2048);
    } catch {
      return "";
    }
  }
  const hidden = url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, "$1")
    .replace(/([?&#;])([^=&#;?]+)=([^&#;]*)/g, (all, mark: string, name: string) =>
      isSecret(decode(name)) || secretParameter.test(name) ? `${mark}${name}=redacted` : all,
    );
  return cut(/^(data|blob|javascript):/i.test(hidden) ? hidden.slice(0, hidden.indexOf(":") + 1) : hidden, 2048);
}

/** pathOf returns the path of a cleaned address. */
export function pathOf(url: string): string {
  try {
    return new URL(url).pathname;
  } catch {
    return "";
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** brief writes a value of the page as a short text. It calls nothing of the value but the text of an error. */
export function brief(v: unknown, depth = 0): string {
  if (typeof v === "string") return depth ? JSON.stringify(v.slice(0, 256)) : v.slice(0, 2048);
  if (v === null || typeof v !== "object") return typeof v === "function" ? "function" : String(v);
  if (v instanceof Error) return `${v.name}: ${v.message}`;
  if (typeof Element !== "undefined" && v instanceof Element) return `<${v.tagName.toLowerCase()}>`;
  if (Array.isArray(v)) {
    if (depth > 1) return `[${v.length}]`;
    return `[${v
      .slice(0, 10)
      .map((x) => brief(x, depth + 1))
      .join(",")}${v.length > 10 ? ",…" : ""}]`;
  }
  if (depth > 1) return "{…}";
  const parts: string[] = [];
  for (const key of Object.keys(v).slice(0, 20)) {
    const d = Object.getOwnPropertyDescriptor(v, key);
    if (d && "value" in d) parts.push(`${key}:${isSecret(key) ? "redacted" : brief(d.value, depth + 1)}`);
  }
  return `{${parts.join(",")}}`;
}

/** attributes turns properties into a map of texts, within the limits of the server. */
export function attributes(
  props: Record<string, unknown> | undefined | null,
  most: number,
  longest: number,
): Record<string, string> | undefined {
  if (!props || typeof props !== "object") return undefined;
  const out: Record<string, string> = {};
  let n = 0;
  for (const key of Object.keys(props)) {
    const v = props[key];
    if (v === undefined || v === null || typeof v === "function" || !key || bytes(key) > 64) continue;
    if (++n > most) break;
    out[key] = cut(typeof v === "object" ? JSON.stringify(v) : String(v), longest);
  }
  return n ? out : undefined;
}
