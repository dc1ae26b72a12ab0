export const states = { investigating: "Investigating", diagnosed: "Diagnosed", resolved: "Resolved", failed: "Not found" } as const;
export type Status = keyof typeof states;
export const colorOf = (s: string | undefined): string => (s === "investigating" ? "warn" : s === "failed" ? "faint" : "good");
