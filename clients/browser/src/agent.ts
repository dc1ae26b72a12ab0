// Reads browser, system and device from the text of the user agent.

export interface Agent {
  browser: string;
  os: string;
  device: "desktop" | "mobile" | "tablet";
}

/** parseAgent reads a user agent. Newer iPads call themselves Macs, and only their touch points tell. */
export function parseAgent(ua: string, touchPoints = 0): Agent {
  const has = (p: RegExp) => p.test(ua);
  const ipad = has(/iPad/) || (has(/Macintosh/) && touchPoints > 1);
  const browser = has(/Edg(e|A|iOS)?\//)
    ? "Edge"
    : has(/OPR\/|Opera/)
      ? "Opera"
      : has(/Firefox\/|FxiOS\//)
        ? "Firefox"
        : has(/Chrome\/|CriOS\/|Chromium\//)
          ? "Chrome"
          : has(/Safari\//)
            ? "Safari"
            : "Unknown";
  const os =
    ipad || has(/iPhone|iPod/)
      ? "iOS"
      : has(/Android/)
        ? "Android"
        : has(/Windows/)
          ? "Windows"
          : has(/Macintosh|Mac OS X/)
            ? "macOS"
            : has(/Linux|X11|CrOS/)
              ? "Linux"
              : "Unknown";
  const tablet = ipad || has(/Tablet/) || (has(/Android/) && !has(/Mobile/));
  return { browser, os, device: tablet ? "tablet" : has(/Mobi|iPhone|iPod/) ? "mobile" : "desktop" };
}
