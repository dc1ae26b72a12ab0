import { afterEach, describe, expect, it, vi } from "vitest";
import { begun, keepDraft, readDraft, redo, step, undo } from "./drafts";
import { definitionOf } from "./merge";

const of = (name: string) => definitionOf({ name, widgets: [] });

describe("history", () => {
  it("joins steps of one kind, undoes and does them again", () => {
    let h = begun(of("a"));
    h = step(step(h, of("b"), "name"), of("bc"), "name");
    h = step(h, of("bc"), "other");
    expect([h.past.length, h.now.name]).toEqual([1, "bc"]);
    h = step(h, of("d"));
    h = undo(h);
    expect(h.now.name).toBe("bc");
    expect(redo(h).now.name).toBe("d");
    h = undo(undo(h));
    expect([h.now.name, undo(h).now.name]).toEqual(["a", "a"]);
    expect(redo(step(h, of("x"))).now.name).toBe("x");
  });
});

describe("drafts", () => {
  afterEach(() => vi.unstubAllGlobals());
  it("come back, unless they change nothing or cannot be read", () => {
    const kept = new Map<string, string>();
    vi.stubGlobal("localStorage", {
      getItem: (k: string) => kept.get(k) ?? null,
      setItem: (k: string, v: string) => kept.set(k, v),
      removeItem: (k: string) => kept.delete(k),
    });
    const base = { id: "dash_1", name: "a", widgets: [], updatedAt: "2026-01-01T00:00:00Z" };
    keepDraft("o", "dash_1", { base, now: of("b"), at: 1 });
    expect(readDraft("o", "dash_1")?.now.name).toBe("b");
    expect(readDraft("o", "dash_2")).toBeNull();
    keepDraft("o", "dash_1", { base, now: of("a"), at: 1 });
    expect(readDraft("o", "dash_1")).toBeNull();
    for (const bad of ["{", "7", '{"base":{"id":"dash_1"},"at":1,"now":{"widgets":[7]}}']) {
      kept.set("dashboard draft o dash_1", bad);
      expect(readDraft("o", "dash_1")).toBeNull();
    }
  });
});
