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

/** What paths and names consist of. */
const WORD = /[\w$@.~/+-]+/g;
const MAX_WORD_LENGTH = 120;
/** A path has a suffix. */
const PATH = /[\w$-]\.[A-Za-z]{1,4}$/;
/** What parts names within a word. */
const BETWEEN_NAMES = /[/@~+]+/;
/** A name of a program and not a word of a language: with an underscore, a digit or a capital behind its start, or composed. */
const TELLING = /^(?=.{5,80}$)(?=.*[A-Za-z])(?:.*[_$\d.-].*|.+[A-Z].*)$/;
const FAILURE =
  /\b(?:error(?:\[\w+\])?:|FAIL(?:ED)?\b|\w*(?:Error|Exception)\b|panicked at|not ok\b)/;

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
  const failures = lines
    .filter((line) => FAILURE.test(line))
    .slice(0, MAX_FAILURES)
    .map((line) => FAILED + shortened(onOneLine(line), MAX_FAILURE_LENGTH));
  return `${NAMED}${names.join(' ')}${failures.join('')}`;
}

/** The paths in the order in which they come, then the names that come most often, short ones first. */
function namesIn(lines: readonly string[], maxLength: number): readonly string[] {
  const paths = new Set<string>();
  const counts = new Map<string, number>();
  for (const line of lines) {
    for (const [word] of line.matchAll(WORD)) {
      if (word.length > MAX_WORD_LENGTH) continue;
      const path = word.replace(/^\.\//, '').replace(/\.+$/, '');
      if (PATH.test(path)) paths.add(path);
      for (const part of word.split(BETWEEN_NAMES)) {
        const name = part.replace(/^[.-]+|[.-]+$/g, '');
        if (TELLING.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
  }
  const scored = Array.from(counts, ([name, count]) => ({
    name,
    score: count / Math.sqrt(name.length),
  }));
  const chosen = fitting([...paths], PATHS_PART * maxLength);
  const taken = chosen.join(' ');
  const others = scored
    .sort((a, b) => b.score - a.score)
    .flatMap(({ name }) => (taken.includes(name) ? [] : name));
  return [...chosen, ...fitting(others, maxLength - taken.length)];
}

/** Those that fit into so many UTF-16 units with a space each, the first ones first. */
function fitting(words: readonly string[], maxLength: number): readonly string[] {
  let length = 0;
  return words.filter((word) => {
    if (length + word.length + 1 > maxLength) return false;
    length += word.length + 1;
    return true;
  });
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
