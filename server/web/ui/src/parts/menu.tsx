import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

export type MenuItem = { name: string; act?: () => void; href?: string; danger?: boolean; disabled?: boolean };

/** Menu opens a list of acts below its button. Arrows move, Enter acts, Escape and Tab close. */
export function Menu({
  label,
  items,
  children,
  className = "button small",
}: {
  label: string;
  items: MenuItem[];
  children: ReactNode;
  className?: string;
}) {
  const [open, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (open) list.current?.querySelector<HTMLElement>("[role=menuitem]:not([aria-disabled=true])")?.focus();
  }, [open]);
  const shut = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const move = (e: KeyboardEvent): void => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]:not([aria-disabled=true])") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[e.key];
    if (e.key === "Escape") shut();
    else if (to !== undefined) all[(to + all.length) % all.length]?.focus();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    // biome-ignore lint: the menu closes when the focus leaves it
    <span
      className="menubox"
      onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && setOpen(false)}
      onKeyDown={open ? move : undefined}
    >
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && (
        <div ref={list} id={id} role="menu" aria-label={label} className="float menulist">
          {items.map((item) =>
            item.href ? (
              <a key={item.name} role="menuitem" tabIndex={-1} href={item.href}>
                {item.name}
              </a>
            ) : (
              <button
                key={item.name}
                type="button"
                role="menuitem"
                tabIndex={-1}
                aria-disabled={item.disabled}
                className={item.danger ? "bad" : undefined}
                onClick={() => {
                  if (item.disabled) return;
                  shut();
                  item.act?.();
                }}
              >
                {item.name}
              </button>
            ),
          )}
        </div>
      )}
    </span>
  );
}
