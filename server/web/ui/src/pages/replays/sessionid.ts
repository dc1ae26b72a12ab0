const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * sessionOf is the id under which the visitor's programs know a session: spans and log records have it as `session.id`. It is null when the
 * public id holds no text.
 */
export function sessionOf(id: string): string | null {
  const digits = id.startsWith("srep_") ? id.slice(5) : "";
  if (!digits || digits.length > 1000) return null;
  let n = 0n;
  for (const c of digits) {
    const value = alphabet.indexOf(c);
    if (value < 0) return null;
    n = n * 58n + BigInt(value);
  }
  const bytes: number[] = [];
  for (; n > 0n; n >>= 8n) bytes.unshift(Number(n & 255n));
  if (bytes.shift() !== 2) return null; // the first byte says that text follows
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes));
  } catch {
    return null;
  }
}
