// What a message, a report or a warning may repeat of a text that was given: names and short words as they are,
// of all else its length. A text may be what somebody said, or a key.

/** A word, or a number somebody has put in quotes. Keys and tokens hold digits among letters, or are longer. */
const WORD = /^(?:[A-Za-z_][A-Za-z_.-]{0,31}|-?[\d.]{1,12})$/;

/** An identifier as programs make them. No spaces, no paths, no assignments. */
const NAME = /^[\w.:#@[\]-]{1,100}$/;

/** Whether a text is the name of a tool, a call or a type as programs make them, and no free text. */
export function isPlainName(text: string): boolean {
  return NAME.test(text);
}

/** Whether a text is empty, one short word or a number: too little to be what somebody said, or a key. */
export function isShortWord(text: string): boolean {
  return text === '' || WORD.test(text);
}

/** A text in a message: `"word"`, or how long it is. */
export function shownText(text: string): string {
  return isShortWord(text) ? `"${text}"` : `a string of ${text.length} characters`;
}

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

/** Names that are longer than any option are not compared. */
const MAX_LENGTH = 64;

/** Returns the name that takes the fewest letters to change, or `undefined` when none is near. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  if (misspelt.length > MAX_LENGTH) return undefined;
  const [nearest] = names
    .map((name) => ({ name, changes: changesBetween(misspelt.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, changes }) => changes <= Math.max(2, name.length / 3))
    .sort((a, b) => a.changes - b.changes);
  return nearest?.name;
}

/** Letters that are put in, left out or replaced (Levenshtein). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let at = 0; at < from.length; at += 1) {
    const next = [at + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] ?? 0) + (to[column] === from[at] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
