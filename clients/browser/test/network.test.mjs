import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

globalThis.location = { href: "https://shop.example/cart" };
globalThis.document = { baseURI: "https://shop.example/cart" };
globalThis.window = globalThis;

const { mayPropagate, watchFetch } = await load("network");
const { Guard } = await load("guard");
const { encode, parseTraceparent } = await load("tracer");

function watch(answer, propagate = []) {
  const seen = [];
  const done = [];
  globalThis.fetch = (input, init) => (seen.push({ input, init }), answer());
  const sink = {
    sessionId: () => "s",
    sampled: () => true,
    parent: () => undefined,
    clean: (u) => u,
    done: (span, r) => done.push({ span, r }),
  };
  const settings = { endpoint: "https://in.example", tracing: { enabled: true, propagate } };
  const undo = watchFetch(sink, settings, new Guard());
  return { seen, done, undo };
}
const header = (call) => new Headers(call.init?.headers).get("traceparent");

test("the header goes to the own origin and to allowed addresses only", () => {
  const may = (url, allowed = []) => mayPropagate(new URL(url), "https://shop.example/cart", "https://in.example", allowed);
  assert.equal(may("https://shop.example/api"), true);
  assert.equal(may("http://shop.example/api"), false);
  assert.equal(may("https://api.example/x"), false);
  assert.equal(may("https://api.example/x", ["https://api.example/"]), true);
  assert.equal(may("https://evil.example/?https://api.example/", ["https://api.example/"]), false);
  const pattern = /^https:\/\/api\./g;
  assert.equal(may("https://api.example/x", [pattern]), true);
  assert.equal(may("https://api.example/x", [pattern]), true);
  assert.equal(may("https://api.example/x", [""]), false);
  assert.equal(may("https://in.example/v1/traces", [/./]), false);
});

test("a request keeps its headers, and gets one", async () => {
  const { seen, done, undo } = watch(async () => new Response("", { status: 404 }));
  await fetch("/api", { method: "post", headers: { "x-own": "kept" } });
  await fetch(new Request("https://shop.example/r", { headers: { "x-own": "kept" } }));
  await fetch("https://other.example/x");
  await fetch("https://in.example/v1/traces", { method: "POST" });
  undo();
  await fetch("/after");
  assert.equal(new Headers(seen[0].init.headers).get("x-own"), "kept");
  assert.equal(new Headers(seen[1].init.headers).get("x-own"), "kept");
  assert.match(header(seen[0]), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  assert.equal(header(seen[2]), null);
  assert.equal(header(seen[3]), null);
  assert.equal(done.length, 3);
  const { span, r } = done[0];
  assert.equal(header(seen[0]), `00-${span.traceId}-${span.spanId}-01`);
  assert.equal(span.name, "POST");
  assert.equal(span.attributes["http.response.status_code"], 404);
  assert.equal(span.error, "");
  assert.deepEqual([r.method, r.url, r.status], ["POST", "https://shop.example/api", 404]);
});

test("a failure that the page forgets stays unhandled, and one that it handles is the same", async () => {
  const failure = new TypeError("Failed to fetch");
  const { done, undo } = watch(() => Promise.reject(failure));
  const heard = [];
  const hear = (e) => heard.push(e);
  const runner = process.listeners("unhandledRejection"); // the test would fail on the rejection that it wants
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", hear);
  void fetch("/forgotten");
  await new Promise((r) => setTimeout(r, 20));
  process.removeAllListeners("unhandledRejection");
  for (const listener of runner) process.on("unhandledRejection", listener);
  assert.deepEqual(heard, [failure]);
  await assert.rejects(fetch("/handled"), failure);
  undo();
  assert.equal(done[1].span.attributes["error.type"], "TypeError");
});

test("a part that takes too much time twice switches itself off, and says so once", () => {
  const said = [];
  const g = new Guard((part) => said.push(part));
  let at = 0;
  for (let second = 0; second < 3; second++) {
    for (let i = 0; i < 7; i++) g.spend("console", at + i * 10, at + i * 10 + 9);
    at += 1100;
  }
  assert.deepEqual(said, ["console"]);
  assert.equal(g.isOff("console"), true);
  assert.equal(
    g.run("console", () => 1),
    undefined,
  );
  assert.equal(
    g.run("network", () => 1),
    1,
  );
  assert.equal(
    g.run("network", () => {
      throw new Error("no");
    }),
    undefined,
  );
});

test("spans are those of OTLP", () => {
  const span = {
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    spanId: "00f067aa0ba902b7",
    parentId: "",
    sessionId: "s-1",
    name: "GET",
    kind: 3,
    start: 1790000000000.5,
    end: 1790000000001,
    attributes: { text: "a", whole: 7, part: 0.5, yes: true, none: undefined },
    events: [{ name: "exception", at: 1790000000000, attributes: { "exception.type": "Error" } }],
    error: "no",
    sampled: true,
  };
  const [group] = JSON.parse(encode([span, { ...span, sessionId: "s-1" }], { "service.name": "shop" }, "1.0.0")).resourceSpans;
  const [one] = group.scopeSpans[0].spans;
  assert.equal(group.scopeSpans[0].spans.length, 2);
  assert.deepEqual(group.resource.attributes, [
    { key: "service.name", value: { stringValue: "shop" } },
    { key: "session.id", value: { stringValue: "s-1" } },
  ]);
  assert.equal(one.startTimeUnixNano, "1790000000000500000");
  assert.deepEqual(
    one.attributes.map((a) => a.value),
    [{ stringValue: "a" }, { intValue: "7" }, { doubleValue: 0.5 }, { boolValue: true }, { stringValue: "s-1" }],
  );
  assert.deepEqual(one.status, { code: 2, message: "no" });
  assert.equal(parseTraceparent("00-00000000000000000000000000000000-00f067aa0ba902b7-01"), undefined);
  assert.equal(parseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00").sampled, false);
});
