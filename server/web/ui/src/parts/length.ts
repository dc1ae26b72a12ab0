import type { FormEvent } from "react";
import { digits } from "./format";

/** A longest text, as gen/limits.ts has it: in characters (Unicode code points) or in bytes of UTF-8, as the API counts it. */
export type Length = { characters: number } | { bytes: number };

/** excess says that a text is too long. It is empty for a text that the API takes. */
export function excess(text: string, most: Length): string {
  const inBytes = "bytes" in most;
  const [limit, unit] = inBytes ? [most.bytes, "bytes"] : [most.characters, "characters"];
  if (text.length * (inBytes ? 3 : 1) <= limit) return ""; // a UTF-16 unit is at most three bytes
  const size = inBytes ? new TextEncoder().encode(text).length : [...text].length;
  return size > limit ? `At most ${digits(limit)} ${unit}. This text has ${digits(size)}.` : "";
}

type Control = HTMLInputElement | HTMLTextAreaElement;

/**
 * atMost bounds the text of a control: `<input {...atMost(CreateMarkerRequest_title)} />`. A text that is too long stays, the browser says so,
 * and its form is not sent. The attribute maxLength would count UTF-16 units, and would cut what a person pastes without a word.
 */
export function atMost(most: Length) {
  const judge = (e: Control | null): void => e?.setCustomValidity(excess(e.value, most));
  return {
    ref: judge, // after each drawing, because a page can set the text itself
    onInput: (e: FormEvent<Control>): void => {
      judge(e.currentTarget);
      if (e.currentTarget.validity.customError) e.currentTarget.reportValidity();
    },
  };
}
