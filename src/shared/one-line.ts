// Texts cut and cleaned so that they fit on one line. Looks at no more of a text than a line could show.

/** UTF-16 units of a text that are looked at: control characters among them take no room. */
const MAX_SEEN = 400;

/** Returns the start of a text, at most 400 UTF-16 units of it, without control characters and line breaks. */
export function onOneLine(text: string): string {
  const start = text.length <= MAX_SEEN ? text : wholeCharacters(text.slice(0, MAX_SEEN));
  return start.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Returns a text of at most `maxLength` UTF-16 units, cut at a whole character. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${wholeCharacters(text.slice(0, maxLength - 1))}…`;
}

/** Leaves out what a cut has left of a last character, or what never was a whole one. */
function wholeCharacters(text: string): string {
  return text.replace(/\p{Surrogate}$/u, '');
}
