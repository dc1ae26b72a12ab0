import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";

/** The address is the state of a page. Each change of the address shows at once, and Back undoes it. */
const listeners = new Set<() => void>();
const tell = (): void => {
  for (const listen of listeners) listen();
};
window.addEventListener("popstate", tell);

const subscribe = (listen: () => void): (() => void) => {
  listeners.add(listen);
  return () => listeners.delete(listen);
};
const address = (): string => location.pathname + location.search;

export function useAddress(): URL {
  return new URL(useSyncExternalStore(subscribe, address), location.origin);
}

export function navigate(to: string, replace = false): void {
  const target = new URL(to, location.href);
  if (target.pathname + target.search === address()) return;
  const elsewhere = target.pathname !== location.pathname;
  history[replace ? "replaceState" : "pushState"](null, "", target);
  tell();
  if (elsewhere && !replace) document.querySelector("main")?.scrollTo(0, 0);
}

/** change sets parameters of the address; null or an empty text removes one. */
export function change(parameters: Record<string, string | null>, replace = false): void {
  const target = new URL(location.href);
  for (const [name, value] of Object.entries(parameters)) {
    if (value) target.searchParams.set(name, value);
    else target.searchParams.delete(name);
  }
  navigate(target.pathname + target.search, replace);
}

/** The window and the environment go along with every link. */
const carried = ["from", "to", "env"];

/** href is the address of a page of the organization in the path, with the window of the current page. */
export function href(path: string, parameters: Record<string, string | undefined> = {}): string {
  const here = new URL(location.href);
  const slug = here.pathname.split("/")[2] ?? "";
  const search = new URLSearchParams();
  for (const name of carried) {
    const value = here.searchParams.get(name);
    if (value) search.set(name, value);
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === "") search.delete(name);
    else search.set(name, value);
  }
  const text = search.toString();
  return `/o/${slug}${path}${text ? `?${text}` : ""}`;
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { href: string };

/** Link opens a page of the application without a reload. */
export function Link({ onClick, ...rest }: LinkProps) {
  const follow = (e: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(e);
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    navigate(e.currentTarget.href);
  };
  // biome-ignore lint: the content comes with the properties
  return <a {...rest} onClick={follow} />;
}
