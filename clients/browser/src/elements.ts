// Describes an element: by a selector and, if it can be pressed, by its words. Text that a person typed is never part of it.

const pressed =
  "a,button,label,summary,option,[role=button],[role=link],[role=tab],[role=menuitem],[role=option],input[type=submit],input[type=button]";
const hidden = "[data-svc-mask],[data-svc-block],[contenteditable]:not([contenteditable=false])";

/** selector names an element by tag, id and classes, with up to three of its parents. */
export function selector(target: Element): string {
  const parts: string[] = [];
  for (let e: Element | null = target; e && parts.length < 4; e = e.parentElement) {
    const tag = e.tagName.toLowerCase();
    const id = typeof e.id === "string" && /^[A-Za-z][\w-]{0,63}$/.test(e.id) ? e.id : "";
    const classes = [...e.classList].filter((c) => /^[A-Za-z][\w-]{0,39}$/.test(c)).slice(0, 3);
    const name = e.getAttribute("name");
    parts.unshift(
      tag +
        (id ? `#${id}` : classes.map((c) => `.${c}`).join("")) +
        (!id && name && /^[\w.[\]-]{1,64}$/.test(name) && /^(input|select|textarea|form)$/.test(tag) ? `[name="${name}"]` : ""),
    );
    if (id || tag === "body") break;
  }
  return parts.join(" > ");
}

/** words returns up to 120 characters that stand on what was pressed. */
export function words(target: Element, maskAllText: boolean): string {
  const e = target.closest(pressed);
  if (!e || maskAllText || e.closest(hidden)) return "";
  let text = e instanceof HTMLInputElement ? e.value : collect(e);
  if (!text.trim()) text = e.getAttribute("aria-label") ?? e.getAttribute("title") ?? "";
  return [...text.replace(/\s+/g, " ").trim()].slice(0, 120).join("");
}

function collect(e: Element): string {
  let text = "";
  const walk = (n: Node) => {
    if (text.length > 500) return;
    if (n.nodeType === Node.TEXT_NODE) text += n.nodeValue ?? "";
    else if (n instanceof Element && !n.matches(`script,style,textarea,select,${hidden}`)) n.childNodes.forEach(walk);
  };
  e.childNodes.forEach(walk);
  return text;
}
