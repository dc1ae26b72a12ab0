// The person who uses the page: the user whom the page names, and the id of a visitor where the page wants one.
import type { Settings, User } from "./options";
import { attributes, cut, uuid } from "./texts";

const visitorKey = "svc.visitor";
const visitorAge = 365 * 24 * 3600;

/** userFields are the columns of a session that describe a user. */
export function userFields(user: User | null | undefined, withEmail: boolean): Record<string, unknown> | undefined {
  if (!user || typeof user !== "object") return undefined;
  const text = (v: unknown, most: number) => (v === undefined || v === null || v === "" ? undefined : cut(String(v), most));
  return {
    user_id: text(user.id, 256),
    user_email: withEmail ? text(user.email, 1024) : undefined,
    user_name: text(user.username, 1024),
    group_id: text(user.groupId, 256),
    group_name: text(user.groupName, 1024),
    user_traits: attributes(user.traits, 24, 256),
  };
}

export interface Visitor {
  id: string;
  isNew: boolean;
}

/** visitor returns the id that the browser keeps, or makes one. */
export function visitor(privacy: Settings["privacy"]): Visitor | undefined {
  if (!privacy.persistVisitorId) return undefined;
  try {
    const found = privacy.crossSubdomainCookie ? cookie() : localStorage.getItem(visitorKey);
    if (found && /^[\w-]{8,64}$/.test(found)) return { id: found, isNew: false };
    const id = uuid();
    if (privacy.crossSubdomainCookie) writeCookie(id, privacy.cookieDomain, visitorAge);
    else localStorage.setItem(visitorKey, id);
    return { id, isNew: true };
  } catch {
    return undefined;
  }
}

export function forgetVisitor(domain: string): void {
  try {
    localStorage.removeItem(visitorKey);
  } catch {
    // The storage holds no identity.
  }
  try {
    if (cookie()) writeCookie("", domain, 0);
  } catch {
    // Cookies are refused.
  }
}

function cookie(): string {
  return /(?:^|; )svc\.visitor=([^;]*)/.exec(document.cookie)?.[1] ?? "";
}

/** writeCookie sets the cookie for the widest domain that the browser accepts. */
function writeCookie(id: string, domain: string, age: number): void {
  const labels = location.hostname.split(".");
  const address = /^[\d.]+$|:/.test(location.hostname);
  const domains = domain ? [domain] : address ? [""] : labels.slice(0, -1).map((_, i) => labels.slice(labels.length - 2 - i).join("."));
  for (const d of [...domains, ""]) {
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `${visitorKey}=${id}; Path=/; Max-Age=${age}; SameSite=Lax${secure}${d ? `; Domain=${d}` : ""}`;
    if (id && cookie() === id) return;
    if (!id && !cookie()) return;
  }
}
