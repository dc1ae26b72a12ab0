import { describe, expect, it } from "vitest";
import { duration } from "../../parts/format";
import { laneOf, wordsOf } from "./words";

describe("wordsOf", () => {
  it("says what happened", () => {
    expect(wordsOf({ type: "navigation", url: "https://shop.example/cart?a=1" })).toBe("/cart?a=1");
    expect(wordsOf({ type: "click", targetText: "Buy", targetSelector: "#buy" })).toBe("“Buy” #buy");
    expect(wordsOf({ type: "network", netMethod: "POST", netUrl: "https://api.example/orders", netStatus: 503, netDurationMs: 12 })).toBe(
      `POST /orders 503 ${duration(12)}`,
    );
    expect(wordsOf({ type: "network", netMethod: "GET", netUrl: "not an address" })).toBe("GET not an address no answer");
    expect(wordsOf({ type: "console", level: "warn", message: "slow" })).toBe("warn: slow");
    expect(wordsOf({ type: "error", message: "x is undefined" })).toBe("x is undefined");
    expect(wordsOf({})).toBe("");
  });
});

describe("laneOf", () => {
  it("counts failed requests and errors of the console as errors", () => {
    expect(laneOf({ type: "network", netStatus: 500 })).toBe("error");
    expect(laneOf({ type: "network", netStatus: 200 })).toBe("network");
    expect(laneOf({ type: "console", level: "error" })).toBe("error");
    expect(laneOf({ type: "console", level: "log" })).toBe("console");
    expect(laneOf({ type: "a kind of later" as "custom" })).toBe("custom");
  });
});
