import { iso, type Window } from "../parts/time";

/** linkOf is the address of the page; with a window, it is fixed to these times, so that it shows the same later. */
export function linkOf(address: URL, w?: Window): string {
  const link = new URL(address);
  if (w) {
    link.searchParams.set("from", iso(w.start));
    link.searchParams.set("to", iso(w.end));
  }
  return link.href;
}

/** copyLink copies an address, and tells how that went. */
export async function copyLink(link: string, fixed: boolean): Promise<string> {
  try {
    await navigator.clipboard.writeText(link);
    return fixed ? "The link is copied, with fixed times." : "The link is copied.";
  } catch {
    return "The browser does not let the page copy. The address bar has the link.";
  }
}
