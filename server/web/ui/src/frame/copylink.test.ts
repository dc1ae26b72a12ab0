import { expect, it, vi } from "vitest";
import { copyLink, linkOf } from "./copylink";

const here = new URL("http://svc.test/o/acme/logs?from=-6h&q=a+%3D+1");

it("a link with fixed times keeps everything else", () => {
  const start = Date.parse("2026-01-01T00:00:00Z");
  expect(linkOf(here, { start, end: start + 1000 })).toBe(
    "http://svc.test/o/acme/logs?from=2026-01-01T00%3A00%3A00.000Z&q=a+%3D+1&to=2026-01-01T00%3A00%3A01.000Z",
  );
  expect(linkOf(here)).toBe(here.href);
});

it("a browser that refuses to copy is told", async () => {
  const writeText = vi.fn(async () => {});
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  expect(await copyLink("http://svc.test/", true)).toBe("The link is copied, with fixed times.");
  expect(writeText).toHaveBeenCalledWith("http://svc.test/");
  vi.stubGlobal("navigator", {});
  expect(await copyLink("http://svc.test/", false)).toContain("address bar");
});
