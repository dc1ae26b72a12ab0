import { beforeEach, describe, expect, it, vi } from "vitest";

vi.stubGlobal("window", { addEventListener: () => undefined });
vi.stubGlobal("location", { href: "http://svc.test/o/acme/logs?from=-6h&to=now&env=production&q=old", origin: "http://svc.test" });
const { addressOf, stateOf } = await import("./views");
const at = (path: string): URL => new URL(path, "http://svc.test");

describe("a saved view", () => {
  beforeEach(() => vi.clearAllMocks());

  it("keeps the parameters of the page", () => {
    expect(stateOf(at("/o/acme/traces?from=-1h&to=now&q=service.name+%3D+größe&view=heat"))).toBe(
      "from=-1h&to=now&q=service.name+%3D+gr%C3%B6%C3%9Fe&view=heat",
    );
  });

  it("leaves out a window of fixed times", () => {
    const fixed = "from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z&sel=1&view=heat";
    expect(stateOf(at(`/o/acme/traces?${fixed}`))).toBe("view=heat");
  });

  it("leaves out the place in a list", () => {
    expect(stateOf(at("/o/acme/replays?q=ada&after=c2"))).toBe("q=ada");
    expect(stateOf(at("/o/acme/agents?offset=50&sort=cost"))).toBe("sort=cost");
    expect(stateOf(at("/o/acme/incidents?service=cart&i=2"))).toBe("service=cart");
  });

  it("keeps the part of the pages of events and agents, and a statement", () => {
    expect(stateOf(at("/o/acme/agents/tools?tool=search"))).toBe("tool=search&part=tools");
    expect(stateOf(at("/o/acme/services/cart?tab=errors"))).toBe("tab=errors");
    expect(stateOf(at("/o/acme/events/funnels?steps=a"))).toBe("steps=a&part=funnels");
    expect(stateOf(at("/o/acme/sql?sql=old"), { sql: "SELECT 1;\n-- #" })).toBe("sql=SELECT+1%3B%0A--+%23");
  });

  it("opens in the window and environment of the page, unless it has its own", () => {
    expect(addressOf({ page: "traces", state: "q=a+%3D+b" })).toBe("/o/acme/traces?from=-6h&to=now&env=production&q=a+%3D+b");
    expect(addressOf({ page: "traces", state: "from=-1h&to=now&env=staging" })).toBe("/o/acme/traces?from=-1h&to=now&env=staging");
  });

  it("opens a part that the page has, and no other address", () => {
    expect(addressOf({ page: "events", state: "part=funnels" })).toBe("/o/acme/events/funnels?from=-6h&to=now&env=production");
    expect(addressOf({ page: "agents", state: "part=tools" })).toBe("/o/acme/agents/tools?from=-6h&to=now&env=production");
    expect(addressOf({ page: "map", state: "part=funnels" })).toBe("/o/acme/map?from=-6h&to=now&env=production");
    expect(addressOf({ page: "events", state: "part=..%2F..%2Fsettings" })).toBe("/o/acme/events?from=-6h&to=now&env=production");
  });
});
