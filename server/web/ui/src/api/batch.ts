/** batches collects single asks for a moment and sends at most `most` of one kind in a call. */
export function batches<Ask, Answer>(
  send: (asks: Ask[]) => Promise<Answer[]>,
  kind: (ask: Ask) => string,
  most: number,
  wait = 20,
): (ask: Ask) => Promise<Answer> {
  type Waiting = { ask: Ask; done: (a: Answer) => void; failed: (e: unknown) => void };
  const queues = new Map<string, Waiting[]>();
  const flush = (key: string): void => {
    const all = queues.get(key) ?? [];
    queues.delete(key);
    for (let i = 0; i < all.length; i += most) {
      const part = all.slice(i, i + most);
      send(part.map((w) => w.ask)).then(
        (answers) => part.forEach((w, n) => (n < answers.length ? w.done(answers[n]!) : w.failed(new Error("The answer is incomplete.")))),
        (e: unknown) => part.forEach((w) => w.failed(e)),
      );
    }
  };
  return (ask) =>
    new Promise((done, failed) => {
      const key = kind(ask);
      const queue = queues.get(key);
      if (queue) queue.push({ ask, done, failed });
      else {
        queues.set(key, [{ ask, done, failed }]);
        setTimeout(() => flush(key), wait);
      }
    });
}
