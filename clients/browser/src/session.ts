// A session: its id, its counters, and when it ends. It lives in the storage of the tab, so it goes on over pages.
import { uuid } from "./texts";

export const idleEnd = 30 * 60_000;
export const maxAge = 24 * 3600_000;
const storageKey = "svc.session";

export interface Stored {
  id: string;
  startedAt: number;
  lastActivityAt: number;
  /** Number of the next chunk of the recording. */
  chunkSeq: number;
  /** Number of the next event on the timeline. */
  seq: number;
  /** Version of the last row about the session. */
  version: number;
  pages: number;
  clicks: number;
  errors: number;
  traceIds: string[];
  /** Address, referrer and campaign of the first page. */
  url: string;
  referrer: string;
  utm: Record<string, string>;
  user?: Record<string, unknown>;
  /** A page has the session. A copy of the storage in another tab finds it held, and begins a session of its own. */
  held: boolean;
}

/** storage of the tab, or nothing where the browser refuses it. */
function tab(): Storage | null {
  try {
    return window.sessionStorage;
  } catch {
    return null;
  }
}

export class Session {
  state!: Stored;
  private written = 0;

  /** onEnd sees a session that ended before its successor begins. */
  constructor(
    private readonly fresh: () => Pick<Stored, "url" | "referrer" | "utm">,
    private readonly onEnd: () => void,
    private readonly onBegin: () => void,
  ) {}

  /** open takes the session of the tab up again, or begins one. A user replaces the one of the page before. */
  open(now: number, user?: Stored["user"]): void {
    const found = read();
    if (found && !found.held && live(found, now)) {
      this.state = found;
      found.held = true;
      found.lastActivityAt = now;
    } else this.begin(now, undefined);
    if (user) this.state.user = user;
    this.write(now);
    this.onBegin();
  }

  /** touch notes an activity. After 30 minutes without one, or after 24 hours, a new session begins. */
  touch(now: number): void {
    if (live(this.state, now)) {
      this.state.lastActivityAt = now;
      if (now - this.written > 1000) this.write(now);
      return;
    }
    this.onEnd();
    this.begin(now, this.state.user);
    this.write(now);
    this.onBegin();
  }

  private begin(now: number, user: Stored["user"]): void {
    this.state = {
      id: uuid(),
      startedAt: now,
      lastActivityAt: now,
      chunkSeq: 0,
      seq: 0,
      version: 0,
      pages: 0,
      clicks: 0,
      errors: 0,
      traceIds: [],
      ...this.fresh(),
      user,
      held: true,
    };
  }

  trace(id: string): void {
    const ids = this.state.traceIds;
    if (ids.length < 100 && !ids.includes(id)) ids.push(id);
  }

  /** release lets the next page of the tab take the session. */
  release(): void {
    this.state.held = false;
    this.write();
  }

  hold(): void {
    this.state.held = true;
    this.write();
  }

  write(now = Date.now()): void {
    this.written = now;
    try {
      tab()?.setItem(storageKey, JSON.stringify(this.state));
    } catch {
      // The storage is full or refused. The session then lasts as long as the page.
    }
  }
}

export function forgetSession(): void {
  try {
    tab()?.removeItem(storageKey);
  } catch {
    // The storage holds no session.
  }
}

function live(s: Stored, now: number): boolean {
  return now - s.lastActivityAt < idleEnd && now - s.startedAt < maxAge && s.startedAt <= now + 60_000;
}

function read(): Stored | null {
  try {
    const s = JSON.parse(tab()?.getItem(storageKey) ?? "null") as Stored | null;
    const whole = s && /^[\w-]{1,128}$/.test(s.id) && Array.isArray(s.traceIds);
    const numbers =
      whole && [s.startedAt, s.lastActivityAt, s.chunkSeq, s.seq, s.version, s.pages, s.clicks, s.errors].every(Number.isFinite);
    return numbers ? s : null;
  } catch {
    return null;
  }
}
