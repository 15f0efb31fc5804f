// How messages, reports and warnings show a given text: names and short words literally, anything else as its length, since
// it may be part of a conversation or a secret key. Also shortens texts to one line, removes escape codes, counts lines, and finds
// a similar name.

/** A word or a quoted number. Secret keys mix digits with letters, or are longer. */
const WORD = /^(?:[A-Za-z_][A-Za-z_.-]{0,31}|-?[\d.]{1,12})$/;

/** An identifier made by a program: no spaces, paths or assignments. */
const NAME = /^[\w.:#@[\]-]{1,100}$/;

/** Whether a text looks like the name of a tool, a call or a type, not like free text. */
export function isPlainName(text: string): boolean {
  return NAME.test(text);
}

/** Whether a text is empty, one short word or a number: too short to be conversation or a secret. */
export function isShortWord(text: string): boolean {
  return text === '' || WORD.test(text);
}

/** A text for a message: `"word"`, or its length. */
export function shownText(text: string): string {
  return isShortWord(text) ? `"${text}"` : `a string of ${text.length} characters`;
}

/** UTF-16 units of an id that are shown. */
const MAX_SHOWN_ID = 100;

/** The id of a call for a message or for a model: quoted, and cut if it is long. */
export function shownId(id: string): string {
  return JSON.stringify(id.slice(0, MAX_SHOWN_ID));
}

/** UTF-16 units that `onOneLine` reads, before it replaces control characters. */
const MAX_SEEN = 400;

/** Returns the first 400 UTF-16 units of a text, with spaces instead of control characters and line breaks. */
export function onOneLine(text: string): string {
  const start = text.length <= MAX_SEEN ? text : wholeCharacters(text.slice(0, MAX_SEEN));
  return start.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Control and operating-system sequences, character sets, single-character codes. Lengths are limited to realistic ones. */
const CODES =
  /\u001b(?:\[[0-?]{0,48}[ -/]{0,4}[@-~]|\][^\u0007\u001b\n]{0,512}(?:\u0007|\u001b\\)|[()*+][A-Za-z0-9]|[=>78DEHMNOZc])/g;
const LINK_START = '\u001b]8;';
/** The code that starts a link, with its target. */
const LINK = /^\u001b\]8;[^;]*;([^\u0007\u001b]+)/;

/** A text without escape codes, but with the targets of links. Linear. */
export function withoutCodes(text: string): string {
  if (!text.includes('\u001b')) return text;
  // Fast path without links, which is nearly always the case: a replacer function takes twice as long.
  return text.includes(LINK_START) ? text.replace(CODES, shownCode) : text.replace(CODES, '');
}

function shownCode(code: string): string {
  const [, target] = LINK.exec(code) ?? [];
  return target === undefined ? '' : `<${target}>`;
}

/** Shortens a text to `maxLength` UTF-16 units, cut at a whole character. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${wholeCharacters(text.slice(0, maxLength - 1))}…`;
}

/** Returns the nearest index at or before `index` that does not split a surrogate pair. */
export function surrogateSafe(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  const isSplit = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  return isSplit ? index - 1 : index;
}

/** Removes half of a surrogate pair at the end, whether a cut left it or not. */
function wholeCharacters(text: string): string {
  return text.replace(/\p{Surrogate}$/u, '');
}

/** The number of lines of a text; 1 for an empty one. */
export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Names longer than any option are not compared. */
const MAX_LENGTH = 64;

/** Returns the name with the smallest edit distance, or `undefined` if none is similar. A name may be cut short. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  if (misspelt.length > MAX_LENGTH) return undefined;
  const [nearest] = names
    .map((name) => ({ name, changes: changesBetween(misspelt.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, changes }) => changes <= Math.max(2, name.length / 4))
    .sort((a, b) => a.changes - b.changes);
  return nearest?.name;
}

/** Levenshtein distance; 0 if `from` is a prefix of `to` and has at least 3 characters. */
function changesBetween(from: string, to: string): number {
  if (from.length > 2 && to.startsWith(from)) return 0;
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

/** `1st` for 1, and so on. */
export function ordinal(place: number): string {
  const isTeen = place % 100 > 10 && place % 100 < 20;
  return `${place}${(isTeen ? undefined : ENDINGS[place % 10]) ?? 'th'}`;
}

const ENDINGS: readonly (string | undefined)[] = [undefined, 'st', 'nd', 'rd'];
