import assert from "node:assert/strict";
import test from "node:test";
import { load, storage } from "./load.mjs";

const { Session, forgetSession, idleEnd, maxAge } = await load("session");
const { resolve } = await load("options");
const start = Date.UTC(2026, 10, 27);

function open(now, tab) {
  globalThis.window = { sessionStorage: tab };
  const seen = [];
  const s = new Session(
    () => ({ url: "https://shop.example/", referrer: "", utm: {} }),
    () => seen.push("end"),
    () => seen.push("begin"),
  );
  s.open(now);
  return { s, seen };
}

test("a session goes on over pages of a tab", () => {
  const tab = storage();
  const { s } = open(start, tab);
  s.state.chunkSeq = 7;
  s.release();
  const next = open(start + 1000, tab);
  assert.equal(next.s.state.id, s.state.id);
  assert.equal(next.s.state.chunkSeq, 7);
  assert.deepEqual(next.seen, ["begin"]);
});

test("a copied tab begins a session of its own", () => {
  const tab = storage();
  const { s } = open(start, tab);
  assert.notEqual(open(start + 1000, tab).s.state.id, s.state.id);
});

test("a session ends after 30 minutes without activity, and after a day with it", () => {
  const { s, seen } = open(start, storage());
  const first = s.state.id;
  s.touch(start + idleEnd - 1);
  assert.equal(s.state.id, first);
  s.touch(start + 2 * idleEnd);
  assert.notEqual(s.state.id, first);
  assert.deepEqual(seen, ["begin", "end", "begin"]);
  const second = s.state.id;
  const began = s.state.startedAt;
  for (let at = began; at < began + maxAge; at += 60_000) s.touch(at);
  assert.equal(s.state.id, second);
  s.touch(began + maxAge);
  assert.notEqual(s.state.id, second);
});

test("a storage that is refused, full or damaged is no failure", () => {
  const refused = {
    get sessionStorage() {
      throw new Error("SecurityError");
    },
  };
  globalThis.window = refused;
  const s = new Session(
    () => ({ url: "", referrer: "", utm: {} }),
    () => {},
    () => {},
  );
  s.open(start);
  s.touch(start + 5000);
  forgetSession();
  for (const text of ["{", "null", "[]", '{"id":"../x"}', '{"id":"a","traceIds":[],"startedAt":"x"}']) {
    const tab = storage();
    tab.setItem("svc.session", text);
    assert.match(open(start, tab).s.state.id, /^[0-9a-f-]{36}$/);
  }
});

test("options name what is wrong, and have the defaults of the document", () => {
  const good = { ingestKey: "k", serviceName: "s", endpoint: "https://in.example/" };
  const page = "https://shop.example/a";
  assert.throws(() => resolve({ ...good, ingestKey: "" }, "", page), /ingestKey/);
  assert.throws(() => resolve({ ...good, serviceName: 1 }, "", page), /serviceName/);
  assert.throws(() => resolve({ ...good, endpoint: "" }, "", page), /endpoint/);
  assert.throws(() => resolve({ ...good, replay: { sampleRate: 2 } }, "", page), /replay.sampleRate/);
  const s = resolve(good, "", page);
  assert.equal(s.endpoint, "https://in.example");
  assert.equal(resolve({ ...good, endpoint: "/telemetry" }, "", page).endpoint, "https://shop.example/telemetry");
  assert.equal(resolve({ ...good, endpoint: undefined }, "https://in.example", page).endpoint, "https://in.example");
  assert.deepEqual(s.replay, { enabled: true, sampleRate: 1, onError: false });
  assert.equal(s.privacy.maskAllInputs, true);
  assert.equal(s.privacy.respectDoNotTrack, true);
  assert.equal(s.privacy.persistVisitorId, false);
});
