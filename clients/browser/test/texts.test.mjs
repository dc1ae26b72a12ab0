import assert from "node:assert/strict";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { load } from "./load.mjs";

const t = await load("texts");

test("texts are cut at whole characters", () => {
  assert.equal(t.cut("žluť", 3), "žl");
  assert.equal(t.cut("🐎🐎", 7), "🐎");
  assert.equal(t.cut("plain", 5), "plain");
  assert.equal(t.cut("plain", 4), "plai");
});

test("times are those of the server", () => {
  assert.equal(t.stamp(Date.UTC(2026, 10, 27, 3, 4, 5, 6)), "2026-11-27 03:04:05.006");
  assert.equal(t.nanos(1790000000000.25), "1790000000000250000");
  assert.equal(t.nanos(1790000000000), "1790000000000000000");
});

test("ids have their form, and differ", () => {
  assert.match(t.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.match(t.hexId(16), /^[0-9a-f]{32}$/);
  assert.notEqual(t.hexId(8), t.hexId(8));
});

test("a rate chooses its part of the sessions, always the same ones", () => {
  const ids = Array.from({ length: 20000 }, () => t.uuid());
  for (const rate of [0, 0.01, 0.25, 1]) {
    const part = ids.filter((id) => t.chosen(id, rate)).length / ids.length;
    assert.ok(Math.abs(part - rate) < 0.015, `${rate}: ${part}`);
  }
  for (const id of ids.slice(0, 1000)) if (t.chosen(id, 0.1)) assert.ok(t.chosen(id, 0.2));
});

test("addresses lose secrets and nothing else", () => {
  for (const [url, want] of [
    ["https://ada:pw@shop.example/a?page=2", "https://shop.example/a?page=2"],
    ["https://shop.example/?token=abc&page=2&api_key=x", "https://shop.example/?token=redacted&page=2&api_key=redacted"],
    ["https://shop.example/cb#access_token=abc&state=7", "https://shop.example/cb#access_token=redacted&state=7"],
    ["https://shop.example/?pass%77ord=abc", "https://shop.example/?pass%77ord=redacted"],
    ["https://shop.example/?code=1&zipcode=2&author=ada", "https://shop.example/?code=redacted&zipcode=2&author=ada"],
    ["https://shop.example/users/@ada", "https://shop.example/users/@ada"],
    ["data:text/plain,secret", "data:"],
    ["", ""],
  ])
    assert.equal(t.cleanUrl(url), want);
  assert.equal(
    t.cleanUrl("https://shop.example/1", () => "https://shop.example/:id"),
    "https://shop.example/:id",
  );
  const broken = () => {
    throw new Error("no");
  };
  assert.equal(t.cleanUrl("https://shop.example/1", broken), "");
});

test("values of the console become short texts without secrets and without calls into the page", () => {
  assert.equal(t.brief("plain"), "plain");
  assert.equal(t.brief({ a: 1, password: "x", deep: { b: { c: { d: 1 } } } }), "{a:1,password:redacted,deep:{b:{…}}}");
  assert.equal(t.brief([1, "a", null]), '[1,"a",null]');
  assert.equal(t.brief(new RangeError("no")), "RangeError: no");
  let called = false;
  t.brief({
    get trap() {
      called = true;
      return 1;
    },
  });
  assert.equal(called, false);
  const round = {};
  round.self = round;
  assert.ok(t.brief(round).length < 100);
});

test("properties become texts within the limits", () => {
  assert.deepEqual(t.attributes({ a: 1, b: true, c: { d: 1 }, e: null, f: undefined, g: () => 1 }, 32, 1024), {
    a: "1",
    b: "true",
    c: '{"d":1}',
  });
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, i]));
  assert.equal(Object.keys(t.attributes(many, 32, 1024)).length, 32);
  assert.equal(t.attributes({ a: "x".repeat(2000) }, 32, 1024).a.length, 1024);
  assert.equal(t.attributes({ ["k".repeat(65)]: 1 }, 32, 1024), undefined);
  assert.equal(t.attributes("text", 32, 1024), undefined);
});

test("a gzip file without compression is one", async () => {
  const { storedGzip } = await load("storedgzip");
  for (const text of ["", "[]", "žluťoučký 🐎".repeat(20000)]) assert.equal(gunzipSync(storedGzip(text)).toString(), text);
});

test("user agents are told apart", async () => {
  const { parseAgent } = await load("agent");
  const mozilla = "Mozilla/5.0 ";
  for (const [ua, touch, want] of [
    ["(Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0", 0, "Edge Windows desktop"],
    ["(X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36", 0, "Chrome Linux desktop"],
    ["(Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15", 0, "Safari macOS desktop"],
    ["(Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15", 5, "Safari iOS tablet"],
    ["(iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1", 5, "Safari iOS mobile"],
    ["(Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36", 5, "Chrome Android mobile"],
    ["(Linux; Android 15; SM-X900) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36", 5, "Chrome Android tablet"],
    ["(X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", 0, "Firefox Linux desktop"],
    ["(Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 OPR/125.0", 0, "Opera Windows desktop"],
    ["something else", 0, "Unknown Unknown desktop"],
  ]) {
    const a = parseAgent(mozilla + ua, touch);
    assert.equal(`${a.browser} ${a.os} ${a.device}`, want, ua);
  }
});
