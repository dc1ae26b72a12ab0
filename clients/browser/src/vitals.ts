// The measures of a page as its reader feels it, a part that loads later.
import { onCLS, onFCP, onINP, onLCP, onTTFB } from "web-vitals";

export function watchVitals(report: (name: string, value: number, rating: string) => void): void {
  for (const on of [onLCP, onCLS, onINP, onFCP, onTTFB]) on((m) => report(m.name.toLowerCase(), m.value, m.rating));
}
