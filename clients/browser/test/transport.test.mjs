import assert from "node:assert/strict";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { load } from "./load.mjs";

const { Transport } = await load("transport");
const quiet = { run: (_, fn) => fn(), spend() {} };

/** The requests that all transports of this file have sent. */
let requests = 0;

/** settle waits until nothing was sent for three turns, however slow the machine is. */
async function settle() {
  for (let still = 0, seen = requests; still < 3; still++) {
    await new Promise((r) => setTimeout(r, 20));
    if (requests !== seen) [still, seen] = [-1, requests];
  }
}

const refusal = (status, seconds) => new Response(JSON.stringify({ error: { retry_after_seconds: seconds } }), { status });

/** setUp makes a transport whose server answers in turn, and whose waits are noted and end at once. */
function setUp(...answers) {
  const sent = [];
  const waits = [];
  let stops = 0;
  const send = async (url, init) => {
    sent.push({ url, ...init });
    requests++;
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer() : new Response("", { status: answer });
  };
  const t = new Transport(
    "https://in.example",
    "key",
    quiet,
    send,
    () => stops++,
    (fn, ms) => (waits.push(ms), setTimeout(fn, 0)),
  );
  return { t, sent, waits, stops: () => stops };
}

test("a large text is compressed, a small one is not", async () => {
  const { t, sent } = setUp(200);
  t.add("timeline", "/v1/sessionEvents", "application/x-ndjson", "x".repeat(5000));
  t.add("meta", "/v1/sessionReplays/meta", "application/x-ndjson", "{}");
  await settle();
  const large = sent.find((s) => s.url.endsWith("sessionEvents"));
  assert.equal(large.headers["Content-Encoding"], "gzip");
  assert.equal(gunzipSync(large.body).length, 5000);
  assert.equal(large.headers.Authorization, "Bearer key");
  assert.equal(large.credentials, "omit");
  assert.equal(sent.find((s) => s.url.endsWith("meta")).headers["Content-Encoding"], undefined);
});

test("a busy server is asked again after the time that its answer names, three times at most", async () => {
  const { t, sent, waits } = setUp(() => refusal(503, 7));
  t.add("meta", "/m", "t", "{}");
  await settle();
  assert.equal(sent.length, 4);
  assert.equal(waits.length, 3);
  for (const ms of waits) assert.ok(ms >= 7000 && ms <= 8750, String(ms));
  assert.equal(t.stopped, false);
});

test("a refused key ends all sending, a refused batch does not", async () => {
  for (const status of [401, 402, 403]) {
    const { t, sent, stops } = setUp(status);
    t.add("meta", "/m", "t", "{}");
    await settle();
    t.add("meta", "/m", "t", "{}");
    await settle();
    assert.equal(sent.length, 1, String(status));
    assert.equal(stops(), 1);
  }
  const { t, sent } = setUp(400);
  t.add("meta", "/m", "t", "1");
  t.add("meta", "/m", "t", "2");
  await settle();
  assert.deepEqual(
    sent.map((s) => s.body),
    ["1", "2"],
  );
});

test("a page whose requests nobody takes gives up", async () => {
  const { t, sent, stops } = setUp(new TypeError("Failed to fetch"));
  for (let i = 0; i < 5; i++) t.add("meta", "/m", "t", String(i));
  await settle();
  await settle();
  assert.equal(sent.length, 12);
  assert.equal(stops(), 1);
});

test("batches of a stream go in order, one after the other", async () => {
  const { t, sent } = setUp(() => refusal(503, 1), 200);
  for (const body of ["1", "2", "3"]) t.add("timeline", "/e", "t", body);
  await settle();
  assert.deepEqual(
    sent.map((s) => s.body),
    ["1", "1", "2", "3"],
  );
});

test("a batch that is still being compressed goes once, however often the page says that it leaves", async () => {
  const { t, sent } = setUp(200);
  t.add("timeline", "/e", "t", "y".repeat(5000));
  t.leave();
  t.leave();
  await settle();
  t.leave();
  assert.equal(sent.length, 1);
  assert.equal(sent[0].keepalive, true);
});

test("a full queue drops the oldest part of the recording first", async () => {
  let open;
  const gate = new Promise((r) => (open = r));
  const { t, sent } = setUp(() => gate.then(() => new Response("")));
  t.add("replay", "/r", "t", new Uint8Array(1)); // under way
  t.add("timeline", "/e", "t", "1"); // under way
  t.add("timeline", "/e", "t", "2");
  for (let i = 0; i < 3; i++) t.add("replay", "/r", "t", new Uint8Array(400 << 10).fill(i));
  open();
  await settle();
  assert.deepEqual(
    sent.filter((s) => s.url.endsWith("/e")).map((s) => s.body),
    ["1", "2"],
  );
  assert.deepEqual(
    sent.filter((s) => s.url.endsWith("/r")).map((s) => s.body.length === 1 || s.body[0]),
    [true, 1, 2],
  );
});

test("a page that goes away sends what fits, the timeline before the recording, and nothing twice", async () => {
  let open;
  const gate = new Promise((r) => (open = r));
  const { t, sent } = setUp(() => gate.then(() => refusal(503, 1)), 200);
  t.add("meta", "/m", "t", "1"); // under way
  t.add("meta", "/m", "t", "2");
  t.add("replay", "/r", "t", new Uint8Array(1));
  t.add("replay", "/r", "t", new Uint8Array(50 << 10));
  t.add("timeline", "/e", "t", "0");
  t.add("timeline", "/e", "t", "y".repeat(30 << 10));
  await settle();
  const before = sent.length;
  t.leave();
  t.leave(); // a page is hidden and goes away
  const left = sent.slice(before);
  assert.ok(left.every((s) => s.keepalive));
  assert.ok(left.reduce((n, s) => n + s.body.length, 0) <= 60 << 10);
  open();
  await settle();
  const bodies = sent.filter((s) => s.url.endsWith("/m")).map((s) => s.body);
  assert.deepEqual(bodies, ["1", "2", "1"]);
});
