import { beforeEach, describe, expect, it, vi } from "vitest";
import { call } from "../api/client";
import { moment } from "../parts/time";
import { browserZone, zone } from "../parts/zone";
import { adopt, choose, preference } from "./preferences";

vi.mock("../api/client", () => ({ call: vi.fn(async () => ({})) }));
const server = vi.mocked(call);
const answered = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

describe("preferences", () => {
  const store = new Map<string, string>();
  beforeEach(() => {
    store.clear();
    server.mockReset();
    server.mockResolvedValue({} as never);
    vi.stubGlobal("document", { documentElement: { dataset: {} } });
    vi.stubGlobal("localStorage", {
      getItem: (k: string) => store.get(k) ?? null,
      setItem: (k: string, v: string) => void store.set(k, v),
    });
  });

  it("are those of the server in a new browser", () => {
    adopt("user_a", { theme: "dark", stackTrace: "raw", updatedAt: "2026-01-01T00:00:00Z" });
    expect(preference("theme")).toBe("dark");
    expect(preference("stackTrace")).toBe("raw");
    expect(document.documentElement.dataset.theme).toBe("dark");
    expect(server).not.toHaveBeenCalled();
  });

  it("go to the server when only this browser had them", async () => {
    store.set("theme", "light");
    adopt("user_a", { theme: "system", stackTrace: "pretty" });
    await answered();
    expect(server).toHaveBeenCalledWith("PreferencesService/UpdatePreferences", {
      theme: "light",
      stackTrace: "pretty",
      timeZone: "browser",
    });
    expect(preference("theme")).toBe("light");
  });

  it("of one person are not sent as those of the next", () => {
    adopt("user_a", { theme: "dark", stackTrace: "raw", updatedAt: "2026-01-01T00:00:00Z" });
    adopt("user_b", { theme: "system", stackTrace: "pretty" });
    expect(server).not.toHaveBeenCalled();
    expect(preference("theme")).toBe("system");
    expect(document.documentElement.dataset.theme).toBeUndefined();
  });

  it("that the server did not get are sent at the next start", async () => {
    server.mockRejectedValueOnce(new Error("no connection"));
    choose("user_a", "theme", "dark");
    await answered();
    adopt("user_a", { theme: "light", stackTrace: "pretty", updatedAt: "2026-01-01T00:00:00Z" });
    await answered();
    expect(server).toHaveBeenLastCalledWith("PreferencesService/UpdatePreferences", {
      theme: "dark",
      stackTrace: "pretty",
      timeZone: "browser",
    });
    adopt("user_a", { theme: "light", stackTrace: "pretty", updatedAt: "2026-01-01T00:00:00Z" });
    expect(preference("theme")).toBe("light");
  });

  it("give all times their zone, at once and in the next browser", () => {
    const noon = Date.parse("2026-01-01T12:00:00Z");
    choose("user_a", "timeZone", "Asia/Kathmandu");
    expect(moment(noon)).toBe("2026-01-01 17:45");
    store.clear();
    adopt("user_a", { theme: "system", stackTrace: "pretty", timeZone: "UTC", updatedAt: "2026-01-01T00:00:00Z" });
    expect(moment(noon)).toBe("2026-01-01 12:00");
    adopt("user_b", { theme: "system", stackTrace: "pretty", timeZone: "browser" });
    expect(zone()).toBe(browserZone());
  });

  it("that make no sense are the defaults", () => {
    store.set("theme", "pink");
    store.set("zone", "Mars/Olympus");
    expect(preference("theme")).toBe("system");
    expect(preference("timeZone")).toBe("browser");
  });
});
