// No error of the SDK reaches the page, and no part of it may take much of the page's time.

type Part = "timeline" | "network" | "console" | "transport" | "replay" | "vitals";

const budget = 50; // milliseconds of a second

/** originals are functions of the page as they were before the SDK changed any. */
export const originals = {
  warn: typeof console === "undefined" ? () => {} : console.warn.bind(console),
};

export class Guard {
  private readonly seconds = new Map<Part, { start: number; spent: number; over: number }>();
  private readonly off = new Set<Part>();
  private depth = 0;

  /** onOff hears which part switched itself off. */
  constructor(private readonly onOff: (part: Part) => void = () => {}) {}

  isOff(part: Part): boolean {
    return this.off.has(part);
  }

  /** run calls fn for a part. It gives undefined when fn fails or the part is off. */
  run<T>(part: Part, fn: () => T): T | undefined {
    if (this.off.has(part)) return undefined;
    const began = performance.now();
    this.depth++;
    try {
      return fn();
    } catch {
      return undefined;
    } finally {
      this.depth--;
      // The time of a nested call belongs to the outer one.
      if (this.depth === 0) this.spend(part, began, performance.now());
    }
  }

  /** spend notes the time that a part took of the page. */
  spend(part: Part, began: number, ended: number): void {
    let s = this.seconds.get(part);
    if (!s) this.seconds.set(part, (s = { start: began, spent: 0, over: 0 }));
    if (began - s.start >= 1000) {
      s.start = began;
      s.spent = 0;
    }
    const before = s.spent;
    s.spent += ended - began;
    if (before <= budget && s.spent > budget && ++s.over === 2) {
      this.off.add(part);
      originals.warn(`svc: the part "${part}" took more than ${budget} ms of a second twice, and switched itself off.`);
      try {
        this.onOff(part);
      } catch {
        // It is off all the same.
      }
    }
  }
}
