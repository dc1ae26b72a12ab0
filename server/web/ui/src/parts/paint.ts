import { useEffect, useState } from "react";

/** The color of a token, as a canvas takes it. */
export function paint(element: Element, token: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${token})`;
  element.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** useTheme changes when the colors do. */
export function useTheme(): string {
  const [theme, set] = useState("");
  useEffect(() => {
    const look = (): void => set(`${document.documentElement.dataset.theme ?? ""}${matchMedia("(prefers-color-scheme: dark)").matches}`);
    look();
    const media = matchMedia("(prefers-color-scheme: dark)");
    const watch = new MutationObserver(look);
    media.addEventListener("change", look);
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      media.removeEventListener("change", look);
      watch.disconnect();
    };
  }, []);
  return theme;
}

/** css is a color for an element: a token of the design by its name, or a color as it is. */
export const css = (color: string): string => (color.startsWith("--") ? `var(${color})` : color);
