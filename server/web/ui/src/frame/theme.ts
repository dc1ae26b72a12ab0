export type Theme = "system" | "light" | "dark";

/** The theme is a choice of this browser. A value that is not one of the three counts as system. */
export function theme(): Theme {
  try {
    const kept = localStorage.getItem("theme");
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

export function setTheme(t: Theme): void {
  try {
    localStorage.setItem("theme", t);
  } catch {
    // A browser without storage forgets it with the tab.
  }
  apply(t);
}

export function apply(t: Theme = theme()): void {
  if (t === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = t;
}
