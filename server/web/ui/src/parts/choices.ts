/** keysOf lists the texts of a choice of the contract, in order. The compiler refuses a record that lacks one of them or has another. */
export const keysOf = <T extends string>(all: Record<T, unknown>): T[] => Object.keys(all) as T[];

/** isOneOf narrows a text to a list of choices. */
export const isOneOf = <T extends string>(list: readonly T[], text: string | undefined): text is T =>
  (list as readonly (string | undefined)[]).includes(text);
