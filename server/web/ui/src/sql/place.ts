/** place finds where in a statement an error lies: at its line and column, else at the name that the message quotes. */
export function place(sql: string, message: string): { from: number; to: number } | null {
  const at = /line (\d+), column (\d+)/.exec(message);
  if (at) {
    const lines = sql.split("\n");
    const line = Number(at[1]) - 1;
    if (line >= lines.length) return null;
    const from = lines.slice(0, line).reduce((n, l) => n + l.length + 1, 0) + Math.min(Number(at[2]) - 1, lines[line]!.length);
    const word = /^(\w+|\S)/.exec(sql.slice(from))?.[0] ?? "";
    return from < sql.length ? { from, to: from + Math.max(1, word.length) } : { from: Math.max(0, sql.length - 1), to: sql.length };
  }
  for (const [, name] of message.matchAll(/`([^`\n]{1,200})`/g)) {
    const found = new RegExp(`(?<![\\w.])${name!.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!\\w)`).exec(sql);
    if (found) return { from: found.index, to: found.index + name!.length };
  }
  return null;
}
