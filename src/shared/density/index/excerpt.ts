// What is left of a result that leaves: below the placeholder the names that tell what was in it, its paths first, and the
// lines that say what failed. A pure function of the result; looks at a bounded part of it.

import type { ToolResponseBlock } from '../../content.js';
import { onOneLine, shortened } from '../../one-line.js';
import { estimateResultTokens, tokensOfCharacters } from '../../tokens/estimate.js';
import { payloadText } from '../../tokens/content-text.js';

/** About how many tokens a result has to have for its names to be worth keeping. */
const MIN_TOKENS = 150;
/** About how many tokens a placeholder has. */
export const PLACEHOLDER_TOKENS = 16;
/** UTF-16 units of the names: a share of the result, and no more than a fixed number. */
const NAMES_SHARE = 0.1;
const MAX_NAMES_LENGTH = 400;
/** Paths take at most this part of them, as long as there are other names. */
const PATHS_PART = 0.5;
/** Lines that tell of a failure, and UTF-16 units of each. */
const MAX_FAILURES = 2;
const MAX_FAILURE_LENGTH = 120;
/** UTF-16 units of a result that are looked at, and of a line: nobody reads longer ones, which are encoded or minified. */
const MAX_SEEN = 65_536;
const MAX_LINE_LENGTH = 1_000;

/** Also as JSON has them. */
const LINE_BREAK = /\r?\n|\\n/;

const FAILED = '\nIt failed with: ';
const NAMED = '\nIt named: ';
/** No excerpt is longer, with the longest placeholder. */
const MAX_LENGTH = 1_200;

/** Stand for a result that can be cut short and for an excerpt where nothing else of them matters. No JSON, so that no tool returns them. */
const LONG_RESULT = 0n;
const OLD_EXCERPT = 1n;

/** What a word is told by: one of small letters is no name, nor is one of digits alone. */
const SEEN = { letter: 1, capital: 2, sign: 4, separator: 8 } as const;
/** By character: what it tells; 0 for what stands in no path and no name. */
const CHARACTERS = charactersOf({
  abcdefghijklmnopqrstuvwxyz: SEEN.letter,
  ABCDEFGHIJKLMNOPQRSTUVWXYZ: SEEN.letter | SEEN.capital,
  '0123456789_$.-': SEEN.sign,
  '@~/+': SEEN.separator,
});
const MAX_WORD_LENGTH = 120;
/** A path has a suffix. */
const PATH = /[\w$-]\.[A-Za-z]{1,4}$/;
/** What parts names within a word. */
const BETWEEN_NAMES = /[/@~+]+/;
/** A path has at least so many, as `a.c`. */
const MIN_LENGTH = 3;
const MIN_NAME_LENGTH = 5;
const MAX_NAME_LENGTH = 80;
const FAILURE =
  /\b(?:error(?:\[\w+\])?:|FAIL(?:ED)?\b|\w*(?:Error|Exception)\b|panicked at|not ok\b)/;
/** One of them stands in each such line. */
const FAILURE_SIGNS = ['rror', 'FAIL', 'Exception', 'panicked at', 'not ok'];

/**
 * Returns what stands in place of a result: the placeholder, and below it what the result named and how it failed. The
 * placeholder alone when it named nothing.
 */
export function excerptOf(result: unknown, placeholder: string): string {
  return placeholder + namedIn(result);
}

const NAMED_IN = new WeakMap<ToolResponseBlock, string>();

/** The same of a block of a history, which is read once however often an edit of it is found and does not land. */
export function excerptOfBlock(response: ToolResponseBlock, placeholder: string): string {
  let named = NAMED_IN.get(response);
  if (named === undefined) {
    named = namedIn(response.result);
    NAMED_IN.set(response, named);
  }
  return placeholder + named;
}

/** What stands below the placeholder: nothing when the result named nothing. */
function namedIn(result: unknown): string {
  const text = payloadText(result);
  const lines = text
    .slice(0, MAX_SEEN)
    .split(LINE_BREAK)
    .filter((line) => line.length <= MAX_LINE_LENGTH);
  const names = namesIn(lines, Math.min(MAX_NAMES_LENGTH, NAMES_SHARE * text.length));
  if (names.length === 0) return '';
  const failures = failuresIn(text, lines).map(
    (line) => FAILED + shortened(onOneLine(line), MAX_FAILURE_LENGTH),
  );
  return `${NAMED}${names.join(' ')}${failures.join('')}`;
}

/** Texts are asked before lines: most tell of no failure. */
function failuresIn(text: string, lines: readonly string[]): readonly string[] {
  if (!FAILURE_SIGNS.some((sign) => text.includes(sign))) return [];
  return lines.filter((line) => FAILURE.test(line)).slice(0, MAX_FAILURES);
}

/** The paths in the order in which they come, then the names that come most often, short ones first. */
function namesIn(lines: readonly string[], maxLength: number): readonly string[] {
  const paths = new Set<string>();
  const counts = new Map<string, number>();
  for (const [word, times] of tellingWords(lines)) {
    if (word.includes('.')) {
      const path = word.replace(/^\.\//, '').replace(/\.+$/, '');
      if (PATH.test(path)) paths.add(path);
    }
    const isOne = (seenIn(word) & SEEN.separator) === 0;
    for (const part of isOne ? [word] : word.split(BETWEEN_NAMES)) {
      const name = withoutOddEnds(part);
      if (isTelling(name)) counts.set(name, (counts.get(name) ?? 0) + times);
    }
  }
  const chosen = fitting(paths, PATHS_PART * maxLength);
  const taken = chosen.join(' ');
  return [...chosen, ...fitting(likeliest(counts), maxLength - taken.length, taken)];
}

/** Names neither begin nor end with a dot or a hyphen. */
function withoutOddEnds(part: string): string {
  let [start, end] = [0, part.length];
  while (start < end && isOdd(part, start)) start += 1;
  while (start < end && isOdd(part, end - 1)) end -= 1;
  return end - start === part.length ? part : part.slice(start, end);
}

function isOdd(text: string, at: number): boolean {
  return text[at] === '.' || text[at] === '-';
}

/** Names by their score, as many of which have the same. */
function* likeliest(counts: ReadonlyMap<string, number>): Generator<string, void, undefined> {
  const byScore = new Map<number, string[]>();
  for (const [name, count] of counts) {
    const score = count / Math.sqrt(name.length);
    const known = byScore.get(score);
    if (known === undefined) byScore.set(score, [name]);
    else known.push(name);
  }
  for (const score of [...byScore.keys()].sort((a, b) => b - a)) yield* byScore.get(score) ?? [];
}

/** Whether it is a name of a program and not a word of a language: with a digit, a sign or a capital behind its start. */
function isTelling(name: string): boolean {
  const { length } = name;
  if (length < MIN_NAME_LENGTH || length > MAX_NAME_LENGTH) return false;
  return mayBeTelling(seenIn(name));
}

function mayBeTelling(seen: number): boolean {
  return (seen & SEEN.letter) !== 0 && (seen & (SEEN.sign | SEEN.capital)) !== 0;
}

/**
 * The words that may be paths or names, and how often each comes: most words are neither, and are not even cut out. One loop, as
 * whoever takes up a history that was edited reads all results again that have left it.
 */
function tellingWords(lines: readonly string[]): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  for (const line of lines) {
    const { length } = line;
    for (let at = 0; at < length; at += 1) {
      let kind = kindOf(line.charCodeAt(at));
      if (kind === 0) continue;
      const start = at;
      let seen = kind & ~SEEN.capital;
      for (at += 1; at < length; at += 1) {
        kind = kindOf(line.charCodeAt(at));
        if (kind === 0) break;
        seen |= kind;
      }
      if (!mayBeTelling(seen) || at - start > MAX_WORD_LENGTH) continue;
      const word = line.slice(start, at);
      words.set(word, (words.get(word) ?? 0) + 1);
    }
  }
  return words;
}

/** What the characters of a name tell. A capital at its start is one of a sentence. */
function seenIn(name: string): number {
  let seen = kindOf(name.charCodeAt(0)) & ~SEEN.capital;
  for (let at = 1; at < name.length; at += 1) seen |= kindOf(name.charCodeAt(at));
  return seen;
}

function kindOf(code: number): number {
  return code < CHARACTERS.length ? (CHARACTERS[code] as number) : 0;
}

function charactersOf(kinds: Readonly<Record<string, number>>): Uint8Array {
  const characters = new Uint8Array(128);
  for (const [listed, kind] of Object.entries(kinds)) {
    for (let at = 0; at < listed.length; at += 1) characters[listed.charCodeAt(at)] = kind;
  }
  return characters;
}

/** Those that fit into so many UTF-16 units with a space each, the first ones first, and do not stand in a text. */
function fitting(
  words: Iterable<string>,
  maxLength: number,
  taken: string = '',
): readonly string[] {
  const fits: string[] = [];
  let length = 0;
  for (const word of words) {
    // Nothing that is worth a place is shorter.
    if (length + MIN_LENGTH >= maxLength) break;
    if (length + word.length + 1 > maxLength || taken.includes(word)) continue;
    length += word.length + 1;
    fits.push(word);
  }
  return fits;
}

/** About how many tokens an excerpt of a result with so many has. */
export function excerptTokens(tokens: number): number {
  return PLACEHOLDER_TOKENS + Math.min(tokensOfCharacters(MAX_NAMES_LENGTH), NAMES_SHARE * tokens);
}

/** Whether a result is so long that an excerpt of it is worth its tokens. */
export function isExcerptible(result: unknown): boolean {
  if (result === LONG_RESULT) return true;
  return !isExcerpt(result) && estimateResultTokens({ result }) >= MIN_TOKENS;
}

/** Whether a result is an excerpt already. */
export function isExcerpt(result: unknown): boolean {
  if (typeof result !== 'string') return result === OLD_EXCERPT;
  return result.length <= MAX_LENGTH && result.startsWith('[') && result.includes(`]${NAMED}`);
}

/** Returns next to nothing that can be cut short when a result can, and is an excerpt when that is one. */
export function excerptStandIn(result: unknown): unknown {
  if (isExcerptible(result)) return LONG_RESULT;
  return isExcerpt(result) ? OLD_EXCERPT : '';
}
