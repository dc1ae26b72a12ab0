import { useEffect } from "react";

const narrow = "(max-width: 760px)";

/**
 * label gives each cell of a folded table the name of its column. A phone shows a row as some lines, without the heads of the columns, and
 * home.css puts these names before the values.
 */
function label(table: HTMLTableElement): void {
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map((c) => (c.textContent ?? "").replace(/[↑↓]/g, "").trim());
  for (const body of table.tBodies)
    for (const row of body.rows)
      for (const [i, cell] of [...row.cells].entries()) {
        const name = cell.colSpan > 1 || i === 0 || cell.querySelector("a.main, button, select, input, svg") ? "" : (names[i] ?? "");
        const said = cell.textContent === "–" ? "" : name; // a value that is missing is left out, with its name
        if (cell.dataset.label !== (said || undefined)) {
          if (said) cell.dataset.label = said;
          else delete cell.dataset.label;
        }
        cell.toggleAttribute("data-none", name !== "" && said === "");
      }
}

/** useLabels labels the cells of folded tables while the screen is narrow. */
export function useLabels(): void {
  useEffect(() => {
    const main = document.getElementById("main");
    const query = matchMedia(narrow);
    if (!main) return;
    let waiting = 0;
    const all = (): void => {
      waiting = 0;
      for (const table of main.querySelectorAll<HTMLTableElement>("table.fold")) label(table);
    };
    const changed = (): void => {
      waiting ||= requestAnimationFrame(all);
    };
    const watch = new MutationObserver(changed);
    const look = (): void => {
      watch.disconnect();
      if (!query.matches) return;
      watch.observe(main, { childList: true, subtree: true, characterData: true });
      changed();
    };
    look();
    query.addEventListener("change", look);
    return () => {
      cancelAnimationFrame(waiting);
      watch.disconnect();
      query.removeEventListener("change", look);
    };
  }, []);
}
