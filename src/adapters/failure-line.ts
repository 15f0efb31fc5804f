// The line by which a block says how a tool failed; the whole is in its result.

/** With the `u` flag no pair of surrogates is cut. */
const FIRST_LINE = /\S[^\r\n]{0,199}/u;

/** The first line of a text that says something, at most 200 characters of it; `undefined` when none does. */
export function failureLine(text: string): string | undefined {
  return FIRST_LINE.exec(text)?.[0];
}
