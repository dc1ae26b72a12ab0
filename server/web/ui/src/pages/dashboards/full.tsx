import { useEffect, useRef, useState } from "react";
import { useAddress } from "../../frame/router";
import type { DashboardSection } from "../../gen/api";

/** useFull hides the frame while the address asks for it: `full=1`, or `kiosk=` and the seconds of a screen. */
export function useFull(): "" | "full" | "kiosk" {
  const address = useAddress();
  const full = address.searchParams.has("kiosk") ? "kiosk" : address.searchParams.get("full") === "1" ? "full" : "";
  useEffect(() => {
    if (!full) return;
    const root = document.documentElement;
    root.dataset.full = full;
    // A browser may refuse this without a click. The frame of the page is hidden anyway.
    void root.requestFullscreen?.().catch(() => {});
    return () => {
      delete root.dataset.full;
      if (document.fullscreenElement) void document.exitFullscreen().catch(() => {});
    };
  }, [full]);
  return full;
}

/** Kiosk turns the pages of a dashboard: it scrolls by screens, then opens the next tab of each section, and begins again. */
export function Kiosk({
  sections,
  choice,
}: {
  sections: DashboardSection[];
  choice: { tab: (id: string) => string | undefined; setTab: (id: string, tab: string) => void };
}) {
  const address = useAddress();
  const asked = Number(address.searchParams.get("kiosk"));
  const seconds = Number.isFinite(asked) ? Math.max(5, Math.min(600, asked)) : 15;
  const [held, setHeld] = useState(false);
  const turn = useRef<() => void>(() => {});
  turn.current = () => {
    const main = document.getElementById("main");
    if (!main) return;
    if (main.scrollTop + main.clientHeight < main.scrollHeight - 4) {
      main.scrollTo({
        top: main.scrollTop + main.clientHeight * 0.9,
        behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
      });
      return;
    }
    main.scrollTo({ top: 0 });
    for (const s of sections) {
      const tabs = s.tabs ?? [];
      if (tabs.length < 2) continue;
      const at = Math.max(
        0,
        tabs.findIndex((t) => t.id === choice.tab(s.id ?? "")),
      );
      choice.setTab(s.id ?? "", tabs[(at + 1) % tabs.length]?.id ?? "");
    }
  };
  useEffect(() => {
    if (held) return;
    const id = setInterval(() => turn.current(), seconds * 1000);
    return () => clearInterval(id);
  }, [seconds, held]);
  return (
    <button type="button" className="button small w-kioskhold" aria-pressed={held} onClick={() => setHeld(!held)}>
      {held ? "Turn again" : `Turns each ${seconds} s · hold`}
    </button>
  );
}
