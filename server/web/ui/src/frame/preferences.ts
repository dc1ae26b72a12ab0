import { useSyncExternalStore } from "react";
import { call } from "../api/client";
import type { Preferences } from "../gen/api";
import { isOneOf } from "../parts/choices";

/** The settings of a person. The first value of each is the default. */
const values = { theme: ["system", "light", "dark"], stackTrace: ["pretty", "raw"] } as const;
type Name = keyof typeof values;
export type Choice<N extends Name> = (typeof values)[N][number];
export const themes = values.theme;

/** The server keeps the settings. This browser has a copy under these names, so that the first drawing of a page has them, too. */
const kept: Record<Name, string> = { theme: "theme", stackTrace: "stack" };
/** Whose copy it is. `unsent ID` says that the server did not get the last change. */
const owner = "preferences-of";

const listeners = new Set<() => void>();
const read = (name: string): string => {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return ""; // a browser without storage
  }
};
const write = (name: string, text: string): void => {
  try {
    localStorage.setItem(name, text);
  } catch {
    // A browser without storage forgets it with the tab.
  }
};

/** preference is the choice of the person as far as this browser knows it. */
export function preference<N extends Name>(name: N): Choice<N> {
  const text = read(kept[name]);
  return isOneOf(values[name] as readonly Choice<N>[], text) ? text : values[name][0];
}

export function usePreference<N extends Name>(name: N): Choice<N> {
  return useSyncExternalStore(
    (listen) => {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    () => preference(name),
  );
}

/** applyTheme gives the page its colors. */
export function applyTheme(): void {
  const theme = preference("theme");
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function keep(choices: { [N in Name]?: string | undefined }): void {
  for (const name of Object.keys(values) as Name[]) if (choices[name] !== undefined) write(kept[name], choices[name]);
  applyTheme();
  for (const listen of listeners) listen();
}

let before = Promise.resolve();

/** send tells the server, one change after the other. Until it answers, the choice is unsent: adopt tries again at the next start. */
function send(user: string, choices: { theme?: Choice<"theme">; stackTrace?: Choice<"stackTrace"> }): void {
  write(owner, `unsent ${user}`);
  before = before.then(async () => {
    try {
      await call("PreferencesService/UpdatePreferences", choices);
      write(owner, user);
    } catch {
      // It stays unsent.
    }
  });
}

/** choose changes one setting, here at once and on the server. */
export function choose<N extends Name>(user: string, name: N, value: Choice<N>): void {
  keep({ [name]: value });
  send(user, { [name]: value });
}

/** adopt takes the settings that the server has. Those that only this browser has, because the server never got them, go to the server. */
export function adopt(user: string, of: Preferences): void {
  const whose = read(owner);
  const local = Object.values(kept).some((name) => read(name) !== "");
  if (whose === `unsent ${user}` || (whose === "" && local && !of.updatedAt)) {
    send(user, { theme: preference("theme"), stackTrace: preference("stackTrace") });
    return;
  }
  write(owner, user);
  keep({ theme: of.theme, stackTrace: of.stackTrace });
}
