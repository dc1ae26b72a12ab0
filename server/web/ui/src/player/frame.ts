// Plays a recording in a frame of the application. The frame has a policy of its own, because recorded pages need inline styles. rrweb
// rebuilds a recorded page in a sandbox without scripts, and the policy lets it load nothing from a network.
import { Replayer } from "rrweb";
import "rrweb/dist/style.css";
import "./frame.css";
import { eventsOf, type Order, type RecordedEvent, type Report } from "./messages";

const fullSnapshot = 2;
const stage = document.getElementById("stage") as HTMLElement;
const tell = (report: Report): void => parent.postMessage(report, location.origin);

let replayer: Replayer | undefined;
let early: RecordedEvent[] = []; // events before there are enough to begin
let first = 0;
let last = 0;
let playing = false;
let wanted: number | undefined; // a time to go to once there are events
let start = 0;
let skipping = false;
let complete = false;
let ended = false;
let speed = 1;
let skip = true;
let broken = false;

function fail(cause: unknown): void {
  if (broken) return;
  broken = true;
  playing = false;
  tell({ kind: "broken", reason: cause instanceof Error ? cause.message : String(cause) });
}

function begin(): void {
  if (replayer || early.length < 2 || !early.some((e) => e.type === fullSnapshot)) return;
  first = early[0]?.timestamp ?? 0;
  replayer = new Replayer(early as never[], {
    root: stage,
    speed,
    skipInactive: skip,
    showWarning: false,
    triggerFocus: false,
    mouseTail: { strokeStyle: "#7c5cff", duration: 600 },
  });
  early = [];
  replayer.on("resize", (size) => fit(size as { width: number; height: number }));
  replayer.on("skip-start", () => {
    skipping = true;
  });
  replayer.on("skip-end", () => {
    skipping = false;
  });
  // At the end of the events so far, more may come.
  replayer.on("finish", () => {
    if (complete) {
      playing = false;
      ended = true;
    }
  });
  go(playing, wanted ?? first + start);
}

/** go plays on, or stands still, at a time. */
function go(on: boolean, at: number): void {
  playing = on;
  ended = false;
  skipping = false;
  wanted = at;
  if (!replayer || (at > last && !complete)) return; // the events of that time are still to come
  wanted = undefined;
  const offset = Math.min(Math.max(0, at - first), Math.max(0, last - first));
  if (on) replayer.play(offset);
  else replayer.pause(offset);
}

function now(): number {
  return wanted ?? (replayer ? first + replayer.getCurrentTime() : first);
}

function add(seq: number, text: string): void {
  const events = eventsOf(text);
  if (!events) {
    tell({ kind: "damaged", seq });
    return;
  }
  const waits = replayer && playing && now() >= last;
  for (const e of events) {
    last = Math.max(last, e.timestamp);
    if (replayer) replayer.addEvent(e as never);
    else early.push(e);
  }
  begin();
  if (wanted !== undefined && replayer) go(playing, wanted);
  else if (waits) go(true, now());
}

let size = { width: 0, height: 0 };
function fit(to: { width: number; height: number }): void {
  size = to;
  const wrapper = stage.firstElementChild as HTMLElement | null;
  if (!wrapper || !size.width || !size.height) return;
  const scale = Math.min(innerWidth / size.width, innerHeight / size.height, 1);
  wrapper.style.transform = `translate(${(innerWidth - size.width * scale) / 2}px, ${(innerHeight - size.height * scale) / 2}px) scale(${scale})`;
}
addEventListener("resize", () => fit(size));
addEventListener("error", (e) => fail(e.error ?? e.message));
// A recorded video or sound is not loaded, so that it does not play. The rest of the page does.
addEventListener("unhandledrejection", (e) => e.preventDefault());

addEventListener("message", (m: MessageEvent<Order>) => {
  if (m.source !== parent || m.origin !== location.origin || broken) return;
  try {
    obey(m.data);
  } catch (cause) {
    fail(cause);
  }
});

function obey(order: Order): void {
  switch (order.kind) {
    case "chunk":
      return add(order.seq, order.events);
    case "end":
      complete = true;
      if (!replayer) throw new Error("It has no full picture of a page to begin with.");
      if (wanted !== undefined) go(playing, wanted);
      return;
    case "start":
      start = order.offset;
      return;
    case "play":
      return go(true, order.at ?? (ended ? first : now()));
    case "pause":
      return go(false, order.at ?? now());
    case "speed":
      speed = order.value;
      return replayer?.setConfig({ speed });
    case "skip":
      skip = order.idle;
      return replayer?.setConfig({ skipInactive: skip });
  }
}

let told = "";
setInterval(() => {
  if (!replayer || broken) return;
  const report: Report = { kind: "state", now: now(), first, last, playing, skipping, ended };
  const text = JSON.stringify(report);
  if (text === told) return;
  told = text;
  tell(report);
}, 80);
tell({ kind: "ready" });
