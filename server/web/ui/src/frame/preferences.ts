import { useSyncExternalStore } from "react";
import { call } from "../api/client";
import type { Preferences } from "../gen/api";
import { isOneOf } from "../parts/choices";
import { isZone, setZone } from "../parts/zone";

export const themes = ["system", "light", "dark"] as const;
const stackTraces = ["pretty", "raw"] as const;

/** The settings of a person. */
type Values = { theme: (typeof themes)[number]; stackTrace: (typeof stackTraces)[number]; timeZone: string };
type Name = keyof Values;
export type Choice<N extends Name> = Values[N];
const defaults: Values = { theme: "system", stackTrace: "pretty", timeZone: "browser" };
const fits: Record<Name, (text: string) => boolean> = {
  theme: (text) => isOneOf(themes, text),
  stackTrace: (text) => isOneOf(stackTraces, text),
  timeZone: isZone,
};

/** The server keeps the settings. This browser has a copy under these names, so that the first drawing of a page has them, too. */
const kept: Record<Name, string> = { theme: "theme", stackTrace: "stack", timeZone: "zone" };
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
  return fits[name](text) ? (text as Choice<N>) : defaults[name];
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

/** applyPreferences gives the page its colors, and its times their zone. */
export function applyPreferences(): void {
  setZone(preference("timeZone"));
  const theme = preference("theme");
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function keep(choices: { [N in Name]?: string | undefined }): void {
  for (const name of Object.keys(kept) as Name[]) if (choices[name] !== undefined) write(kept[name], choices[name]);
  applyPreferences();
  for (const listen of listeners) listen();
}

let before = Promise.resolve();

/** send tells the server, one change after the other. Until it answers, the choice is unsent: adopt tries again at the next start. */
function send(user: string, choices: Partial<Values>): void {
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
    send(user, { theme: preference("theme"), stackTrace: preference("stackTrace"), timeZone: preference("timeZone") });
    return;
  }
  write(owner, user);
  keep({ theme: of.theme, stackTrace: of.stackTrace, timeZone: of.timeZone });
}
