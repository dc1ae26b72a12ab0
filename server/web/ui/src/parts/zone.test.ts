import { afterEach, describe, expect, it } from "vitest";
import { clock, control, date, exact, fromControl, iso, moment, spanName, stamp, typed } from "./time";
import { browserZone, fromWall, isZone, offset, plotDate, setZone, wall, zone, zones, zoneShort } from "./zone";

const ms = (text: string): number => Date.parse(text);

describe("times", () => {
  afterEach(() => setZone(""));

  it("are those of the chosen zone, on both sides of a change of the clocks", () => {
    setZone("Europe/Berlin");
    expect(stamp("2026-03-29T00:59:59.250Z")).toBe("2026-03-29 01:59:59.250");
    expect(stamp("2026-03-29T01:00:00Z")).toBe("2026-03-29 03:00:00.000");
    expect(moment(ms("2025-12-31T23:30:00Z"))).toBe("2026-01-01 00:30");
    expect(date(ms("2025-12-31T23:30:00Z"))).toBe("2026-01-01");
    setZone("Asia/Kathmandu");
    expect(clock(ms("2026-01-01T00:00:00Z"))).toBe("05:45:00");
    setZone("America/St_Johns");
    expect(zoneShort(ms("2026-01-01T00:00:00Z"))).toBe("UTC−3:30");
    expect(zoneShort(ms("2026-07-01T00:00:00Z"))).toBe("UTC−2:30");
    setZone("UTC");
    expect(moment(ms("2026-07-01T04:05:00Z"))).toBe("2026-07-01 04:05");
    expect(zoneShort(ms("2026-07-01T04:05:00Z"))).toBe("UTC");
  });

  it("that are typed are read in the chosen zone", () => {
    setZone("America/New_York"); // four hours behind UTC in July
    const now = ms("2026-07-02T03:30:00Z"); // 23:30 of July 1 there
    const span = (text: string) => typed(text, now);
    expect(span("14:02..14:20")).toEqual({ from: "2026-07-01T18:02:00.000Z", to: "2026-07-01T18:20:00.000Z" });
    expect(span("2026-01-31 08:00..2026-01-31 09:30:15")).toEqual({ from: "2026-01-31T13:00:00.000Z", to: "2026-01-31T14:30:15.000Z" });
    expect(span("2026-01-31..2026-02-01")).toEqual({ from: "2026-01-31T05:00:00.000Z", to: "2026-02-01T05:00:00.000Z" });
    expect(span("Jul 1 2026 10:00")).toEqual({ from: "2026-07-01T13:55:00.000Z", to: "2026-07-01T14:05:00.000Z" });
    // A text with a zone of its own keeps it.
    expect(span("2026-01-31T08:00Z..2026-01-31T11:00+02:00")).toEqual({ from: "2026-01-31T08:00:00.000Z", to: "2026-01-31T09:00:00.000Z" });
    expect(span("14:20..14:20")).toEqual({ from: "2026-07-01T18:20:00.000Z", to: "2026-07-02T18:20:00.000Z" });
    expect(span("25 past")).toBeNull();
  });

  it("of day are the last ones, also over midnight", () => {
    setZone("Europe/Berlin");
    const now = ms("2026-07-01T22:10:00Z"); // 0:10 of July 2 there
    expect(typed("23:50..0:05", now)).toEqual({ from: "2026-07-01T21:50:00.000Z", to: "2026-07-01T22:05:00.000Z" });
    expect(typed("23:00", now)).toEqual({ from: "2026-07-01T20:55:00.000Z", to: "2026-07-01T21:05:00.000Z" });
    expect(typed("23:50..now", now)).toEqual({ from: "2026-07-01T21:50:00.000Z", to: "2026-07-01T22:10:00.000Z" });
  });

  it("come back from what is typed, in every zone and in every hour of a year", () => {
    for (const name of ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca"]) {
      setZone(name);
      for (let t = ms("2026-01-01T00:20:00Z"); t < ms("2027-01-01T00:00:00Z"); t += 3_600_000) {
        const back = fromWall(wall(t).getTime());
        // A time of the clocks that comes twice is the first of the two.
        if (back !== t && (back > t || wall(back).getTime() !== wall(t).getTime())) expect.fail(`${name}: ${iso(t)} becomes ${iso(back)}`);
      }
    }
  });

  it("that the clocks leave out are later, and those that come twice are the first", () => {
    setZone("Europe/Berlin");
    expect(iso(fromControl("2026-03-29T02:30"))).toBe("2026-03-29T01:30:00.000Z");
    expect(iso(fromControl("2026-10-25T02:30"))).toBe("2026-10-25T00:30:00.000Z");
    expect(control(ms("2026-10-25T00:30:00Z"))).toBe("2026-10-25T02:30");
  });

  it("of the hover and of a chart agree with the clocks", () => {
    setZone("Asia/Tokyo");
    expect(exact("2026-01-01T23:00:00.123456789Z")).toBe("2026-01-01 23:00:00.123456789 UTC");
    const d = plotDate(ms("2026-01-01T23:00:00Z") / 1000);
    expect([d.getFullYear(), d.getMonth(), d.getDate(), d.getHours()]).toEqual([2026, 0, 2, 8]);
    expect(spanName({ from: "2026-01-01T14:00:00Z", to: "2026-01-01T14:30:00Z" })).toBe("2026-01-01 23:00 – 23:30:00");
    expect(spanName({ from: "2026-01-01T14:00:00Z", to: "2026-01-01T15:30:00Z" })).toBe("2026-01-01 23:00 – 2026-01-02 00:30");
  });

  it("that are none, and zones that are none, do no harm", () => {
    setZone("Europe/Berlin");
    for (const none of [Number.NaN, 8.65e15, -8.65e15, Number.POSITIVE_INFINITY]) expect(offset(none)).toBe(0);
    expect(moment(Number.NaN)).toContain("NaN");
    setZone("Mars/Olympus");
    expect(zone()).toBe(browserZone());
    expect(isZone("")).toBe(false);
    expect(zones().length).toBeGreaterThan(300);
    expect(zones().every(isZone)).toBe(true);
  });
});

/** What writes or reads a time in the zone of the browser, or as the language of the browser wants it. */
const others =
  /toLocale\w*String|Intl\s*\.|to(?:Date|Time)String\(|getTimezoneOffset|\.[gs]et(?:FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds)\(/;
/** The formatters of times and of numbers. */
const formatters = ["./zone.ts", "./time.ts", "./format.ts"];

describe("one formatter", () => {
  const all = import.meta.glob<string>("../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

  it("writes every time and number of the application", () => {
    expect(Object.keys(all).length).toBeGreaterThan(150);
    const wrong = Object.entries(all).flatMap(([file, text]) =>
      file.endsWith(".test.ts") || formatters.includes(file)
        ? []
        : text.split("\n").flatMap((l, i) => (others.test(l) ? [`${file}:${i + 1}: ${l.trim()}`] : [])),
    );
    expect(wrong).toEqual([]);
  });

  it("reads and writes the zone of the browser in one place", () => {
    expect(others.test(all["./time.ts"] ?? "")).toBe(false);
    expect(Object.keys(all).filter((file) => /Intl\./.test(all[file] ?? "") && !file.endsWith(".test.ts"))).toEqual(["./zone.ts"]);
  });
});
