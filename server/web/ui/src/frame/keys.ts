/** The second key of a pair, as in `g h`, belongs to the frame. */
export const pair = { open: false };

/** isFree says that a single key is for the page: nobody types, no dialog is open, and it is not the second key of a pair. */
export function isFree(e: KeyboardEvent, fields = "input, textarea, select, [contenteditable], [role=menuitem]"): boolean {
  return (
    !pair.open &&
    !e.defaultPrevented &&
    !e.metaKey &&
    !e.ctrlKey &&
    !e.altKey &&
    !(e.target as Element).matches?.(fields) &&
    !document.querySelector("dialog[open]")
  );
}
