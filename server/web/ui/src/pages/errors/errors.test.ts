import { describe, expect, it } from "vitest";
import { folded, frames } from "./stack";
import { movesOf } from "./work";

describe("stacks", () => {
  it("reads JavaScript, and folds what is not of the application", () => {
    const all = frames(
      "TypeError: Cannot read\n    at total (/app/src/cart.js:41:17)\n    at Layer.handle (/app/node_modules/express/layer.js:95:5)\n    at next (/app/node_modules/express/route.js:1:1)\n    at async /app/src/server.js:3:1",
    );
    expect(all).toHaveLength(5);
    expect(all[1]).toMatchObject({ call: "total", place: "/app/src/cart.js:41:17", app: true });
    const parts = folded(all);
    expect(parts).toHaveLength(4);
    expect(parts[2]).toHaveLength(2);
  });
  it("reads Java with its cause", () => {
    const all = frames(
      "java.net.SocketTimeoutException: timeout\n\tat java.base/java.net.Socket.read(Socket.java:1)\n\tat shop.payments.Client.charge(Client.java:88)\nCaused by: java.io.IOException: x\n\t... 12 more",
    );
    expect(all.filter((f) => typeof f === "string")).toHaveLength(3);
    expect(all[2]).toMatchObject({ call: "shop.payments.Client.charge", app: true });
  });
  it("reads Python with the line of code, and Go", () => {
    expect(
      frames(
        'Traceback (most recent call last):\n  File "/app/rank.py", line 12, in rank\n    return best[0]\nIndexError: list index out of range',
      )[1],
    ).toMatchObject({ call: "rank: return best[0]", place: "/app/rank.py:12", app: true });
    expect(frames("goroutine 1 [running]:\nmain.total(0x1)\n\t/app/main.go:12 +0x1d\n")[1]).toMatchObject({
      call: "main.total",
      place: "/app/main.go:12",
      app: true,
    });
  });
  it("folds nothing when all frames are foreign", () => {
    const all = frames("E\n    at a (/x/node_modules/a.js:1:1)\n    at b (/x/node_modules/b.js:1:1)");
    expect(folded(all)).toEqual(all);
  });
});

describe("moves", () => {
  it("are those that all selected issues allow", () => {
    expect(movesOf(["triage", "wontfix"])).toEqual(["cancelled"]);
    expect(movesOf(["cancelled"])).toEqual([]);
    expect(movesOf(["in_progress"])).toContain("in_review");
  });
  it("are never those of the server", () => {
    for (const s of ["triage", "regressed", "todo", "in_progress", "in_review", "verifying", "done", "wontfix"]) {
      expect(movesOf([s])).not.toContain("regressed");
      expect(movesOf([s])).not.toContain("verifying");
    }
  });
});
